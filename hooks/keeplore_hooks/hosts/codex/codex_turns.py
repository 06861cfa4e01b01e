"""The lines of a Codex rollout in file order → host events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from enum import Enum, auto
from typing import ClassVar

from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.codex import codex_calls as calls
from keeplore_hooks.hosts.codex import codex_lines as lines
from keeplore_hooks.hosts.cursor_state import stored_object, stored_state
from keeplore_hooks.hosts.jsonl import (
    Json,
    JsonLine,
    Problems,
    clean,
    digest,
    first_text,
    mapping,
    text,
)
from keeplore_hooks.hosts.patches import absolute
from keeplore_hooks.hosts.prompt_text import without_spaces
from keeplore_hooks.hosts.turn_assembly import (
    ID_LENGTH,
    OpenTurn,
    PlacedTurnReader,
    Record,
)

HOST = "codex"
_HISTORIES = ("", "legacy", "paginated")  # ways to keep history that are read here
_TYPES = (
    "session_meta",
    "turn_context",
    "event_msg",
    "response_item",
    "compacted",
)


@dataclass(frozen=True, slots=True)
class CodexContext:
    """What must be known about the lines before a turn, when reading starts there."""

    # whose history the lines are: that of the session which was forked comes first
    session: str = ""
    cwd: str = ""
    branch: str = ""
    # Codex's id of what it does about a prompt, and about those that are typed meanwhile
    task: str = ""
    count: int = 0  # prompts of the task
    total: int = 0  # prompts of the rollout
    # what was said stands in events, so its other form is not read
    has_events: bool = False
    is_own: bool = False  # the rollout's own first line was read

    def with_task(self, task: str) -> CodexContext:
        """The context in another task, whose prompts are counted anew."""
        if not task or task == self.task:
            return self
        return replace(self, task=task, count=0)


@dataclass(slots=True)
class _TurnState:
    """What is known of the turn that is going on."""

    calls: dict[str, calls.CodexCall] = field(default_factory=dict)
    command: str = ""  # the last one whose output may tell of commits
    compactions: int = 0
    # how often each form of the record had these words
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    is_item: bool = False  # its prompt is known in its other form alone


class _Review(Enum):
    """How far the review is that ``/review`` starts."""

    NONE = auto()
    ENTERED = auto()
    STARTED = auto()  # the reviewer's own task was started


class CodexTurnReader(PlacedTurnReader):
    """Takes the lines of a rollout.

    What a person rolls back was said all the same, and is kept. The reviewer that ``/review``
    starts writes its own prompt into the rollout: only its findings count, as the reply to the
    command.
    """

    def __init__(
        self,
        record: Record,
        cursor: Cursor,
        problems: Problems,
    ) -> None:
        super().__init__(record, cursor, problems)
        context = stored_object(stored_state(cursor), "state", CodexContext)
        self._context = self._resume = context
        self._place_turns(context.cwd, context.branch)
        self._review = _Review.NONE
        self._turn = _TurnState()

    def state(self) -> Json:
        return asdict(self._resume)

    def take(self, line: JsonLine) -> None:
        kind, payload = type_and_payload(line.data)
        self._begin_line(line)
        self.is_known |= kind in _TYPES
        handler = self._handlers.get((kind, "")) or self._handlers.get(
            (kind, text(payload, "type"))
        )
        if handler:
            handler(self, payload)
        self.advance_time(self._at)

    @property
    def _is_reviewing(self) -> bool:
        return self._review is not _Review.NONE

    # Where and for what the lines are

    def _on_session_meta(self, payload: Json) -> None:
        context = self._context
        if self.is_new:
            self._check_history(payload)
        context = replace(context, session=text(payload, "id") or context.session)
        if not context.is_own:
            self.is_subagent = is_subagent(payload)
            cwd, branch = text(payload, "cwd"), text(payload, "git", "branch")
            context = replace(
                context,
                cwd=cwd,
                branch=branch,
                is_own=True,
            )
        self._context = context
        self._place_turns(context.cwd, context.branch)

    def _check_history(self, payload: Json) -> None:
        history, version = (
            text(payload, "history_mode"),
            text(payload, "cli_version")[:40],
        )
        if history not in _HISTORIES:
            self._problems.add(
                f"history_mode {history[:40]!r} of Codex {version} is not known here; it is read "
                f"in part"
            )

    def _on_turn_context(self, payload: Json) -> None:
        context = self._context
        context = replace(context, cwd=text(payload, "cwd") or context.cwd)
        self._context = context
        self._place_turns(context.cwd, context.branch)
        if not self._is_reviewing:
            self._context = self._context.with_task(text(payload, "turn_id"))

    def _on_task_started(self, payload: Json) -> None:
        """Take the task that begins; one that was read before a turn began repeats what
        is known.
        """
        task = text(payload, "turn_id")
        if task and task != self._context.task:
            self._is_replay = self.is_repeated(task)
            self.mark_read(task, self._at)
        if self._review is _Review.ENTERED:
            self._review = _Review.STARTED
            return
        # a review that was cut off has no end in the rollout
        self._review = _Review.NONE
        self._context = self._context.with_task(task)

    # What the person says

    def _on_user_message(self, payload: Json) -> None:
        prompt = lines.prompt_in(payload)
        self._is_replay |= lines.is_of_the_app(text(payload, "message"))
        if self._is_reviewing or self._is_replay or not prompt:
            return
        if turn := self._turn_of_item():
            turn.user, self._turn.is_item = prompt, False
        else:
            self._begin_with_prompt(prompt)
        self._mark_has_events()

    def _turn_of_item(self) -> OpenTurn | None:
        """The open turn, where its prompt is known in its other form and nobody has answered it."""
        turn = self.open
        return turn if self._turn.is_item and turn and not turn.ended_at else None

    def _mark_has_events(self) -> None:
        self._context = replace(self._context, has_events=True)

    def _begin_with_prompt(self, prompt: str) -> None:
        context = self._context
        if context.task and len(context.task) <= ID_LENGTH:
            turn_id = (
                f"{context.task}:{context.count}" if context.count else context.task
            )
        else:
            session = context.session or self._outer.session
            turn_id = f"codex:{digest(session, str(context.total), prompt)}"
        self._begin(turn_id, prompt, self._start)
        self._resume = context

    def _begin(
        self,
        turn_id: str,
        prompt: str,
        start: int | None,
    ) -> OpenTurn:
        context = self._context
        turn = self.begin(
            turn_id,
            prompt,
            self._at,
            start,
            lines.command_in(prompt),
        )
        self._context = replace(
            context, count=context.count + 1, total=context.total + 1
        )
        self._turn = _TurnState()
        self.is_over = False
        self.tasks[turn_id] = context.task
        return turn

    # What the assistant says and does

    def _speaker(self) -> OpenTurn:
        """The turn that the assistant's words belong to."""
        self.is_over = False
        if turn := self.open:
            return turn
        # the rollout starts in the middle, after a fork for instance
        key = digest(self._context.session, self._context.task, "middle")
        return self._begin(f"codex:{key}", "", None)

    def _take_words(self, words: str, form: str) -> None:
        """Take words that may stand in the rollout in two forms, and that may be said more than
        once.
        """
        words, plan = lines.spoken_in(words)
        if not (words or plan) or self._is_reviewing or self._is_replay:
            return
        turn, at = self._speaker(), self.time(self._at)
        key = digest(without_spaces(words))
        self._turn.said[form, key] += 1
        turn.say(f"{key}:{self._turn.said[form, key]}", words, at)
        turn.say(digest("plan", without_spaces(plan)), plan, at)

    def _on_agent_message(self, payload: Json) -> None:
        self._take_words(text(payload, "message"), "event")
        self._mark_has_events()

    def _on_item_completed(self, payload: Json) -> None:
        """Take an item: in rollouts of the mode paginated, since 0.153, the words stand in items
        and not in events of their own.
        """
        item = mapping(payload, "item")
        kind = text(item, "type").lower()
        if kind == "usermessage":
            self._on_user_message(lines.message_of(item))
        elif kind == "agentmessage":
            self._on_agent_message(lines.message_of(item))
        elif kind == "plan" and text(item, "text"):
            self._take_words(
                f"<proposed_plan>{text(item, 'text')}</proposed_plan>", "event"
            )
        elif kind == "filechange":
            is_done = text(item, "status") in ("completed", "")
            self._on_patch(
                {
                    "call_id": item.get("id"),
                    "success": is_done,
                    "changes": item.get("changes"),
                }
            )

    def _on_message(self, payload: Json) -> None:
        if self._is_reviewing or self._is_replay:
            return
        role, words = text(payload, "role"), lines.words_of_item(payload)
        self._is_replay = role == "user" and lines.is_of_the_app(words)
        if self._is_replay or self._context.has_events:
            return
        if role == "assistant":
            self._take_words(words, "item")
        elif role == "user" and (prompt := lines.prompt_of_item(payload)):
            # which of them was typed, an event may tell
            if turn := self._turn_of_item():
                turn.user = f"{turn.user}\n\n{prompt}"
                return
            self._begin_with_prompt(prompt)
            self._turn.is_item = True

    def _on_call(self, payload: Json) -> None:
        """Note a tool call: its commands, files, subagent and questions."""
        call_id, turn = first_text(payload, "call_id", "id"), self.open
        if self._is_replay or not call_id or turn is None:
            return
        self.is_over = False
        call = calls.call_in(payload, self.origin, self.time(self._at))
        self._turn.calls[call_id] = call
        for number, command in enumerate(call.commands):
            turn.log.add_command(_command_key(call_id, number), command)
        self._take_written(turn, call_id, call.files)
        turn.log.add_subagent_task(call_id, *call.task)
        for question in call.questions:
            turn.ask(question)
        self._turn.command = call.command or self._turn.command

    def _take_written(
        self,
        turn: OpenTurn,
        call_id: str,
        files: tuple[str, ...],
    ) -> None:
        for number, path in enumerate(files):
            turn.log.add_file(
                _file_key(call_id, number), absolute(path, self._context.cwd)
            )

    def _on_patch(self, payload: Json) -> None:
        """Take the files that a patch event names for certain, also those of a patch inside a
        script.
        """
        call_id, turn = text(payload, "call_id"), self.open
        if self._is_replay or turn is None:
            return
        call = self._turn.calls.get(call_id)
        if payload.get("success") is not False:
            if call is None:
                changed = tuple(clean(path) for path in mapping(payload, "changes"))
                self._take_written(turn, call_id, changed)
        elif call:
            _drop_failed(turn, call_id, call)

    def _on_call_output(self, payload: Json) -> None:
        """Take what a call gave: commits, an agent's id, answers; what was refused or failed is
        struck out.
        """
        call_id, turn = text(payload, "call_id"), self.open
        call = self._turn.calls.get(call_id)
        if self._is_replay or turn is None or call is None:
            return
        output = calls.output_of(payload)
        is_refused = calls.is_refused(output)
        turn.log.add_subagent_id(call_id, calls.agent_in(output))
        if is_refused:
            _drop_refused(turn, call_id, call)
        elif calls.has_failed_to_patch(output):
            _drop_failed(turn, call_id, call)
        is_continued = call.name in calls.CONTINUED
        command = self._turn.command if is_continued else call.command
        if command:
            turn.log.add_output(command, output, has_failed=is_refused)
        for question in call.answered(output):
            self.answer(turn, question)

    # What the host does

    def _on_task_end(self, _: Json) -> None:
        self._review = _Review.NONE
        self._on_rollback(_)

    def _on_rollback(self, _: Json) -> None:
        if not self._is_replay:
            self.is_over = self.open is not None

    def _on_review_entered(self, payload: Json) -> None:
        hint = text(payload, "user_facing_hint").strip()
        self._context = self._context.with_task(text(payload, "turn_id"))
        self._review = _Review.ENTERED
        if not self._is_replay:
            self._begin_with_prompt(f"/review {hint}".strip())
            self._mark_has_events()

    def _on_review_left(self, _: Json) -> None:
        self._review = _Review.NONE

    def _on_compacted(self, payload: Json) -> None:
        if self._is_replay:
            return
        context, count = self._context, self._turn.compactions
        summary = text(payload, "message").strip()
        key = f"codex:{digest(context.task, context.session, str(count), summary)}"
        self._turn.compactions += 1
        self.compact(key, self._at, summary)

    # type of the line, and of what it holds → what takes it
    _handlers: ClassVar[
        dict[tuple[str, str], Callable[[CodexTurnReader, Json], None]]
    ] = {
        ("session_meta", ""): _on_session_meta,
        ("turn_context", ""): _on_turn_context,
        ("compacted", ""): _on_compacted,
        ("event_msg", "user_message"): _on_user_message,
        ("event_msg", "agent_message"): _on_agent_message,
        ("event_msg", "item_completed"): _on_item_completed,
        ("event_msg", "task_started"): _on_task_started,
        ("event_msg", "turn_started"): _on_task_started,
        ("event_msg", "task_complete"): _on_task_end,
        ("event_msg", "turn_complete"): _on_task_end,
        ("event_msg", "turn_aborted"): _on_task_end,
        ("event_msg", "thread_rolled_back"): _on_rollback,
        ("event_msg", "entered_review_mode"): _on_review_entered,
        ("event_msg", "exited_review_mode"): _on_review_left,
        ("event_msg", "patch_apply_end"): _on_patch,
        ("response_item", "message"): _on_message,
        ("response_item", "function_call"): _on_call,
        ("response_item", "custom_tool_call"): _on_call,
        ("response_item", "local_shell_call"): _on_call,
        ("response_item", "function_call_output"): _on_call_output,
        ("response_item", "custom_tool_call_output"): _on_call_output,
    }


