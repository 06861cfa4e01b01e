"""What the model says: texts and calls of tools, the same for every API."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# what is recalled repeats prompts of earlier sessions, which nobody asks now
RECALLED = re.compile(
    r"(?:<|&lt;)keeplore-recall\b.*?(?:<|&lt;)/keeplore-recall[^>&]*", re.DOTALL
)
CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True)
class Call:
    """The model calls a tool of its host."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One answer of the model."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    # after its text the answer does not end until the host gives it up
    hangs: bool = False


OTHERWISE = Step("Noted.")


@dataclass(frozen=True)
class Message:
    """One message of a request; ``is_prompt`` where a person's words are in it."""

    role: str  # user, assistant, tool, developer
    text: str
    is_prompt: bool = False


@dataclass(frozen=True)
class Request:
    """One request that the server received, read alike for every API."""

    api: str
    path: str
    body: dict[str, Any]
    system: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    # system prompt, tools and messages one by one, as JSON, in the order in which models read
    # them: what a prompt cache compares
    pieces: tuple[str, ...] = field(repr=False)

    @property
    def prompts(self) -> list[str]:
        """The person's words, message by message, with what the host put beside them."""
        return [message.text for message in self.messages if message.is_prompt]

    @property
    def everything(self) -> str:
        """All that the model is given, with its tools, as JSON."""
        return "\n".join(self.pieces)

    @property
    def text(self) -> str:
        """System prompt and messages as the model reads them."""
        return "\n".join((self.system, *(message.text for message in self.messages)))

    @property
    def tokens(self) -> int:
        return len(self.everything) // CHARACTERS_A_TOKEN


class Script:
    """Says which answer a request gets: the prompt names the steps, and the answers that stand
    behind it in the request say how many of them were given. So a request sent twice is answered
    alike, and a request beside the session (a title, a summary) moves nothing on.
    """

    def __init__(self) -> None:
        self._steps: dict[str, tuple[Step, ...]] = {}
        self._rules: list[tuple[Callable[[Request], bool], Step]] = []

    def answer(self, prompt: str, *steps: Step | str) -> None:
        """Where these words are the last that the person said, the answer is this."""
        self._steps[prompt] = tuple(
            Step(step) if isinstance(step, str) else step for step in steps
        )

    def rule(self, holds: Callable[[Request], bool], step: Step) -> None:
        """Requests of which this holds are answered so, whatever the prompt."""
        self._rules.append((holds, step))

    def step(self, request: Request) -> Step:
        for holds, step in self._rules:
            if holds(request):
                return step
        steps, given = self._asked(request)
        step = steps[given] if given < len(steps) else OTHERWISE
        # one without tools is the host's own, beside the session: a title, a summary, a check
        return step if request.tools else OTHERWISE

    def _asked(self, request: Request) -> tuple[tuple[Step, ...], int]:
        roles: list[str] = []  # of the messages behind the prompt, last first
        for message in reversed(request.messages):
            words = RECALLED.sub("", message.text)
            known = [prompt for prompt in self._steps if prompt in words]
            if message.is_prompt and known:
                # a text and the calls with it are one answer, in some APIs several messages
                given = sum(
                    role == "assistant" and later != role
                    for role, later in zip(roles, ["", *roles], strict=False)
                )
                return self._steps[max(known, key=words.rfind)], given
            roles.append(message.role)
        return (), 0
