"""A workspace as a person has it after some weeks, and one with very many memories."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keeplore.config.places import Places
from keeplore.memory import Conversation, Exchange, Memory, Quote, new_id, new_meta
from keeplore.memory.conversation_body import ConversationLink
from keeplore.memory.merge.memory_merge import TRIGGER
from keeplore.memory.note import NoteDraft
from keeplore.store.git import signature
from keeplore.text.dates import in_utc
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

NAMES = ("shop", "billing", "website")
HOSTS = ("claude-code", "codex", "cursor")
TITLES = {
    "Retries of failed jobs": (
        "Failed jobs are retried five times, then parked.",
        "A poisoned job would block its queue for ever otherwise.",
        "Who looks at what is parked?",
    ),
    "Rounding of VAT": (
        "VAT is rounded once for each invoice line, never on the total.",
        "The tax office checks lines.",
        "",
    ),
    "Outbox in place of SQS": (
        "We drop SQS for an outbox table in Postgres.",
        "One transaction holds both writes.",
        "How long do we keep sent rows?",
    ),
    "Staging gateway": (
        "The staging gateway listens on port 8443.",
        "443 belongs to the load balancer.",
        "",
    ),
    "Colours of the login page": (
        "The login page keeps the blue of the logo.",
        "Contrast is 7:1 with white.",
        "",
    ),
}


def moment(days_ago: float) -> str:
    return in_utc(datetime.now(UTC) - timedelta(days=days_ago))


def conversation(
    number: int, days_ago: float, project: str, earlier: Memory | None = None
) -> Memory:
    title = [*TITLES][number % len(TITLES)]
    decision, reason, question = TITLES[title]
    turns = [str(new_id("turn", str(number), str(n)))[4:] for n in range(3)]
    exchanges = (
        Exchange(
            turns[0],
            moment(days_ago),
            f"What do we do about {title.lower()}?",
            (
                "There are two ways. Let me **list** them:\n\n1. the old one\n2. the new one",
            ),
        ),
        Exchange(
            turns[1],
            moment(days_ago - 0.01),
            decision,
            (f"Agreed. {reason}\n\n```python\nlimit = 5  # {number}\n```",),
        ),
        Exchange(
            turns[2], moment(days_ago - 0.02), question or "Thanks, go on.", ("Done.",)
        ),
    )
    talk = Conversation(
        title,
        exchanges,
        session_context=f"{project}, branch main",
        projects=(project,),
        decision=(Quote(decision, "user", turns[1]),),
        reasoning=(Quote(reason, "assistant", turns[1]),),
        open_questions=(Quote(question, "user", turns[2]),) if question else (),
    )
    if earlier:
        link = ConversationLink(earlier.title, earlier.id, "relates-to")
        talk = replace(talk, related=(link,))
    meta = new_meta(
        id=new_id("talk", str(number)),
        kind="conversation",
        title=title,
        created_at=moment(days_ago),
        updated_at=moment(days_ago - 0.02),
        version=1,
        scope="project",
        project=project,
        related=[{"id": earlier.id, "relationship": "relates-to"}] if earlier else [],
        trust="assistant",
        source={
            "host": HOSTS[number % len(HOSTS)],
            "session": f"session-{number}",
            "turns": turns,
            "machine": "studio-1a2b",
        },
    )
    return Memory(meta, talk.to_markdown())


def hostile() -> Memory:
    body = (
        "# <script>document.title='broken'</script>\n\n"
        "<img src=x onerror=\"document.title='broken'\"> and <svg onload=alert(1)>\n\n"
        "[click](javascript:document.title='broken') and ![far](https://evil.invalid/x.png)\n\n"
        "[data](data:text/html,<script>1</script>) <javascript:alert(1)>\n\n"
        "Turned \u202etxt.exe\u202c round, with a zero\u200bwidth space.\n\n"
        "{{ 7 * 7 }} {% raw %} </textarea></div></main>\n\n"
        "[web](https://example.com/a?b=1&c=2) and [file](../src/queue.py)\n"
    )
    meta = new_meta(
        id=new_id("hostile"),
        kind="note",
        title="<script>document.title='broken'</script> \u202eevil",
        created_at=moment(1),
        scope="workspace",
        category='"><img src=x onerror="document.title=\'broken\'">',
        trust="document",
        source={"machine": "studio-1a2b", "host": "<b>host</b>"},
    )
    return Memory(meta, body)


def build(places: Places, root: Path, *, talks: int = 12) -> None:
    """Conversations of three projects, notes with versions, a dispute, a machine of somebody
    else's, and a memory of an attacker.
    """
    initialise(places, root)
    with Registry(places) as registry:
        workspace = registry.for_directory(root)
        machine, latest = workspace.machine, {}
        for number in range(talks):
            project = NAMES[number % len(NAMES)]
            topic = number % len(TITLES)
            made = conversation(
                number, 40 - 3 * number + 0.5, project, latest.get(topic)
            )
            source = {**made.source, "machine": machine}
            latest[topic] = made = made.with_meta(source=source)
            workspace.store.save(made)
        _notes(workspace)
        _dispute(workspace)
        workspace.store.save(hostile().with_meta(source={"machine": machine}))
        workspace.index.refresh()
        workspace.commit("Sample")
        foreign(workspace)
        workspace.index.refresh()
        workspace.index.embed_pending()


def _notes(workspace: Workspace) -> None:
    notes = workspace.notes
    old = notes.write(
        NoteDraft(
            "We deploy on Fridays, after the tests are green.",
            category="project-conventions",
            scope="project",
            project="shop",
        )
    )
    notes.revise(
        old.memory.id,
        body="# Deploys\n\nWe deploy on Tuesdays, after the tests are green.\n",
        title="Deploys",
    )
    notes.write(
        NoteDraft(
            "Ledger entries are append-only: auditors ask for every earlier state.",
            category="architectural-decisions",
            scope="project",
            project="billing",
            permanent=True,
        )
    )
    notes.write(
        NoteDraft(
            "I prefer tabs in Makefiles and nowhere else.",
            category="coding-preferences",
            scope="user",
        )
    )


def _dispute(workspace: Workspace) -> None:
    first = workspace.notes.write(
        NoteDraft(
            "The API times out after 30 seconds.",
            category="infrastructure",
            scope="project",
            project="shop",
        )
    )
    meta = {
        **first.memory.meta,
        "id": new_id("other side"),
        "trigger": TRIGGER,
        "title": "The API times out after 45 seconds.",
        "related": [{"id": first.memory.id, "relationship": "contradicts"}],
    }
    body = "# The API times out after 45 seconds.\n"
    workspace.store.save(Memory(meta, body))


def foreign(workspace: Workspace) -> None:
    """What Ben wrote on his laptop two days ago: before whatever this machine commits."""
    at = moment(2)
    meta = new_meta(
        id=new_id("foreign"),
        kind="note",
        title="Ben says that Redis is fine",
        created_at=at,
        scope="workspace",
        category="architectural-decisions",
        trust="user",
        source={"machine": "bens-laptop-77aa"},
    )
    workspace.store.save(Memory(meta, "# Ben says that Redis is fine\n"))
    message = signature.with_machine("Ben's memory", "bens-laptop-77aa")
    ben = ("--author=Ben <ben@example.invalid>", f"--date={at}")
    for arguments in (("add", "-A"), ("commit", "-q", "-m", message, *ben)):
        subprocess.run(("git", *arguments), cwd=workspace.root, check=True)
