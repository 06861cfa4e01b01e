"""The messages of a Gemini CLI record in file order → host events."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace

from keeplore_hooks.events import Question, Turn
from keeplore_hooks.hosts import prompt_text
from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.cursor_state import stored_object, stored_state
from keeplore_hooks.hosts.gemini import gemini_lines as lines
from keeplore_hooks.hosts.jsonl import (
    Json,
    JsonLine,
    Problems,
    clean,
    digest,
    mapping,
    mappings,
    text,
    utc_time,
)
from keeplore_hooks.hosts.turn_assembly import OpenTurn, Record, TurnReader

HOST = "gemini-cli"
_SILENT = ("info", "warning", "error")  # the host's own notes
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GeminiLastWords:
    """What the model said in a turn by the payload that ended it: of one that was cancelled the
    record never gets it.
    """

    turn_id: str = ""
    words: str = ""

    def added_to(self, turn: Turn) -> Turn:
        """The turn with these words, where they are its own and it lacks them."""
        if turn.id != self.turn_id or prompt_text.is_said(self.words, turn):
            return turn
        turn = _without_said(turn, self.words)
        return replace(turn, replies=(*turn.replies, self.words))


class GeminiTurnReader(TurnReader):
    """Takes records: the head of a session, a message (recorded again whenever it changes), a patch
    of the head or a rewind.

    What a rewind leaves behind was said all the same, and is kept. A patch may replace the whole
    list of messages by what the model is sent from now on; there only a new summary counts.
    """

    program = HOST

    def __init__(
        self,
        record: Record,
        cursor: Cursor,
        problems: Problems,
        *,
        is_whole: bool = False,
    ) -> None:
        last_words = stored_object(stored_state(cursor), "last", GeminiLastWords)
        super().__init__(
            record, cursor, problems, last_words.added_to, is_whole=is_whole
        )
        self._start = 0
        # of the turn that is going on, without a result so far
        self._calls: dict[str, lines.GeminiCall] = {}
        self._has_unknown = False  # a record is of no form that is read here

    def take(self, line: JsonLine) -> None:
        record = line.data
        self._start = line.start
        if "$rewindTo" in record:
            self._end()
        elif patch := mapping(record, "$set"):
            self._take_patch(patch)
        elif text(record, "id") and "type" in record:
            self._take_message(record)
        elif text(record, "sessionId"):
            self._take_head(record)
        else:
            self._has_unknown = True
            return
        self.is_known = True

    def report(self) -> None:
        if self._has_unknown:
            self._problems.add_unknown(
                "records of a form that is not known here were left out", HOST, "them"
            )

    def _end(self) -> None:
        if self.open:
            self.open.is_over = True

    def _take_patch(self, patch: Json) -> None:
        self.is_subagent |= text(patch, "kind") == "subagent"
        for message, reply in itertools.pairwise([*mappings(patch, "messages"), {}]):
            if text(message, "type") == "user":
                self._takes_summary(message, reply)

    def _take_head(self, record: Json) -> None:
        self.is_subagent |= text(record, "kind") == "subagent"
        self.advance_time(utc_time(text(record, "startTime")))
        for message in mappings(record, "messages"):
            self._take_message(message)

    def _take_message(self, record: Json) -> None:
        kind, key = text(record, "type"), text(record, "id")
        if self.is_repeated(key):
            return
        at = utc_time(text(record, "timestamp"))
        if kind == "user":
            self._on_user(record, key, at)
        elif kind == "gemini":
            self._on_gemini(record, key, at)
        elif kind not in _SILENT:
            self.leave_out(f"messages of the type {kind[:40]!r}")
        self.mark_read(key, at)

    def _on_user(self, record: Json, key: str, at: str) -> None:
        for call_id, output in lines.results_in(record):
            if call := self._calls.get(call_id):
                self._take_call(call.done(output), at)
        if self._takes_summary(record):
            return
        prompt = lines.prompt_in(record)
        turn_id = key if _UUID.fullmatch(key) else self._key(key)
        turn = self.open
        if prompt and not (turn and turn.id == turn_id):
            self._calls = {}
            self._begin(turn_id, prompt, at, self._start)

    def _on_gemini(self, record: Json, key: str, at: str) -> None:
        words, calls = lines.words_in(record), list(lines.calls_in(record))
        if not words and not calls:
            return
        # without a turn the record starts in the middle
        turn = self.open or self._begin(self._key(key), "", at, None)
        turn.say(key, words, self.time(at))
        for call in calls:
            self._take_call(call, at)

    def _take_call(self, call: lines.GeminiCall, at: str) -> None:
        """Take a tool call: of its input only a file's name, a command's first line, or what it
        asks the person.
        """
        turn, asked_at = self.open, self.time(at)
        if turn is None or not call.id:
            return
        if not call.is_over:
            self._calls[call.id] = call
        self._log_call(turn, call)
        for question in lines.questions(call, self.origin, asked_at):
            if call.is_over:
                self.answer(turn, question)
            else:
                turn.ask(question)

    def _log_call(self, turn: OpenTurn, call: lines.GeminiCall) -> None:
        if call.name in lines.WRITERS:
            turn.log.add_file(call.id, text(call.given, "file_path"))
        elif call.name == lines.SHELL:
            turn.log.add_command_with_output(
                call.id, text(call.given, "command"), call.output
            )
        elif call.agent:
            texts = (value for value in call.given.values() if isinstance(value, str))
            turn.log.add_subagent_task(
                call.id, call.name, clean(next(texts, "")), call.agent
            )
        if call.status == lines.CallStatus.ERROR:
            turn.log.drop_file(call.id)
        elif call.status == lines.CallStatus.CANCELLED:
            turn.log.drop_call(call.id)

    def _begin(self, turn_id: str, prompt: str, at: str, start: int | None) -> OpenTurn:
        return self.begin(turn_id, prompt, at, start, prompt_text.slash_command(prompt))

    def _key(self, key: str) -> str:
        return digest(HOST, self.origin.session, key)

    def _takes_summary(self, record: Json, reply: Json | None = None) -> bool:
        """Take the summary that a compaction leaves, which the host has the model acknowledge;
        False for another message.
        """
        summary = lines.summary_in(record, reply or {})
        key = f"summary {text(record, 'id')}"
        if summary is not None and not self.is_repeated(key):
            self.compact(self._key(key), utc_time(text(record, "timestamp")), summary)
            self.mark_read(key, "")
        return summary is not None


def _without_said(turn: Turn, words: str) -> Turn:
    """The turn without what the assistant has said, where the words hold it."""
    if prompt_text.without_spaces(turn.assistant) not in prompt_text.without_spaces(
        words
    ):
        return turn
    asked = tuple(reply for reply in turn.replies if isinstance(reply, Question))
    return replace(turn, replies=asked)
