"""``keeplore emit``."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from keeplore.config.places import Places
from keeplore.errors import disk_message
from keeplore.worker.server.protocol import ask
from keeplore.worker.start import start
from keeplore_hooks.events import HostEvent, to_json
from keeplore_hooks.hosts.emitted import EMITTED
from keeplore_hooks.installed import HOSTS, NAME, SOURCES
from keeplore_hooks.spool import Spool

if TYPE_CHECKING:
    from keeplore.cli.emitted_lines import EmittingProgram

ANSWER_S = 10.0  # for a context; a worker may have to be started
STATUS_S = 0.5
LOOK_S = 30.0  # between two looks whether a worker runs
TRY_S = 0.05


def _host(_context: click.Context, _option: click.Parameter, name: str | None) -> str:
    """A name that no adapter has: its sessions would be taken for that host's."""
    if name is None:
        return ""
    if not NAME.fullmatch(name):
        raise click.BadParameter("use small letters, digits and dashes")
    if name in (*HOSTS, *SOURCES, EMITTED):
        raise click.BadParameter(f"{name} has an adapter of its own; choose another")
    return name


@click.command(short_help="Take events of an agent in any language, as JSON lines.")
@click.option(
    "--host", metavar="NAME", callback=_host, help="What the agent is called."
)
@click.option(
    "--cwd",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where it works; this directory if not given.",
)
@click.option(
    "--answers",
    is_flag=True,
    help="Answer a session's start and each prompt with the context that belongs there.",
)
@click.option(
    "is_schema", "--schema", is_flag=True, help="Print the JSON Schema of a line."
)
@click.pass_obj
def emit_command(
    places: Places, host: str, cwd: Path | None, *, answers: bool, is_schema: bool
) -> None:
    """Read events from stdin, one JSON object a line, and answer each with a line.

    A line is kept on disk when it is answered with "ok": true; the worker makes memory of it, as of
    any host's. One that is no event is answered with "ok": false and the reason, and the rest goes
    on; the exit status is 1 then. The agent may keep this running and write as things happen.

    \b
    {"event": "prompt", "session": "s1", "user": "Which queue do we take?"}
    {"event": "turn", "session": "s1", "user": "Which queue do we take?", "replies": ["Postgres."]}
    """
    # heavy: pydantic's models are made here, not for --help
    from keeplore.cli.emitted_lines import EmittingProgram, schema

    if is_schema:
        click.echo(json.dumps(schema(), indent=2))
        return
    if not host:
        raise click.UsageError("say with --host NAME what the agent is called")
    program = EmittingProgram(host, Path(cwd or Path.cwd()).absolute())
    emitter = Emitter(places, program, is_answering=answers)
    has_refused = False
    for number, line in _lines(sys.stdin.buffer):
        answer = emitter.take(line)
        click.echo(json.dumps({"line": number, **answer}))
        has_refused |= not answer["ok"]
    sys.exit(int(has_refused))


class Emitter:
    """Takes the lines of one program."""

    def __init__(
        self, places: Places, by: EmittingProgram, *, is_answering: bool
    ) -> None:
        self._places = places
        self._by = by
        self._is_answering = is_answering
        self._spool = Spool(places.spool)
        self._looked_at = -LOOK_S

    def take(self, line: bytes | None) -> dict[str, Any]:
        """What is answered; None stands for a line that is too long."""
        # heavy, as above
        from keeplore.cli.emitted_lines import MAX_LINE, LineRefused, read_line

        if line is None:
            return _refusal(f"the line is longer than {MAX_LINE} bytes")
        try:
            event = read_line(line, self._by)
        except LineRefused as e:
            return _refusal(f"{e}; see `keeplore emit --schema`")
        if os.environ.get("KEEPLORE_OFF"):
            return {"ok": True, "id": event.id, "note": "KEEPLORE_OFF: nothing is kept"}
        payload = to_json(event)
        try:
            self._places.create()
            self._spool.add(EMITTED, event.kind, payload.encode(errors="surrogatepass"))
        except OSError as e:
            return _refusal(f"it cannot be kept: {disk_message(e)}; emit it again")
        self._start_worker()
        context = self._context_answer(event, payload) if self._is_answering else {}
        return {"ok": True, "id": event.id.removeprefix("prompt:"), **context}

    def _start_worker(self) -> None:
        """See that somebody takes what was kept."""
        if time.monotonic() - self._looked_at < LOOK_S:
            return
        self._looked_at = time.monotonic()
        if ask(self._places.state, "status", timeout_s=STATUS_S) is None:
            start(self._places.state)

    def _context_answer(self, event: HostEvent, payload: str) -> dict[str, Any]:
        """The context that belongs beside an event, or a note that nobody answered."""
        # heavy, as above
        from keeplore_hooks.hosts.emitted import Emitted

        if Emitted().ask(event.kind, payload.encode(errors="surrogatepass")) is None:
            return {}
        deadline = time.monotonic() + ANSWER_S
        was_there = False  # a worker, before it was asked
        while (left_s := deadline - time.monotonic()) > 0:
            answer = ask(
                self._places.state,
                f"answer {EMITTED} {event.kind}",
                json.loads(payload),
                timeout_s=left_s,
            )
            if isinstance(answer, dict):
                return answer
            if was_there:
                return {"context": ""}  # it had nothing to say
            time.sleep(TRY_S)
            # one that has just started is asked once more
            status = ask(self._places.state, "status", timeout_s=STATUS_S)
            was_there = status is not None
        return {"context": "", "note": "no worker answered; see `keeplore doctor`"}


def _refusal(error: str) -> dict[str, Any]:
    return {"ok": False, "error": error}


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """The lines with their numbers, without empty ones; None for one that is too long."""
    # heavy, as above
    from keeplore.cli.emitted_lines import MAX_LINE

    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            yield number, None
        elif line.strip():
            yield number, line
