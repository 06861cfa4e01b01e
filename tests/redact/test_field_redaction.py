"""Redaction looks at what was said: ids and marks of a file stay whatever word stands before them,
and a secret in any field is found.
"""

from __future__ import annotations

import random
import string
from dataclasses import replace

import pytest
from example_count import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from keeplore.memory import (
    AgentQuestion,
    Conversation,
    ConversationLink,
    Exchange,
    Memory,
    Quote,
    new_id,
    new_meta,
    parse,
    serialise,
)
from keeplore.memory.note import body_of
from keeplore.redact import Redactor, redact
from keeplore.redact.field_redaction import REMOVED, FieldRedaction
from keeplore_hooks.events import Work

KEY = b"k" * 32
plugin = Redactor(KEY)
KEYWORDS = (
    "token",
    "secret",
    "password",
    "API key",
    "api_key",
    "bearer",
    "Bearer",
    "Authorization",
    "credentials",
    "private key",
    "session",
    "auth",
    "signature",
    "passphrase",
    "seed phrase",
    "recovery codes",
    "2FA",
    "Passwort",
    "пароль",
    "密码",
    "kind: Secret\ndata",
    "| user | password |\n| --- | --- |",
)
ENDS = ("", ".", ":", " is", " =", "?", ": `", " →", "\n")
LETTERS = string.ascii_letters + string.digits


def drawn(alphabet: str, *sizes: int) -> st.SearchStrategy[str]:
    """Parts of these sizes, with hyphens between them."""
    parts = [st.text(alphabet, min_size=size, max_size=size) for size in sizes]
    return st.tuples(*parts).map("-".join)


HEX = "0123456789abcdef"
IDS = {
    "claude-code": st.uuids(version=4).map(str),
    "codex": st.uuids(version=4).map(lambda u: f"019{str(u)[3:14]}7{str(u)[15:]}"),
    "gemini-cli": st.tuples(st.uuids(version=4), st.integers(0, 99)).map(
        lambda pair: f"{pair[0]}########{pair[1]}"
    ),
    "cursor": st.tuples(st.uuids(version=4), st.integers(1, 9)).map(
        lambda pair: f"{pair[0]}~{pair[1]}"
    ),
    "opencode": st.tuples(drawn(HEX, 12), drawn(LETTERS, 14)).map(
        lambda pair: f"msg_{pair[0]}{pair[1]}"
    ),
    "copilot-cli": drawn(HEX, 16).map(lambda key: f"copilot-cli:{key}"),
    "specstory": drawn(HEX, 16).map(lambda key: f"specstory:history-{key}"),
    "prompt": drawn(HEX, 12).map(lambda key: f"prompt:{key}"),
    "python": drawn(LETTERS + "_", 21)
    | drawn(LETTERS, 32)
    | st.uuids().map(lambda u: u.hex),
    "vercel-ai": drawn(LETTERS, 24).map(lambda key: f"conv_{key}"),
}
ends = st.tuples(
    st.sampled_from(["Rotate the", "What is the", "Here is my", ""]),
    st.sampled_from(KEYWORDS),
    st.sampled_from(ENDS),
).map(lambda parts: f"{parts[0]} {parts[1]}{parts[2]}".strip())


def memory_of(conversation: Conversation, session: str) -> Memory:
    turns = [exchange.id for exchange in conversation.exchanges]
    meta = new_meta(
        id=new_id("conversation", session),
        kind="conversation",
        title=conversation.title,
        created_at="2026-02-09T14:00:00Z",
        updated_at="2026-02-09T14:05:00Z",
        version=1,
        scope="project",
        project="kasha-api",
        trust="assistant",
        trigger="turn",
        source={"host": "opencode", "session": session, "turns": turns},
        related=[
            {"id": link.id, "relationship": "relates-to"}
            for link in conversation.related
        ],
    )
    return Memory(meta, conversation.to_markdown())


