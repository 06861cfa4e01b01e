"""What the worker answers: context for a host, recall for the command line, its own status."""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from keeplore import __version__
from keeplore.errors import KeeploreError, NoWorkspace
from keeplore.recall.request import RecallRequest
from keeplore.worker.context.context_provider import ContextProvider
from keeplore.worker.usage.injection_log import (
    FILE,
    Injection,
    InjectionKind,
    InjectionLog,
)
from keeplore.workspace.registry import Registry
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import Ask, Host
from keeplore_hooks.hosts.sender import sender

if TYPE_CHECKING:
    from keeplore.worker.context.slash_commands import SlashCommands

# how long is waited for what a session said before it asked to remember it
CAUGHT_UP_S = 0.6


class RequestHandler:
    """Thread-safe; ``caught_up`` waits until the spool is empty, for so many seconds at most;
    ``changed`` is called where a command wrote or removed a memory."""

    def __init__(
        self,
        registry: Registry,
        caught_up: Callable[[float], bool],
        status: Callable[[], dict[str, Any]],
        changed: Callable[[], None],
    ) -> None:
        self._registry = registry
        self._status = status
        self._prompts = 0  # answers in the making
        self._given = threading.Condition()
        self._shown = InjectionLog(registry.places.state / FILE)
        self._wait_for_spool = caught_up
        self._contexts = ContextProvider(registry, self._shown, self._caught_up)
        self._changed = changed

    def answer(self, host_name: str, event: str, payload: bytes) -> bytes:
        """The host's own JSON with the context it waits for, or nothing."""
        host, event = sender(host_name, event, payload)
        ask, origin = host.ask(event, payload), host.origin(event, payload)
        if ask is None or origin is None:
            return b""
        if ask.kind == "command":
            told = self._commands.answer(ask, origin, host.context_bytes)
            self._shown.add(origin, told, InjectionKind.ASKED)
            return host.reply(event, told[0])
        return self._with_context(host, event, ask, origin)

    def _with_context(self, host: Host, event: str, ask: Ask, origin: Origin) -> bytes:
        try:
            with self._counted() if ask.kind == "prompt" else contextlib.nullcontext():
                return host.reply(
                    event, self._contexts.text(ask, origin, host.context_bytes)
                )
        except NoWorkspace as e:
            if ask.kind != "brief":
                return b""
            return host.reply(
                event, f"Keeplore is installed but remembers nothing yet: {e}"
            )

    def wait_until_given(self, seconds: float) -> None:
        """Stand back while a person waits for the context of a prompt, for so many seconds
        at most.
        """
        with self._given:
            self._given.wait_for(lambda: self._prompts <= 0, seconds)

    def taken(self) -> list[Injection]:
        """What sessions were given since this was asked last."""
        return self._shown.taken()

    def save(self) -> None:
        """Write down what was shown. Raises OSError."""
        self._shown.save()

    def recall(self, payload: bytes) -> bytes:
        """The answer to what ``RecallRequest.to_json`` gives, as JSON."""
        try:
            answer = self._registry.recall(RecallRequest.from_json(payload))
        except KeeploreError as e:
            return json.dumps(
                {"error": {"message": e.message, "remedy": e.remedy}}
            ).encode()
        return json.dumps(answer.to_json()).encode()

    def status(self) -> bytes:
        return json.dumps({"version": __version__, **self._status()}).encode()

    @functools.cached_property
    def _commands(self) -> SlashCommands:
        # here, because the first prompt waits for every import
        from keeplore.worker.context.slash_commands import SlashCommands

        return SlashCommands(
            self._registry,
            lambda: self._wait_for_spool(CAUGHT_UP_S),
            self._status,
            self._changed,
        )

    def _caught_up(self, seconds: float) -> bool:
        # the spool does not stand back for a prompt that waits for it
        with self._counted(-1):
            return self._wait_for_spool(seconds)

    @contextlib.contextmanager
    def _counted(self, by: int = 1) -> Iterator[None]:
        with self._given:
            self._prompts += by
            self._given.notify_all()
        try:
            yield
        finally:
            with self._given:
                self._prompts -= by
                self._given.notify_all()
