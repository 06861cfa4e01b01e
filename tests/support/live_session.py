"""A live session of Claude Code as its host tells of it: payloads and a growing transcript."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from keeplore.config.places import Places
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import Intake
from keeplore.workspace.lifecycle.setup import initialise
from keeplore_hooks.spool import SpoolEntry


class Live:
    """A session whose transcript grows, a second a line, and whose host events are taken one by
    one.
    """

    def __init__(self, session: str, clock: itertools.count[int]) -> None:
        self.session, self._clock = session, clock
        self.cwd = Path.home() / "code" / "ledgerly"
        self.cwd.mkdir(parents=True, exist_ok=True)
        self.path = (
            Path.home() / ".claude" / "projects" / "ledgerly" / f"{session}.jsonl"
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def add(
        self, kind: str, uuid: str, parent: str | None = None, **fields: object
    ) -> None:
        line = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": self.session,
            "timestamp": self._at(next(self._clock)) + ".000Z",
            "version": "2.1.218",
            "cwd": str(self.cwd),
            "isSidechain": False,
            **fields,
        }
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def user(
        self, uuid: str, words: object, parent: str | None = None, **fields: object
    ) -> None:
        self.add(
            "user", uuid, parent, message={"role": "user", "content": words}, **fields
        )

    def say(
        self, uuid: str, words: str, parent: str | None = None, **fields: object
    ) -> None:
        content = [{"type": "text", "text": words}]
        message = {"role": "assistant", "id": f"m-{uuid}", "content": content}
        self.add("assistant", uuid, parent, message=message, **fields)

    def hear(self, event: str, **fields: object) -> None:
        payload = {
            "session_id": self.session,
            "transcript_path": str(self.path),
            "cwd": str(self.cwd),
            **fields,
        }
        entry = Path.home() / "entry"
        entry.write_text(json.dumps({"hook_event_name": event, **payload}))
        at = self._at(next(self._clock)) + "Z"
        with Registry(
            Places.from_environment(os.environ)
        ) as registry:  # as if the worker had been started anew
            Intake(registry).take(
                SpoolEntry("entry", "claude-code", event, at, 0, entry)
            )

    def _at(self, second: int) -> str:
        return f"2026-02-09T14:{second // 60:02d}:{second % 60:02d}"


def play(
    session: str, clock: itertools.count[int], talk: Sequence[tuple[str, str]]
) -> None:
    """A session from its beginning to its end; an answer that is "" never came."""
    live = Live(session, clock)
    live.hear("SessionStart", source="startup")
    parent = None
    for number, (asked, answer) in enumerate(talk):
        user, reply = f"{session}-u{number}", f"{session}-a{number}"
        live.hear("UserPromptSubmit", prompt=asked)
        live.user(user, asked, parent)
        if answer:
            live.say(reply, answer, user)
            live.hear("Stop")
        parent = reply
    live.hear("SessionEnd", reason="exit")


@contextmanager
def played(sessions: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[Registry]:
    """A new workspace in which the sessions were played, twenty minutes after one another."""
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    for number, (session, talk) in enumerate(sessions.items()):
        play(session, itertools.count(1200 * number), talk)
    with Registry(places) as registry:
        yield registry