def conversation_of(ids: list[str], session: str, words: list[str]) -> Conversation:
    """Words that end in a keyword, in every place where words may stand before an id."""
    exchanges = tuple(
        Exchange(
            turn,
            f"2026-02-09T14:0{place}:00Z",
            words[place % len(words)],
            (
                words[(place + 1) % len(words)],
                AgentQuestion(words[0], "the first one", ("a", words[-1])),
                words[(place + 2) % len(words)],
            ),
        )
        for place, turn in enumerate(ids)
    )
    quotes = tuple(
        Quote(" ".join(word.split()), "user", turn)
        for word, turn in zip(words, ids, strict=False)
        if not word.isspace()
    )
    return Conversation(
        " ".join(words[0].split()),
        exchanges,
        session_context=f"opencode session {session} on branch api-token",
        projects=("kasha-api",),
        context=quotes,
        decision=quotes,
        work=Work(files=("src/auth/token.py",), commands=("make test",)),
        related=(ConversationLink("API token", new_id("x"), "relates-to"),),
    )


@pytest.mark.parametrize("host", IDS)
@settings(max_examples=examples(20))
@given(data=st.data())
def test_no_word_before_an_id_costs_it(host: str, data: st.DataObject) -> None:
    ids = data.draw(st.lists(IDS[host], min_size=2, max_size=3, unique=True))
    session = data.draw(IDS[host])
    # as capture hands them over
    words = [
        redact(text, KEY) for text in data.draw(st.lists(ends, min_size=1, max_size=4))
    ]
    conversation = conversation_of(ids, session, words)
    memory = memory_of(conversation, session)
    body = plugin.keeplore_before_write(memory.meta, memory.body) or memory.body
    again = Conversation.from_markdown(body)
    assert [exchange.id for exchange in again.exchanges] == ids
    assert again.exchanges == Conversation.from_markdown(memory.body).exchanges
    assert [quote.turn for quote in again.context] == [
        q.turn for q in conversation.context
    ]
    fields = FieldRedaction(lambda text: redact(text, KEY), plugin.clean_id)
    assert fields.meta(memory.meta) == memory.meta
    text = serialise(replace(memory, body=body))
    assert list(plugin.scan(text.encode())) == []
    assert parse(text).turns == tuple(ids)


@pytest.mark.parametrize("host", IDS)
@settings(max_examples=examples(20))
@given(data=st.data())
def test_no_id_of_a_host_is_taken_for_a_token(host: str, data: st.DataObject) -> None:
    turn = data.draw(IDS[host])
    assert plugin.clean_id(turn) == turn


def secret(prefix: str = "ghp_", size: int = 36) -> str:
    return prefix + "".join(random.Random(size).choices(LETTERS, k=size))


def planted() -> list[tuple[str, Conversation]]:
    """A secret in each field of a conversation."""
    token = secret()
    plain = conversation_of(["t1", "t2"], "s1", ["Which index?"])
    first, second = plain.exchanges
    quote = replace(plain.context[0], text=f"use {token}")
    asked = AgentQuestion(f"Is it {token}?", "yes", ("no",))
    option = AgentQuestion("Which?", "b", (token,))
    answer = AgentQuestion("Which?", f"It is {token}.")
    told = AgentQuestion("What is the password of the database?", "Tr0ub4dor&3x")
    return [
        (
            "user",
            replace(plain, exchanges=(replace(first, user=f"Use {token}"), second)),
        ),
        (
            "reply",
            replace(
                plain, exchanges=(first, replace(second, replies=(f"Use {token}",)))
            ),
        ),
        ("question", replace(plain, exchanges=(replace(first, replies=(asked,)),))),
        ("option", replace(plain, exchanges=(replace(first, replies=(option,)),))),
        ("answer", replace(plain, exchanges=(replace(first, replies=(answer,)),))),
        ("told", replace(plain, exchanges=(replace(first, replies=(told,)),))),
        ("title", replace(plain, title=f"Rotate {token}")),
        ("quote", replace(plain, decision=(quote,))),
        ("turn", replace(plain, exchanges=(replace(first, id=token), second))),
        ("session", replace(plain, session_context=f"opencode session {token}")),
        (
            "branch",
            replace(plain, session_context=f"codex session a on branch fix-{token}"),
        ),
        (
            "began",
            replace(plain, session_context=f"codex session a, began with /x {token}"),
        ),
        (
            "command",
            replace(plain, work=Work(commands=(f"curl -H 'X-Key: {token}' x",))),
        ),
        ("file", replace(plain, work=Work(files=(f"{token}.txt",)))),
        (
            "link",
            replace(
                plain, related=(ConversationLink(token, new_id("x"), "relates-to"),)
            ),
        ),
    ]


