"""The OpenAI Agents SDK: a session that remembers, around any session of the SDK.

What is in the conversation stays the business of the session inside; here the words of user and
assistant are taken in.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from keeplore.frameworks.common import AdapterSession, SafeRunner
from keeplore.frameworks.extras import importing_extra
from keeplore.host import PythonHost

with importing_extra("openai-agents"):
    from agents import SQLiteSession
    from agents.run import ModelInputData

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory import Session, SessionSettings
    from agents.run import CallModelData

# kind of a part → where its words are
_TEXTS = {"input_text": "text", "output_text": "text", "refusal": "refusal"}


class KeeploreSession:
    """A session for ``Runner.run(…, session=…)``; ``inner`` keeps the history, in memory where none
    is given.

    ``RunConfig(call_model_input_filter=session.recall)`` lets the model see what is recalled for a
    prompt. What a run removes from its history (``pop_item``, ``clear_session``) is not forgotten
    by Keeplore.
    """

    def __init__(
        self, host: PythonHost, session_id: str, inner: Session | None = None
    ) -> None:
        self.session_id = session_id
        self._inner: Session = inner if inner is not None else SQLiteSession(session_id)
        self._talk = AdapterSession(host.session(session_id), SafeRunner())
        self._turn = _Turn()

    @property
    def session_settings(self) -> SessionSettings | None:
        return self._inner.session_settings

    @session_settings.setter
    def session_settings(self, settings: SessionSettings | None) -> None:
        self._inner.session_settings = settings

    def __getattr__(self, name: str) -> Any:
        # some sessions can do more than the protocol asks for, such as shorten themselves
        if name == "_inner":  # not made yet
            raise AttributeError(name)
        return getattr(self._inner, name)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        return await self._inner.get_items(limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        await self._inner.add_items(items)
        for item in items:
            role, text = _speaker_and_text(item)
            if role == "user" and text:
                if self._turn.replies:
                    await self._save()
                    self._turn = _Turn()
                self._turn.prompts.append(text)
            elif role == "assistant" and text:
                self._turn.replies.append(text)
                self._turn.is_saved = False
        if self._turn.replies:
            await self._save()

    async def pop_item(self) -> TResponseInputItem | None:
        item = await self._inner.pop_item()
        role, text = _speaker_and_text(item)
        kept = self._turn.prompts if role == "user" else self._turn.replies
        # the SDK takes items back before it tries again
        if text and kept and kept[-1] == text:
            kept.pop()
        return item

    async def clear_session(self) -> None:
        await self._inner.clear_session()
        self._turn = _Turn()

    async def recall(self, data: CallModelData[Any]) -> ModelInputData:
        """A ``call_model_input_filter``: the model's input with what is recalled for each prompt
        beside it.
        """
        items = list(data.model_data.input)
        said = {
            at: text
            for at, (role, text) in enumerate(map(_speaker_and_text, items))
            if role == "user" and text
        }
        for at, block in zip(
            said, await self._talk.blocks([*said.values()]), strict=True
        ):
            if block:
                items[at] = _with_block(items[at], block)
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    async def _save(self) -> None:
        turn = self._turn
        if not turn.is_saved:
            turn.is_saved = True
            await self._talk.add("\n\n".join(turn.prompts), turn.replies, turn.id)


class _Turn:
    """The turn that is going on; it is saved again, under the same id, when the assistant says
    more.
    """

    def __init__(self) -> None:
        self.id = str(uuid.uuid4())
        self.prompts: list[str] = []
        self.replies: list[str] = []
        self.is_saved = True  # nothing was said yet


def _speaker_and_text(item: Any) -> tuple[str, str]:
    """Who speaks in an item, and the words; ("", "") for tool calls, their results, reasoning and
    the like.
    """
    if not isinstance(item, dict) or item.get("type", "message") != "message":
        return "", ""
    return str(item.get("role")), _content_text(item.get("content"))


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [part for part in content or () if isinstance(part, dict)]
    texts = [str(part.get(_TEXTS.get(str(part.get("type")), ""), "")) for part in parts]
    return "\n\n".join(filter(None, texts))


def _with_block(item: Any, block: str) -> Any:
    content = item["content"]
    if isinstance(content, str):
        return {**item, "content": f"{content}\n\n{block}"}
    return {**item, "content": [*content, {"type": "input_text", "text": block}]}
