"""Payloads of Claude Code's host events, each read together with the transcript that it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from keeplore_hooks.events import Command, HostEvent, Origin, Question, Turn
from keeplore_hooks.hosts.base import COMMANDS, Cursor, Reading, prompt_key
from keeplore_hooks.hosts.claude import claude_lines as lines
from keeplore_hooks.hosts.claude import claude_transcript as transcript
from keeplore_hooks.hosts.jsonl import Json, text
from keeplore_hooks.hosts.payload import Heard
from keeplore_hooks.hosts.pending_prompts import PROMPT_LIMIT, is_twice
from keeplore_hooks.hosts.turn_assembly import short

_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "Stop",
    "StopFailure",
    "SubagentStop",
    "SessionEnd",
)
_ENDS = ("Stop", "StopFailure", "SessionEnd")
_SOURCE_LENGTH = 20  # characters; there are user, project and the like
_AHEAD_LIMIT = 200  # prompts; one that is forgotten comes as a provisional turn, which is no harm


@dataclass(frozen=True, slots=True)
class _Heard(Heard):
    """A payload with what the transcript has given so far."""

    read: transcript.Read | None  # None where there is no transcript to read

    @property
    def is_overtaken(self) -> bool:
        """The transcript goes on after this payload, so it holds whatever the payload tells."""
        return self.read is not None and self.read.state.latest > self.at

    def missing(self, turn_id: str, prompt: str) -> transcript.Missing:
        after = self.read.last.id if self.read and self.read.last else ""
        return transcript.Missing(turn_id, prompt[:PROMPT_LIMIT], self.at, after)


def read(event: str, data: Json, origin: Origin, cursor: Cursor, at: str) -> Reading:
    """What a payload and the transcript that it names tell since ``cursor``."""
    if event not in _EVENTS:
        return Reading((), cursor)
    has_stopped = _has_stopped(event, data) and not origin.agent
    if event == "UserPromptExpansion":
        cursor = _knowing_whose(data, cursor)
    found, problems = _read(data, cursor, origin.session, at if has_stopped else "")
    if found is None:
        state = transcript.State.from_json(cursor.pending)
        events, state = _told(_Heard(event, data, origin, at, None), state)
        return Reading(tuple(events), replace(cursor, pending=state.to_json()), problems)
    state = replace(_counted(found), prompt=_still_missing(found))
    events, state = _told(_Heard(event, data, origin, at, found), state)
    return Reading((*found.events, *events), found.cursor(state), found.problems)


def _read(
    data: Json, cursor: Cursor, session: str, stopped_at: str
) -> tuple[transcript.Read | None, tuple[str, ...]]:
    name = data.get("transcript_path")
    if not name:
        return None, ()
    path = transcript.transcript_path(name)
    if path is None:
        return None, (f"the transcript's path is not that of a {transcript.SUFFIX} file",)
    try:
        return transcript.read(path, cursor, session, stopped_at), ()
    except FileNotFoundError:
        return None, ()  # not written yet, or switched off
    except OSError as e:
        return None, (f"the transcript cannot be read: {e}",)


def _knowing_whose(data: Json, cursor: Cursor) -> Cursor:
    """The cursor with the name of a command of the person's own that is called like one of ours."""
    name, source = (
        text(data, "command_name").strip().removeprefix("/"),
        text(data, "command_source").strip(),
    )
    if name not in COMMANDS or source in ("", "plugin"):
        return cursor
    state, whose = transcript.State.from_json(cursor.pending), f"{source[:_SOURCE_LENGTH]}:{name}"
    others = (whose, *(other for other in state.others if other.rpartition(":")[2] != name))
    return replace(cursor, pending=replace(state, others=others).to_json())


def _has_stopped(event: str, data: Json) -> bool:
    """Does the assistant say nothing more for now? After a compaction it goes on in the same
    turn.
    """
    return event in _ENDS or (event == "SessionStart" and text(data, "source") != "compact")


