"""The messages of a Gemini CLI record in file order → host events."""

from __future__ import annotations

import re

from keeplore_hooks.events import Command, Compaction
from keeplore_hooks.hosts import jsonl, prompt_text
from keeplore_hooks.hosts.gemini import gemini_lines as lines
from keeplore_hooks.hosts.jsonl import Json, text
from keeplore_hooks.hosts.turn_assembly import Assembler, OpenTurn, digest

HOST = "gemini-cli"
_SILENT = ("info", "warning", "error")  # the host's own notes
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Messages:
    """Takes records and tells an assembler what they mean.

    A record is the head of a session, a message (recorded again whenever it changes), a patch of
    the head or a rewind. What a rewind leaves behind was said all the same, and is kept. A patch
    may replace the whole list of messages by what the model is sent from now on; there only a new
    summary counts.
    """

    def __init__(self, assembler: Assembler, problems: jsonl.Problems) -> None:
        self._assembler = assembler
        self._problems = problems
        self._calls: dict[
            str, lines.Call
        ] = {}  # of the turn that is going on, without a result so far
        self._unknown: set[str] = set()  # what was left out
        self.is_subagent = False
        self.has_unknown = False  # a record is of no form that is read here
        self.is_known = False  # at least one record was of a form that is read here

    def take(self, record: Json, start: int | None) -> None:
        """Take one record; ``start`` (bytes) is where its line begins, None in a file that is one
        JSON object.
        """
        patch = jsonl.mapping(record, "$set")
        turn = self._assembler.open
        if "$rewindTo" in record:
            if turn:
                turn.is_over = True
        elif patch:
            self._patch(patch)
        elif text(record, "id") and "type" in record:
            self._message(record, start)
        elif text(record, "sessionId"):
            self.is_subagent |= text(record, "kind") == "subagent"
            self._assembler.latest = max(
                self._assembler.latest, jsonl.time(text(record, "startTime"))
            )
            for message in jsonl.mappings(record, "messages"):
                self._message(message, start)
        else:
            self.has_unknown = True
            return
        self.is_known = True

    def _patch(self, patch: Json) -> None:
        self.is_subagent |= text(patch, "kind") == "subagent"
        for message in jsonl.mappings(patch, "messages"):
            if text(message, "type") == "user":
                self._summary(message)

    def _message(self, record: Json, start: int | None) -> None:
        kind, key = text(record, "type"), text(record, "id")
        if self._assembler.is_repeated(key):
            return
        at = jsonl.time(text(record, "timestamp"))
        if kind == "user":
            self._user(record, key, at, start)
        elif kind == "gemini":
            self._gemini(record, key, at)
        elif kind not in _SILENT:
            self._left_out(f"messages of the type {kind[:40]!r}")
        self._assembler.note(key, at)

    def _left_out(self, what: str) -> None:
        if what not in self._unknown:
            self._unknown.add(what)
            self._problems.add(
                f"{what} are not known here and were left out; a newer {HOST} may have written them"
            )

    def _user(self, record: Json, key: str, at: str, start: int | None) -> None:
        for call, output in lines.results_in(record):
            if waiting := self._calls.get(call):
                self._called(
                    lines.Call(waiting.id, waiting.name, waiting.given, "success", output), at
                )
        if self._summary(record):
            return
        prompt = lines.prompt_in(record)
        turn_id = key if _UUID.fullmatch(key) else digest(HOST, self._assembler.origin.session, key)
        if not prompt or (self._assembler.open and self._assembler.open.id == turn_id):
            return
        self._calls = {}
        self._begin(turn_id, prompt, at, start)
        if typed := prompt_text.slash_command(prompt):
            self._assembler.emit(
                Command(turn_id, self._assembler.origin, self._assembler.time(at), *typed)
            )

    def _gemini(self, record: Json, key: str, at: str) -> None:
        words, calls = lines.words_in(record), list(lines.calls_in(record))
        if not words and not calls:
            return
        turn = self._assembler.open
        if turn is None:  # the record starts in the middle
            turn = self._begin(digest(HOST, self._assembler.origin.session, key), "", at, None)
        turn.say(key, words, self._assembler.time(at))
        for call in calls:
            self._called(call, at)

    def _called(self, call: lines.Call, at: str) -> None:
        """Take a tool call: of its input only a file's name, a command's first line, or what it
        asks the person.
        """
        turn = self._assembler.open
        if turn is None or not call.id:
            return
        if not call.is_over:
            self._calls[call.id] = call
        if call.name in lines.WRITERS:
            turn.log.write(call.id, text(call.given, "file_path"))
        elif call.name == lines.SHELL:
            self._ran(turn, call)
        elif call.agent:
            task = next((value for value in call.given.values() if isinstance(value, str)), "")
            turn.log.delegate(call.id, call.name, jsonl.clean(task), call.agent)
        if call.status == "error":
            turn.log.failed(call.id)
        elif call.status == "cancelled":
            turn.log.refused(call.id)
        for question in lines.questions(call, self._assembler.origin, self._assembler.time(at)):
            turn.ask(question)
            if call.is_over:
                self._assembler.emit(question)

    def _ran(self, turn: OpenTurn, call: lines.Call) -> None:
        command = text(call.given, "command")
        turn.log.run(call.id, command)
        turn.log.printed(command, call.output)

    def _begin(self, turn_id: str, prompt: str, at: str, start: int | None) -> OpenTurn:
        return self._assembler.begin(
            OpenTurn(turn_id, self._assembler.origin, self._assembler.time(at), prompt), start
        )

    def _summary(self, record: Json) -> bool:
        summary = lines.summary_in(record)
        key = f"summary {text(record, 'id')}"
        if summary is not None and not self._assembler.is_repeated(key):
            at = self._assembler.time(jsonl.time(text(record, "timestamp")))
            compaction_id = digest(HOST, self._assembler.origin.session, key)
            self._assembler.compact(
                Compaction(compaction_id, self._assembler.origin, at, "after", summary=summary)
            )
            self._assembler.note(key, "")
        return summary is not None
