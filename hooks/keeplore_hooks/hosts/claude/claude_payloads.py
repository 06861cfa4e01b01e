"""Payloads of Claude Code's host events, each read together with the transcript that it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from keeplore_hooks.events import CompactionPhase, HostEvent, Question, Turn
from keeplore_hooks.hosts.base import COMMANDS, Cursor, Reading, prompt_key
from keeplore_hooks.hosts.claude import claude_lines as lines
from keeplore_hooks.hosts.claude import claude_transcript as transcript
from keeplore_hooks.hosts.claude.claude_transcript import (
    ClaudeMissingPrompt,
    ClaudeReading,
    ClaudeState,
)
from keeplore_hooks.hosts.host_adapter import HostAdapter
from keeplore_hooks.hosts.jsonl import short_digest
from keeplore_hooks.hosts.payload import HostPayload, PayloadKind, with_answer
from keeplore_hooks.hosts.pending_prompts import PROMPT_LIMIT, is_twice

_SOURCE_LENGTH = 20  # characters; there are user, project and the like
# prompts; one that is forgotten comes as a provisional turn, which is no harm
_AHEAD_LIMIT = 200


@dataclass(slots=True)
class ClaudePayload:
    """A payload with what the transcript has given so far."""

    payload: HostPayload
    read: ClaudeReading | None  # None where there is no transcript to read
    state: ClaudeState

    @property
    def last(self) -> Turn | None:
        """The turn at the end of the transcript."""
        return self.read.last if self.read else None

    @property
    def is_overtaken(self) -> bool:
        """Whether the transcript goes on after this payload, so that it holds whatever the payload
        tells.
        """
        return self.read is not None and self.read.state.latest > self.payload.at

    def missing(self, turn_id: str, prompt: str) -> ClaudeMissingPrompt:
        after = self.last.id if self.last else ""
        return ClaudeMissingPrompt(
            turn_id,
            prompt[:PROMPT_LIMIT],
            self.payload.at,
            after,
        )


def read(
    host: HostAdapter,
    payload: HostPayload,
    cursor: Cursor,
) -> Reading:
    """What a payload and the transcript that it names tell since ``cursor``."""
    if payload.kind is PayloadKind.COMMAND:
        cursor = _with_namesake_of_person(payload, cursor)
    session = payload.origin.session
    stopped_at = "" if payload.origin.agent else payload.stopped_at
    found, problems = host.read_named(
        payload.data.get("transcript_path"),
        (transcript.SUFFIX,),
        lambda path: transcript.read(
            path,
            cursor,
            session,
            stopped_at,
        ),
    )
    if found is None:
        received = ClaudePayload(payload, None, ClaudeState.from_cursor(cursor))
        events = _events_of(received)
        after = replace(cursor, pending=received.state.to_json())
        return Reading(tuple(events), after, problems)
    state = replace(_with_turns_ahead(found), prompt=_still_missing(found))
    received = ClaudePayload(payload, found, state)
    events = _events_of(received)
    spoken = [_by_agent(event, payload.origin.agent_name) for event in found.events]
    return Reading((*spoken, *events), found.cursor(received.state), found.problems)


def _by_agent(event: HostEvent, agent: str) -> HostEvent:
    """An event of the transcript with the agent that the payload names, where the transcript names
    none.
    """
    if not agent or event.origin.agent_name:
        return event
    return replace(event, origin=replace(event.origin, agent_name=agent))


def _with_namesake_of_person(payload: HostPayload, cursor: Cursor) -> Cursor:
    """The cursor with the name of a command of the person's own that is called like one of ours."""
    name = payload.text("command_name").strip().removeprefix("/")
    source = payload.text("command_source").strip()
    if name not in COMMANDS or source in ("", "plugin"):
        return cursor
    state, whose = ClaudeState.from_cursor(cursor), f"{source[:_SOURCE_LENGTH]}:{name}"
    others = (other for other in state.others if other.rpartition(":")[2] != name)
    return replace(cursor, pending=replace(state, others=(whose, *others)).to_json())


def _still_missing(read: ClaudeReading) -> ClaudeMissingPrompt | None:
    """The prompt that the transcript lacked, unless it is among the turns just read."""
    prompt = read.state.prompt
    if prompt is None:
        return None
    key = prompt_key(prompt.text)
    later = (turn for turn in read.turns().values() if turn.id != prompt.after)
    return None if any(prompt_key(turn.user) == key for turn in later) else prompt


def _with_turns_ahead(read: ClaudeReading) -> ClaudeState:
    """The state after a reading: the transcript had its new turns' prompts before any payload."""
    state = read.state
    known = {*read.begun_earlier} - {state.counted}
    turns = [turn for turn in read.turns().values() if turn.id not in known]
    ids = [turn.id for turn in turns]
    first_new = ids.index(state.counted) + 1 if state.counted in ids else 0
    new_prompts = tuple(_key(turn.user) for turn in turns[first_new:])
    if state.prompt:  # of this one a payload has told
        new_prompts = _without_first(new_prompts, _key(state.prompt.text))
    return replace(
        state,
        ahead=(*state.ahead, *new_prompts)[-_AHEAD_LIMIT:],
        aside=(*state.aside, *_last_words_aside(read))[-_AHEAD_LIMIT:],
        counted=ids[-1] if ids else state.counted,
    )


def _last_words_aside(read: ClaudeReading) -> Iterator[str]:
    """The keys of the last words of other terminals' turns."""
    for turn in read.aside:
        words = turn.replies[-1] if turn.replies else None
        if isinstance(words, str):
            yield _key(words)


def _without_first(keys: tuple[str, ...], key: str) -> tuple[str, ...]:
    """The keys less the first that equals ``key``."""
    at = keys.index(key) if key in keys else len(keys)
    return (*keys[:at], *keys[at + 1 :])


