"""Long pastes, tables, lists and pictures from a host's record to the file: what was said stays, a
dump is cut.
"""

import json
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore.workspace import Registry
from keeplore.workspace.importing.session_import import import_sessions, worth_reading
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import host_named

HOST = host_named("claude-code")
AT = "2026-02-09T14:00:00.000Z"
COMMON = {"sessionId": "one", "version": "2.1.200", "isSidechain": False}
ASKED = "The import of the ledger fails since yesterday, can you find out why?"
TABLE = "\n".join(
    [
        "| Store | Speed |",
        "| --- | ---: |",
        *(f"| number {n} | {n * 3} ms |" for n in range(90)),
    ]
)
LIST = "\n".join(f"{n}. keep the file of year {n}" for n in range(1, 90))
CODE = "```python\n" + "\n".join(f"value_{n} = {n}" for n in range(150)) + "\n```"
PASTES = {
    "log": [
        f"2026-02-09 14:{n % 60:02d}:00,123 INFO loader: row {n} of the ledger was read"
        for n in range(400)
    ],
    "trace": [
        "java.lang.IllegalStateException: closed",
        *(f"\tat org.ledger.S{n}.run(S{n}.java:{n})" for n in range(400)),
    ],
    "build": [
        f"npm WARN deprecated package-{n}@1.0.{n}: this version is no longer supported"
        for n in range(400)
    ],
    "rows": [f"{n},Ann,Berlin,2026-01-{n % 28:02d},{n * 3}" for n in range(400)],
    "data": ["{", *(f'  "account {n}": "balance {n}",' for n in range(400)), "}"],
    "page": [f'<div class="row"><span>Account {n}</span></div>' for n in range(400)],
    "source": [
        f"def total_{n}(rows):\n    return sum(rows) + {n}\n" for n in range(200)
    ],
    "status": [f"loader-{n}-x7f   1/1   Running   0   {n}d" for n in range(400)],
}


def line(cwd: Path, kind: str, content: object, uuid: str) -> dict:
    message = {"role": kind, "content": content} | (
        {"id": f"m-{uuid}", "model": "m"} if kind == "assistant" else {}
    )
    return COMMON | {
        "type": kind,
        "uuid": uuid,
        "timestamp": AT,
        "cwd": str(cwd),
        "message": message,
    }


def written(places: Places, prompt: object, answer: str) -> Conversation:
    """The conversation that an import of a recorded session makes."""
    folder, cwd = (
        Path.home() / ".claude" / "projects" / "ledger",
        Path.home() / "ledger",
    )
    folder.mkdir(parents=True)
    cwd.mkdir()
    said = [
        line(cwd, "user", prompt, "u1"),
        line(cwd, "assistant", [{"type": "text", "text": answer}], "a1"),
    ]
    (folder / "one.jsonl").write_text(
        "".join(json.dumps(entry) + "\n" for entry in said)
    )
    with Registry(places) as registry:
        import_sessions(
            registry,
            HOST,
            worth_reading(HOST.recorded(Path.home()), None),
            lambda *_: None,
        )
    (path,) = (Path.home() / "memory").glob("**/memory/conversations/**/*.md")
    return Conversation.from_markdown(parse(path.read_text()).body)


@pytest.mark.parametrize("kind", PASTES)
def test_a_prompt_that_is_mostly_a_paste_keeps_the_words_and_the_ends_of_the_paste(
    places, kind
):
    pasted = "\n".join(PASTES[kind]).split("\n")
    conversation = written(
        places, "\n".join([ASKED, "", *pasted, "", "It worked on Monday."]), "I see."
    )
    (exchange,) = conversation.exchanges
    kept = exchange.user.split("\n")
    assert kept[0] == ASKED and kept[-1] == "It worked on Monday."
    assert (
        len(kept) < 60
        and len([words for words in kept if words.endswith("lines left out]")]) == 1
    )
    assert pasted[0].strip() in exchange.user and pasted[-1].strip() in exchange.user
    assert conversation.title == "Import of the ledger fails"
    quoted = [
        quote.text
        for quote in (
            *conversation.context,
            *conversation.decision,
            *conversation.open_questions,
        )
    ]
    assert quoted[0] == ASKED and set(quoted) <= {ASKED, "It worked on Monday."}


@pytest.mark.parametrize("block", [TABLE, LIST, CODE], ids=["table", "list", "code"])
def test_tables_lists_and_code_stay_as_they_were_on_both_sides(places, block):
    conversation = written(
        places,
        f"{ASKED}\n\n{block}\n\nThanks.",
        f"Here it is:\n\n{block}\n\nAnything else?",
    )
    (exchange,) = conversation.exchanges
    assert exchange.user == f"{ASKED}\n\n{block}\n\nThanks."
    assert exchange.assistant == f"Here it is:\n\n{block}\n\nAnything else?"


def test_a_picture_is_a_line_that_says_so_and_none_of_its_bytes(places):
    picture = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": "iVBORw0KGgo" * 900,
        },
    }
    inline = f"and ![plot](data:image/png;base64,{'QUJDREVG' * 400})"
    conversation = written(
        places, [{"type": "text", "text": f"{ASKED}\n{inline}"}, picture], "A style."
    )
    (exchange,) = conversation.exchanges
    assert exchange.user == f"{ASKED}\nand ![plot]([image/png left out: 2 KB])\n[image]"


def test_a_paste_in_a_payload_is_cut_as_one_in_a_transcript_is(places):
    cwd = Path.home() / "ledger"
    cwd.mkdir()
    prompt = "\n".join([ASKED, "", *PASTES["log"]])
    payload = {
        "session_id": "one",
        "cwd": str(cwd),
        "prompt": prompt,
        "hook_event_name": "UserPromptSubmit",
    }
    reading = HOST.read(
        "UserPromptSubmit",
        json.dumps(payload).encode(),
        Cursor(),
        "2026-02-09T14:00:00Z",
    )
    with Registry(places) as registry:
        for event in reading.events:
            registry.named("memory").emit(event)
    waiting = [
        path.read_text()
        for path in (places.state / "capture").rglob("*")
        if path.is_file()
    ]
    texts = [
        *waiting,
        *(
            p.read_text()
            for p in (Path.home() / "memory").glob("**/memory/conversations/**/*.md")
        ),
    ]
    assert any(ASKED in text for text in texts)
    assert not any("row 200 of the ledger" in text for text in texts)