def _command_key(call_id: str, number: int) -> str:
    """Under which the turn's log has a command of a call; ``_file_key`` likewise for a file."""
    return f"{call_id}:{number}"


def _file_key(call_id: str, number: int) -> str:
    return f"{call_id}:file:{number}"


def _drop_refused(turn: OpenTurn, call_id: str, call: calls.CodexCall) -> None:
    """Forget the commands and files of a call that was refused: none ran, and none was written."""
    for number in range(len(call.commands)):
        turn.log.drop_call(_command_key(call_id, number))
    for number in range(len(call.files)):
        turn.log.drop_call(_file_key(call_id, number))


def _drop_failed(turn: OpenTurn, call_id: str, call: calls.CodexCall) -> None:
    """Forget the files of a patch that failed."""
    for number in range(len(call.files)):
        turn.log.drop_file(_file_key(call_id, number))


def type_and_payload(data: Json) -> tuple[str, Json]:
    """The type of a line and what it holds; before 0.30 items stood in the file as they are."""
    kind = text(data, "type")
    if "payload" in data:
        return kind, mapping(data, "payload")
    return _bare_type(kind, data), data


def _bare_type(kind: str, data: Json) -> str:
    """The type of a line that is an item, or says whose the rollout is, without anything
    around it.
    """
    if kind in ("message", "reasoning") or kind.endswith(("_call", "_call_output")):
        return "response_item"
    return "session_meta" if "id" in data and not kind else ""


def is_subagent(meta: Json) -> bool:
    """Is a rollout with this first line that of a subagent?"""
    return (
        "subagent" in mapping(meta, "source")
        or text(meta, "thread_source") == "subagent"
    )
