"""The lines of a Codex rollout in file order → host events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from keeplore_hooks.events import Command, Compaction, Origin
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.codex import codex_calls as calls
from keeplore_hooks.hosts.codex import codex_lines as lines
from keeplore_hooks.hosts.jsonl import Json, Line, mapping, text
from keeplore_hooks.hosts.patches import absolute
from keeplore_hooks.hosts.turn_assembly import Assembler, OpenTurn, digest, squashed

_ID_LENGTH = 100  # characters
_HISTORIES = ("", "legacy", "paginated")  # ways to keep history that are read here
_TYPES = ("session_meta", "turn_context", "event_msg", "response_item", "compacted")
_REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Context:
    """What must be known about the lines before a turn, when reading starts there."""

    session: str = (
        ""  # whose history the lines are: that of the session which was forked comes first
    )
    cwd: str = ""
    branch: str = ""
    task: str = (
        ""  # Codex's id of what it does about a prompt, and about those that are typed meanwhile
    )
    count: int = 0  # prompts of the task
    total: int = 0  # prompts of the rollout
    has_events: bool = False  # what was said stands in events, so its other form is not read
    is_own: bool = False  # the rollout's own first line was read

    @staticmethod
    def from_data(data: Json) -> Context:
        number = {
            key: value for key in ("count", "total") if isinstance(value := data.get(key), int)
        }
        return Context(
            session=text(data, "session"),
            cwd=text(data, "cwd"),
            branch=text(data, "branch"),
            task=text(data, "task"),
            count=number.get("count", 0),
            total=number.get("total", 0),
            has_events=bool(data.get("has_events")),
            is_own=bool(data.get("is_own")),
        )


class Lines:
    """Takes lines and tells an assembler what they mean.

    What a person rolls back was said all the same, and is kept. The reviewer that ``/review``
    starts writes its own prompt into the rollout: only its findings count, as the reply to the
    command.
    """

    def __init__(self, assembler: Assembler, problems: jsonl.Problems, state: Json) -> None:
        self.is_known = self.is_subagent = self.is_over = False
        self.tasks: dict[str, str] = {}  # turn → task, of the turns just read
        self._assembler = assembler
        self._problems = problems
        self._outer = assembler.origin
        self._context = self._resume = Context.from_data(state)
        self._is_new = False
        self._is_replay = False  # until the next task nothing counts
        self._is_review = False
        self._has_reviewer = False  # the reviewer's own task was started
        self._is_item = False  # the open turn's prompt is known in its other form alone
        self._start = 0
        self._at = ""
        self._calls: dict[str, calls.Call] = {}
        self._command = ""  # the last one whose output may tell of commits
        self._compactions = 0  # since the turn began
        self._said: dict[
            tuple[str, str], int
        ] = {}  # how often each form of the record had these words in the turn
        self._takes: dict[tuple[str, str], Callable[[Json], None]] = {
            ("event_msg", "user_message"): self._user,
            ("event_msg", "agent_message"): self._agent,
            ("event_msg", "item_completed"): self._item,
            ("event_msg", "task_started"): self._started,
            ("event_msg", "turn_started"): self._started,
            ("event_msg", "task_complete"): self._ended,
            ("event_msg", "turn_complete"): self._ended,
            ("event_msg", "turn_aborted"): self._ended,
            ("event_msg", "thread_rolled_back"): self._ended,
            ("event_msg", "entered_review_mode"): self._reviewing,
            ("event_msg", "exited_review_mode"): self._reviewed,
            ("event_msg", "patch_apply_end"): self._patched,
            ("response_item", "message"): self._message,
            ("response_item", "function_call"): self._called,
            ("response_item", "custom_tool_call"): self._called,
            ("response_item", "local_shell_call"): self._called,
            ("response_item", "function_call_output"): self._result,
            ("response_item", "custom_tool_call_output"): self._result,
        }

    def state(self) -> Json:
        return asdict(self._resume)

    def take(self, line: Line, *, is_new: bool) -> None:
        data = line.data
        kind, payload = text(data, "type"), mapping(data, "payload")
        if not payload and "payload" not in data:  # before 0.30 items stood in the file as they are
            kind, payload = _bare(kind, data), data
        self._start, self._is_new = line.start, is_new
        self._at = jsonl.time(text(data, "timestamp")) or self._at
        if kind in _TYPES:
            self.is_known = True
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self._note_turn(payload)
        elif kind == "compacted":
            self._compacted(payload)
        elif take := self._takes.get((kind, text(payload, "type"))):
            take(payload)
        if self._at:
            self._assembler.latest = max(self._assembler.latest, self._at)

    # Where and for what the lines are

    def _meta(self, payload: Json) -> None:
        context, git = self._context, mapping(payload, "git")
        if not context.is_own:
            self.is_subagent = is_subagent(payload)
        if self._is_new and (history := text(payload, "history_mode")) not in _HISTORIES:
            version = text(payload, "cli_version")[:40]
            self._problems.add(
                f"history_mode {history[:40]!r} of Codex {version} is not known here; it is read "
                f"in part"
            )
        self._context = replace(
            context,
            session=text(payload, "id") or context.session,
            cwd=context.cwd if context.is_own else text(payload, "cwd"),
            branch=context.branch if context.is_own else text(git, "branch"),
            is_own=True,
        )

    def _note_turn(self, payload: Json) -> None:
        self._context = replace(self._context, cwd=text(payload, "cwd") or self._context.cwd)
        if not self._is_review:
            self._begin_task(text(payload, "turn_id"))

    def _started(self, payload: Json) -> None:
        task = text(payload, "turn_id")
        if task and task != self._context.task:
            self._is_replay = self._assembler.is_repeated(task)
            self._assembler.note(task, self._at)
        if self._is_review and not self._has_reviewer:
            self._has_reviewer = True
            return
        self._is_review = False  # a review that was cut off has no end in the rollout
        self._begin_task(task)

    def _begin_task(self, task: str) -> None:
        if task and task != self._context.task:
            self._context = replace(self._context, task=task, count=0)

    @property
    def _origin(self) -> Origin:
        cwd = self._context.cwd or self._outer.cwd
        return replace(self._outer, cwd=cwd, branch=self._context.branch)

    # What the person says

    def _user(self, payload: Json) -> None:
        prompt = lines.prompt_in(payload)
        self._is_replay |= lines.is_of_the_app(text(payload, "message"))
        if self._is_review or self._is_replay or not prompt:
            return
        turn = self._assembler.open
        if self._is_item and turn and not turn.ended_at:
            turn.user, self._is_item = prompt, False
            self._context = replace(self._context, has_events=True)
            return
        self._prompt(prompt)
        self._context = replace(self._context, has_events=True)

    def _prompt(self, prompt: str) -> None:
        context = self._context
        if context.task and len(context.task) <= _ID_LENGTH:
            turn_id = context.task if not context.count else f"{context.task}:{context.count}"
        else:
            turn_id = f"codex:{digest(context.session or self._outer.session, str(context.total), prompt)}"
        self._begin(turn_id, prompt)
        if command := lines.command_in(prompt):
            self._assembler.emit(
                Command(turn_id, self._origin, self._assembler.time(self._at), *command)
            )

    def _begin(self, turn_id: str, prompt: str, *, starts: bool = True) -> OpenTurn:
        context = self._context
        turn = OpenTurn(turn_id, self._origin, self._assembler.time(self._at), prompt)
        self._assembler.begin(turn, self._start if starts else None)
        if starts:
            self._resume = context
        self._context = replace(context, count=context.count + 1, total=context.total + 1)
        self._calls, self._said, self._command, self._compactions = {}, {}, "", 0
        self.is_over = self._is_item = False
        self.tasks[turn_id] = context.task
        return turn

    # What the assistant says and does

    def _speaker(self) -> OpenTurn:
        self.is_over = False
        if turn := self._assembler.open:
            return turn
        # the rollout starts in the middle, after a fork for instance
        return self._begin(
            f"codex:{digest(self._context.session, self._context.task, 'middle')}", "", starts=False
        )

    def _say(self, words: str, form: str) -> None:
        """Take words that may stand in the rollout in two forms, and that may be said more than
        once.
        """
        words, plan = lines.spoken_in(words)
        if (words or plan) and not self._is_review and not self._is_replay:
            turn, at = self._speaker(), self._assembler.time(self._at)
            key = digest(squashed(words))
            count = self._said[form, key] = self._said.get((form, key), 0) + 1
            turn.say(f"{key}:{count}", words, at)
            turn.say(digest("plan", squashed(plan)), plan, at)

    def _agent(self, payload: Json) -> None:
        self._say(text(payload, "message"), "event")
        self._context = replace(self._context, has_events=True)

    def _item(self, payload: Json) -> None:
        """In rollouts of the mode paginated, since 0.153, the words stand in items and not in
        events of their own.
        """
        item = mapping(payload, "item")
        kind = text(item, "type").lower()
        if kind == "usermessage":
            self._user(lines.message_of(item))
        elif kind == "agentmessage":
            self._agent(lines.message_of(item))
        elif kind == "plan" and text(item, "text"):
            self._say(f"<proposed_plan>{text(item, 'text')}</proposed_plan>", "event")
        elif kind == "filechange":
            is_done = text(item, "status") in ("completed", "")
            self._patched(
                {"call_id": item.get("id"), "success": is_done, "changes": item.get("changes")}
            )

    def _message(self, payload: Json) -> None:
        if self._is_review or self._is_replay:
            return
        role = text(payload, "role")
        self._is_replay = role == "user" and lines.is_of_the_app(lines.words_of_item(payload))
        if self._is_replay:
            return
        if role == "assistant" and not self._context.has_events:
            self._say(lines.words_of_item(payload), "item")
        elif (
            role == "user"
            and not self._context.has_events
            and (prompt := lines.prompt_of_item(payload))
        ):
            turn = self._assembler.open
            if (
                self._is_item and turn and not turn.ended_at
            ):  # which of them was typed, an event may tell
                turn.user = f"{turn.user}\n\n{prompt}"
                return
            self._prompt(prompt)
            self._is_item = True

    def _called(self, payload: Json) -> None:
        call_id = text(payload, "call_id") or text(payload, "id")
        if self._is_replay or not call_id or self._assembler.open is None:
            return
        self.is_over = False
        turn, at = self._assembler.open, self._assembler.time(self._at)
        call = self._calls[call_id] = calls.call_in(payload, self._origin, at)
        for number, command in enumerate(call.commands):
            turn.log.run(f"{call_id}:{number}", command)
            call.keys.append(f"{call_id}:{number}")
        self._wrote(call_id, call.files)
        turn.log.delegate(call_id, *call.task)
        for question in call.questions:
            turn.ask(question)
        self._command = call.command or self._command

    def _wrote(self, call_id: str, files: tuple[str, ...]) -> None:
        if turn := self._assembler.open:
            for number, path in enumerate(files):
                turn.log.write(f"{call_id}:file:{number}", absolute(path, self._context.cwd))

    def _patched(self, payload: Json) -> None:
        """A patch event names the files for certain, also those of a patch inside a script."""
        call_id, turn = text(payload, "call_id"), self._assembler.open
        if self._is_replay or turn is None:
            return
        call = self._calls.get(call_id)
        if payload.get("success") is False:
            for number in range(len(call.files) if call else 0):
                turn.log.failed(f"{call_id}:file:{number}")
        elif call is None:
            self._wrote(call_id, tuple(jsonl.clean(path) for path in mapping(payload, "changes")))

    def _result(self, payload: Json) -> None:
        call_id, turn = text(payload, "call_id"), self._assembler.open
        call = self._calls.get(call_id)
        if self._is_replay or turn is None or call is None:
            return
        output = calls.output_of(payload)
        turn.log.worked(call_id, calls.agent_in(output))
        if calls.is_refused(output):
            for key in (
                *call.keys,
                *(f"{call_id}:file:{number}" for number in range(len(call.files))),
            ):
                turn.log.refused(key)
        if command := call.command or (self._command if call.name in calls.CONTINUED else ""):
            turn.log.printed(command, output, has_failed=calls.is_refused(output))
        for question, answer in zip(call.questions, calls.answers_in(call, output), strict=True):
            answered = replace(question, answer=answer)
            turn.ask(answered)
            self._assembler.emit(answered)

    # What the host does

    def _ended(self, payload: Json) -> None:
        kind = text(payload, "type")
        if not self._is_replay:
            self.is_over = self._assembler.open is not None
        self._is_review = False if kind != "thread_rolled_back" else self._is_review

    def _reviewing(self, payload: Json) -> None:
        hint = text(payload, "user_facing_hint").strip()
        task = text(payload, "turn_id")
        self._begin_task(task)
        self._is_review, self._has_reviewer = True, False
        if not self._is_replay:
            self._prompt(f"/{_REVIEW} {hint}".strip())
            self._context = replace(self._context, has_events=True)

    def _reviewed(self, _: Json) -> None:
        self._is_review = False

    def _compacted(self, payload: Json) -> None:
        if self._is_replay:
            return
        summary = text(payload, "message").strip()
        key = digest(self._context.task, self._context.session, str(self._compactions), summary)
        self._compactions += 1
        at = self._assembler.time(self._at)
        self._assembler.compact(
            Compaction(f"codex:{key}", self._origin, at, "after", summary=summary)
        )


def _bare(kind: str, data: Json) -> str:
    """The type of a line that is an item, or says whose the rollout is, without anything
    around it.
    """
    if kind in ("message", "reasoning") or kind.endswith(("_call", "_call_output")):
        return "response_item"
    return "session_meta" if "id" in data and not kind else ""


def is_subagent(meta: Json) -> bool:
    """Is a rollout with this first line that of a subagent?"""
    return "subagent" in mapping(meta, "source") or text(meta, "thread_source") == "subagent"
