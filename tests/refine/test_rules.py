"""The rules that need no workspace: receipts, trust, contradictions, parts of a conversation,
shapes of answers.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from keeplore.memory import AgentQuestion, Exchange
from keeplore.recall.since.contradictions import contradiction, is_opposite
from keeplore.refine import decide, extract
from keeplore.refine.answers.answer_schema import ChoiceItem, FactItem, items
from keeplore.refine.classify import (
    ConversationPlace,
    FactClaim,
    NoteKind,
    is_rule_of_others,
    kind_of,
)
from keeplore.refine.prompts import prompt
from keeplore.refine.receipts import is_supported, receipt_of, trust_of
from keeplore.refine.triples import key_of
from keeplore.refine.window import (
    MAX_INPUT,
    Window,
    exchange_key,
    segments_of,
    unasked_exchanges,
    windows,
)
from keeplore.text.fences import fence

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "refine"
CODE = "```python\n" + "print(1)\n" * 30 + "```"
SAID = (
    Exchange(
        "t1",
        "2026-02-09T10:00:00Z",
        "Use “smart” *quotes*\n and dashes – everywhere",
        ("All right, dashes it is.",),
    ),
    Exchange(
        "t2",
        "2026-02-09T10:01:00Z",
        "",
        (AgentQuestion("Which port?", "Port 5433, please", ("5432", "5433")), CODE),
    ),
)


def segments(*exchanges: Exchange, pasted: str = "\0"):
    return segments_of(exchanges, exchanges, lambda text: pasted in text)


@pytest.mark.parametrize("name", ["extract", "decide", "aspects", "digest"])
def test_a_prompt_changes_only_with_its_version(name: str) -> None:
    expected = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    told = prompt(name)
    assert (
        "\n".join(
            [
                f"{told.label}\n\n{told.text}",
                *(["---", *told.table] if told.table else []),
                "",
            ]
        )
        == expected
    )


def test_what_a_model_is_shown_has_speakers_and_no_long_code() -> None:
    [window] = windows(segments(*SAID))
    assert extract.question(window, ()) == (
        "Known notes:\n(none)\n\nTalk:\n"
        "[1 user] Use “smart” *quotes*\n and dashes – everywhere\n"
        "[1 assistant] All right, dashes it is.\n"
        "[2 assistant] Which port?\n- 5432\n- 5433\n"
        "[2 user] Port 5433, please\n"
        "[2 assistant] [code, 30 lines]"
    )


SPANS = [
    (
        'use "smart" quotes and dashes - everywhere.',
        ("t1", "user", "Use “smart” *quotes* and dashes – everywhere"),
    ),
    ("DASHES IT IS", ("t1", "assistant", "dashes it is")),
    ("Port 5433", ("t2", "user", "Port 5433")),
    (
        "print(1)",
        ("t2", "assistant", "print(1)"),
    ),  # what was not shown was said all the same
    ("dashes", ("t1", "user", "dashes")),  # of two who said it, the user
    ("ports 5433", None),
    ("is.", None),
    ("***", None),
]


@pytest.mark.parametrize(("span", "expected"), SPANS)
def test_a_span_is_found_as_it_stands_or_not_at_all(
    span: str, expected: tuple[str, str, str] | None
) -> None:
    found = receipt_of(span, segments(*SAID))
    assert (found and (found.turn, found.speaker, found.words)) == expected


def test_the_trust_of_a_statement_is_the_lowest_of_its_words() -> None:
    talk = (
        Exchange(
            "t1",
            "",
            "Should we cache sessions in Redis?",
            ("Better keep them in signed cookies for a day.",),
        ),
        Exchange(
            "t2", "", "Yes, do exactly that. Prices stay in cents, never in floats.", ()
        ),
        Exchange("t3", "", "PASTED: agents keep their prices in floats.", ()),
    )
    said = segments(*talk, pasted="PASTED")
    receipts = [
        receipt_of(span, said)
        for span in ("Yes, do exactly that", "Prices stay in cents", "prices in floats")
    ]
    statements = (
        "Sessions are kept in signed cookies for a day.",
        "Prices are kept in cents.",
        "Prices are in floats.",
    )
    told = [
        trust_of(text, receipt, said)
        for text, receipt in zip(statements, receipts, strict=True)
        if receipt
    ]
    assert told == ["assistant", "user", "document"]
    assert is_supported("Sessions live in signed cookies.", said)
    assert not is_supported("Sessions live in signed cookies for 30 days.", said)
    assert not is_supported("Kafka streams replicate partitions across brokers.", said)


@pytest.mark.parametrize(
    ("statement", "is_said"),
    [
        ("An invitation expires after a week.", True),
        ("An invitation expires after a month.", False),
        ("An invitation expires weekly.", True),
        ("An invitation is retried for 3 days.", True),
        ("An invitation is retried for three days.", True),
        ("An invitation is retried for four days.", False),
        ("An invitation is retried for 4 days.", False),
        ("An invitation waits 20 seconds.", True),
        ("An invitation waits 20 minutes.", False),
        ("The second invitation is retried.", True),
        ("A daily invitation is retried.", True),
    ],
)
def test_how_long_something_takes_was_said_in_its_unit_and_number(
    statement: str, is_said: bool
) -> None:
    said = "An invitation expires after a week. It waits 20 secs and is retried for three days"
    talk = Exchange("t1", "", f"{said}, 3 times.", ())
    assert is_supported(statement, segments(talk)) is is_said


PAIRS = [
    ("We use tabs in the frontend", "We use spaces in the frontend", "antonym"),
    (
        "Enable gzip on the API gateway",
        "gzip is disabled on the API gateway",
        "antonym",
    ),
    ("Never squash commits on main", "Commits on main are squashed", "negation"),
    ("Die API antwortet nicht mit JSON", "Die API antwortet mit JSON", "negation"),
    (
        "The staging database runs on port 5433",
        "The staging database runs on port 5434",
        "value",
    ),
    ("We deploy the web shop to Fly.io", "We deploy the web shop to Hetzner", "value"),
    (
        "We deploy the web shop to Fly.io",
        "We deploy the web shop to Fly.io from CI",
        "",
    ),
    ("Prices are kept in cents", "The staging database runs on port 5434", ""),
    ("Prices are kept in cents", "prices are kept in CENTS.", ""),
    ("Never log tokens", "Tokens must never be logged", ""),
]


@pytest.mark.parametrize(("one", "other", "expected"), PAIRS)
def test_what_turns_a_statement_round_is_seen_in_either_order(
    one: str, other: str, expected: str
) -> None:
    assert (contradiction(one, other), contradiction(other, one)) == (
        expected,
        expected,
    )


@pytest.mark.parametrize(
    ("statement", "words", "expected"),
    [
        (
            "Never run the tests before you push to main.",
            "run the tests before you push to main",
            True,
        ),
        (
            "The staging cluster may be deleted.",
            "the staging cluster must never be deleted",
            True,
        ),
        (
            "Redis is used for the session cache.",
            "we dropped Redis for the session cache",
            True,
        ),
        ("Do not use Redis for sessions.", "let us avoid Redis for sessions", False),
        ("Use spaces for indentation.", "we don't use tabs, we use spaces", False),
        (
            "We use MySQL for orders.",
            "we do not use PostgreSQL for orders any more, it is MySQL",
            False,
        ),
        (
            "Keep customer names out of the logs.",
            "Our customer names must not appear in logs.",
            False,
        ),
    ],
)
def test_a_statement_that_turns_its_own_words_round_is_told(
    statement: str, words: str, expected: bool
) -> None:
    assert is_opposite(statement, words) is expected


def test_parts_are_cut_between_turns_and_a_huge_turn_at_its_lines() -> None:
    talk = [
        Exchange(f"t{n}", "", f"Question {n} " + "x y " * 1200, ("answer " * 100,))
        for n in range(6)
    ]
    talk.append(
        Exchange("huge", "", "\n".join(["a line of words"] * 2000), ("plan " * 2000,))
    )
    parts = windows(segments(*talk))
    assert all(len(part.text) <= MAX_INPUT for part in parts)
    turns = [{segment.turn for segment in part.segments} for part in parts]
    assert all(
        a.isdisjoint(b) or a & b == {"huge"}
        for n, a in enumerate(turns)
        for b in turns[n + 1 :]
    )
    shown = "\n".join(s.shown for part in parts for s in part.segments).split()
    everything = "\n".join(s.shown for s in segments(*talk)).split()
    assert [word for word in shown if word not in ("plan", "[…]")] == [
        word for word in everything if word != "plan"
    ]
    # the middle of what was too long
    assert shown.count("plan") == 300 and shown.count("[…]") == 1


def test_an_exchange_that_may_still_grow_is_left_for_later() -> None:
    growing, ended = (
        SAID[1],
        Exchange(
            "t3", "2026-02-09T10:02:00Z", "Done?", ("Yes.",), "2026-02-09T10:03:00Z"
        ),
    )
    assert unasked_exchanges(SAID, (), is_open=True) == SAID[:1]
    assert unasked_exchanges((*SAID, ended), {exchange_key(SAID[0])}, is_open=True) == (
        growing,
        ended,
    )
    assert unasked_exchanges(SAID, (), is_open=False) == SAID


def test_recalled_context_is_never_shown_again() -> None:
    recalled = fence("We chose CockroachDB.", "abcdefgh12345678")
    [segment] = segments(Exchange("t1", "", f"{recalled} What now?", (recalled,)))
    assert (segment.text, segment.shown) == ("What now?", "What now?")


def test_a_scope_is_widened_and_a_note_permanent_by_the_users_own_words_alone() -> None:
    place = ConversationPlace("project", "shop", has_user_scope=True)
    mine = FactClaim("preference", "user", "nonsense", 0.95, 0.95, "user")
    assert kind_of(mine, place, 0.9) == NoteKind(
        "user", "", "coding-preferences", is_permanent=True
    )
    theirs = FactClaim("preference", "user", "gotchas", 0.95, 0.95, "assistant")
    assert kind_of(theirs, place, 0.9) == NoteKind(
        "project", "shop", "gotchas", is_permanent=False
    )
    assert kind_of(mine, ConversationPlace("project", "shop"), 0.9).scope == "workspace"
    assert is_rule_of_others("Always run the migrations first.", "assistant")
    assert not is_rule_of_others("Always run the migrations first.", "user")


def test_one_bad_item_costs_that_item() -> None:
    good = {
        "content": "Prices are kept in cents.",
        "type": "decision",
        "confidence": 1,
        "span": "cents",
    }
    bad = [
        {**good, "confidence": "high"},
        {**good, "content": "x"},
        {**good, "content": 5},
        [],
        None,
        1,
    ]
    nan = {**good, "confidence": float("nan")}
    dropped: Counter[str] = Counter()
    found = items(
        {"facts": [good, *bad, nan, *[good] * 25]}, "facts", FactItem, 20, dropped
    )
    assert (len(found), dropped) == (
        20,
        {"facts: wrong shape": 7, "facts: too many": 6},
    )
    for answer in ("text", {"facts": {}}, {}, None):
        with pytest.raises(ValueError, match="no list"):
            items(answer, "facts", FactItem, 20, dropped)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"type": "Decision"}, {"type": "decision"}),
        ({"type": "hunch", "category": "gotchas"}, {"type": "gotcha"}),
        ({"type": "rule", "category": "security"}, {"type": "convention"}),
        ({"type": 7, "category": "no such"}, {"type": "fact"}),
        ({"about": None, "lasting": None}, {"about": "", "lasting": 0.0}),
        ({"confidence": "0.8"}, {"confidence": 0.8}),
        ({"confidence": "80 %", "lasting": "1"}, {"confidence": 0.8, "lasting": 1.0}),
        (
            {"content": f"Prices are in cents. {'And so on ' * 300}"},
            {"content": "Prices are in cents."},
        ),
        ({"span": "word " * 300}, {"span": ("word " * 199).strip()}),
    ],
)
def test_a_field_of_which_the_meaning_is_certain_is_put_right_and_counted(
    said: dict[str, object], meant: dict[str, object]
) -> None:
    good = {
        "content": "Prices are kept in cents.",
        "type": "decision",
        "confidence": 0.9,
        "span": "cents",
        "category": "",
        "lasting": 0.0,
    }
    dropped: Counter[str] = Counter()
    [item] = items({"facts": [{**good, **said}]}, "facts", FactItem, 20, dropped)
    assert item.model_dump() == {
        **FactItem.model_validate(good).model_dump(),
        **said,
        **meant,
    }
    assert dropped == {"facts: put right": 1}


def test_what_a_server_without_schemas_leaves_out_is_supplied() -> None:
    bare = {"content": "Prices are kept in cents.", "span": "cents"}
    dropped: Counter[str] = Counter()
    [item] = items({"facts": [bare]}, "facts", FactItem, 20, dropped)
    texts = dict.fromkeys(("scope", "category", "about", "answers", "ends"), "")
    supplied = {**bare, **texts, "type": "fact", "confidence": 0.7, "lasting": 0.0}
    assert item.model_dump() == supplied
    choice = {"fact": 1, "action": "add", "reason": "new " * 300}
    [made] = items({"decisions": [choice]}, "decisions", ChoiceItem, 20, dropped)
    assert made.model_dump() == {
        "fact": 1,
        "action": "ADD",
        "target": "",
        "content": "",
        "confidence": 0.7,
        "reason": ("new " * 124).strip(),
    }


def test_a_schema_names_every_field_and_no_limit() -> None:
    fields = extract.SCHEMA["properties"]["facts"]["items"]
    assert fields["required"] == [*fields["properties"]]
    assert fields["properties"]["content"] == {"type": "string"}
    assert (
        decide.SCHEMA["properties"]["decisions"]["items"]["properties"]["action"][
            "enum"
        ][0]
        == "ADD"
    )


def test_one_name_has_one_key() -> None:
    assert key_of("Kasha-API") == key_of(" kasha  api") == key_of("kasha_api")
    assert Window(segments(*SAID)).text.startswith("[1 user] ")
