"""What an agent may write: a note in its own name, and the end of one that is not the person's for
good.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from keeplore.errors import ConfigError, KeeploreError, NotFound
from keeplore.mcp_server.answer_text import fenced
from keeplore.mcp_server.context import McpContext
from keeplore.memory.names import is_id
from keeplore.recall.render import PATH_CHARS, TITLE_CHARS, label, one_line, quoted
from keeplore.store.git.inspection import ignored_note
from keeplore.text.agent_scope import long_place
from keeplore.text.counts import counted
from keeplore.workspace.note_writer import NoteOutcome
from keeplore.workspace.registry import FoundMemory
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.forget import ForgetResult
from keeplore.workspace.writing.forget import forget as forget_memory
from keeplore.workspace.writing.remember import (
    NoteRequest,
    note_draft,
    replace,
    target_of,
    with_related,
)
from keeplore.workspace.writing.remember import remember as remember_draft
from keeplore.workspace.writing.structured_note import subject_meta, subject_of

TRUST = "assistant"  # nobody has seen the person say it, whatever the agent reports


def remember(
    context: McpContext,
    text: str,
    *,
    title: str,
    category: str,
    whose: tuple[str, str],
    replaces: str,
    about: Mapping[str, Any],
    directory: str,
) -> str:
    """Write a note, or a version that replaces one; ``whose`` are its scope and its agent. Raises
    KeeploreError or OSError.
    """
    scope, agent = whose
    asked = context.place.asked(directory)
    if not (asked.is_known or replaces or scope in ("user", "workspace")):
        raise ConfigError(
            "which project this belongs to is not known here",
            "Give `directory`, the absolute path that you work in, or `scope`: workspace or user",
        )
    running = context.place.agent
    target = target_of(
        context.registry, asked.directory, scope=scope, agent=agent, running=running
    )
    subject = subject_of(about)
    request = NoteRequest(
        text,
        context.place.session,
        title=title,
        category=category,
        permanent=subject.permanent,
        told=subject_meta(subject),
    )
    links = [
        (link.relationship, context.find(link.id, directory).row.id)
        for link in subject.related
    ]
    draft = with_related(note_draft(target, request), links)
    draft = dataclasses.replace(draft, trust=TRUST)
    if not replaces:
        outcome = remember_draft(target, draft, asked.directory)
        return _outcome_text(context, target.workspace, outcome)
    old = _memory_by_id(context, replaces, directory)
    _refuse_permanent(old, f"`keeplore edit {old.row.id}`")
    return _outcome_text(context, old.workspace, replace(old, draft))


def forget(context: McpContext, memory_id: str, *, directory: str) -> str:
    """Forget a memory with its versions. Raises KeeploreError or OSError."""
    found = _memory_by_id(context, memory_id, directory)
    _refuse_permanent(
        found, f"`/keeplore:forget {found.row.id}` or `keeplore forget {found.row.id}`"
    )
    forgot = forget_memory(found.workspace, found.row.id)
    commit_problem = context.settle(found.workspace)
    others = counted(len(forgot.ids) - 1, "other version")
    versions = f", with {others}" if len(forgot.ids) > 1 else ""
    undo = f"`keeplore restore {found.row.id}` in a terminal brings it back."
    after = (
        f"{undo} Tell the person what was forgotten.",
        _quoting(forgot),
        commit_problem,
    )
    return fenced(
        f"Forgotten{versions}.", _quoted_title(found), "\n".join(filter(None, after))
    )


def _quoting(forgot: ForgetResult) -> str:
    if not forgot.quoting:
        return ""
    ids = ", ".join(row.id for row in forgot.quoting)
    return f"Notes that quote it stay: {one_line(ids, 10 * TITLE_CHARS)}"


def _memory_by_id(context: McpContext, memory_id: str, directory: str) -> FoundMemory:
    """The memory with exactly this id: a beginning, a path or words may mean another one than was
    thought.
    """
    if not is_id(memory_id):
        raise ConfigError(
            f"{memory_id[:TITLE_CHARS]!r} is no whole id",
            "`search` and `timeline` give ids: mem_ and 36 characters",
        )
    found = context.find(memory_id, directory)
    if found.row.id != memory_id:
        raise NotFound(f"there is no memory {memory_id!r}", "`search` looks for it")
    return found


def _refuse_permanent(found: FoundMemory, instead: str) -> None:
    """Refuse what the person made permanent: an agent that read something hostile must
    not undo it.
    """
    newest = found.workspace.notes.history(found.row.id)
    if found.memory.is_permanent or any(
        version.is_head and version.memory.is_permanent for version in newest
    ):
        raise KeeploreError(
            f"{found.row.id} is permanent: the person alone changes it",
            f"Ask them to type {instead}",
        )


def _outcome_text(
    context: McpContext, workspace: Workspace, outcome: NoteOutcome
) -> str:
    """What became of a note: its heading, its file, its id, and notes that nearly say it."""
    memory = outcome.memory
    if outcome.is_new and memory.is_permanent:
        undo = f"`keeplore forget {memory.id}`"
        before = f"Remembered for good, in your words; the person can type {undo} to undo it."
    elif outcome.is_new:
        before = "Remembered, as concluded by the assistant; `forget` with this id undoes it."
    elif outcome.has_more:
        before = "This is remembered already; what was told besides is added."
    else:
        before = "This is remembered already; that it was said again is noted."
    lines = [
        f"{quoted(memory.title, TITLE_CHARS)} ({_described_place(outcome)})",
        f"file: {one_line(str(workspace.root / outcome.path), PATH_CHARS)}",
        f"id={label(memory.id)}",
    ]
    lines += _similar_note_lines(outcome)
    problem = context.settle(workspace) if outcome.is_new or outcome.has_more else ""
    problem = problem or ignored_note(workspace.root / outcome.path)
    return fenced(before, "\n".join(lines), problem)


def _similar_note_lines(outcome: NoteOutcome) -> Iterator[str]:
    if outcome.similar:
        yield (
            "Earlier notes that say nearly the same; `remember` with replaces=ID makes one of them "
            "newer:"
        )
    for near in outcome.similar:
        yield f"- {quoted(near.row.title, TITLE_CHARS)} id={label(near.row.id)}"


def _described_place(outcome: NoteOutcome) -> str:
    memory = outcome.memory
    place = long_place(*memory.place)
    return one_line(f"{memory.category}, {place}, by the {memory.trust}", TITLE_CHARS)


def _quoted_title(found: FoundMemory) -> str:
    row = found.row
    return f"{quoted(row.title, TITLE_CHARS)} ({label(row.id)}, {one_line(row.path, PATH_CHARS)})"
