"""What the worker answers: context for a host, recall for the command line, its own status."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from keeplore import __version__
from keeplore.client.brief_on_disk import STANDING_BRIEF
from keeplore.errors import KeeploreError, NoWorkspace
from keeplore.recall.request import RecallRequest
from keeplore.worker.context.client_notes import take_given, take_owed
from keeplore.worker.context.context_provider import ContextProvider
from keeplore.worker.usage.injection_log import (
    FILE,
    Injection,
    InjectionKind,
    InjectionLog,
)
from keeplore.workspace.activity import ActivityLog, Counted
from keeplore.workspace.recording.cursors import Cursors
from keeplore.workspace.registry import Registry
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import Ask, Host
from keeplore_hooks.sender import sender

if TYPE_CHECKING:
    from keeplore.mcp_server.session_requests import McpRequestHandler
    from keeplore.worker.context.slash_commands import SlashCommands

# how long is waited for what a session said before it asked to remember it
CAUGHT_UP_S = 0.6
# hosts whose payloads do not say which agent runs
AGENT_IN_RECORD = ("copilot",)
RECALL, MCP = "recall", "mcp"  # beside what hosts ask
ANSWER_WORDS = 3  # the client's version, host and event


class RequestHandler:
    """Answers what clients ask the worker. Thread-safe; ``wait_for_spool`` waits at most so many
    seconds until the spool is empty, and says whether it is; ``on_change`` is called after a
    command wrote or removed a memory.
    """

    def __init__(
        self,
        registry: Registry,
        wait_for_spool: Callable[[float], bool],
        status: Callable[[], dict[str, Any]],
        on_change: Callable[[], None],
    ) -> None:
        self._registry = registry
        self._state = registry.places.state
        self._status = status
        self._prompts = 0  # answers in the making
        self._names: dict[str, str] = {}  # host → what its agents run
        self._given = threading.Condition()
        self._cursors = Cursors(registry.places.sessions)
        self._shown = InjectionLog(registry.places.state / FILE)
        self.activity = ActivityLog(registry.places.state)
        self._wait_for_spool = wait_for_spool
        self._contexts = ContextProvider(registry, self._shown, self._caught_up)
        self._on_change = on_change

    def answer(self, host_name: str, event: str, payload: bytes) -> bytes:
        """The host's own JSON with the context it waits for, or nothing."""
        self._hear_clients()
        self._shown.begin()
        owed = take_owed(self._state, host_name, payload)
        host, event = sender(host_name, event, payload)
        ask, origin = host.ask(event, payload), host.origin(event, payload)
        if ask is None or origin is None:
            return b""
        if host.name in AGENT_IN_RECORD:
            known = self._cursors.get(origin).origin
            origin = replace(origin, agent_name=known.agent_name)
        if owed is not None and ask.kind == "prompt":
            self._contexts.owe(origin, owed)
        with self.activity.timed(ask.kind):
            if ask.kind == "command":
                block = self._commands.answer(ask, origin, self._context_room(host))
                self._shown.add(origin, block, InjectionKind.ASKED)
                return host.reply(event, self._with_command(host, block.text))
            return self._with_context(host, event, ask, origin)

    def take_back_unheard(
        self, operation: str, arguments: list[str], payload: bytes
    ) -> None:
        """Count an answer as untold, because whoever asked did not wait for it."""
        if operation == "answer" and len(arguments) == ANSWER_WORDS:
            host, event = sender(arguments[1], arguments[2], payload)
            if origin := host.origin(event, payload):
                self._contexts.take_back(origin)

    def _with_context(self, host: Host, event: str, ask: Ask, origin: Origin) -> bytes:
        try:
            with (
                self._counted_prompts()
                if ask.kind == "prompt"
                else contextlib.nullcontext()
            ):
                text = self._contexts.text(ask, origin, self._context_room(host))
                if ask.kind == "prompt":
                    self.activity.count(Counted.PROMPTS)
                    self.activity.count(Counted.SILENT, not text)
                return host.reply(event, self._with_command(host, text))
        except NoWorkspace as e:
            if ask.kind != "brief":
                return b""
            return host.notice(
                event, f"Keeplore is installed but remembers nothing yet: {e}"
            )

    def _context_room(self, host: Host) -> int:
        from keeplore.connect.client_copy import composing_room  # as below

        return composing_room(host.context_bytes, self._command(host.name))

    def _with_command(self, host: Host, text: str) -> str:
        from keeplore.connect.client_copy import with_command  # as below

        return with_command(text, self._command(host.name))

    def _command(self, host: str) -> str:
        # here, because the first prompt waits for every import
        from keeplore.connect.client_copy import agents_command

        if host not in self._names:
            # a brief that stands before each request has the same bytes whoever started the worker
            is_standing = host in STANDING_BRIEF
            path = "" if is_standing else os.environ.get("PATH", os.defpath)
            self._names[host] = agents_command(self._registry.places.state, host, path)
        return self._names[host]

    def wait_until_given(self, seconds: float) -> None:
        """Stand back while a person waits for the context of a prompt, for so many seconds
        at most.
        """
        with self._given:
            self._given.wait_for(lambda: self._prompts <= 0, seconds)

    def taken(self) -> list[Injection]:
        """What sessions were given since this was asked last."""
        given = self._shown.taken()
        self.activity.count(Counted.TOLD, len(given))
        self.activity.count(
            Counted.MEMORIES, sum(len(injection.ids) for injection in given)
        )
        return given

    def save(self, *, is_last: bool = False) -> None:
        """Write down what was shown, and now and then what was done. Raises OSError."""
        self._hear_clients()
        self._shown.save()
        self.activity.save(is_last=is_last)

    def _hear_clients(self) -> None:
        for given in take_given(self._state):
            self._contexts.note_given(given)

    def recall(self, payload: bytes) -> bytes:
        """The answer to what ``RecallRequest.to_json`` gives, as JSON."""
        try:
            with self.activity.timed(RECALL):
                answer = self._registry.recall(RecallRequest.from_json(payload))
        except KeeploreError as e:
            return json.dumps(
                {"error": {"message": e.message, "remedy": e.remedy}}
            ).encode()
        self.activity.count(Counted.NOTHING, not answer.hits)
        return json.dumps(answer.to_json()).encode()

    def mcp(self, payload: bytes) -> bytes:
        """The reply to a request of an agent's session, b"" where too many are being answered."""
        with self.activity.timed(MCP):
            return self._mcp.answer(payload)

    def finish(self, seconds: float) -> None:
        """Let what agents asked for come to an end, for so many seconds at most."""
        if "_mcp" in vars(self):
            self._mcp.wait_until_done(seconds)

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
            self._on_change,
        )

    @functools.cached_property
    def _mcp(self) -> McpRequestHandler:
        # here, as above
        from keeplore.mcp_server.session_requests import McpRequestHandler
        from keeplore.worker.server.mcp_services import services

        return McpRequestHandler(services(self._registry, self._on_change))

    def _caught_up(self, seconds: float) -> bool:
        # the spool does not stand back for a prompt that waits for it
        with self._counted_prompts(-1):
            return self._wait_for_spool(seconds)

    @contextlib.contextmanager
    def _counted_prompts(self, by: int = 1) -> Iterator[None]:
        with self._given:
            self._prompts += by
            self._given.notify_all()
        try:
            yield
        finally:
            with self._given:
                self._prompts -= by
                self._given.notify_all()
