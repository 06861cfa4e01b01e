"""What a person tells Keeplore by hand: whose memory it is, where it goes, and the note that is
made of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keeplore.capture.message_filter import clean
from keeplore.errors import StoreError
from keeplore.memory.note import NoteDraft, note_of, session_note_id
from keeplore.text.agent_scope import agent_name, key_of
from keeplore.text.dates import now
from keeplore.text.fences import sanitise
from keeplore.workspace import written_directories
from keeplore.workspace.note_writer import NoteOutcome
from keeplore.workspace.registry import FoundMemory, Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin


@dataclass(frozen=True, slots=True)
class NoteTarget:
    """Where a note goes; ``is_here`` is True where the directory alone told."""

    workspace: Workspace
    scope: str
    project: str
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class NoteRequest:
    """What is to be remembered. ``origin`` has the session of an agent that asks for it, "" for a
    person's shell.
    """

    text: str
    origin: Origin
    title: str = ""
    category: str = ""
    permanent: bool = False
    # front matter under ``entities``, ``aspects``
    told: Mapping[str, Any] = field(default_factory=dict)


def target_of(
    registry: Registry,
    cwd: Path,
    *,
    scope: str = "",
    project: str = "",
    agent: str = "",
    running: str = "",
) -> NoteTarget:
    """Where a note belongs that is made in a directory; ``scope`` and ``project`` say otherwise.
    With ``agent`` it is for that agent of the project alone, and so it is by itself for the agent
    that is ``running``.

    Raises NoWorkspace, NotFound for a project that nobody knows, or StoreError for an agent without
    a name or a project.
    """
    if project:
        found = NoteTarget(registry.for_project(project, cwd), "project", project)
    else:
        workspace = registry.for_scope("" if scope == "agent" else scope, cwd)
        is_wide = scope in ("user", "workspace")
        own = "" if is_wide else workspace.identities.of(cwd).project
        wanted = scope if is_wide else "project"
        if not (scope or own):
            wanted = "workspace"
        found = NoteTarget(workspace, wanted, own, is_here=not scope)
    if agent and found.scope not in ("user", "workspace"):
        return _target_of_agent(found, agent)
    if agent and not scope:
        raise _no_project()
    is_running = agent_name(running) and found.is_here and found.project
    return _target_of_agent(found, running) if is_running else found


def _no_project() -> StoreError:
    return StoreError(
        "this directory belongs to no project, so no agent has memory of its own here",
        "Name a project with --project",
    )


def _target_of_agent(target: NoteTarget, agent: str) -> NoteTarget:
    name = agent_name(agent)
    if not name:
        raise StoreError(
            f"{agent!r} is no name of an agent",
            "Give one with letters or digits, such as reviewer",
        )
    return dataclasses.replace(target, scope=key_of(name))


def note_draft(target: NoteTarget, said: NoteRequest) -> NoteDraft:
    """The draft of a note. In a session it has the id of the same words typed as a command, so that
    both are one note.

    What an agent asks for counts as the agent's: nobody has seen the person say it.
    """
    source: dict[str, str] = {}
    text, id_ = sanitise(said.text), ""
    if said.origin.session:
        text = target.workspace.plugins.redact(clean(said.text), target.project)
        source = {"host": said.origin.host, "session": said.origin.session}
        id_ = (
            session_note_id(said.origin.host, said.origin.session, text)
            if target.is_here
            else ""
        )
    return NoteDraft(
        text,
        title=sanitise(said.title),
        category=said.category,
        scope=target.scope,
        project=target.project,
        permanent=said.permanent,
        told=said.told,
        trust="assistant" if said.origin.session else "user",
        source=source,
        id=id_,
    )


def with_related(draft: NoteDraft, links: Iterable[tuple[str, str]]) -> NoteDraft:
    """The draft with links to other memories, each a relationship and an id."""
    return dataclasses.replace(
        draft, related=tuple({"id": id_, "relationship": kind} for kind, id_ in links)
    )


def remember(target: NoteTarget, draft: NoteDraft, cwd: Path) -> NoteOutcome:
    """Write a note; a project that is met for the first time gets its entry. Raises StoreError or
    OSError.
    """
    if target.is_here and target.project:
        target.workspace.identities.place(Origin("", "", str(cwd)))
        written_directories.add(target.workspace.places.state, cwd)
    return target.workspace.notes.write(draft, str(cwd))


def replace(found: FoundMemory, draft: NoteDraft) -> NoteOutcome:
    """Write a note as the next version of a memory, whose place stays. Raises StoreError or
    OSError.
    """
    made = note_of(draft, now())
    changes: dict[str, object] = {
        "title": made.title,
        "trust": draft.trust,
        "trigger": draft.trigger,
        **draft.told,
    }
    if draft.category:
        changes["category"] = draft.category
    if draft.permanent:
        changes["permanent"] = True
    if draft.related:
        changes["related"] = [
            *(found.memory.meta.get("related") or ()),
            *map(dict, draft.related),
        ]
    return found.workspace.notes.revise(found.row.id, body=made.body, **changes)
