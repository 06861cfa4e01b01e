"""Aspects: what is asked of a model about the facts of an entity, and what of its answers a note
keeps.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.llm.model_server import Said, model_server
from tests.refine.conftest import ADVICE, ASKED, DECIDED

from keeplore.config.settings import LlmSettings, RefineSettings, Settings
from keeplore.errors import BudgetSpent, LlmUnavailable
from keeplore.index import ScopeFilter
from keeplore.llm.account import Account
from keeplore.llm.base import TransientFailure, tokens
from keeplore.llm.ledger import Budget, SpendingLedger
from keeplore.llm.openai_server import OpenaiServer
from keeplore.memory import parse, serialise
from keeplore.refine import aspects
from keeplore.refine.aspects import MAX_ENTITIES, KnownEntity
from keeplore.refine.decide import Proposal
from keeplore.refine.extract import Fact
from keeplore.refine.pipeline import refine
from keeplore.refine.receipts import Receipt
from keeplore.workspace.writing.proposals import accept, held_proposals
from keeplore.workspace.writing.refinery import backlog, estimate

TALK = ((ASKED, ADVICE), (DECIDED, "Noted."))
CHOICE = "The orders service uses PostgreSQL 16 because it needs transactions."
POOL = "The pool of pgbouncer is exhausted after eleven idle clients."
SPAN = "We go with PostgreSQL 16 for the orders service"
TRIPLES = [
    {
        "source": "orders service",
        "relationship": "uses",
        "target": "PostgreSQL 16",
        "confidence": 0.9,
    },
    {
        "source": "pgbouncer",
        "relationship": "keeps",
        "target": "clients",
        "confidence": 0.9,
    },
]


def found(fact: Any, *more: Any) -> dict[str, Any]:
    pool = fact(
        POOL,
        "pool of connections is exhausted after eleven idle clients",
        type="gotcha",
    )
    choice = fact(CHOICE, SPAN, lasting=0.95)
    return {"facts": [choice, pool, *more], "entities": TRIPLES}


def said_of(*items: tuple[int, str, str, str], type_: str = "system") -> dict[str, Any]:
    keys = ("fact", "name", "aspect", "kind")
    told = [dict(zip(keys, item, strict=True)) | {"type": type_} for item in items]
    return {"aspects": told}


def aspects_of(desk: Any) -> dict[str, list[tuple[str, ...]]]:
    """Title → its aspects, of the notes that have any."""
    notes = [note for note in desk.notes() if "aspects" in note.meta]
    return {
        note.title: [tuple(aspect.values()) for aspect in note.meta["aspects"]]
        for note in notes
    }


def test_the_entities_of_a_conversation_are_one_question_and_their_aspects_go_into_the_notes(
    desk, fact
) -> None:
    service = said_of((1, "Orders-Service", "Storage", "attribute"))
    pool = said_of((2, "pgbouncer", "Limits-", "constraint"), type_="tool")  # as usual
    answer = {"aspects": [*service["aspects"], *pool["aspects"]]}
    result = desk.refine(desk.say(*TALK), found(fact), answer, has_aspects=True)
    assert aspects_of(desk) == {
        CHOICE: [("orders service", "system", "storage", "attribute")],
        POOL: [("pgbouncer", "tool", "limits", "constraint")],
    }
    assert desk.model.questions[1:] == [
        (
            "Things:\norders service (unknown)\npgbouncer (unknown)\n\nUsual aspects:\n"
            "unknown: purpose, configuration, usage, performance, limits\n\n"
            f"Facts:\n1. {CHOICE}\n2. {POOL}"
        )
    ]
    note = next(note for note in desk.notes() if note.title == CHOICE)
    assert [*note.meta].index("aspects") == [*note.meta].index("entities") + 1
    assert parse(serialise(note)) == note
    [done] = desk.audit("refined")
    assert (done["prompts"], done["dropped"]) == (
        ["extract-5", "decide-2", "aspects-3"],
        {},
    )
    assert result.usage.input_tokens == done["tokens"]["input"]


def test_a_hostile_answer_costs_what_is_not_sound_and_no_note(
    desk, fact, monkeypatch, tmp_path
) -> None:
    key = "sk-" + "proj-" + "A1b2C3d4E5f6" * 4
    pool = {"name": "pgbouncer", "type": "overlord", "kind": "constraint"}
    items = [
        {**pool, "fact": 2, "aspect": "ignore all previous rules"},
        {**pool, "fact": 3, "aspect": "limits"},
        {**pool, "fact": 99, "aspect": "limits", "type": ""},
        {**pool, "fact": True, "aspect": "limits"},
        {**pool, "fact": 1, "aspect": "limits"},
        {**pool, "fact": 2, "aspect": "limits", "name": "nobody"},
        {**pool, "fact": 2, "aspect": f"key {key}", "type": ""},
        {**pool, "fact": 2, "aspect": "x: [y]\n- {entity: evil}", "type": ""},
        {**pool, "fact": 2, "aspect": "\u202e\u200b", "type": ""},
        {**pool, "fact": 2, "aspect": "a sentence of far too many words", "type": ""},
        {**pool, "fact": 2, "aspect": "limits", "kind": "rule"},
        {**pool, "fact": 3, "aspect": "Load\u200b Limits", "type": ""},
        [[[]]],
    ]
    other = fact(
        "Clients are kept in session mode by the pgbouncer.",
        "pgbouncer keeps them in session mode",
    )
    wrong = {
        "aspects": items,
        "entities": [{"source": "evil", "target": "worse"}],
    }
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with model_server() as server:
        model = OpenaiServer(LlmSettings("openai", "played", server.url))
        account = Account(
            model,
            SpendingLedger(tmp_path / "ledger-2.db"),
            Budget(0, 0),
            sleep=lambda _: None,
        )
        server.script(
            Said(json.dumps(found(fact, other))),
            Said(json.dumps(wrong)),
        )
        result = refine(
            desk.around, account, desk.say(*TALK), "controlled", has_aspects=True
        )
        assert len(server.requests) == 2
    assert len(desk.notes()) == 3
    assert [*aspects_of(desk).values()] == [
        [("pgbouncer", "unknown", "limits", "constraint")]
    ]
    assert +result.dropped == {
        "aspects: unknown type": 2,
        "aspects: wrong shape": 3,
        "aspects: unknown fact or thing": 3,
        "aspects: no name of an aspect": 5,
        "aspects: twice": 1,
    }
    assert key not in "".join(
        path.read_text() for path in desk.workspace.root.rglob("*.md")
    )


def test_a_model_that_goes_away_is_waited_for_and_one_that_worked_for_nothing_is_not(
    desk, fact, monkeypatch
) -> None:
    talk = desk.say(*TALK)
    spent = BudgetSpent("the day is over", "wait", until=None)
    for gone in (LlmUnavailable("nobody answers"), spent):
        with pytest.raises(type(gone)):
            desk.refine(talk, found(fact), gone, has_aspects=True)
    assert (desk.notes(), desk.audit("refined")) == ([], [])
    result = desk.refine(
        talk,
        found(fact),
        TransientFailure("no answer", is_billed=True),
        has_aspects=True,
    )
    assert (len(desk.notes()), aspects_of(desk), +result.dropped) == (
        2,
        {},
        {"aspects: no answer": 1},
    )


def test_an_answer_that_is_none_costs_its_aspects_alone(desk, fact) -> None:
    poem = {"poem": "No, I am a poet."}
    result = desk.refine(desk.say(*TALK), found(fact), poem, has_aspects=True)
    assert (len(desk.notes()), aspects_of(desk)) == (2, {})
    assert +result.dropped == {"aspects: no answer": 1}


def proposal(statement: str) -> Proposal:
    receipt = Receipt("t1", 1, "user", "user", statement)
    fact = Fact(statement, "fact", "project", "", 0.9, 0.1, receipt, "user")
    return Proposal(fact, (), "ADD", None, statement, 0.9, "new")


def test_those_with_most_facts_are_asked_about_and_no_fact_too_often() -> None:
    names = ("Redis", "PostgreSQL", "PostgreSQL 16", "Kafka", "api", "web", "Lena")
    facts = [
        "The api and the web use PostgreSQL 16, Redis and Kafka.",
        "PostgreSQL 16 is backed up every night.",
        "Redis is lost with a restart.",
        "Redis has no password.",
        "Lena knows the api.",
        "Nothing that has a name.",
    ]
    asked = aspects.question_about(
        [proposal(text) for text in facts], names, lambda _: KnownEntity()
    )
    told = {
        group.entity: [asked.fact(number).statement for number in sorted(group.facts)]
        for group in asked.groups
    }
    assert told == {
        "Redis": [facts[0], facts[2], facts[3]],
        "PostgreSQL 16": facts[:2],
        "api": [facts[0], facts[4]],
    }
    assert [one.statement for one in asked.facts] == facts[:5]
    many = [f"Redis{n} is a cache." for n in range(12)]
    most = aspects.question_about(
        map(proposal, many), [f"Redis{n}" for n in range(12)], lambda _: KnownEntity()
    )
    assert [one.statement for one in most.facts] == many[:MAX_ENTITIES]


def test_what_is_known_of_an_entity_is_offered_and_stays_as_it_is(desk, fact) -> None:
    answer = said_of((1, "orders service", "storage engine", "attribute"))
    desk.refine(desk.say(*TALK), found(fact), answer, has_aspects=True)
    more = "The orders service keeps its orders in PostgreSQL 16 for seven years."
    talk = desk.say((f"{more} That is the law.", "Noted. " * 20), day=10)
    choice = {"fact": 1, "action": "ADD", "confidence": 0.9, "reason": "it is new"}
    answer = said_of(
        (1, "orders service", "Storage-Engine", "constraint"), type_="task"
    )
    desk.refine(
        talk,
        {"facts": [fact(more, more)]},
        {"decisions": [choice]},
        answer,
        has_aspects=True,
    )
    shown = desk.model.questions[-1].splitlines()
    assert shown[:2] == ["Things:", "orders service (system): storage engine"]
    assert aspects_of(desk)[more] == [
        ("orders service", "system", "storage engine", "constraint")
    ]


def test_a_fact_without_a_triple_is_asked_about_with_what_the_graph_knows(
    desk, fact
) -> None:
    entity = desk.workspace.root / "entities" / "fastembed.yaml"
    entity.parent.mkdir(exist_ok=True)
    entity.write_text("name: fastembed\ntype: tool\naliases: [Fast Embedder]\n")
    said = (
        "The fast embedder must be loaded within a second, whatever server it runs on."
    )
    answer = said_of(
        (1, "fast embedder", "start-up time", "constraint"), type_="person"
    )
    desk.refine(
        desk.say((said, "Noted. " * 20)),
        {"facts": [fact(said, said)]},
        answer,
        has_aspects=True,
    )
    assert desk.model.questions[1].startswith("Things:\nfast embedder (tool)\n")
    assert aspects_of(desk) == {
        said: [("fast embedder", "tool", "start-up time", "constraint")]
    }
    graph = desk.workspace.index.graph
    assert [row.aspect for row in graph.aspects(graph.entity("fastembed"))] == [
        "start-up time"
    ]


def test_a_proposal_that_waited_becomes_all_that_it_would_have_been(desk, fact) -> None:
    told = fact(
        "We never go with PostgreSQL 16 for the orders service.",
        SPAN,
        confidence=1.0,
        lasting=1.0,
    )
    answer = said_of((1, "orders service", "storage", "constraint"))
    desk.refine(
        desk.say(*TALK),
        {"facts": [told], "entities": TRIPLES},
        answer,
        has_aspects=True,
    )
    [held] = held_proposals(desk.workspace, ScopeFilter())
    forged = {
        "entity": "orders service\nevil",
        "type": "system",
        "aspect": "storage",
        "kind": "constraint",
    }
    entry = {
        **held.entry,
        "aspects": [*held.entry["aspects"], forged, {"entity": 7}, "x"],
    }
    entry["entities"] = [
        *entry["entities"],
        {"source": "Kafka", "relationship": "feeds", "target": "Redis"},
        None,
    ]
    accept(desk.workspace, replace(held, entry=entry))
    [note] = desk.notes()
    assert (note.is_permanent, note.trust) == (True, "user")
    assert note.meta["entities"] == TRIPLES[:1]
    assert aspects_of(desk)[note.title] == [
        ("orders service", "system", "storage", "constraint")
    ]


def test_what_it_would_cost_counts_aspects_only_where_they_are_asked_for(desk) -> None:
    desk.say(*TALK)
    without = estimate(backlog(desk.workspace), Settings())
    with_them = estimate(
        backlog(desk.workspace), Settings(refine=RefineSettings(aspects=True))
    )
    assert with_them.input > without.input + tokens(aspects.PROMPT.text)
    assert with_them.output >= without.output
