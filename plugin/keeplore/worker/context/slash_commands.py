"""Slash commands that a person typed: carried out at once, and told to the host as a fenced block.

What was typed comes as data from the host's event and meets no shell. The agent only passes on what
was done.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from keeplore.capture.message_filter import argument
from keeplore.errors import KeeploreError
from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter
from keeplore.memory import Memory
from keeplore.memory.note import NoteDraft, session_note_id
from keeplore.recall.prompt_context import asked_context
from keeplore.recall.render import (
    PATH_CHARS,
    TITLE_CHARS,
    BlockLine,
    BlockSection,
    ContextBlock,
    TextBudget,
    block,
    one_line,
    quoted,
)
from keeplore.recall.request import RecallHit, RecallRequest
from keeplore.text.agent_scope import long_place
from keeplore.text.counts import counted
from keeplore.text.dates import shown_day
from keeplore.text.fences import DONE
from keeplore.workspace.note_writer import NoteOutcome
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.forget import ForgetResult, forget
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import COMMANDS, Ask

LOG = logging.getLogger(__name__)
MAX_TOKENS = 1_500
CANDIDATES = 5  # memories that may be meant by words to forget
DECISIONS = 5
PROBLEMS = 5
LINE_CHARS = 400
# the eight digits that file names end with, at least: a word such as "face" is no reference
_REFERENCE = re.compile(r"mem_[0-9a-f-]{4,}|[0-9a-f]{8}[0-9a-f-]*|\S+\.md")


class SlashCommands:
    """Thread-safe. ``caught_up`` waits a moment for the spool; ``changed`` is called after a memory
    came or went.
    """

    def __init__(
        self,
        registry: Registry,
        catch_up: Callable[[], bool],
        status: Callable[[], dict[str, Any]],
        on_change: Callable[[], None],
    ) -> None:
        self._registry = registry
        self._catch_up = catch_up
        self._status = status
        self._on_change = on_change
        act = (self._remember, self._recall, self._forget, self._memory)
        self._does: dict[str, Callable[[str, Origin, TextBudget], ContextBlock]] = dict(
            zip(COMMANDS, act, strict=True)
        )

    def answer(self, ask: Ask, origin: Origin, size: int) -> ContextBlock:
        """Carry a command out. Never raises: what went wrong is the answer then, with the next
        step.

        The answer has ``size`` bytes of UTF-8 at most.
        """
        room = TextBudget(MAX_TOKENS, size)
        try:
            return self._does[ask.source](ask.text, origin, room)
        except (KeeploreError, OSError) as e:
            LOG.info("/%s: %s", ask.source, e)
            reason = str(e)
        except Exception:
            LOG.exception("/%s failed", ask.source)
            reason = (
                f"an error of Keeplore itself; {self._registry.places.state / 'worker.log'} "
                f"has the details"
            )
        return _section_block(
            f"/{ask.source} was not carried out:", [one_line(reason, LINE_CHARS)], room
        )

    def _remember(self, text: str, origin: Origin, room: TextBudget) -> ContextBlock:
        cwd = origin.directory
        workspace = self._registry.for_directory(cwd)
        if text:
            outcome = workspace.notes.write(_draft(workspace, text, origin), origin.cwd)
        else:
            # here, because it brings capture along, and a person may wait for the start of the
            # worker
            from keeplore.workspace.recording.remember_recent import remember_recent

            self._catch_up()
            outcome = remember_recent(workspace, cwd, origin.session)
        self._on_change()
        return block(_remembered_sections(workspace, outcome, origin), room, DONE)

    def _recall(self, text: str, origin: Origin, room: TextBudget) -> ContextBlock:
        if not text:
            return _section_block(
                "Nothing was asked.",
                ["Type the command with a question behind it"],
                room,
            )
        answer = self._registry.recall(
            RecallRequest(
                text,
                origin.directory,
                agent=origin.agent_name,
                session=origin.session,
            )
        )
        return asked_context(answer, room=room)

    def _forget(self, text: str, origin: Origin, room: TextBudget) -> ContextBlock:
        cwd = origin.directory
        if not text:
            return _section_block(
                "Nothing was forgotten.",
                ["Type the command with an id behind it; `keeplore list` prints ids"],
                room,
            )
        if not _REFERENCE.fullmatch(text):
            return self._candidates(text, origin, room)
        found = self._registry.find(text, cwd)
        forgot = forget(found.workspace, found.row.id)
        self._on_change()
        return block(_forgotten_sections(found.row, forgot), room)

    def _candidates(self, text: str, origin: Origin, room: TextBudget) -> ContextBlock:
        request = RecallRequest(
            text, origin.directory, CANDIDATES, agent=origin.agent_name
        )
        answer = self._registry.recall(request)
        if not answer.hits:
            return asked_context(answer, room=room)
        return _section_block(
            (
                "Nothing was forgotten yet. The person has to say which of these; `keeplore "
                "forget ID --yes` forgets it:"
            ),
            [_candidate(hit) for hit in answer.hits],
            room,
        )

    def _memory(self, _text: str, origin: Origin, room: TextBudget) -> ContextBlock:
        cwd = origin.directory
        workspace = self._registry.for_directory(cwd)
        workspace.index.refresh()
        allowed = ScopeFilter(workspace.identities.here(cwd, origin.agent_name).scopes)
        notes = workspace.index.listed(MemoryFilter(allowed, kind="note"))
        talks = workspace.index.listed(MemoryFilter(allowed, kind="conversation"))
        decisions = [row for row in notes if row.category == "architectural-decisions"]
        held = (
            f"{counted(len(notes), 'note')} and {counted(len(talks), 'conversation')}"
        )
        problems = [one_line(p, LINE_CHARS) for p in self._problems(workspace)]
        return block(
            [
                _section("Keeplore's memory here:", _about_lines(workspace, cwd, held)),
                _section("Newest decisions:", map(_row_line, decisions[:DECISIONS])),
                _section("Newest conversations:", map(_row_line, talks[:DECISIONS])),
                _section("Problems:", problems),
            ],
            room,
        )

    def _problems(self, workspace: Workspace) -> Iterator[str]:
        spool = self._status()["spool"]
        if spool["dead"]:
            yield f"{spool['dead']} host events could not be read; `keeplore doctor` says why"
        wrong = workspace.index.problems()
        yield from (f"{path}: {problem}" for path, problem in wrong[:PROBLEMS])
        if len(wrong) > PROBLEMS:
            left = len(wrong) - PROBLEMS
            yield f"{left} more files are not as they should be; `keeplore doctor` lists them"
        yield from workspace.plugins.failures
        if not workspace.store.remote():
            command = f"git -C {workspace.root} remote add origin URL"
            yield f"it is on this machine only: `{command}`, then `keeplore sync`"


def _draft(workspace: Workspace, text: str, origin: Origin) -> NoteDraft:
    """Cleaned and redacted as capture does it: the same command, read later in the transcript, has
    the same id.
    """
    project = workspace.identities.project_of(origin.cwd)
    said = workspace.plugins.redact(argument(text), project)
    place = workspace.identities.place(origin)
    return NoteDraft(
        said,
        scope=place.scope,
        project=place.project,
        permanent=True,
        source={"host": origin.host, "session": origin.session, "branch": place.branch},
        id=session_note_id(origin.host, origin.session, said),
    )


def _about_lines(workspace: Workspace, cwd: Path, held: str) -> list[str]:
    """The workspace and project of a directory, and how much memory they hold."""
    identity = workspace.identities.of(cwd)
    project = f"project {identity.project}" if identity.project else "no project"
    whole = counted(workspace.index.state().memories, "memory", "memories")
    return [
        f"workspace {one_line(f'{workspace.name} at {workspace.root}', PATH_CHARS)}",
        one_line(f"{project}: {identity.reason}", LINE_CHARS),
        f"{held} apply here",
        f"{whole} in the whole workspace",
    ]


def _section(heading: str, lines: Iterable[str]) -> BlockSection:
    return BlockSection(heading, [BlockLine(line) for line in lines])


def _remembered_sections(
    workspace: Workspace, outcome: NoteOutcome, origin: Origin
) -> Iterator[BlockSection]:
    memory = outcome.memory
    # the worker may have read the same command in the transcript a moment before it was asked
    is_of_now = outcome.is_new or memory.source.get("session") == origin.session
    place = one_line(str(workspace.root / outcome.path), PATH_CHARS)
    yield BlockSection(
        "Remembered, for good:" if is_of_now else "This was remembered before:",
        [BlockLine(f"{_memory_label(memory)} → {place} ({memory.id})", memory.id)],
    )
    yield _section(
        (
            "Earlier notes that say nearly the same; `keeplore forget ID` and `keeplore edit ID` "
            "change that:"
        ),
        (_row_line(near.row) for near in outcome.similar),
    )


def _memory_label(memory: Memory) -> str:
    place = long_place(*memory.place).removeprefix("project ")
    where = ", ".join(filter(None, (memory.category, place)))
    return f"{quoted(memory.title, TITLE_CHARS)} ({one_line(where, TITLE_CHARS)})"


def _forgotten_sections(row: MemoryRow, forgot: ForgetResult) -> Iterator[BlockSection]:
    others = len(forgot.ids) - 1
    went = counted(others, "other version")
    versions = f"; {went} of it went with it" if others else ""
    undo = f"`keeplore restore {one_line(row.id, TITLE_CHARS)}` brings it back"
    yield BlockSection(
        "Forgotten, as the person asked:",
        [BlockLine(f"{_row_line(row)}{versions}; {undo}")],
    )
    yield BlockSection(
        "Notes that quote it stay:",
        [BlockLine(_row_line(note)) for note in forgot.quoting[:CANDIDATES]],
    )


def _candidate(hit: RecallHit) -> str:
    about = [
        one_line(part, TITLE_CHARS)
        for part in (hit.memory_id, shown_day(hit.changed_at), _place_of_hit(hit))
    ]
    return " · ".join((*about, quoted(hit.title, TITLE_CHARS)))


def _place_of_hit(hit: RecallHit) -> str:
    return long_place(hit.scope, hit.project).removeprefix("project ")


def _row_line(row: MemoryRow) -> str:
    about = (
        one_line(row.id, TITLE_CHARS),
        one_line(shown_day(row.updated_at or row.created_at), TITLE_CHARS),
    )
    return " · ".join(
        (*about, quoted(row.title, TITLE_CHARS), one_line(row.path, PATH_CHARS))
    )


def _section_block(heading: str, lines: list[str], room: TextBudget) -> ContextBlock:
    """A block of one section, for a command that is done."""
    return block(
        [BlockSection(heading, [BlockLine(line) for line in lines])], room, DONE
    )
