"""The turn that is going on: what the assistant has said and done since the person spoke."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from keeplore_hooks.events import Origin, Question, Turn
from keeplore_hooks.hosts.claude import claude_lines as lines
from keeplore_hooks.hosts.jsonl import Json, first_text, mapping, text
from keeplore_hooks.hosts.work_log import WorkLog

_DELEGATES = ("Task", "Agent")


@dataclass(frozen=True, slots=True)
class ClaudeResumeState:
    """What must be known about the lines before a turn, when reading starts there."""

    # prompts typed ahead and still waiting, "" for what is no prompt
    queue: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()  # keys of the prompts so far
    at: str = ""  # time of the last line that had one
    # written by a version whose queued prompts stand in the queue alone
    is_old: bool = False
    session: str = ""
    cwd: str = ""
    branch: str = ""
    agent: str = ""  # the agent of the person's that the session runs


@dataclass(frozen=True, slots=True)
class ClaudePrompt:
    """What began a turn, and where."""

    id: str
    origin: Origin
    at: str
    words: str
    start: int  # bytes
    resume_state: ClaudeResumeState
    is_queued: bool
    host_id: str  # the host's id of the prompt, which payloads name too


@dataclass(slots=True)
class _Reply:
    message: str  # id
    blocks: list[str]


@dataclass(slots=True)
class _Tool:
    name: str
    target: str = ""  # file, or what is kept of the command
    command: str = ""  # whole
    # by place among the replies
    asked: dict[int, Question] = field(default_factory=dict)


@dataclass(slots=True)
class ClaudeOpenTurn:
    """A turn, or a command that becomes one as soon as the assistant answers it."""

    prompt: ClaudePrompt
    is_news: bool  # has something that was not given as an event yet
    was_complete: bool  # when it was given last
    ended_at: str = ""
    uuids: set[str] = field(default_factory=set)  # of its lines
    # the turn of a prompt without a line of its own, which took over
    goes_on: ClaudeOpenTurn | None = None
    _replies: list[_Reply | Question] = field(default_factory=list)
    # called, without a result so far
    _tools: dict[str, _Tool] = field(default_factory=dict)
    _log: WorkLog = field(default_factory=WorkLog)

    @property
    def id(self) -> str:
        return self.prompt.id

    def is_silent_since(self, at: str) -> bool:
        """Was nothing said after that moment?"""
        return max(self.prompt.at, self.ended_at) <= at

    @property
    def has_replies(self) -> bool:
        return bool(self._replies)

    def turn(self, *, is_complete: bool) -> Turn:
        replies = tuple(
            said if isinstance(said, Question) else "\n\n".join(said.blocks)
            for said in self._replies
        )
        prompt = self.prompt
        return Turn(
            prompt.id,
            prompt.origin,
            prompt.at,
            prompt.words,
            replies,
            self.ended_at,
            self._log.work(),
            is_complete=is_complete,
        )

    def say(self, message: str, words: str) -> None:
        """Take a text block; the blocks of one message stand on lines of their own and make one
        reply.
        """
        last = self._replies[-1] if self._replies else None
        if not isinstance(last, _Reply) or last.message != message:
            self._replies.append(_Reply(message, [words]))
        elif words.startswith(last.blocks[-1]):  # written a second time, longer
            last.blocks[-1] = words
        elif words not in last.blocks:
            last.blocks.append(words)

    def call(self, block: Json, at: str) -> None:
        """Take a tool call: of its input only a file's name, a command's first line, or what it
        asks the person.
        """
        name, arguments, call = (
            text(block, "name"),
            mapping(block, "input"),
            text(block, "id"),
        )
        tool = self._tools[call] = _Tool(name)
        if name in lines.WRITERS:
            tool.target = text(arguments, lines.WRITERS[name])
            self._log.add_file(call, tool.target)
        elif name == "Bash":
            tool.command = text(arguments, "command")
            tool.target = self._log.add_command(call, tool.command)
        elif name in _DELEGATES:
            task = first_text(arguments, "description", "prompt")
            self._log.add_subagent_task(call, text(arguments, "subagent_type"), task)
        elif name == lines.ASK:
            self._ask(tool, lines.questions(block, self.prompt.origin, at))
        elif name == "ExitPlanMode":
            if plan := text(arguments, "plan").strip():
                self._replies.append(_Reply("", [plan]))
            self._ask(tool, [self._question(call, at, "Proceed with this plan?")])

    def is_waiting_for(self, block: Json) -> bool:
        """Is the block the result of a tool call of this turn?"""
        return text(block, "tool_use_id") in self._tools

    def take_result(
        self,
        block: Json,
        structured: object,
        at: str,
    ) -> list[Question]:
        """Take a tool's result; returns the questions that the person answered or declined with
        it.
        """
        call = text(block, "tool_use_id")
        tool = self._tools.pop(call)
        output, is_error = lines.result_text(block), bool(block.get("is_error"))
        objection: str | None = None
        self._log.add_subagent_id(call, text(structured, "agentId"))
        if is_error:
            objection = lines.objection(output)
            self._log.drop_file(call)
            if objection is not None or lines.is_not_run(output, structured):
                self._log.drop_call(call)
        if objection and not tool.asked:
            request = f"Allow {tool.name} {tool.target}".rstrip() + "?"
            self._ask(tool, [self._question(call, at, request)])
        self._log.add_output(tool.command, output, has_failed=is_error)

        def answer_to(question: str) -> str:
            is_asked = tool.name == lines.ASK
            if is_error:
                return "" if is_asked else objection or ""
            if is_asked:
                return lines.answer_to(question, structured, output)
            return "Yes"

        return self._answer_questions(tool, answer_to)

    def _answer_questions(
        self, tool: _Tool, answer: Callable[[str], str]
    ) -> list[Question]:
        """The questions of a tool call with the answers to their words."""
        for place, question in tool.asked.items():
            answered = replace(question, answer=answer(question.question))
            tool.asked[place] = self._replies[place] = answered
        return list(tool.asked.values())

    def link(self, url: str) -> bool:
        """Take a pull request's address; False when there is nothing new in it."""
        return self._log.add_link(url)

    def _question(
        self,
        call: str,
        at: str,
        words: str,
    ) -> Question:
        return Question(
            f"{call}:0",
            self.prompt.origin,
            at,
            words,
        )

    def _ask(self, tool: _Tool, questions: Iterable[Question]) -> None:
        for question in questions:
            tool.asked[len(self._replies)] = question
            self._replies.append(question)