def _turns(read: transcript.Read) -> dict[str, Turn]:
    """The turns just read in their last form, the turn at the end of the transcript among them."""
    return {turn.id: turn for turn in (*read.events, read.last) if isinstance(turn, Turn)}


def _still_missing(read: transcript.Read) -> transcript.Missing | None:
    """The prompt that the transcript lacked, unless it is among the turns just read."""
    prompt = read.state.prompt
    is_there = prompt and any(
        turn.id != prompt.after and prompt_key(turn.user) == prompt_key(prompt.text)
        for turn in _turns(read).values()
    )
    return None if is_there else prompt


def _counted(read: transcript.Read) -> transcript.State:
    """The state with the prompts that the transcript has and no payload has announced yet."""
    state, turns = read.state, _turns(read)
    ids = [id_ for id_ in turns if id_ not in read.again or id_ == state.counted]
    new = ids[ids.index(state.counted) + 1 :] if state.counted in ids else ids
    keys = tuple(_key(turns[id_].user) for id_ in new)
    if state.prompt:
        keys = _without(keys, _key(state.prompt.text))
    ahead = (*state.ahead, *keys)[-_AHEAD_LIMIT:]
    spoken = (turn.replies[-1] for turn in read.aside if turn.replies)
    aside = (*state.aside, *(_key(words) for words in spoken if isinstance(words, str)))[
        -_AHEAD_LIMIT:
    ]
    return replace(state, ahead=ahead, counted=ids[-1] if ids else state.counted, aside=aside)


def _without(keys: tuple[str, ...], key: str) -> tuple[str, ...]:
    """The keys less the first that equals ``key``."""
    at = keys.index(key) if key in keys else len(keys)
    return (*keys[:at], *keys[at + 1 :])


def _key(prompt: str) -> str:
    return short(prompt_key(prompt))


def _told(heard: _Heard, state: transcript.State) -> tuple[list[HostEvent], transcript.State]:
    """The events that the payload adds to those of the transcript."""
    event, data = heard.event, heard.payload
    if heard.origin.agent:  # what a subagent is told and says is no talk with the person
        return [], state
    if event == "UserPromptSubmit":
        return _prompt_told(heard, state)
    if event == "UserPromptExpansion":
        return _command_told(heard, state)
    if event == "Stop":
        return _last_words(heard, state)
    if event == "SessionStart":
        return [heard.session("started", text(data, "source"))], state
    if event == "SessionEnd":
        return [heard.session("ended", text(data, "reason"))], state
    if event == "PreCompact":
        return [heard.compaction("before")], state
    if event == "PostCompact" and heard.read is None:
        return [heard.compaction("after", text(data, "compact_summary"))], state
    if event == "PostToolUse":
        return list(_answers(heard)), state
    return [], state


def _prompt_told(
    heard: _Heard, state: transcript.State
) -> tuple[list[HostEvent], transcript.State]:
    prompt = lines.typed(heard.payload)
    if not prompt:
        return [], state
    last = heard.read.last if heard.read else None
    key = _key(prompt)
    state = replace(state, announced=key)
    if key in state.ahead:  # once for each announcement: people type "continue" many times
        return [], replace(state, ahead=_without(state.ahead, key))
    if heard.is_overtaken:
        return [], state
    events: list[HostEvent] = []
    if last and not last.is_complete:  # the person speaks, so the assistant has stopped
        events.append(replace(last, is_complete=True))
        state = replace(state, is_open=False)
    prompt_id = text(heard.payload, "prompt_id")
    turn_id = (
        f"prompt:{prompt_id}"
        if prompt_id
        else _id_of_same(heard, state, prompt) or heard.id("prompt", prompt)
    )
    state = replace(state, prompt=heard.missing(turn_id, prompt))
    if not lines.slash_command(prompt):
        events.append(
            Turn(turn_id, heard.origin, heard.at, prompt, is_complete=False, is_provisional=True)
        )
    return events, state