@pytest.mark.parametrize(("field", "conversation"), planted())
def test_a_secret_in_any_field_is_taken_out_and_would_stop_a_push(
    field: str, conversation: Conversation
) -> None:
    memory = memory_of(conversation, "s1")
    hidden = "Tr0ub4dor" if field == "told" else secret()[:20]
    assert hidden in memory.body
    assert list(plugin.scan(serialise(memory).encode())), field
    body = plugin.keeplore_before_write(memory.meta, memory.body)
    assert body and hidden not in body
    fields = FieldRedaction(lambda text: redact(text, KEY), plugin.clean_id)
    clean = Memory(fields.meta(memory.meta), body)
    assert hidden not in serialise(clean)
    assert list(plugin.scan(serialise(clean).encode())) == []
    assert len(Conversation.from_markdown(body).exchanges) == len(
        conversation.exchanges
    )


def test_what_a_person_denies_is_not_taken_out_of_our_own_marks() -> None:
    strict = Redactor(
        KEY, deny=["(?i)user|assistant|turn|decision|asked|kasha|mem_|\\d{4}-"]
    )
    conversation = conversation_of(["kasha-1", "kasha-2"], "s1", ["The kasha index."])
    memory = memory_of(conversation, "s1")
    body = strict.keeplore_before_write(memory.meta, memory.body)
    assert body is not None
    again = Conversation.from_markdown(body)
    assert [e.id for e in again.exchanges] == ["kasha-1", "kasha-2"]
    assert "The kasha" not in body and again.decision[0].turn == "kasha-1"
    assert again.related[0].id == conversation.related[0].id
    fields = FieldRedaction(
        lambda text: strict.keeplore_redact(text, "") or text, strict.clean_id
    )
    assert (
        list(strict.scan(serialise(Memory(fields.meta(memory.meta), body)).encode()))
        == []
    )


def test_a_front_matter_keeps_its_ids_and_loses_what_its_words_give_away() -> None:
    fields = FieldRedaction(lambda text: redact(text, KEY), plugin.clean_id)
    token = secret()
    meta = {
        "id": new_id("a"),
        "title": "Rotate the API token",
        "password": "hunter2-Zx81",
        "entities": [{"name": token, "type": "service"}],
        "related": [{"id": new_id("b"), "relationship": "refines"}],
        "source": {
            "host": "opencode",
            "session": "ses_9f8e7d6c5b4aZyXwVuTsRqPoNm",
            "turns": ["msg_9f8e7d6c5b4aZyXwVuTsRqPoNm"],
            "branch": f"fix-{token}",
            "url": "https://bob:Sup3rS3cret@git.acme.io/x",
        },
    }
    clean = fields.meta(meta)
    assert {key: clean[key] for key in ("id", "title", "related")} == {
        key: meta[key] for key in ("id", "title", "related")
    }
    kept = ("host", "session", "turns")
    assert [clean["source"][key] for key in kept] == [
        meta["source"][key] for key in kept
    ]
    text = serialise(Memory(clean, "# Rotate\n"))
    assert token not in text and "hunter2" not in text and "Sup3r" not in text
    assert clean["password"] == "[REDACTED]" and list(clean) == list(meta)
    assert list(plugin.scan(text.encode())) == []


