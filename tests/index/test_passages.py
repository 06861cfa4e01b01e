from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keeplore.index.passages import (
    AFTER,
    BEFORE,
    BODY,
    TITLE,
    Passage,
    passages_of,
    split,
)
from keeplore.memory import AgentQuestion, Conversation, Exchange, Memory, Quote
from keeplore.memory.conversation_body import ConversationLink, turns_of
from keeplore.text.query_terms import extra_tokens, query_terms, token_count
from keeplore_hooks.events import Work

MODEL_READS = 256  # tokens


def talk(*exchanges: Exchange, **parts: Any) -> Memory:
    made = Conversation("Drop Redis", exchanges, **parts)
    meta = {
        "kind": "conversation",
        "title": "Drop Redis",
        "project": "kasha",
        "created_at": "2026-02-09T14:00:00Z",
    }
    return Memory(meta, made.to_markdown())


def test_a_conversation_gives_a_head_its_quotations_and_its_exchanges() -> None:
    first = Exchange(
        "t1", "2026-02-09T14:00:00Z", "Why did we drop Redis?", ("It leaked memory.",)
    )
    second = Exchange("t2", "2026-02-09T14:05:00Z", "What now?", ("SQLite.",))
    memory = talk(
        first,
        second,
        decision=(Quote("We take SQLite.", "user", "t2"),),
        outcome=(Quote("It leaked memory.", "assistant", "t1"),),
    )
    found = [(p.kind, p.turn, p.at, p.body, p.context) for p in passages_of(memory)]
    assert found == [
        (
            "decision",
            "t2",
            "2026-02-09T14:05:00Z",
            "We take SQLite.",
            "What now?\n\n\n2026-02-09",
        ),
        (
            "statement",
            "t1",
            "2026-02-09T14:00:00Z",
            "It leaked memory.",
            "Why did we drop Redis?\n\n\n2026-02-09",
        ),
        (
            "exchange",
            "t1",
            "2026-02-09T14:00:00Z",
            "User: Why did we drop Redis?\n\nAssistant: It leaked memory.",
            "\n\nUser: What now? Assistant: SQLite.\n2026-02-09",
        ),
        (
            "exchange",
            "t2",
            "2026-02-09T14:05:00Z",
            "User: What now?\n\nAssistant: SQLite.",
            "\nUser: Why did we drop Redis? Assistant: It leaked memory.\n\n2026-02-09",
        ),
    ]


def test_files_and_commands_stay_in_the_head_and_links_to_others_do_not() -> None:
    exchange = Exchange("t1", "2026-02-09T14:00:00Z", "Hello")
    link = ConversationLink("Another talk", f"mem_{'0' * 36}", "relates-to")
    memory = talk(exchange, work=Work(files=("queue.py",)), related=(link,))
    assert passages_of(memory)[0].body == "Code references\n- file: `queue.py`"


def test_what_a_person_wrote_above_the_exchanges_can_be_found() -> None:
    memory = talk(Exchange("t1", "2026-02-09T14:00:00Z", "Hello"))
    edited = Memory(
        memory.meta,
        memory.body.replace(
            "## Exchanges", "## My notes\n\nAsk Hanna.\n\n## Exchanges"
        ),
    )
    assert "Ask Hanna." in passages_of(edited)[0].body


def test_a_note_of_exchanges_gives_its_own_words_without_receipts_and_the_exchanges() -> (
    None
):
    exchange = Exchange("t1", "2026-02-09T14:00:00Z", "Which one?", ("SQLite.",))
    memory = talk(exchange, decision=(Quote("We take SQLite.", "user", "t1"),))
    meta = {**memory.meta, "kind": "note", "category": "patterns", "title": ""}
    head, said = passages_of(Memory(meta, memory.body))
    assert (head.kind, head.title) == ("head", "Drop Redis")
    assert "We take SQLite." in head.body and "turn t1" not in head.body
    assert "Which one?" not in head.body
    assert head.context == "\n\n\nkasha · patterns · 2026-02-09"
    assert (said.kind, said.turn, said.body) == (
        "exchange",
        "t1",
        "User: Which one?\n\nAssistant: SQLite.",
    )


