"""pydantic-ai: a capability that recalls before each request to the model and takes in each
finished run.
"""

from __future__ import annotations

import dataclasses
import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from keeplore.frameworks.common import AdapterSession, SafeRunner
from keeplore.frameworks.extras import importing_extra
from keeplore.host import PythonHost

with importing_extra("pydantic-ai"):
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextPart,
        UserPromptPart,
    )

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult

MAX_TALKS = 500


class KeeploreMemory(AbstractCapability[Any]):
    """A capability for ``Agent(…, capabilities=[KeeploreMemory(host)])``; each conversation of
    pydantic-ai is a session.

    The conversation is the one of ``message_history``, or of ``conversation_id`` where a run names
    it.
    """

    def __init__(self, host: PythonHost) -> None:
        self._host = host
        self._runner = SafeRunner()
        self._talks: OrderedDict[str, AdapterSession] = OrderedDict()

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put what is recalled beside each prompt, for the model alone: the history stays as it was
        said.
        """
        messages = list(request_context.messages)
        prompts = {
            at: text
            for at, message in enumerate(messages)
            if (text := _prompt(message))
        }
        blocks = await self._session_of_run(ctx).blocks([*prompts.values()])
        for at, block in zip(prompts, blocks, strict=True):
            message = messages[at]
            if block and isinstance(message, ModelRequest):
                messages[at] = dataclasses.replace(
                    message, parts=[*message.parts, UserPromptPart(block)]
                )
        return dataclasses.replace(request_context, messages=messages)

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Take in what was asked and answered; what tools were given and gave is left out."""
        new = result.new_messages()
        replies = [text for message in new if (text := _reply(message))]
        if not isinstance(result.output, str):
            replies.append(_output_text(result.output))
        prompt = "\n\n".join(filter(None, map(_prompt, new)))
        await self._session_of_run(ctx).add(prompt, [*filter(None, replies)])
        return result

    def _session_of_run(self, ctx: RunContext[Any]) -> AdapterSession:
        id_ = str(ctx.conversation_id or ctx.run_id)
        talk = self._talks.pop(id_, None) or AdapterSession(
            self._host.session(id_), self._runner
        )
        self._talks[id_] = talk  # behind all others
        if len(self._talks) > MAX_TALKS:
            self._talks.popitem(last=False)
        return talk


def _prompt(message: ModelMessage) -> str:
    """The words of the user in a request, "" for none."""
    if not isinstance(message, ModelRequest):
        return ""
    contents = [
        part.content for part in message.parts if isinstance(part, UserPromptPart)
    ]
    return "\n\n".join(text for content in contents if (text := _text(content)))


def _text(content: str | Sequence[Any]) -> str:
    if isinstance(content, str):
        return content
    # beside texts there are images and files, which say nothing that could be remembered
    texts = (
        part if isinstance(part, str) else getattr(part, "content", None)
        for part in content
    )
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _reply(message: ModelMessage) -> str:
    if not isinstance(message, ModelResponse):
        return ""
    return "\n\n".join(
        part.content
        for part in message.parts
        if isinstance(part, TextPart) and part.content
    )


def _output_text(output: Any) -> str:
    """An answer that is no text, as JSON."""
    plain = output.model_dump(mode="json") if hasattr(output, "model_dump") else output
    return json.dumps(plain, ensure_ascii=False, default=str)
