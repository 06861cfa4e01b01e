"""``keeplore remember``: from the command line, a pipe, a terminal, an agent's shell, and many at
once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from worker_end import end_worker

from keeplore.config.places import Places
from keeplore.errors import StoreError
from keeplore.memory import parse
from keeplore.workspace.writing.structured_note import structured_note
from keeplore_hooks.spool import Spool

CENTS = "We keep prices in cents, because floats lost one in March."
Run = Callable[..., subprocess.CompletedProcess[str]]


def notes(root: Path) -> list[Any]:
    """The notes of a workspace, in the order of their paths."""
    found = (
        parse(path.read_text())
        for path in sorted(root.rglob("memory/**/*.md"))
        if path.name != "README.md"
    )
    return [memory for memory in found if memory.kind == "note"]


def test_what_was_remembered_is_said_with_its_place_and_is_committed(
    run: Run, shop: Path, memory: Path, git: Callable[..., str]
) -> None:
    done = run(
        "remember",
        CENTS,
        "--category",
        "architectural-decisions",
        "--permanent",
        cwd=shop,
    )
    assert (done.returncode, done.stderr) == (0, "")
    [note] = notes(memory)
    assert (note.title, note.category, note.is_permanent, note.project) == (
        CENTS, "architectural-decisions", True, "shop",
    )  # fmt: skip
    first, about, path, undo = done.stdout.splitlines()
    assert first == f"Remembered: {CENTS}"
    assert about == "  architectural-decisions, permanent, project shop"
    assert path.strip().startswith("~/memory/projects/shop/memory/decisions/")
    assert note.id in undo and f"keeplore forget {note.id[4:12]}" in undo
    assert git("status", "--porcelain", cwd=memory) == ""
    assert (memory / "projects/shop/project.json").is_file()
    assert (
        run("forget", "--yes", note.id[4:12], cwd=shop).returncode == 0
        and notes(memory) == []
    )


def test_a_note_is_linked_to_others_and_both_sides_tell(run: Run, memory: Path) -> None:
    run("remember", CENTS)
    [old] = notes(memory)
    done = run(
        "remember",
        "The shop shows whole euros.",
        "--refines",
        old.id[4:12],
        "--contradicts",
        old.id,
    )
    assert done.returncode == 0
    [new] = [note for note in notes(memory) if note.id != old.id]
    assert new.links == (("refines", old.id), ("contradicts", old.id))
    assert new.id[4:12] in run("show", old.id).stdout
    assert run("remember", "x y z", "--refines", "ffffffff").returncode == 1
    assert run("remember", "--refines", old.id, stdin=None).returncode == 2


def test_a_path_is_printed_as_it_is_typed_from_here(run: Run, memory: Path) -> None:
    done = run("remember", "One two three", cwd=memory)
    path = done.stdout.splitlines()[2].strip()
    assert path.startswith("memory/patterns/") and (memory / path).is_file()


@pytest.mark.parametrize(
    "arguments", [("remember", "-"), ("remember",)], ids=["dash", "pipe"]
)
def test_a_text_can_come_from_a_pipe(
    run: Run, memory: Path, arguments: tuple[str, ...]
) -> None:
    done = run(*arguments, stdin=f"{CENTS}\n\nThe second paragraph.\n")
    assert done.returncode == 0
    [note] = notes(memory)
    assert note.title == CENTS and "The second paragraph." in note.body


def test_what_is_too_large_for_a_note_is_refused_before_anything_is_written(
    run: Run, memory: Path
) -> None:
    done = run("remember", "-", stdin="x" * 1_000_001)
    assert (
        done.returncode == 1
        and "larger than 1000 kB" in done.stderr
        and "keeplore ingest FILE" in done.stderr
    )
    assert notes(memory) == []


@pytest.mark.parametrize(
    ("data", "said"), [(b"caf\xe9", "byte 4 is not UTF-8"), (b"a\0b", "byte 2 is NUL")]
)
def test_what_is_no_text_is_refused(
    memory: Path, tmp_path: Path, data: bytes, said: str
) -> None:
    (tmp_path / "data").write_bytes(data)
    with (tmp_path / "data").open("rb") as file:
        command = (sys.executable, "-m", "keeplore.cli", "remember", "-")
        done = subprocess.run(
            command, cwd=memory, stdin=file, capture_output=True, text=True
        )
    assert done.returncode == 1 and said in done.stderr and "→" in done.stderr
    assert notes(memory) == []


def test_no_control_character_reaches_the_workspace(run: Run, memory: Path) -> None:
    said = (
        "\x1b[31mCents\x1b[0m are whole numbers.\r\n\r\nSecond\x07 \u202eparagraph "
        "\x1b]0;title\x07👍🏽"
    )
    assert run("remember", said, "--title", "\x1b[1mCents\x1b[0m").returncode == 0
    [note] = notes(memory)
    assert note.body == "# Cents\n\nCents are whole numbers.\n\nSecond paragraph 👍🏽\n"
    assert (
        run(
            "remember",
            "--replaces",
            note.id[4:12],
            "\x1b[31mEuros\x1b[0m are no numbers.",
        ).returncode
        == 0
    )
    assert (
        run("edit", note.id[4:12], "--title", "\x1b[1mEuros\x9d0;title\x9c").returncode
        == 0
    )
    written = [file.read_bytes() for file in memory.rglob("memory/**/*.md")]
    assert len(written) == 3 and not any(
        b"\x1b" in data or b"\xc2\x9d" in data for data in written
    )
    assert not any(
        "31m" in file.name or "1m" in file.name
        for file in memory.rglob("memory/**/*.md")
    )


def test_a_text_without_words_is_said_to_have_none(run: Run, memory: Path) -> None:
    done = run("remember", "🚀🚀 🎉")
    assert (
        done.returncode == 1
        and "without words" in done.stderr
        and "empty" not in done.stderr
    )
    assert notes(memory) == []


@pytest.mark.parametrize("query", ["", " ", "🚀"])
def test_to_ask_nothing_is_wrong_usage(run: Run, memory: Path, query: str) -> None:
    assert run("remember", "The rocket starts on Tuesday.").returncode == 0
    done = run("recall", query)
    assert done.returncode == 2 and "nothing was asked" in done.stderr


@pytest.mark.parametrize("text", ["", "   ", "…"])
def test_nothing_is_not_remembered(run: Run, memory: Path, text: str) -> None:
    done = run("remember", text)
    assert done.returncode == 1 and "nothing to remember" in done.stderr
    assert notes(memory) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--category", "gotchas"), "--category needs a TEXT"),
        (("x", "--scope", "user", "--project", "shop"), "--project and --scope user"),
        (("x", "--replaces", "1f0c9a2e", "--scope", "user"), "keeplore edit"),
        (("x", "--scope", "team"), "'team' is not one of"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(
    run: Run, memory: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = run("remember", *arguments)
    assert done.returncode == 2 and said in done.stderr


def test_a_project_that_nobody_knows_is_put_right(run: Run, shop: Path) -> None:
    assert run("remember", CENTS, cwd=shop).returncode == 0
    done = run("remember", "x y z", "--project", "shpo")
    assert done.returncode == 1 and "Did you mean shop?" in done.stderr


def test_exactly_the_same_again_is_said_to_be_there(
    run: Run, shop: Path, memory: Path
) -> None:
    run("remember", CENTS, cwd=shop)
    done = run("remember", CENTS.upper(), cwd=shop)
    assert done.returncode == 0 and done.stdout.startswith(
        "This is remembered already, since "
    )
    assert "~/memory/projects/shop/" in done.stdout
    assert len(notes(memory)) == 1
    assert "said again:" in run("show", notes(memory)[0].id, cwd=shop).stdout


def test_nearly_the_same_is_written_and_the_choices_are_named_where_nobody_can_be_asked(
    run: Run, memory: Path
) -> None:
    run("remember", "The staging database runs on port 5433")
    done = run("remember", "Staging database port is 5434")
    assert done.returncode == 0 and len(notes(memory)) == 2
    old, new = (
        next(n.id[4:12] for n in notes(memory) if port in n.title)
        for port in ("5433", "5434")
    )
    assert f"{old}  " in done.stderr and "runs on port 5433" in done.stderr
    assert (
        f"`keeplore forget {old}` keeps the new one, `keeplore forget {new}` the old one"
        in done.stderr
    )


@pytest.mark.parametrize(("answer", "titles"), [("a", 2), ("s", 1), ("", 2)])
def test_at_a_terminal_one_is_asked_before_nearly_the_same_is_written(
    run: Run,
    at_terminal: Callable[..., tuple[int, str]],
    memory: Path,
    answer: str,
    titles: int,
) -> None:
    run("remember", "The staging database runs on port 5433")
    status, seen = at_terminal(
        "remember", "Staging database port is 5434", typed=f"{answer}\n"
    )
    assert (
        status == 0
        and "nearly remembered already" in seen
        and "runs on port 5433" in seen
    )
    assert len(notes(memory)) == titles
    assert ("Nothing was written." in seen) == (titles == 1)


def test_at_a_terminal_the_old_one_can_be_replaced(
    run: Run, at_terminal: Callable[..., tuple[int, str]], memory: Path
) -> None:
    run(
        "remember",
        "The staging database runs on port 5433",
        "--category",
        "infrastructure",
    )
    status, seen = at_terminal("remember", "Staging database port is 5434", typed="r\n")
    assert status == 0 and "Remembered: Staging database port is 5434" in seen
    old, new = sorted(notes(memory), key=lambda note: note.version)
    assert (new.supersedes, new.category) == (old.id, "infrastructure")
    assert run("list").stdout.count("\n") == 1


def test_a_memory_can_be_replaced_by_name(run: Run, memory: Path) -> None:
    run("remember", "Port 5433")
    [old] = notes(memory)
    done = run("remember", "--replaces", old.id[4:12], "Port 5434")
    assert done.returncode == 0 and "keeplore history" in done.stdout
    assert run("list").stdout.split("\t")[3] == "Port 5434"
    unknown = run("remember", "--replaces", "deadbeef", "Port 5435")
    assert unknown.returncode == 1 and "there is no memory" in unknown.stderr


def test_programs_get_json(run: Run, shop: Path, memory: Path) -> None:
    told = json.loads(
        run("remember", "--json", "--scope", "user", "I read English", cwd=shop).stdout
    )
    assert (told["is_new"], told["scope"], told["workspace"], told["similar"]) == (
        True,
        "user",
        "memory",
        [],
    )
    assert Path(told["path"]).read_text().count(told["id"]) == 1


USES = {"source": "shop", "relationship": "Depends  on", "target": "Decimal"}
DEPENDS = {**USES, "relationship": "depends-on", "confidence": 1.0}
ASPECT = {"entity": "prices", "aspect": "rounding", "kind": "constraint"}


def test_a_program_says_what_a_note_is_about(
    run: Run, shop: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("remember", "Floats lose cents", cwd=shop).returncode == 0
    [earlier] = notes(memory)
    secret = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    given = {
        "text": CENTS,
        "category": "architectural-decisions",
        "entities": [USES, {**USES, "target": f"key {secret}", "confidence": 0.5}],
        "aspects": [ASPECT],
        "related": [{"id": earlier.id[4:12], "relationship": "refines"}],
    }
    done = run("remember", "--json", cwd=shop, stdin=json.dumps(given))
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    note = parse(Path(told["path"]).read_text())
    assert note.problems == () and note.category == given["category"]
    hidden = note.meta["entities"][1]["target"]
    assert secret not in hidden
    assert note.meta["entities"] == [
        DEPENDS,
        {**DEPENDS, "target": hidden, "confidence": 0.5},
    ]
    assert note.meta["aspects"] == [{**ASPECT, "type": "unknown"}]
    assert note.meta["related"] == [{"id": earlier.id, "relationship": "refines"}]
    drawn = run("graph", "shop", "--format", "json", cwd=shop)
    relations = json.loads(drawn.stdout)["relations"]
    assert "depends-on" in [relation["relationship"] for relation in relations]
    newer = {"text": "Prices are integers", "replaces": note.id, "entities": [DEPENDS]}
    again = run("remember", "--json", "-", cwd=shop, stdin=json.dumps(newer))
    version = parse(Path(json.loads(again.stdout)["path"]).read_text())
    assert (
        version.meta["entities"] == [DEPENDS] and version.meta["supersedes"] == note.id
    )


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("We keep prices in cents", "the whole: Invalid JSON"),
        ("[" * 5_000, "the whole: Invalid JSON: recursion limit exceeded"),
        ([], "the whole: Input should be an object"),
        ({"title": "Prices"}, "text: Field required"),
        ({"text": CENTS, "tags": []}, "tags: Extra inputs are not permitted"),
        (
            {"text": CENTS, "permanent": "yes"},
            "permanent: Input should be a valid bool",
        ),
        ({"text": CENTS, "entities": USES}, "entities: Input should be a valid array"),
        (
            {"text": CENTS, "entities": [{**USES, "target": "a" * 101}]},
            "entities.0.target: String should have at most 100 characters",
        ),
        (
            {"text": CENTS, "entities": [DEPENDS, {**USES, "target": "Shop"}]},
            "entities.1: Value error, source and target are the same",
        ),
        (
            {"text": CENTS, "entities": [{**USES, "relationship": "→"}]},
            "entities.0.relationship: Value error, letters or digits are needed",
        ),
        (
            {"text": CENTS, "entities": [DEPENDS] * 51},
            "entities: List should have at most 50 items",
        ),
        ({"text": CENTS, "scope": "galaxy"}, "scope: Input should be '', 'user'"),
        (
            {"text": CENTS, "aspects": [{**ASPECT, "kind": "rule"}]},
            "aspects.0.kind: Input should be 'attribute' or 'constraint'",
        ),
        (
            {"text": CENTS, "related": [{"id": "abcd", "relationship": "supersedes"}]},
            "related.0.relationship: Input should be 'refines'",
        ),
    ],
)
def test_a_wrong_field_of_a_structured_note_is_named(given: Any, field: str) -> None:
    data = given if isinstance(given, str) else json.dumps(given)
    with pytest.raises(StoreError) as refusal:
        structured_note(data.encode())
    assert refusal.value.message.startswith(f"that is no note: {field}")


def test_fields_stand_in_the_object_and_not_beside_it(
    run: Run, shop: Path, memory: Path
) -> None:
    given = json.dumps({"text": CENTS, "category": "rules"})
    beside = run("remember", "--json", "--permanent", cwd=shop, stdin=given)
    assert beside.returncode == 2 and "--permanent stands in the JSON" in beside.stderr
    wrong = run("remember", "--json", cwd=shop, stdin=given)
    assert wrong.returncode == 1 and "'rules' is not one of" in wrong.stderr
    assert notes(memory) == []


def test_an_agent_that_remembers_is_not_the_person(
    run: Run, shop: Path, memory: Path
) -> None:
    session = {"CLAUDE_CODE_SESSION_ID": "s-1"}
    assert run("remember", "-", cwd=shop, stdin=f"{CENTS}\n", **session).returncode == 0
    [note] = notes(memory)
    assert (note.trust, note.source["host"], note.source["session"]) == (
        "assistant",
        "claude-code",
        "s-1",
    )
    again = run("remember", "-", cwd=shop, stdin=f"{CENTS}\n", **session)
    assert again.returncode == 0 and len(notes(memory)) == 1


def test_an_agents_shell_with_a_pipe_that_never_ends_does_not_hang(shop: Path) -> None:
    read, write = os.pipe()
    try:
        done = subprocess.run(
            (sys.executable, "-m", "keeplore.cli", "remember"),
            stdin=read,
            cwd=shop,
            env={**os.environ, "CLAUDE_CODE_SESSION_ID": "s-1"},
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        os.close(read)
        os.close(write)
    assert done.returncode == 1 and "no exchange of this session" in done.stderr


def test_without_a_text_what_was_said_last_becomes_permanent(
    run: Run, shop: Path, memory: Path
) -> None:
    spool = Spool(Places.from_environment(os.environ).spool)
    _say(
        spool,
        shop,
        "s-1",
        "Floats or cents for prices?",
        "Cents: floats lost one in March.",
    )
    _say(spool, shop, "s-2", "Which port?", "5433 it is.")
    done = run("remember", cwd=shop, CLAUDE_CODE_SESSION_ID="s-1")
    assert done.returncode == 0, done.stderr
    [note] = notes(memory)
    assert (
        note.is_permanent and "floats lost one" in note.body and "5433" not in note.body
    )
    assert spool.counts()["new"] == 0
    again = run("remember", cwd=shop, CLAUDE_CODE_SESSION_ID="s-1")
    assert (
        again.stdout.startswith("This is remembered already")
        and len(notes(memory)) == 1
    )


def test_without_a_text_and_without_a_session_there_is_nothing_to_remember(
    run: Run, shop: Path
) -> None:
    done = run("remember", cwd=shop)
    assert done.returncode == 1 and 'keeplore remember "…"' in done.stderr


def test_while_git_is_busy_it_is_on_disk_and_said_to_wait(
    run: Run, memory: Path, git: Callable[..., str]
) -> None:
    (memory / ".git" / "MERGE_HEAD").write_text(
        git("rev-parse", "HEAD", cwd=memory).strip() + "\n"
    )
    done = run("remember", CENTS)
    assert done.returncode == 0 and "on disk and not committed yet" in done.stderr
    assert len(notes(memory)) == 1
    (memory / ".git" / "MERGE_HEAD").unlink()
    assert run("remember", "Another fact of life").returncode == 0
    assert git("status", "--porcelain", cwd=memory) == ""


def test_beside_a_lock_that_a_killed_git_left_the_command_that_ends_it_is_said(
    run: Run, memory: Path
) -> None:
    lock = memory / ".git" / "index.lock"
    lock.touch()
    done = run("remember", CENTS)
    assert done.returncode == 0 and f"rm {lock}" in done.stderr


def test_a_text_that_would_command_a_terminal_is_printed_as_text(
    at_terminal: Callable[..., tuple[int, str]], memory: Path
) -> None:
    status, seen = at_terminal(
        "remember", "Use \x1b]0;owned\x07 [red]cents[/red] \u202eelbatrever"
    )
    assert status == 0
    assert (
        "\x1b]" not in seen
        and "\x07" not in seen
        and "\u202e" not in seen
        and "[red]cents[/red]" in seen
    )


def test_many_processes_remember_at_once_and_nothing_is_lost_or_doubled(
    memory: Path, git: Callable[..., str]
) -> None:
    script = (
        "import os, sys; from pathlib import Path; from keeplore.cli.main import cli\n"
        "for n in range(12):\n"
        "    cli.main(['remember', f'Fact {n} of {sys.argv[1]} alone'], standalone_mode=False)\n"
        "    cli.main(['remember', f'Everybody knows number {n}'], standalone_mode=False)\n"
    )
    writers = [
        subprocess.Popen(
            (sys.executable, "-c", script, name),
            cwd=memory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ("first", "second")
    ]
    results = [writer.communicate(timeout=120) for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], results
    expected = [
        f"Fact {n} of {name} alone" for n in range(12) for name in ("first", "second")
    ]
    assert sorted(n.title for n in notes(memory)) == sorted(
        [*expected, *(f"Everybody knows number {n}" for n in range(12))]
    )
    assert git("status", "--porcelain", cwd=memory) == ""
    assert git("fsck", "--strict", cwd=memory) == ""


def _say(spool: Spool, cwd: Path, session: str, asked: str, answered: str) -> None:
    """What Claude Code reports of one exchange."""
    transcript = cwd.parent / f"{session}.jsonl"
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 60))
    common = {
        "sessionId": session,
        "cwd": str(cwd),
        "timestamp": at,
        "isSidechain": False,
        "version": "2.1.0",
    }
    told = [{"type": "text", "text": answered}]
    lines = (
        {
            "type": "user",
            "uuid": f"{session}-u",
            "parentUuid": None,
            "message": {"role": "user", "content": asked},
        },
        {
            "type": "assistant",
            "uuid": f"{session}-a",
            "parentUuid": f"{session}-u",
            "message": {"role": "assistant", "id": f"{session}-m", "content": told},
        },
    )
    transcript.write_text(
        "".join(json.dumps({**common, **line}) + "\n" for line in lines)
    )
    payload = {
        "session_id": session,
        "cwd": str(cwd),
        "transcript_path": str(transcript),
        "hook_event_name": "Stop",
    }
    spool.add("claude-code", "Stop", json.dumps(payload).encode())


def test_where_a_sandbox_forbids_writing_the_agent_is_told_what_does_work(
    run, home
) -> None:
    done = run("init", str(home / "memory"), KEEPLORE_STATE_DIR="/sys/keeplore")
    said = " ".join(done.stderr.split())
    assert done.returncode == 1 and "→ Make that path writable and run it" in said
    assert (
        "the MCP server `keeplore` can" in said and "are kept with the session" in said
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_a_directory_whose_name_is_no_text_has_memory_like_any_other(
    run: Run, shop: Path, memory: Path
) -> None:
    place = shop.with_name("bad\udcff")
    place.mkdir()
    done = run("remember", CENTS, cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    turn = {"event": "turn", "session": "s-1", "user": "Cents?", "replies": [CENTS]}
    emitted = run("emit", "--host", "mine", cwd=place, stdin=json.dumps(turn))
    end_worker(Places.from_environment(os.environ).state)
    assert (emitted.returncode, emitted.stderr) == (0, "")
    assert CENTS in run("brief", cwd=place).stdout
    assert run("projects").stdout == "bad\t~/code/bad?\n"


def test_what_git_is_told_to_ignore_is_named_when_it_is_written_and_synced(
    run: Run, shop: Path, memory: Path, home: Path, git: Callable[..., str]
) -> None:
    assert run("remember", "Tea is served at four", cwd=shop).stderr == ""
    (memory / ".git" / "info" / "exclude").write_text("*coffee*\n")
    done = run("remember", "Coffee is black", cwd=shop)
    [path] = memory.rglob("*coffee*.md")
    said = (
        "note: git is told to ignore this file, so it is in no commit and on no other machine: "
        f"`git -C {path.parent} check-ignore -v {path.name}` says where\n"
    )
    assert (done.returncode, done.stderr) == (0, said)
    told = run("remember", "--json", "Coffee is black", cwd=shop)
    assert (json.loads(told.stdout)["is_new"], told.stderr) == (False, said)
    digits = path.stem[-8:]
    changed = run("edit", digits, "--category", "gotchas", cwd=shop).stderr
    assert "check-ignore -v" in changed
    page = home / "coffee.md"
    page.write_text("# Coffee\n\nIt is ground.\n")
    assert "check-ignore -v" in run("ingest", str(page), cwd=shop).stderr
    git("init", "-q", "--bare", str(home / "remote.git"), cwd=home)
    git("remote", "add", "origin", str(home / "remote.git"), cwd=memory)
    synced = run("sync", cwd=shop)
    count = len([*memory.rglob("*coffee*.md")])
    assert synced.returncode == 0
    assert synced.stderr == (
        f"note: {count} files of memory are left out of commits, because git is told so: "
        "`keeplore doctor` says which\n"
    )