def _key(prompt: str) -> str:
    return short_digest(prompt_key(prompt))


def _events_of(received: ClaudePayload) -> list[HostEvent]:
    """The events that the payload adds to those of the transcript."""
    payload = received.payload
    # what a subagent is told and says is no talk with the person
    if payload.origin.agent:
        return []
    match payload.kind:
        case PayloadKind.PROMPT:
            return _prompt_events(received)
        case PayloadKind.COMMAND:
            return _command_events(received)
        case PayloadKind.STOPPED:
            return _last_words(received)
        case PayloadKind.TOOL_USED:
            return list(_answers(received))
        case PayloadKind.COMPACTED if received.read is None:
            return [
                payload.compaction(
                    CompactionPhase.AFTER, payload.text("compact_summary")
                )
            ]
        case _:
            return payload.lifecycle_events()


def _prompt_events(received: ClaudePayload) -> list[HostEvent]:
    """A prompt that the transcript lacks comes as a provisional turn."""
    payload, state, last = received.payload, received.state, received.last
    prompt = lines.typed_prompt(payload.data)
    if not prompt:
        return []
    key = _key(prompt)
    received.state = replace(state, announced=key)
    # once for each announcement: people type "continue" many times
    if key in state.ahead:
        received.state = replace(received.state, ahead=_without_first(state.ahead, key))
        return []
    if received.is_overtaken:
        return []
    events: list[HostEvent] = []
    if last and not last.is_complete:  # the person speaks, so the assistant has stopped
        events.append(replace(last, is_complete=True))
        received.state = replace(received.state, is_open=False)
    turn_id = _prompt_id(received, prompt)
    received.state = replace(received.state, prompt=received.missing(turn_id, prompt))
    if not lines.slash_command(prompt):
        events.append(payload.provisional_turn(turn_id, payload.at, prompt))
    return events


def _prompt_id(received: ClaudePayload, prompt: str) -> str:
    """The host's id of the prompt, or the one under which another entry has announced it."""
    payload, before = received.payload, received.state.prompt
    if prompt_id := payload.text("prompt_id"):
        return f"prompt:{prompt_id}"
    if before and is_twice(
        before.text,
        before.at,
        prompt[:PROMPT_LIMIT],
        payload.at,
    ):
        return before.id
    return payload.id("prompt", prompt)


def _command_events(received: ClaudePayload) -> list[HostEvent]:
    """A command stands in the transcript too, under an id of its own: the payload counts where
    there is none.
    """
    payload = received.payload
    name = payload.text("command_name").strip().removeprefix("/")
    typed = lines.TypedCommand(name, payload.text("command_args").strip())
    if not name or received.is_overtaken:
        return []
    missing = received.missing(payload.id("prompt", typed.text), typed.text)
    received.state = replace(received.state, prompt=missing)
    if received.read is not None:
        return []
    command = payload.command(typed.name, typed.args, typed.text)
    return [transcript.with_owner(command, received.state.others)]


def _last_words(received: ClaudePayload) -> list[HostEvent]:
    """The words with which the assistant stopped, where the transcript does not have them yet."""
    payload, last = received.payload, received.last
    words = payload.text("last_assistant_message").strip()
    if received.read and last and not received.state.announced:
        # the announcement came before the first payload that was heard
        received.state = _joined_state(
            received.state,
            received.read,
            last,
            words,
        )
    state = received.state
    if not words or received.is_overtaken or _is_of_another_terminal(received, words):
        return []
    if state.prompt or last is None:
        prompt = state.prompt or received.missing(payload.id("prompt", words), "")
        answers = with_answer(prompt.answers, words)
        if state.prompt:
            received.state = replace(state, prompt=replace(prompt, answers=answers))
        return [payload.provisional_turn(prompt.id, prompt.at, prompt.text, answers)]
    # a worker that is late may read a transcript that is many turns ahead of the payload
    if _key(last.user) in state.ahead or prompt_key(words) in prompt_key(
        last.assistant
    ):
        return []
    return [payload.ended_turn(last, words)]


def _is_of_another_terminal(received: ClaudePayload, words: str) -> bool:
    """Did another terminal stop than the one whose turn is the last of the transcript? The
    transcript will tell.
    """
    if received.read is None or received.last is None or received.state.prompt:
        return False
    named, prompt = received.payload.text("prompt_id"), received.read.prompt
    return _key(words) in received.state.aside or bool(
        named and prompt and named != prompt
    )


def _joined_state(
    state: ClaudeState,
    read: ClaudeReading,
    last: Turn,
    words: str,
) -> ClaudeState:
    """The state where a turn's last words are heard, but no prompt was: the turns after that one
    are still ahead.
    """
    ahead: list[str] = []
    for turn in reversed(read.turns().values()):
        key = _key(turn.user)
        if words and prompt_key(turn.assistant).endswith(prompt_key(words)):
            return replace(state, ahead=tuple(ahead[-_AHEAD_LIMIT:]), announced=key)
        ahead.insert(0, key)
    key = _key(last.user)
    return replace(state, ahead=_without_first(state.ahead, key), announced=key)


def _answers(received: ClaudePayload) -> Iterator[Question]:
    """The answers to the agent's questions, under the ids that they have in the transcript."""
    payload, data = received.payload, received.payload.data
    if payload.text("tool_name") != lines.ASK:
        return
    block = {
        "id": payload.text("tool_use_id"),
        "input": data.get("tool_input"),
    }
    given = {event.id for event in received.read.events} if received.read else set()
    for question in lines.questions(block, payload.origin, payload.at):
        answer = lines.answer_to(question.question, data.get("tool_response"), "")
        if question.id not in given:
            yield replace(question, answer=answer)