def test_a_digest_is_found_by_its_title_alone() -> None:
    meta = {"kind": "digest", "title": "February", "created_at": "2026-02-09T14:00:00Z"}
    assert passages_of(Memory(meta, "# February\n\nWe take SQLite.\n")) == [
        Passage("head", "February", "", "\n\n\n2026-02-09")
    ]


def test_an_exchange_knows_the_end_of_the_one_before_and_the_beginning_of_the_next() -> (
    None
):
    exchanges = [
        Exchange(f"t{n}", "2026-02-09T14:00:00Z", f"question {n}", (f"answer {n}",))
        for n in range(3)
    ]
    middle = passages_of(talk(*exchanges))[1]
    assert "answer 0" in middle.context
    assert "question 2" in middle.context
    assert "answer 0" not in middle.body


def test_a_short_exchange_is_found_by_three_on_either_side() -> None:
    exchanges = [
        Exchange(f"t{n}", "2026-02-09T14:00:00Z", f"q{n}", (f"a{n}",)) for n in range(9)
    ]
    found = [passage.context for passage in passages_of(talk(*exchanges))]

    def said(*numbers: int) -> str:
        return " ".join(f"User: q{n} Assistant: a{n}" for n in numbers)

    assert found == [
        f"\n{said(*range(max(0, n - 3), n))}\n{said(*range(n + 1, min(n + 4, 9)))}\n2026-02-09"
        for n in range(9)
    ]


def test_later_pieces_of_a_long_answer_carry_the_question() -> None:
    long = " ".join(f"Sentence number {n} explains a detail." for n in range(200))
    pieces = passages_of(
        talk(
            Exchange(
                "t1", "2026-02-09T14:00:00Z", "How does the cache expire?", (long,)
            )
        )
    )[1:]
    assert len(pieces) > 3
    assert all("How does the cache expire?" in piece.context for piece in pieces[1:])
    assert {piece.turn for piece in pieces} == {"t1"}


def test_questions_with_their_options_and_answers_are_part_of_the_exchange() -> None:
    asked = AgentQuestion("Which database?", "SQLite", ("SQLite", "Postgres"))
    exchange = Exchange("t1", "2026-02-09T14:00:00Z", "Go", (asked,))
    [passage] = passages_of(talk(exchange))
    body = passage.body
    assert "Which database? (SQLite, Postgres)\nUser: SQLite" in body


def test_a_document_is_cut_at_its_headings_and_not_inside_code() -> None:
    code = "```\n# no heading\n\nx = 1\n```"
    body = (
        "# Guide\n\nIntro.\n\n## Install\n\n"
        + "Run the installer. " * 40
        + f"\n\n## Use\n\n{code}\n"
    )
    passages = passages_of(Memory({"kind": "document", "title": "Guide"}, body))
    assert [p.kind for p in passages] == ["head", "section", "section"]
    assert passages[0].body == "Intro."
    assert passages[2].body == f"Use\n{code}"


def test_a_memory_without_text_is_still_found_by_its_title() -> None:
    [only] = passages_of(Memory({"kind": "note", "title": "Prefer tabs"}, ""))
    assert (only.kind, only.title, only.body) == ("head", "Prefer tabs", "")


def test_a_conversation_without_exchanges_is_read_as_a_document() -> None:
    memory = Memory(
        {"kind": "conversation", "title": "Old"}, "# Old\n\nWritten by another tool.\n"
    )
    assert [p.body for p in passages_of(memory)] == ["Written by another tool."]


