"""What a host is told unasked: at a session's start, beside a prompt, before an edit. Silence is
the common case.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from keeplore.client.brief_on_disk import REST, STANDING_BRIEF
from keeplore.config.settings import ContextSettings
from keeplore.recall.brief import brief
from keeplore.recall.file_context import edit_context
from keeplore.recall.prompt_context import for_prompt, is_worth_asking, prompt_context
from keeplore.recall.render import ContextBlock, TextBudget
from keeplore.recall.request import Answer, RecallRequest
from keeplore.recall.unasked.workspace_view import WorkspaceView
from keeplore.recall.weights import PROMPT_CANDIDATES
from keeplore.text.agent_scope import agent_name, agent_of
from keeplore.worker.context.background_call import BackgroundCall
from keeplore.worker.context.client_notes import GivenBrief
from keeplore.worker.context.owed_briefs import (
    ASK_NO_MORE,
    BRIEFED_BY_PROMPT,
    SHORTENED,
    OwedBriefs,
)
from keeplore.worker.usage.injection_log import InjectionKind, InjectionLog
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import Ask
from keeplore_hooks.hosts.base import StartReason
from keeplore_hooks.spool import Spool

VECTOR_SHARE = 0.6  # of the time for a prompt; then it is searched by text alone beside
# of the 1.5 s that a client waits at a session's start; what is read later serves the next question
REFRESH_S = 0.6
# how the events are named with which such a host reports it; Gemini CLI's record tells it
COMPACTIONS = ("precompact", "precompress", "afteragent")
# of the time for a prompt, where what was said before a compaction still has to be taken
SPOOL_SHARE = 0.5
# how long is waited at a session's start for what was said before it was compacted
CAUGHT_UP_S = 0.6
LEAST_S = 0.02  # with less time left nothing is searched


class ContextProvider:
    """Thread-safe. ``caught_up`` waits until what was said just now can be read, for so many
    seconds at most.
    """

    def __init__(
        self,
        registry: Registry,
        shown: InjectionLog,
        catch_up: Callable[[float], object],
    ) -> None:
        self._registry = registry
        self._shown = shown
        self._catch_up = catch_up
        self._owed = OwedBriefs()
        # host and session → what was taken from what is owed for the last answer
        self._taken: dict[tuple[str, str], str] = {}
        # host and session → the agent for which it was briefed
        self._briefed_as: dict[tuple[str, str], str] = {}

    def text(self, ask: Ask, origin: Origin, size: int) -> str:
        """The context as text, at most ``size`` bytes of UTF-8; "" for nothing. Raises NoWorkspace,
        ConfigError.
        """
        workspace = self._registry.for_directory(origin.directory)
        settings = workspace.settings.context
        is_resumed = ask.kind == "brief" and ask.source == StartReason.RESUME
        if settings.enabled and is_resumed and (standing := self._shown.brief(origin)):
            return standing
        if not settings.enabled or (ask.kind == "edit" and not settings.before_edit):
            return ""
        if not self._shown.note_asked(origin, f"{ask.kind}\0{ask.source}\0{ask.text}"):
            return ""
        self._taken.pop(origin.session_key, "")
        # before what was sent already nothing new may stand: the host's cache would be lost
        is_late = is_resumed and origin.host in STANDING_BRIEF
        if ask.kind == "brief" and (origin.host in BRIEFED_BY_PROMPT or is_late):
            return self._postpone_brief(ask.source, origin)
        if ask.kind == "brief":
            return self._session_brief(
                ask.source, origin, TextBudget(settings.brief_tokens, size)
            )
        if ask.kind == "edit":
            room = TextBudget(settings.prompt_tokens, size)
            return self._context_before_edit(ask.text, origin, settings, room)
        return self._beside_prompt(ask.text, origin, workspace, size)

    def take_back(self, origin: Origin) -> None:
        """Count the last answer as untold, because it came too late: what stood in it is due with
        the next prompt.
        """
        self._shown.take_back(origin)
        source = self._taken.pop(origin.session_key, "")
        if source:
            changes = self._registry.for_directory(origin.directory).plugins.changes
            self._owed.give_back(origin, source, changes)

    def owe(self, origin: Origin, source: str) -> None:
        """Let the next prompt bring what a session was not told at its start, which had the reason
        ``source``.
        """
        self._owed.note_start(origin, source or StartReason.STARTUP)

    def note_given(self, brief: GivenBrief) -> None:
        """Take that a session was given a brief by its host's client, or a part of one."""
        self._owed.drop(brief.origin)
        way = InjectionKind.PART if brief.is_part else InjectionKind.BRIEF
        # an answer that is still in the making came too late, and is taken back
        with self._shown.lasting():
            self._note_start(brief.source, brief.origin)
            self._note_shown(brief.origin, brief.told, way)

    def _beside_prompt(
        self, prompt: str, origin: Origin, workspace: Workspace, size: int
    ) -> str:
        """What a prompt brings: a brief still owed, the agent's own notes, and what matters here.

        ``size`` is in bytes of UTF-8.
        """
        settings = workspace.settings.context
        owed, spent_s = "", 0.0
        if origin.host in ASK_NO_MORE or self._owed.has(origin):
            owed, spent_s = self._owed_brief(
                workspace, origin, settings, TextBudget(settings.brief_tokens, size)
            )
            size -= len(owed.encode()) + bool(owed)
        own = self._agents_own(origin, TextBudget(settings.brief_tokens, size))
        size -= len(own.encode()) + bool(own)
        room = TextBudget(settings.prompt_tokens, size)
        deadline_s = settings.deadline_ms / 1000 - spent_s
        recalled = self._recalled_for_prompt(
            prompt, origin, settings.threshold, room, deadline_s
        )
        return "\n".join(filter(None, (owed, own, recalled)))

    def _agents_own(self, origin: Origin, room: TextBudget) -> str:
        """What only the agent remembers, where the session's brief did not know which one runs:
        some hosts tell it with a prompt alone.
        """
        agent, key = agent_name(origin.agent_name), origin.session_key
        if self._briefed_as.get(key, "") == agent:
            return ""
        self._briefed_as[key] = agent
        view = self._views(origin)[0]
        scopes = tuple(pair for pair in view.scopes if agent_of(pair[0]))
        if not scopes:
            return ""
        only = replace(view, scopes=scopes, instructions=tuple)
        # nothing of it was told before, however long ago the brief was
        known = replace(self._shown.history_of(origin), since="")
        own_brief = brief(
            [only], session=origin.session, source=REST, room=room, history=known
        )
        return self._note_shown(origin, own_brief, InjectionKind.LATE)

    def _postpone_brief(self, source: str, origin: Origin) -> str:
        """The brief comes with the first prompt; what it is made of is read meanwhile."""
        self._note_start(source, origin)
        self._owed.note_start(origin, source)
        self._refresh_soon(origin)
        return ""

    def _owed_brief(
        self,
        workspace: Workspace,
        origin: Origin,
        settings: ContextSettings,
        room: TextBudget,
    ) -> tuple[str, float]:
        """The brief that a session is still owed, from its start or since its host shortened its
        context ("" for none), and the seconds that this took.
        """
        began = time.monotonic()
        until = began + SPOOL_SHARE * settings.deadline_ms / 1000
        changes = workspace.plugins.changes
        # whoever types at once is faster than the spool
        has_waited = self._is_compaction_waiting() or changes.was_announced(origin)
        if has_waited:
            self._catch_up(until - began)
        source = self._owed.take(origin, changes, self._shown.history_of(origin))
        self._taken[origin.session_key] = source
        if not source:
            return "", (time.monotonic() - began) * has_waited
        text = ""
        views = self._views(origin)
        if BackgroundCall(lambda: [view.index.refresh() for view in views]).is_done(
            max(until - time.monotonic(), LEAST_S)
        ):
            text = self._fresh_brief(source, origin, room, InjectionKind.LATE)
        else:
            self._owed.give_back(origin, source, changes)
        return text, time.monotonic() - began

    def _is_compaction_waiting(self) -> bool:
        return any(
            event.lower() in COMPACTIONS
            for event in Spool(self._registry.places.spool).events()
        )

    def _session_brief(self, source: str, origin: Origin, room: TextBudget) -> str:
        """The brief at a session's start, behind what is told before each request anyway."""
        if source == "compact":
            self._catch_up(CAUGHT_UP_S)
        self._refresh_soon(origin)
        standing = self._shown.brief(origin)
        room = replace(room, size=room.size - len(standing.encode()) - bool(standing))
        fresh = self._fresh_brief(source, origin, room)
        # behind what the host has sent before each request so far
        return self._shown.brief(origin) or fresh

    def _refresh_soon(self, origin: Origin) -> None:
        """Read what has changed; what takes longer is read for the next question."""
        views = self._views(origin)
        BackgroundCall(
            lambda: [view.index.refresh(within_s=REFRESH_S) for view in views]
        ).is_done(REFRESH_S)

    def _views(self, origin: Origin) -> list[WorkspaceView]:
        """What applies where a session is, and to the agent that runs in it."""
        return self._registry.views(origin.directory, agent=origin.agent_name)

    def _fresh_brief(
        self,
        source: str,
        origin: Origin,
        room: TextBudget,
        kind: InjectionKind = InjectionKind.BRIEF,
    ) -> str:
        """A brief of what is there now; the session counts as started, and as told of what it
        holds.
        """
        self._note_start(source, origin)
        self._briefed_as[origin.session_key] = agent_name(origin.agent_name)
        # the host of a session that was cleared has not before it what the session said
        session = "" if source == "clear" else origin.session
        reason = "compact" if source in (SHORTENED, REST) else source
        views, history = self._views(origin), self._shown.history_of(origin)
        return self._note_shown(
            origin,
            brief(views, session=session, source=reason, room=room, history=history),
            kind,
        )

    def _note_start(self, source: str, origin: Origin) -> None:
        """Take which of the memories that the session was shown before still stand before it."""
        if source in ("compact", "clear", SHORTENED):
            self._shown.mark_lost(origin)
        elif source == "fork":
            self._shown.inherit(origin)
        elif source not in ("resume", REST):
            self._shown.forget(origin)

    def _note_shown(
        self,
        origin: Origin,
        block: ContextBlock,
        kind: InjectionKind = InjectionKind.PROMPT,
    ) -> str:
        self._shown.add(origin, block, kind)
        return block.text

    def _recalled_for_prompt(
        self,
        prompt: str,
        origin: Origin,
        threshold: float,
        room: TextBudget,
        deadline_s: float,
    ) -> str:
        if not room.tokens or deadline_s < LEAST_S or not is_worth_asking(prompt):
            return ""
        # until it is compacted, a session still has before it what it said itself
        own = "" if self._shown.has_lost(origin) else origin.session
        known = self._shown.history_of(origin)
        sure = for_prompt(
            threshold, already=known.answers, words=known.words, session=own
        )
        request = RecallRequest(
            prompt,
            origin.directory,
            PROMPT_CANDIDATES,
            at_once=True,
            filter=sure,
            agent=origin.agent_name,
        )
        answer = _in_time(self._registry, request, deadline_s)
        if answer is None:
            return ""
        return self._note_shown(origin, prompt_context(answer, room=room))

    def _context_before_edit(
        self, paths: str, origin: Origin, settings: ContextSettings, room: TextBudget
    ) -> str:
        history = self._shown.history_of(origin)
        files = paths.split("\n")
        found = BackgroundCall(
            lambda: edit_context(
                self._views(origin),
                files,
                str(origin.directory),
                room=room,
                history=history,
            )
        )
        if not found.is_done(settings.deadline_ms / 1000):
            return ""
        return self._note_shown(origin, found.result())


def _in_time(
    registry: Registry, request: RecallRequest, deadline_s: float
) -> Answer | None:
    """The answer, by text alone where the model takes too long, None where there is none in
    time.
    """
    whole = BackgroundCall(lambda: registry.recall(request))
    if not whole.is_done(deadline_s * VECTOR_SHARE):
        by_text = BackgroundCall(
            lambda: registry.recall(replace(request, text_only=True))
        )
        if not whole.is_done(deadline_s * (1 - VECTOR_SHARE)):
            return by_text.result() if by_text.is_done() else None
    return whole.result()
