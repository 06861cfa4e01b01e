"""What makes memory of a workspace's host events: capture, notes and summaries, with what they need
of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from keeplore.capture.capture_deps import CaptureDeps, MemoryPlace
from keeplore.capture.conversation_file import RECENT
from keeplore.capture.notes.host_summaries import SummaryKeeper
from keeplore.capture.notes.note_taker import NoteDeps, NoteTaker
from keeplore.capture.plugin import Capture
from keeplore.capture.segmenter import Segmenter
from keeplore.errors import ModelUnavailable
from keeplore.index import MemoryFilter, ScopeFilter, load_or_none
from keeplore.memory import Memory
from keeplore.store.git.checkout_info import checkout_info
from keeplore.text.dates import is_recent
from keeplore.workspace.recording.recorded_workspace import RecordedWorkspace
from keeplore.workspace.recording.remember_recent import RecentOnCommand
from keeplore_hooks.events import HostEvent, Origin, Turn, Work

# for so long the commit that is checked out is that of what was said
RECENT_COMMIT = timedelta(hours=1)


class Recorder:
    """Making one registers its plugins with the workspace."""

    def __init__(self, workspace: RecordedWorkspace) -> None:
        self._workspace = workspace
        self._has_refreshed = False
        store, sessions, deps = (
            workspace.store,
            workspace.sessions,
            self._capture_deps(),
        )
        self.capture = Capture(store, sessions, deps)
        self._recent = RecentOnCommand()
        for plugin in (
            Segmenter(workspace.capture_embedder),
            self.capture,
            SummaryKeeper(store, sessions, deps, self.capture.flush),
            self._recent,
            NoteTaker(self._note_deps(), is_automatic=workspace.settings.capture.notes),
        ):
            workspace.plugins.register(plugin)
        if workspace.settings.llm.provider:
            # here, because most have no model that refines
            from keeplore.workspace.recording.refine_trigger import RefineTrigger

            workspace.plugins.register(RefineTrigger(workspace))

    def take(self, events: Iterable[HostEvent]) -> list[HostEvent]:
        """Hand the host events that may be captured to the plugins, and return them; what they led
        to is on disk then. Raises ConfigError.
        """
        taken = [*filter(self._workspace.capture_policy.allows, events)]
        if taken:
            with self.capturing():
                for event in taken:
                    self._workspace.plugins.emit(event)
        return taken

    @contextlib.contextmanager
    def capturing(self) -> Iterator[None]:
        """Hold the workspace while several events are handed over; all is on disk at the end."""
        with self._workspace.writing():
            self.capture.forget_open()  # other processes may have written meanwhile
            self._has_refreshed = False
            yield
            self.capture.flush()
            self._recent.carry_out(self._workspace)

    def _capture_deps(self) -> CaptureDeps:
        workspace = self._workspace
        return CaptureDeps(
            place=workspace.identities.place,
            redact=self._redact,
            segment=self._segment,
            known_turns=self._known_turns,
            written=workspace.plugins.announce_written,
            closing=self._announce_closing,
            earlier=self._recent_conversations,
            embed=self._embed,
            head=self._project_commit,
            machine=workspace.machine,
        )

    def _note_deps(self) -> NoteDeps:
        workspace = self._workspace
        return NoteDeps(
            place=workspace.identities.place,
            redact=self._redact,
            forgotten=workspace.store.forgotten_turns,
            write=workspace.notes.write,
        )

    def _redact(self, text: str, cwd: str) -> str:
        return self._workspace.plugins.redact(
            text, self._workspace.identities.project_of(cwd)
        )

    def _segment(
        self, exchanges: Sequence[Mapping[str, Any]], turn: Turn, work: Work
    ) -> str:
        reason: str | None = self._workspace.plugins.hook.keeplore_segment(
            exchanges=exchanges, turn=turn, work=work
        )
        return reason or ""

    def _announce_closing(self, meta: Mapping[str, Any], body: str) -> None:
        self._workspace.plugins.hook.keeplore_conversation_closing(meta=meta, body=body)

    def _known_turns(self, ids: Iterable[str]) -> Mapping[str, str]:
        """Turn → the conversation that has it, also where that was forgotten."""
        index = self._workspace.index
        if not self._has_refreshed:  # another process may have written since
            index.refresh()
            self._has_refreshed = True
        asked = list(ids)
        forgotten = self._workspace.store.forgotten_turns()
        return index.known_turns(asked) | {
            id_: forgotten[id_] for id_ in asked if id_ in forgotten
        }

    def _recent_conversations(
        self, place: MemoryPlace, before: str
    ) -> Iterator[Memory]:
        workspace = self._workspace
        workspace.index.refresh()  # one may have been closed a moment ago
        allowed = ScopeFilter(((place.scope, place.project),))
        wanted = MemoryFilter(allowed, kind="conversation", before=before, limit=RECENT)
        for row in workspace.index.listed(wanted):
            if not row.is_open and (memory := load_or_none(workspace.store, row.path)):
                yield memory

    def _embed(self, texts: Sequence[str]) -> Any:
        try:
            return self._workspace.capture_embedder.embed(texts)
        except ModelUnavailable:
            return None

    def _project_commit(self, origin: Origin, place: MemoryPlace, at: str) -> str:
        """The commit that the project is at; "" where ``at`` is long ago, which today's commit says
        nothing about.
        """
        if not place.project or not is_recent(at, RECENT_COMMIT):
            return ""
        if self._workspace.identities.project_of(origin.cwd) != place.project:
            return ""  # the session has gone on to another project
        is_there = os.path.isdir(origin.cwd)  # noqa: PTH112 (it never raises)
        checkout = checkout_info(Path(origin.cwd)) if is_there else None
        return checkout.head if checkout else ""