def _id_of_same(heard: _Heard, state: transcript.State, prompt: str) -> str:
    """The id under which another entry has announced this very prompt; "" where none has."""
    before = state.prompt
    return (
        before.id
        if before and is_twice(before.text, before.at, prompt[:PROMPT_LIMIT], heard.at)
        else ""
    )


def _command_told(
    heard: _Heard, state: transcript.State
) -> tuple[list[HostEvent], transcript.State]:
    """A command stands in the transcript too, under an id of its own: the payload counts where
    there is none.
    """
    name = text(heard.payload, "command_name").strip().removeprefix("/")
    typed = lines.Typed(name, text(heard.payload, "command_args").strip())
    if not name or heard.is_overtaken:
        return [], state
    state = replace(state, prompt=heard.missing(heard.id("prompt", typed.text), typed.text))
    if heard.read is not None:
        return [], state
    command = Command(
        heard.id("command", typed.text), heard.origin, heard.at, typed.name, typed.args
    )
    return [transcript.told_apart(command, state.others)], state


def _last_words(heard: _Heard, state: transcript.State) -> tuple[list[HostEvent], transcript.State]:
    """The words with which the assistant stopped, where the transcript does not have them yet."""
    words = text(heard.payload, "last_assistant_message").strip()
    last = heard.read.last if heard.read else None
    if (
        heard.read and last and not state.announced
    ):  # the announcement came before the first payload that was heard
        state = _joined(heard.read, last, words, state)
    if not words or heard.is_overtaken or _is_of_another(heard, words, state):
        return [], state
    if state.prompt or last is None:
        prompt = state.prompt or heard.missing(heard.id("prompt", words), "")
        turn = Turn(
            prompt.id, heard.origin, prompt.at, prompt.text, (words,), heard.at, is_provisional=True
        )
        return [turn], state
    # a worker that is late may read a transcript that is many turns ahead of the payload
    if _key(last.user) in state.ahead or prompt_key(words) in prompt_key(last.assistant):
        return [], state
    return [
        replace(last, replies=(*last.replies, words), ended_at=heard.at, is_complete=True)
    ], state


def _is_of_another(heard: _Heard, words: str, state: transcript.State) -> bool:
    """Did another terminal stop than the one whose turn is the last of the transcript? The
    transcript will tell.
    """
    if heard.read is None or heard.read.last is None or state.prompt:
        return False
    told, prompt = text(heard.payload, "prompt_id"), heard.read.prompt
    return _key(words) in state.aside or bool(told and prompt and told != prompt)


def _joined(
    read: transcript.Read, last: Turn, words: str, state: transcript.State
) -> transcript.State:
    """The state where a turn's last words are heard, but no prompt was: the turns after that one
    are still ahead.
    """
    turns = list(_turns(read).values())
    ended = [
        at
        for at, turn in enumerate(turns)
        if words and prompt_key(turn.assistant).endswith(prompt_key(words))
    ]
    if not ended:
        return replace(
            state, ahead=_without(state.ahead, _key(last.user)), announced=_key(last.user)
        )
    ahead = tuple(_key(turn.user) for turn in turns[ended[-1] + 1 :])
    return replace(state, ahead=ahead[-_AHEAD_LIMIT:], announced=_key(turns[ended[-1]].user))


def _answers(heard: _Heard) -> Iterator[Question]:
    """The answers to the agent's questions, under the ids that they have in the transcript."""
    data = heard.payload
    if text(data, "tool_name") != "AskUserQuestion":
        return
    block = {"id": text(data, "tool_use_id"), "input": data.get("tool_input")}
    given = {event.id for event in heard.read.events} if heard.read else set()
    for question in lines.questions(block, heard.origin, heard.at):
        answer = lines.answer_to(question.question, data.get("tool_response"), "")
        if question.id not in given:
            yield replace(question, answer=answer)
