"""A conversation through all stages over a real workspace: what becomes a note, what waits, what
the audit says.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from tests.refine.conftest import ADVICE, ASKED, DECIDED

from keeplore.errors import LlmRefused, LlmUnavailable
from keeplore.index import ScopeFilter
from keeplore.memory import Conversation
from keeplore.memory.note import NoteDraft, statement_of
from keeplore.recall.request import LaterStatement
from keeplore.recall.since.later_statements import ReplacementLookup
from keeplore.refine.pipeline import refine
from keeplore.text.fences import fence
from keeplore.workspace.writing.forget import forget
from keeplore.workspace.writing.proposals import accept, held_proposals, reject

TALK = ((ASKED, ADVICE), (DECIDED, "Noted."))
CHOICE = "The orders service uses PostgreSQL 16 because it needs transactions."
SPAN = "We go with PostgreSQL 16 for the orders service"


def found(*facts: Any, entities: Any = ()) -> dict[str, Any]:
    return {"facts": [*facts], "entities": [*entities]}


def decided(
    action: str,
    target: str = "",
    content: str = "",
    fact: int = 1,
    confidence: float = 0.9,
) -> Any:
    choice = {
        "fact": fact,
        "action": action,
        "target": target,
        "content": content,
        "confidence": confidence,
    }
    return {"decisions": [{**choice, "reason": "because the test says so"}]}


def test_a_fact_becomes_a_note_with_its_receipt_in_one_commit_with_the_audit(
    desk, fact
) -> None:
    talk = desk.say(*TALK)
    triples = [
        {
            "source": "Orders Service",
            "relationship": "uses",
            "target": "`postgresql 16`",
            "confidence": 0.9,
        }
    ]
    triples += [
        {
            "source": "Kafka",
            "relationship": "feeds",
            "target": "Redis",
            "confidence": 1,
        },
        {"source": ""},
        7,
    ]
    result = desk.refine(
        talk,
        found(
            fact(CHOICE, "we go with **PostgreSQL 16**\nfor the orders service"),
            entities=triples,
        ),
    )
    [note] = desk.notes()
    assert (statement_of(note), note.trust, note.category) == (
        CHOICE,
        "user",
        "architectural-decisions",
    )
    assert note.meta["entities"] == [
        {
            "source": "orders service",
            "relationship": "uses",
            "target": "PostgreSQL 16",
            "confidence": 0.9,
        }
    ]
    assert (note.source["from"], note.turns, note.source["session"]) == (
        talk,
        ("session-9-t1",),
        "session-9",
    )
    assert f"> “{SPAN}” — user, turn session-9-t1" in note.body
    assert result.outcomes == {"ADD applied": 1}
    [line] = desk.audit()
    assert (line["proposal"], line["outcome"], line["id"], line["conversation"]) == (
        "ADD",
        "applied",
        note.id,
        talk,
    )
    assert (line["model"], line["prompts"], line["span"]) == (
        "scripted",
        ["extract-5", "decide-2"],
        SPAN,
    )
    [done] = desk.audit("refined")
    assert done["dropped"] == {
        "entities: not in the text": 1,
        "entities: wrong shape": 2,
    }
    assert done["tokens"]["input"] == result.usage.input_tokens > 0
    git = [
        "git",
        "-C",
        str(desk.workspace.root),
        "show",
        "--name-only",
        "--format=",
        "HEAD",
    ]
    changed = subprocess.run(
        git, capture_output=True, text=True, check=True
    ).stdout.split()
    assert sorted(path.split("/")[0] for path in changed) == ["audit", "memory"]


def test_the_conversation_is_committed_before_the_model_is_asked(desk, fact) -> None:
    talk = desk.say(*TALK)
    path = desk.workspace.index.path_of(talk)
    in_head = []

    def answer(_: str) -> Any:
        git = ["git", "-C", str(desk.workspace.root), "cat-file", "-e", f"HEAD:{path}"]
        in_head.append(subprocess.run(git, check=False, capture_output=True).returncode)
        return found()

    desk.refine(talk, answer)
    assert in_head == [0]


def test_the_same_job_twice_asks_nobody_and_changes_nothing(desk, fact) -> None:
    talk = desk.say(*TALK)
    desk.refine(talk, found(fact(CHOICE, SPAN)))
    head, [note] = desk.workspace.store.head(), desk.notes()
    assert desk.refine(talk).why == "it was refined before"
    assert (desk.workspace.store.head(), desk.notes()) == (head, [note])
    # what only knows of another audit, as another machine, asks again and comes to the same note
    (
        desk.workspace.root
        / "audit"
        / desk.workspace.machine
        / f"{line_month(desk)}.jsonl"
    ).unlink()
    assert desk.refine(talk, found(fact(CHOICE, SPAN))).outcomes == {"NONE applied": 1}
    assert desk.notes() == [note]


def line_month(desk) -> str:
    return desk.audit()[0]["at"][:7]


def test_what_an_answer_gets_wrong_costs_that_item_alone(desk, fact) -> None:
    talk = desk.say(*TALK)
    answer = found(
        fact(
            "Redis is what the orders service uses.", "we decided on Redis"
        ),  # no such words
        fact("short", SPAN),
        fact(CHOICE, "yes"),  # stands everywhere
        fact(CHOICE, SPAN, confidence=7),
        fact(CHOICE, SPAN, confidence="sure"),
        "no object",
        fact(CHOICE, SPAN),
    )
    result = desk.refine(
        talk,
        f"<think>well {{}}</think>Here you are:\n```json\n{json.dumps(answer)}\n```",
    )
    assert [statement_of(note) for note in desk.notes()] == [CHOICE]
    assert +result.dropped == {
        "facts: span not in the text": 2,
        "facts: wrong shape": 4,
    }


def test_a_list_of_facts_with_nothing_around_it_is_an_answer(desk, fact) -> None:
    desk.refine(
        desk.say(*TALK),
        found(fact("We go with PostgreSQL 16 for the orders service.", SPAN))["facts"],
    )
    assert len(desk.notes()) == 1


def test_an_answer_that_is_none_changes_nothing(desk) -> None:
    talk = desk.say(*TALK)
    for text in (
        "I would rather not.",
        '{"facts": "none"}',
        '{"facts": [',
        "[]" * 3,
        "No, see [1].",
    ):
        with pytest.raises(LlmRefused):
            desk.refine(talk, text)
    with pytest.raises(LlmUnavailable):
        desk.refine(talk, LlmUnavailable("nobody answers"))
    assert (desk.notes(), desk.audit(), desk.audit("refined")) == ([], [], [])


def test_words_of_the_assistant_are_no_rule_and_never_permanent(desk, fact) -> None:
    talk = desk.say(*TALK)
    pool = "The pool of connections is exhausted after eleven idle clients in session mode."
    desk.refine(
        talk,
        found(
            fact(
                pool,
                "the pool of connections is exhausted after eleven idle clients",
                type="gotcha",
                lasting=1.0,
            ),
            fact(
                "Always run pgbouncer in session mode.",
                "pgbouncer keeps them in session mode",
                lasting=1.0,
            ),
            fact("We go with PostgreSQL 16 for transactions.", SPAN, lasting=0.95),
            # the user agreed, but the words are the assistant's
            fact(
                "One PostgreSQL server takes the load, far below its limits, says pgbouncer.",
                "My name is Lena",
            ),
        ),
    )
    known = {statement_of(note): note for note in desk.notes()}
    assert (known[pool].trust, known[pool].is_permanent) == ("assistant", False)
    assert known["We go with PostgreSQL 16 for transactions."].is_permanent
    held = {
        line["statement"]: line["gate"]
        for line in desk.audit()
        if line["outcome"] == "review"
    }
    assert held["Always run pgbouncer in session mode."] == "rule"
    assert all(
        note.trust == "assistant" for text, note in known.items() if "far below" in text
    )


def test_of_a_rule_that_contradicts_a_note_it_is_told_that_it_is_one(
    desk, fact
) -> None:
    old = desk.workspace.notes.write(
        NoteDraft("Never run pgbouncer in session mode.", created_at="2026-01-01")
    )
    rule = fact(
        "Always run pgbouncer in session mode.", "pgbouncer keeps them in session mode"
    )
    desk.refine(desk.say(*TALK), found(rule), decided("ADD"))
    [line] = desk.audit()
    assert (line["outcome"], line["gate"], line["against"]) == (
        "review",
        "rule",
        old.memory.id,
    )


def test_a_session_that_is_mostly_recalled_text_teaches_nothing_twice(
    desk, fact
) -> None:
    recalled = fence(
        "The billing service runs on CockroachDB in three regions. " * 30,
        "abcdefgh12345678",
    )
    talk = desk.say(
        (f"{recalled}\n{ASKED}", f"{ADVICE}\n\n{recalled}"), (DECIDED, recalled)
    )
    told = fact(
        "The billing service runs on CockroachDB in three regions.",
        "billing service runs on CockroachDB",
    )
    result = desk.refine(talk, found(told, fact(CHOICE, SPAN)))
    assert "CockroachDB" not in desk.model.questions[0]
    assert [statement_of(note) for note in desk.notes()] == [CHOICE]
    assert +result.dropped == {"facts: span not in the text": 1}


MODES = [
    ("shadow", {"UPDATE shadow": 1}, 0),
    ("controlled", {"UPDATE review": 1}, 0),
    ("full", {"UPDATE applied": 1}, 1),
]


@pytest.mark.parametrize(("mode", "outcomes", "versions"), MODES)
def test_a_mode_says_what_becomes_of_an_update(
    desk, fact, mode, outcomes, versions
) -> None:
    old = desk.workspace.notes.write(
        NoteDraft(
            "The orders service uses PostgreSQL 14.", created_at="2026-01-01T00:00:00Z"
        )
    )
    talk = desk.say(*TALK)
    result = desk.refine(
        talk,
        found(fact("The orders service uses PostgreSQL 16.", SPAN)),
        decided("UPDATE", old.memory.id[4:12], CHOICE),
        mode=mode,
    )
    assert result.outcomes == outcomes
    assert f"- [{old.memory.id[4:12]}] (workspace/" in desk.model.questions[1]
    new = [(note.supersedes, note.version, statement_of(note)) for note in desk.notes()]
    assert new == [(old.memory.id, 2, CHOICE)] * versions


def test_what_one_talk_proposes_twice_is_done_once(desk, fact) -> None:
    old = desk.workspace.notes.write(
        NoteDraft("The orders service uses PostgreSQL.", created_at="2026-01-01")
    ).memory.id
    both = [
        fact("The orders service uses PostgreSQL 16.", SPAN),
        fact("PostgreSQL 16 is what the orders service uses.", SPAN),
    ]
    decisions = [
        choice
        for number in (1, 2)
        for choice in decided("UPDATE", old[4:12], CHOICE, number)["decisions"]
    ]
    desk.refine(desk.say(*TALK), found(*both), {"decisions": decisions}, mode="full")
    assert [(note.supersedes, statement_of(note)) for note in desk.notes()] == [
        (old, CHOICE)
    ]
    told = ("outcome", "gate", "detail")
    assert [tuple(map(line.get, told)) for line in desk.audit()] == [
        ("applied", None, None),
        ("blocked", "duplicate", "another proposal does it"),
    ]


def test_nothing_is_asked_where_it_is_frozen(desk) -> None:
    assert desk.refine(desk.say(*TALK), mode="frozen").why == "refining is frozen"
    assert desk.model.questions == []


def test_a_deletion_archives_and_what_is_permanent_is_left_alone(desk, fact) -> None:
    at = "2026-01-01T00:00:00Z"
    gone = desk.workspace.notes.write(
        NoteDraft("The orders service stores its orders in MySQL.", created_at=at)
    )
    kept = desk.workspace.notes.write(
        NoteDraft(
            "Orders of the orders service stay in PostgreSQL forever.",
            permanent=True,
            created_at=at,
        )
    )
    talk = desk.say(*TALK)
    told = [
        fact(
            "We go with PostgreSQL for the orders service, so MySQL is no more.", SPAN
        ),
        fact(
            "We need transactions for the orders service, not PostgreSQL.",
            "need transactions",
        ),
    ]
    answer = {
        "decisions": [
            *decided("DELETE", gone.memory.id[4:12])["decisions"],
            *decided("DELETE", kept.memory.id[4:12], fact=2)["decisions"],
        ]
    }
    result = desk.refine(talk, found(*told), answer, mode="full")
    assert result.outcomes == {"DELETE applied": 1, "DELETE blocked": 1}
    desk.workspace.index.refresh()
    rows = desk.workspace.index.memories([gone.memory.id, kept.memory.id])
    assert (rows[gone.memory.id].is_archived, rows[kept.memory.id].is_archived) == (
        True,
        False,
    )


def test_a_decision_about_what_was_not_shown_or_without_a_reason_is_dropped(
    desk, fact
) -> None:
    desk.workspace.notes.write(
        NoteDraft(
            "The orders service uses PostgreSQL 14.", created_at="2026-01-01T00:00:00Z"
        )
    )
    talk = desk.say(*TALK)
    answer = {
        "decisions": [
            {
                "fact": 1,
                "action": "UPDATE",
                "target": "deadbeef",
                "confidence": 1.0,
                "reason": "x",
                "content": CHOICE,
            },
            {"fact": 1, "action": "ADD", "confidence": 1.0, "reason": "  "},
            {"fact": 9, "action": "ADD", "confidence": 1.0, "reason": "x"},
        ]
    }
    result = desk.refine(talk, found(fact(CHOICE, SPAN)), answer, mode="full")
    assert (desk.notes(), desk.audit()) == ([], [])
    kinds = ("unknown target", "missing", "unknown fact", "wrong shape")
    assert +result.dropped == {
        f"decisions: {kind}" if kind != "wrong shape" else "decisions: wrong shape": 1
        for kind in kinds
    }


def test_what_contradicts_waits_and_what_a_person_decides_is_a_change_like_any_other(
    desk, fact
) -> None:
    old = desk.workspace.notes.write(
        NoteDraft(
            "We never use PostgreSQL for the orders service.", created_at="2026-01-01"
        )
    )
    talk = desk.say(*TALK)
    told = [
        fact("We use PostgreSQL for the orders service.", SPAN),
        fact("The user is called Lena.", "My name is Lena", type="fact", scope="user"),
    ]
    asked: list[Any] = [found(*told)]
    asked.append(
        {
            "decisions": [
                *decided("ADD")["decisions"],
                *decided("ADD", fact=2, confidence=0.6)["decisions"],
            ]
        }
    )
    near = desk.refine(talk, asked[0], *asked[1:])
    assert near.outcomes["ADD review"] == 1
    [held] = held_proposals(desk.workspace, ScopeFilter())
    assert (held.entry["gate"], held.entry["detail"][:8], held.against.id) == (
        "contradiction",
        "negation",
        old.memory.id,
    )
    accept(desk.workspace, held, in_place_of=held.against)
    desk.workspace.index.refresh()
    assert [*held_proposals(desk.workspace, ScopeFilter())] == []
    versions = desk.workspace.notes.history(old.memory.id)
    assert [statement_of(version.memory) for version in versions] == [
        "We never use PostgreSQL for the orders service.",
        "We use PostgreSQL for the orders service.",
    ]
    assert versions[-1].memory.trust == "user"
    source = versions[
        -1
    ].memory.source  # of the words that it quotes, and not of the note that it replaces
    assert (source["from"], source["session"], source["turns"]) == (
        talk,
        "session-9",
        [held.entry["turn"]],
    )


def test_a_note_is_never_the_opposite_of_what_it_quotes(desk, fact) -> None:
    talk = desk.say(*TALK)
    lasting = {"confidence": 1.0, "lasting": 1.0}
    desk.refine(
        talk,
        found(
            fact(
                "We never go with PostgreSQL 16 for the orders service.",
                SPAN,
                **lasting,
            )
        ),
    )
    [line] = desk.audit()
    assert (line["outcome"], line["gate"], desk.notes()) == ("review", "support", [])


def test_a_proposal_that_was_rejected_or_forged_is_not_offered(desk, fact) -> None:
    talk = desk.say(*TALK)
    desk.refine(
        talk,
        found(
            fact(
                "Always run pgbouncer in session mode.",
                "pgbouncer keeps them in session mode",
            )
        ),
    )
    [held] = held_proposals(desk.workspace, ScopeFilter())
    store, machine = desk.workspace.store, desk.workspace.machine
    store.record(
        machine,
        {**held.entry, "id": f"{held.id[:-1]}0", "span": "words that nobody said"},
    )
    store.record("elsewhere", {**held.entry, "id": f"{held.id[:-1]}1"})
    assert [other.id for other in held_proposals(desk.workspace, ScopeFilter())] == [
        held.id
    ]
    reject(desk.workspace, held)
    assert [*held_proposals(desk.workspace, ScopeFilter())] == []


def test_what_was_forgotten_stays_so(desk, fact) -> None:
    talk = desk.say(*TALK)
    desk.refine(talk, found(fact(CHOICE, SPAN)))
    forget(desk.workspace, desk.notes()[0].id)
    other = desk.say(
        *((f"{user} ", f"{assistant} ") for user, assistant in TALK), day=11
    )
    result = desk.refine(other, found(fact(CHOICE, SPAN)))
    assert result.outcomes == {"ADD blocked": 1}

    def forgotten_meanwhile(_: str) -> Any:
        forget(desk.workspace, third)
        return found(
            fact(
                "The orders service has two people of the team behind it.",
                "two people of the team",
            )
        )

    third = desk.say((f"{ASKED} So?", ADVICE), day=12)
    assert desk.refine(third, forgotten_meanwhile).why == "it was forgotten meanwhile"
    assert desk.notes() == []


def test_another_machines_talk_is_left_to_it(desk) -> None:
    talk = desk.say(*TALK)
    path = desk.workspace.index.path_of(talk)
    memory = desk.workspace.store.load(path)
    desk.workspace.store.save(
        memory.with_meta(source={**memory.source, "machine": "studio"})
    )
    assert desk.refine(talk).why == "another machine captured it"


def test_only_what_is_new_is_asked_about(desk, fact) -> None:
    talk = desk.say(*TALK)
    desk.refine(talk, found())
    path = desk.workspace.index.path_of(talk)
    memory = desk.workspace.store.load(path)
    more = memory.body.replace("Noted.", f"Noted. {ADVICE} " * 2)
    desk.workspace.store.save(type(memory)(memory.meta, more))
    desk.refine(talk, found())
    assert ASKED[:60] not in desk.model.questions[1]
    assert "Noted." in desk.model.questions[1]


def test_a_lease_that_was_lost_leaves_everything_as_it_is(desk, fact) -> None:
    talk = desk.say(*TALK)
    desk.model.answers = [found(fact(CHOICE, SPAN))]
    result = refine(desk.around, desk.account, talk, "controlled", keep=lambda: False)
    assert result.why == "another process has taken this over"
    assert (desk.notes(), desk.audit("refined")) == ([], [])


KAFKA = "Events go through Kafka between the services."
REVERSED = "No Kafka then: events stay in PostgreSQL."
EVENTS = "Events stay in PostgreSQL, and not in Kafka."
LONGER_TALK = (*TALK, ("How do events travel?", KAFKA), (REVERSED, "Noted."))


def later_of(desk, talk: str) -> LaterStatement | None:
    """What is told beside the words on Kafka."""
    workspace = desk.workspace
    workspace.index.refresh()
    [row] = workspace.index.memories([talk]).values()
    said = Conversation.from_markdown(workspace.store.load(row.path).body)
    trust = workspace.machine_trust.trust_of
    replacements = ReplacementLookup(
        workspace.index, workspace.store.load, trust, lambda _: True
    )
    return replacements.of(row, said, f"Assistant: {KAFKA}", "session-9-t2")


def test_what_a_fact_answers_and_ends_is_told_with_its_words(desk, fact) -> None:
    talk = desk.say(*LONGER_TALK)
    relations = {"answers": "How do **events** travel?", "ends": KAFKA}
    desk.refine(talk, found(fact(EVENTS, REVERSED, **relations)))
    [note] = desk.notes()
    assert note.source["ended"] == {
        "words": KAFKA[:-1],
        "speaker": "assistant",
        "turn": "session-9-t2",
    }
    quoted = [line for line in note.body.splitlines() if line.startswith("> ")]
    assert quoted == [
        "> “How do events travel” — user, turn session-9-t2",
        f"> “{REVERSED[:-1]}” — user, turn session-9-t3",
    ]
    [line] = desk.audit()
    assert line["ended"] == note.source["ended"]
    later = LaterStatement(EVENTS, note.id, "", "2026-02-09T10:03:00Z")
    assert later_of(desk, talk) == later
    assert list(desk.workspace.index.flaws()) == []


@pytest.mark.parametrize(
    ("relations", "dropped"),
    [
        (
            {"ends": "Events go through RabbitMQ"},
            {"facts: ends nothing in the text": 1},
        ),
        ({"ends": "Noted."}, {"facts: ends nothing in the text": 1}),  # said later
        ({"ends": REVERSED}, {"facts: ends nothing in the text": 1}),  # itself
        ({"ends": "ok"}, {"facts: ends nothing in the text": 1}),
        ({"answers": "Which queue?"}, {"facts: answers nothing in the text": 1}),
        ({"ends": 7}, {"facts: wrong shape": 1}),
        ({"ends": "x" * 20_000}, {"facts: wrong shape": 1}),
        ({"ends": ["a"], "answers": {}}, {"facts: wrong shape": 1}),
    ],
)
def test_a_relation_that_the_words_do_not_bear_out_is_dropped(
    desk, fact, relations: dict[str, Any], dropped: dict[str, int]
) -> None:
    talk = desk.say(*LONGER_TALK)
    result = desk.refine(talk, found(fact(EVENTS, REVERSED, **relations)))
    assert {key: count for key, count in result.dropped.items() if count} == dropped
    assert ["ended" in note.source for note in desk.notes()] in ([], [False])
    later = later_of(desk, talk)
    # told is what the person said next, and by no note
    assert later and (later.text, later.memory_id) == (REVERSED, talk)


def test_of_what_put_an_end_to_words_the_newest_version_is_told(desk, fact) -> None:
    talk = desk.say(*LONGER_TALK)
    desk.refine(talk, found(fact(EVENTS, REVERSED, ends=KAFKA)))
    [note] = desk.notes()
    body = note.body.replace(EVENTS, "Events stay in one database.")
    newer = desk.workspace.notes.revise(note.id, body=body)
    later = later_of(desk, talk)
    assert later is not None
    assert (later.text, later.memory_id) == (
        "Events stay in one database.",
        newer.memory.id,
    )


def test_an_agent_puts_no_end_to_what_the_person_said(desk, fact) -> None:
    claim = "Events go through Kafka, I have set that up between the services."
    talk = desk.say(*TALK, ("Events stay in PostgreSQL.", "Yes."), ("Go on.", claim))
    said = fact("Events go through Kafka.", claim, ends="Events stay in PostgreSQL.")
    result = desk.refine(talk, found(said))
    assert result.dropped["facts: ends nothing in the text"] == 1
    assert "ended" not in desk.notes()[0].source


def test_in_shadow_the_talk_alone_tells_what_holds(desk, fact) -> None:
    talk = desk.say(*LONGER_TALK)
    desk.refine(talk, found(fact(EVENTS, REVERSED, ends=KAFKA)), mode="shadow")
    assert desk.audit()[0]["ended"]["words"] == KAFKA[:-1]
    later = later_of(desk, talk)
    # what the person said next
    assert later and later.memory_id == talk