def test_the_quotations_of_a_note_keep_their_turns() -> None:
    turn = "msg_9f8e7d6c5b4aZyXwVuTsRqPoNm"
    body = body_of(
        "API token", "We rotate it.", (Quote("rotate the token", "user", turn),)
    )
    assert plugin.keeplore_before_write({}, body) is None
    assert list(plugin.scan(serialise(Memory({"id": "a"}, body)).encode())) == []


def test_records_and_tombstones_keep_their_ids_and_lose_no_secret() -> None:
    turn = "msg_9f8e7d6c5b4aZyXwVuTsRqPoNm"
    line = f'{{"reason": "the secret token", "turn": "{turn}", "turns": ["{turn}", "{turn}"]}}'
    assert list(plugin.scan(line.encode())) == []
    for field in ("turn", "reason", "said"):
        assert list(plugin.scan(f'{{"{field}": "{secret()}"}}\n'.encode()))


def test_what_only_looks_like_our_marks_is_looked_at_as_words() -> None:
    for text in (
        "<!-- keeplore:turn the password is hunter2-Zx81 -->",
        "<!-- keeplore:note password: hunter2-Zx81 -->",
        "### User password: hunter2-Zx81",
    ):
        body = f"# A\n\n## Exchanges\n\n{text}\n"
        assert "hunter2" not in (plugin.keeplore_before_write({}, body) or body), text


@pytest.mark.parametrize(
    ("meta", "clean"),
    [
        # whatever shape a person gave to what is else a mapping
        ({"source": "X said so"}, {"source": "- said so"}),
        ({"source": ["X", {"note": "X"}, 7]}, {"source": ["-", {"note": "-"}, 7]}),
        ({"related": ["X", ["X"]]}, {"related": ["-", ["-"]]}),
        ({"related": [{"id": "X"}]}, {"related": [{"id": "+"}]}),
        ({"source": {"session": "X", "note": "X"}}, {"source": {"session": "+", "note": "-"}}),
        ({"id": "X", "title": "X"}, {"id": "+", "title": "-"}),
        ({"title": {"a": ("X", {"b": "X"})}}, {"title": {"a": ["-", {"b": "-"}]}}),
        ({"title": 7, "source": None}, {"title": 7, "source": None}),
        # a value that is a secret because of its key
        ({"hidden": "y"}, {"hidden": REMOVED}),
        ({"hidden": ["y", {"a": "z"}, 7]}, {"hidden": [REMOVED, {"a": REMOVED}, 7]}),
        ({"source": {"hidden": "y"}}, {"source": {"hidden": REMOVED}}),
        ({"related": [{"hidden": "y"}]}, {"related": [{"hidden": REMOVED}]}),
    ],
)  # fmt: skip
def test_fields_of_any_shape_are_looked_at_by_what_they_are_called(
    meta: dict[str, object], clean: dict[str, object]
) -> None:
    def words(text: str) -> str:
        return (
            text.replace("X", "-")
            .replace("hidden: y", "hidden: -")
            .replace("hidden:\n- y", "-")
        )

    fields = FieldRedaction(words, lambda text: text.replace("X", "+"))
    assert fields.meta(meta) == clean


def test_of_json_names_are_looked_at_too() -> None:
    fields = FieldRedaction(
        lambda text: text.replace("X", "-").replace("hidden: y", "hidden: -"),
        lambda text: text,
    )
    content = {"aX": {"b": ["X", {"hidden": "y"}, ["X"]]}, "hidden": ["y"], "n": 7}
    assert fields.content(content) == {
        "a-": {"b": ["-", {"hidden": REMOVED}, ["-"]]},
        "hidden": [REMOVED],
        "n": 7,
    }
