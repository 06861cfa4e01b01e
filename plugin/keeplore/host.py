"""A Python program as a host: for each of its sessions what to tell the model, and what was said
taken in.

No spool and no worker is needed: it happens in this process. Where a worker runs, it is told, and
pushes.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
import uuid
from datetime import datetime
from pathlib import Path

from keeplore.config.places import Places
from keeplore.errors import (
    IndexUnavailable,
    KeeploreError,
    ModelUnavailable,
    RepositoryError,
)
from keeplore.recall.brief import brief
from keeplore.recall.prompt_context import for_prompt, is_worth_asking, prompt_context
from keeplore.recall.render import ContextBlock, TextBudget
from keeplore.recall.request import UNFILTERED, Answer, RecallRequest, ResultFilter
from keeplore.recall.unasked.dedup import words_in
from keeplore.recall.unasked.workspace_view import WorkspaceView
from keeplore.recall.weights import PROMPT_CANDIDATES
from keeplore.text.dates import in_utc, now
from keeplore.worker.server.protocol import ask
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin, Question, Session, Turn

CONTEXT_BYTES = 16_000
# for reading what changed, and for what another process is writing just now
REFRESH_S = 1.0
SETTLE_S = 30.0  # between two commits; a busy program makes few
WORKER_S = 1.0
VECTORS = 32  # texts that are embedded at once where no worker does it
MAX_SESSIONS = 500  # then the one that was silent for longest is ended


class PythonHost:
    """A program that remembers: ``name`` says which, as "claude-code" does elsewhere; ``cwd`` is
    where it works. What the sessions of an ``agent`` say is remembered for it alone.

    Safe for several threads. Nothing is opened before the first question or turn. A context
    manager, which ends the sessions and commits what they left.
    """

    def __init__(
        self, name: str, cwd: str | Path | None = None, *, agent: str = ""
    ) -> None:
        self.name = name
        self.agent = agent
        self.cwd = Path(cwd or Path.cwd()).absolute()
        self._sessions: dict[str, HostSession] = {}
        self._settled_at = time.monotonic()
        self._has_written = False
        self._lock = threading.RLock()

    def __enter__(self) -> PythonHost:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def session(self, id_: str) -> HostSession:
        """The session of that id: the same object each time, until it is ended."""
        with self._lock:
            session = self._sessions.pop(id_, None) or HostSession(self, id_)
            self._sessions[id_] = session  # behind all others
            too_many = [*self._sessions.values()][:-MAX_SESSIONS]
        for oldest in too_many:
            # what it said is on disk; it only stays open
            with contextlib.suppress(KeeploreError, OSError):
                oldest.end()
        return session

    @functools.cached_property
    def registry(self) -> Registry:
        """The workspaces of this machine."""
        # a program has no outer layer of ours that could read the environment
        return Registry(Places.from_environment(os.environ))

    @property
    def workspace(self) -> Workspace:
        """The one that ``cwd`` belongs to. Raises NoWorkspace, ConfigError."""
        return self.registry.for_directory(self.cwd)

    def views(self) -> list[WorkspaceView]:
        """The workspaces that apply here, the directory's first, with indexes that are in step."""
        views = self.registry.views(self.cwd, agent=self.agent)
        for view in views:
            # then the index as it is
            with contextlib.suppress(IndexUnavailable, RepositoryError):
                view.index.refresh(wait_s=REFRESH_S, within_s=REFRESH_S)
        return views

    def recall(
        self, query: str, *, limit: int = 5, unasked: ResultFilter = UNFILTERED
    ) -> Answer:
        """Ranked memories for a query; other projects are not asked. Raises NoWorkspace,
        IndexUnavailable.
        """
        self.views()
        for workspace in self.registry.searched():
            with contextlib.suppress(KeeploreError):  # then by text alone
                if not workspace.is_warm and workspace.index.state().vectors:
                    workspace.warm_up()
        return self.registry.recall(
            RecallRequest(
                query, self.cwd, limit, at_once=True, filter=unasked, agent=self.agent
            )
        )

    def settle_if_due(self) -> None:
        """Commit what was just written and see that it is indexed, unless that was done a moment
        ago.
        """
        self._has_written = True
        if time.monotonic() - self._settled_at >= SETTLE_S:
            self.settle()

    def settle(self) -> None:
        """Commit what was written and see that it is indexed: by the worker, where one runs. Raises
        OSError.
        """
        with self._lock:
            if not self._has_written:
                return
            self._has_written, self._settled_at = False, time.monotonic()
        opened = self.registry.opened()
        for workspace in opened:
            # the files wait on disk for the next commit
            with contextlib.suppress(RepositoryError):
                workspace.commit()
        if ask(self.registry.places.state, "changed", timeout_s=WORKER_S) is not None:
            return
        for workspace in opened:
            with contextlib.suppress(
                IndexUnavailable, RepositoryError, ModelUnavailable
            ):
                _index(workspace)

    def close(self) -> None:
        """End every session and commit. Raises KeeploreError or OSError; may be called again."""
        if "registry" not in self.__dict__:
            return
        try:
            for session in [*self._sessions.values()]:
                session.end()
            self.settle()
        finally:
            self.registry.close()
            del self.registry

    def forget(self, id_: str) -> None:
        """Know a session no more; what it said stays in the workspace."""
        with self._lock:
            self._sessions.pop(id_, None)


