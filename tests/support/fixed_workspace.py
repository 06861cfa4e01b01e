"""A workspace that is the same in each run, to the ids and times: what is shown of it can be
compared with what is written down.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import sample_workspace
from sample_workspace import NAMES, conversation, hostile

from keeplore.memory import Memory, new_id, new_meta
from keeplore.memory.merge.memory_merge import TRIGGER
from keeplore.refine.changes import EVENT
from keeplore.refine.decide import ProposalAction
from keeplore.refine.gates import ProposalOutcome
from keeplore.text.dates import in_utc, now
from keeplore.workspace.workspace import Workspace

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
TALK = new_id("talk", "5")
FAR = "bens-laptop-77aa"


def fill(workspace: Workspace) -> None:
    """Conversations, notes of each kind, a dispute, and what others wrote."""
    with mock.patch.object(sample_workspace, "moment", moment):
        for made in memories(workspace.machine):
            workspace.store.save(made)
        workspace.commit("Sample")
        sample_workspace.foreign(workspace)
    workspace.index.refresh()


def key(name: str) -> str:
    return new_id("whole", name)


def moment(days_ago: float) -> str:
    return in_utc(NOON - timedelta(days=days_ago))


def note(name: str, days_ago: float, title: str, text: str = "", **meta: Any) -> Memory:
    made = new_meta(
        **{"scope": "workspace", "trust": "user", "version": 1} | meta,
        id=key(name),
        kind="note",
        title=title,
        created_at=moment(days_ago),
        updated_at=moment(days_ago),
    )
    return Memory(made, f"# {title}\n" + (f"\n{text}\n" if text else ""))


def dispute(name: str, days_ago: float, **meta: Any) -> Iterator[Memory]:
    """Two versions of one note that two machines made."""
    first = note(name, days_ago, f"The {name} API times out after 30 seconds.", **meta)
    yield first
    beside = {"related": [{"id": first.id, "relationship": "contradicts"}]}
    title = f"The {name} API times out after 45 seconds."
    yield note(f"{name}-other", days_ago - 1, title, trigger=TRIGGER, **meta | beside)


def memories(machine: str) -> Iterator[Memory]:
    """Conversations, notes of each kind, a dispute, and what an attacker wrote."""
    own = {"machine": machine, "host": "codex", "session": "session-9"}
    latest: dict[int, Memory] = {}
    for number in range(7):
        topic, project = number % 5, NAMES[number % len(NAMES)]
        made = conversation(number, 40.5 - 3 * number, project, latest.get(topic))
        latest[topic] = made.with_meta(source={**made.source, "machine": machine})
        yield latest[topic]
    shop = {"scope": "project", "project": "shop", "source": own}
    old = note("old", 9, "Deploys", "We deploy on Fridays.", **shop)
    yield old
    text = "We deploy on Tuesdays, after `make test`.\n\n> On Tuesdays, please.\n"
    newer = {"version": 2, "supersedes": old.id, "category": "project-conventions"}
    yield note("new", 8, "Deploys", text, **shop | newer)
    lasting = {"permanent": True, "category": "architectural-decisions"}
    text = "Auditors ask for every earlier state."
    billing = {**shop, "project": "billing"}
    yield note(
        "ledger", 7, "Ledger entries are append-only", text, **billing, **lasting
    )
    source = {**own, "turns": [latest[2].turns[1]]}
    yield note("tabs", 6, "I prefer tabs in Makefiles", scope="user", source=source)
    yield from dispute("shop", 5, **shop)
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
    tables = ", ".join(f"`orders_{name}`" for name in names)
    text = f"Its tables are {tables}, since #7; `orders_eta` holds what is parked."
    about = {
        "entities": [
            {"source": "orders service", "relationship": "uses", "target": "Postgres"},
            {"source": "billing", "relationship": "asks", "target": "orders service"},
        ],
        "aspects": [
            {
                "entity": "Postgres",
                "type": "tool",
                "aspect": "version",
                "kind": "constraint",
            }
        ],
    }
    yield note(
        "queue",
        3.5,
        "The orders service keeps its queue in Postgres",
        text,
        **shop,
        **about,
    )
    yield note("seven", 3.4, "Issue #7 is done", "`orders_eta` is there.", **shop)
    place = {"source": own, "created_at": moment(3), "updated_at": moment(3)}
    yield hostile().with_meta(**place)


def propose(workspace: Workspace) -> None:
    """What a model proposed and was held back: a note, its changes, and leaving one out."""
    talk = workspace.store.load(workspace.index.memories([TALK])[TALK].path)
    at = now()  # of all: of two seconds the later one would be listed first
    for name, action, about in (
        ("add", ProposalAction.ADD, {}),
        ("own words", ProposalAction.ADD, {}),
        ("instead", ProposalAction.ADD, {"against": key("tabs")}),
        ("update", ProposalAction.UPDATE, {"target": key("new")}),
        ("delete", ProposalAction.DELETE, {"target": key("ledger")}),
        ("refused", ProposalAction.ADD, {}),
    ):
        entry = {
            "at": at,
            "event": EVENT,
            "id": key(name),
            "proposal": action,
            "outcome": ProposalOutcome.REVIEW,
            "gate": "conflict",
            "detail": "it contradicts a note",
            "statement": f"The {name} way is taken.",
            "conversation": TALK,
            "span": "Failed jobs are retried five times, then parked.",
            "speaker": "user",
            "turn": talk.turns[1],
            "category": "architectural-decisions",
            "scope": "project",
            "project": "billing",
            **about,
        }
        workspace.store.record(workspace.machine, entry)
    workspace.commit("Propose")