def test_only_conversations_hold_turns() -> None:
    exchange = Exchange("t1", "2026-02-09T14:00:00Z", "Hello")
    memory = talk(exchange)
    named = Memory({**memory.meta, "source": {"turns": ["t0", "t1"]}}, memory.body)
    assert turns_of(named) == ["t0", "t1"]
    assert turns_of(Memory({"kind": "note", "source": {"turns": ["t0"]}}, "")) == []


@given(st.text(max_size=3000))
def test_splitting_loses_no_word_and_keeps_to_the_limit(text: str) -> None:
    pieces = split(text, 40)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(token_count(piece) <= 40 or len(piece) <= 100 for piece in pieces)


@given(
    st.text(max_size=400),
    st.lists(st.tuples(st.text(max_size=1500), st.text(max_size=1500)), max_size=4),
)
def test_no_text_makes_a_passage_that_the_model_would_cut(
    title: str, said: list[tuple[str, str]]
) -> None:
    exchanges = tuple(
        Exchange(f"t{n}", "2026-02-09T14:00:00Z", user, (reply,))
        for n, (user, reply) in enumerate(said)
    )
    memory = Memory(
        {"kind": "conversation", "title": title},
        Conversation(title, exchanges).to_markdown(),
    )
    assert BODY + TITLE + BEFORE + AFTER <= MODEL_READS
    for passage in passages_of(memory):
        assert token_count(passage.embedded) <= MODEL_READS


def test_camel_case_is_taken_apart_and_found_by_its_parts(
    make_note: Callable[..., Memory],
) -> None:
    assert (
        extra_tokens("call getUserById and HTTPServer2, not Redis")
        == "get User By Id\nHTTP Server 2"
    )
    assert (
        passages_of(make_note("Slow", "getUserById is slow"))[0].extra
        == "get User By Id"
    )


def test_scripts_without_spaces_are_indexed_as_pairs() -> None:
    assert extra_tokens("我们决定") == "我们 们决 决定"
    assert query_terms("决定") == [("决定",)]


def test_a_query_loses_its_stop_words_but_not_all_of_them() -> None:
    assert query_terms("Why did we drop Redis?") == [("drop",), ("Redis",)]
    assert query_terms("what is it") == [("what",), ("is",), ("it",)]
    assert query_terms("src/app.py getUserById") == [
        ("src/app.py",),
        ("getUserById", "get User By Id"),
    ]
    assert query_terms('" ( * ^ -') == []


def test_how_long_a_passage_is_with_what_stands_beside_it() -> None:
    said = [
        ("old", 60, "reply", 60),
        ("ask", 60, "port", 400),
        ("later", 60, "end", 60),
    ]
    memory = talk(
        *(
            Exchange(
                f"t{n}",
                "2026-02-09T14:00:00Z",
                f"{user} " * asked,
                (f"{word} " * told,),
            )
            for n, (user, asked, word, told) in enumerate(said, 1)
        )
    )
    seen = []
    for passage in passages_of(memory):
        beside = [len(part.split()) for part in passage.context.split("\n")[:3]]
        embedded = token_count(passage.embedded)
        seen.append((passage.turn, token_count(passage.body), *beside, embedded))
    # tokens of the body; words of the prompt, before and after it; tokens of all that is embedded
    assert seen == [
        ("t1", 139.25, 0, 0, 13, 161.5),
        ("t2", 62, 0, 46, 0, 94),
        ("t2", 189.25, 24, 0, 0, 221.5),
        ("t2", 190, 24, 0, 0, 222.25),
        ("t2", 23, 24, 0, 53, 68.5),
        ("t3", 139.25, 0, 24, 0, 171.5),
    ]


def test_a_note_is_one_passage_up_to_its_limit() -> None:
    def lengths(words: int) -> list[float]:
        note = Memory({"kind": "note", "title": "T"}, f"# T\n\n{'port ' * words}\n")
        return [token_count(passage.body) for passage in passages_of(note)]

    assert (lengths(190), lengths(191)) == ([190], [190, 1])