class HostSession:
    """A session of a Python program; ``PythonHost.session`` makes it. Safe for several threads."""

    def __init__(self, host: PythonHost, id_: str) -> None:
        self.id = id_
        self._host = host
        self._origin = Origin(host.name, id_, str(host.cwd), agent_name=host.agent)
        self._answers: set[str] = set()  # memories that came beside a prompt
        self._words: set[str] = set()  # keys of all that was shown
        self._is_briefed = False
        self._has_spoken = False
        self._lock = threading.RLock()

    def context(self, prompt: str) -> str:
        """What belongs beside a prompt, "" for nothing: what matters for it; with the first one the
        project's brief.

        A fenced block, in which nothing stands that this session was shown before: leave it before
        the model. The setting ``context`` of the workspace says how much. Raises KeeploreError or
        OSError.
        """
        _check_texts(prompt)
        with self._lock:
            if is_off():
                return ""
            wishes = self._host.workspace.settings.context
            if not wishes.enabled:
                return ""
            blocks = []
            if not self._is_briefed:
                blocks.append(self._session_brief(wishes.brief_tokens))
                self._is_briefed = True
            if wishes.prompt_tokens and is_worth_asking(prompt):
                room = TextBudget(wishes.prompt_tokens, CONTEXT_BYTES)
                blocks.append(self._recalled_context(prompt, wishes.threshold, room))
        return "\n".join(filter(None, blocks))

    def add(
        self, user: str, *replies: str | Question, id_: str = "", at: str = ""
    ) -> str:
        """Take in a turn: what the person said, and what the assistant answered. Returns the turn's
        id.

        With the id of the last turn, its form as it is now takes the place of the one before.
        ``at`` is when it was said, RFC 3339 with its zone, now if not given: of turns that are
        handed over later their own times count, and pauses between them. It is on disk when this
        returns, unless the person has left this place out of memory. Raises KeeploreError or
        OSError.
        """
        _check_texts(
            user, *(said for said in replies if not isinstance(said, Question))
        )
        id_ = id_ or str(uuid.uuid4())
        moment = _moment(at) if at else now()
        turn = Turn(id_, self._origin, moment, user, replies, ended_at=moment)
        with self._lock:
            if not is_off() and self._host.workspace.emit(turn):
                self._has_spoken = True
                self._host.settle_if_due()
        return id_

    def end(self) -> None:
        """Close the conversation, and take notes of it. Raises KeeploreError or OSError."""
        with self._lock:
            self._host.forget(self.id)
            if self._has_spoken:
                at = now()
                workspace = self._host.workspace
                # what was taken is closed also where no more may be
                with workspace.recorder.capturing():
                    workspace.plugins.emit(
                        Session(f"ended:{at}", self._origin, at, "ended")
                    )
                self._has_spoken = False
                self._host.settle_if_due()

    def _session_brief(self, tokens: int) -> str:
        views, room = self._host.views(), TextBudget(tokens, CONTEXT_BYTES)
        return self._note_shown(
            brief(views, session=self.id, source="startup", room=room)
        )

    def _recalled_context(self, prompt: str, threshold: float, room: TextBudget) -> str:
        """What is recalled for a prompt."""
        unasked = for_prompt(
            threshold, already=self._answers, words=self._words, session=self.id
        )
        answer = self._host.recall(prompt, limit=PROMPT_CANDIDATES, unasked=unasked)
        block = prompt_context(answer, room=room)
        self._answers |= {*block.ids}
        return self._note_shown(block)

    def _note_shown(self, block: ContextBlock) -> str:
        """The text of the block, whose words are not told again."""
        self._words |= words_in(block.text)
        return block.text


def _check_texts(*texts: object) -> None:
    """Raise KeeploreError for what is no text."""
    for text in texts:
        if not isinstance(text, str):
            raise KeeploreError(
                f"what was said must be text, not {type(text).__name__}",
                "Give each text as one argument, `add(user, *replies)`",
            )


def _moment(at: str) -> str:
    """A time as memories write it. Raises KeeploreError for one without a zone."""
    try:
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is not None:
            return in_utc(moment)
    except (TypeError, ValueError, OverflowError):
        pass
    raise KeeploreError(
        f"{at!r} is no time with a zone", "Give it as 2026-02-09T14:03:11Z"
    )


def is_off() -> bool:
    """Whether the person has switched Keeplore off in this process."""
    return bool(os.environ.get("KEEPLORE_OFF"))


def _index(workspace: Workspace) -> None:
    """Read what changed, and make the vectors of a few passages."""
    workspace.index.refresh(wait_s=REFRESH_S, within_s=REFRESH_S)
    # a server may take longer than a program waits
    if not (workspace.embedder.is_remote or workspace.index.is_remote):
        workspace.index.embed_pending(VECTORS)
