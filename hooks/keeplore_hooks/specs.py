"""The extension points: where a plugin can hear an event or change a step.

Every specification says when it is called, what it may return and what becomes of that. A plugin is
any object or module whose functions carry ``hookimpl``; it is registered in the entry-point group
``keeplore``. Keeplore's own steps are plugins of the same kind. A plugin that raises costs its own
result alone: the error is recorded, the rest goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

if TYPE_CHECKING:
    from keeplore_hooks.contracts import (
        Embedder,
        EngineMaker,
        HostPlugin,
        LanguageModel,
        ModelSettings,
        SourcePlugin,
    )
    from keeplore_hooks.events import Command, Compaction, Question, Session, Turn, Work

NAME = "keeplore"

_F = TypeVar("_F", bound=Callable[..., Any])
_spec = pluggy.HookspecMarker(NAME)
_impl = pluggy.HookimplMarker(NAME)


def hookspec(function: _F) -> _F:
    return _spec(function)


def hookspec_firstresult(function: _F) -> _F:
    return _spec(firstresult=True)(function)


def hookimpl(function: _F) -> _F:
    """Mark a plugin's function as an implementation of the extension point of the same name."""
    return _impl(function)


def hookimpl_last(function: _F) -> _F:
    """Like ``hookimpl``, but called after all others: for Keeplore's own steps, so that a plugin
    comes first.
    """
    return _impl(trylast=True)(function)


@hookspec
def keeplore_turn(turn: Turn) -> None:
    """Called for every turn, in order within a session, again when a turn has grown. Returns
    nothing.
    """


@hookspec
def keeplore_command(command: Command) -> None:
    """Called when the person typed a slash command. Returns nothing."""


@hookspec
def keeplore_question(question: Question) -> None:
    """Called when the person answered a question of the agent; the turn that holds it follows.
    Returns nothing.
    """


@hookspec
def keeplore_compaction(compaction: Compaction) -> None:
    """Called before and after the host shortens its context. Returns nothing."""


@hookspec
def keeplore_session(session: Session) -> None:
    """Called when a session starts or ends; the end is often missing, so rely on nothing that only
    it would do.
    """


@hookspec
def keeplore_redact(text: str, project: str) -> str | None:
    """Called with every text before it enters the workspace. Returns the text without secrets, or
    None to leave it.

    ``project`` is the name of the project that the text belongs to, ``""`` for none.

    Implementations run one after the other, each on the result of the one before.
    """


@hookspec_firstresult
def keeplore_segment(
    exchanges: Sequence[Mapping[str, Any]], turn: Turn, work: Work
) -> str | None:
    """Called for every new turn while a conversation is open, to ask whether the turn opens a new
    topic.

    ``exchanges`` are those of the open conversation, oldest first, each with ``id``, ``at``,
    ``ended_at``, ``user`` and ``assistant``; ``work`` is what was done in them. Returns the reason
    for a boundary (a word), ``""`` for none, or None to let the next plugin decide.
    """


@hookspec
def keeplore_conversation_closing(meta: Mapping[str, Any], body: str) -> None:
    """Called before a conversation is closed, with front matter and body as they will be. Returns
    nothing.

    Its file is written when every implementation has returned, so what is made of the conversation
    is on disk first; after a crash in between it is called again with the same.
    """


@hookspec
def keeplore_before_write(meta: Mapping[str, Any], body: str) -> str | None:
    """Called with front matter and body before a memory is written. Returns another body, or None
    to leave it.

    Implementations run one after the other, each on the result of the one before. An exception
    stops the write.
    """


@hookspec
def keeplore_memory_written(memory_id: str, path: str) -> None:
    """Called after a memory is on disk; ``path`` is relative to the workspace. Returns nothing."""


@hookspec_firstresult
def keeplore_embedder(model: str) -> Embedder | None:
    """Called once when a workspace is opened, with the configured model's name.

    Returns an embedder (``keeplore_hooks.contracts.Embedder``, and what else stands there that an
    embedder may have), or None to let the next plugin answer.
    """


@hookspec_firstresult
def keeplore_llm(provider: str, settings: ModelSettings) -> LanguageModel | None:
    """Called each time that a workspace's language model is needed, once the person of this machine
    has accepted it.

    ``settings`` is the section ``llm`` of ``keeplore.yaml``. Returns a model
    (``keeplore_hooks.contracts.LanguageModel``), or None to let the next plugin answer.
    """


@hookspec_firstresult
def keeplore_engine(backend: str, url: str, name: str) -> EngineMaker | None:
    """Called once when a workspace is opened whose settings name another engine than the embedded
    one.

    They are those of ``index:``, and this machine's person has accepted them. Returns what makes
    the engine of an index from its database and embedder
    (``keeplore_hooks.contracts.EngineMaker``), or None to let the next plugin answer.
    """


@hookspec
def keeplore_hosts() -> Iterable[HostPlugin]:
    """Called once in a process that reads events or sessions of hosts.

    Returns the host programs that the plugin knows (``keeplore_hooks.contracts.HostPlugin``). A
    name that is taken is refused, and said by doctor.
    """
    return ()


@hookspec
def keeplore_sources() -> Iterable[SourcePlugin]:
    """Called once in a process that imports sessions.

    Returns what else keeps sessions and reports no events
    (``keeplore_hooks.contracts.SourcePlugin``); a name is refused as above.
    """
    return ()


@hookspec
def keeplore_connections() -> Iterable[object]:
    """Called once in a process that connects hosts, or looks how they are connected.

    Returns how hosts of the plugin are connected
    (``keeplore.connect.host_connection.HostConnection``); one host is connected by one plugin.
    """
    return ()


__all__ = (
    "NAME",
    "hookimpl",
    "hookimpl_last",
    "keeplore_before_write",
    "keeplore_command",
    "keeplore_compaction",
    "keeplore_connections",
    "keeplore_conversation_closing",
    "keeplore_embedder",
    "keeplore_engine",
    "keeplore_hosts",
    "keeplore_llm",
    "keeplore_memory_written",
    "keeplore_question",
    "keeplore_redact",
    "keeplore_segment",
    "keeplore_session",
    "keeplore_sources",
    "keeplore_turn",
)
