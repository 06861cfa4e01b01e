"""A working day in each real host: what its model is sent, and what stands in the files."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from host_lab import HOSTS, Played
from host_lab import day as said
from model_server import Request

from keeplore.memory import Conversation, parse

RECALL = re.compile(r"(?:<|&lt;|\\u003c)keeplore-recall id=")
AGAIN = "Decided earlier in this session:"
# within one of these the host itself sends again what it has sent before
STRETCHES = (
    (said.OPTIONS_ASKED, said.DECISION, said.CORRECTION),
    (said.UNRELATED, said.REMEMBERED),
)
# Gemini CLI draws everything anew for each key, so that keys are lost on a busy machine
SLOW = ("gemini-cli",)
Test = Callable[..., Any]

pytestmark = pytest.mark.timeout(1200)


def in_each(*, but: tuple[str, ...] = ()) -> Callable[[Test], Test]:
    """The test for each host."""
    hosts = [
        pytest.param(host, marks=pytest.mark.soak if host in SLOW else ())
        for host in HOSTS
        if host not in but
    ]
    return pytest.mark.parametrize("played", hosts, indirect=True, scope="session")


@in_each()
def test_all_that_was_said_is_recorded_once(played: Played) -> None:
    exchanges = [
        exchange
        for conversation in conversations(played.memory)
        for exchange in conversation.exchanges
    ]
    told = Counter(exchange.user for exchange in exchanges)
    assert told.keys() == set(said.PROMPTS)
    # a key that a busy host lost is pressed again, and it may have heard both
    assert all(told[prompt] <= played.typed[prompt] for prompt in told)
    assert len({exchange.id for exchange in exchanges}) == len(exchanges)
    replies = {exchange.user: exchange.assistant for exchange in exchanges}
    for prompt, answer in (
        (said.OPTIONS_ASKED, said.OPTIONS),
        (said.DECISION, said.AGREED),
        (said.CORRECTION, said.CORRECTED),
        (said.RESUMED, said.WHERE),
        (said.UNRELATED, said.EIGHT),
        (said.REMEMBERED, said.TABLE),
    ):
        assert replies[prompt].endswith(answer), prompt


@in_each()
def test_a_new_session_is_briefed_once_and_an_unrelated_prompt_gets_nothing(
    played: Played,
) -> None:
    request = played.asked(said.UNRELATED)[-1]
    assert len(RECALL.findall(request.everything)) == 1
    assert said.DECISION in request.everything


@in_each()
def test_a_session_is_told_what_was_decided(played: Played) -> None:
    assert all(said.DECISION in r.everything for r in played.asked(said.REMEMBERED))


@in_each()
def test_each_request_begins_with_the_whole_one_before(played: Played) -> None:
    """So the model's prompt cache holds: what was sent stays, byte for byte."""
    for stretch in STRETCHES:
        requests = [request for prompt in stretch for request in played.asked(prompt)]
        for before, after in itertools.pairwise(requests):
            assert before.pieces == after.pieces[: len(before.pieces)]


@in_each(but=("copilot",))  # it lists its own summaries there
def test_a_compaction_changes_nothing_that_stands_before_the_conversation(
    played: Played,
) -> None:
    """The prompt cache holds as far as without Keeplore: the host has it to change what follows."""
    before, after = played.asked(said.CORRECTION)[-1], played.asked(said.INTERRUPTED)[0]
    assert before.tools == after.tools
    assert standing(after).startswith(standing(before))


@in_each()
def test_after_an_interruption_and_a_power_cut_the_host_goes_on_from_what_it_sent(
    played: Played,
) -> None:
    """Nothing is put above it; the last message, which was not answered, the host may rewrite."""
    prompts = (said.INTERRUPTED, said.KILLED, said.RESUMED)
    for earlier, later in itertools.pairwise(prompts):
        before, after = played.asked(earlier)[-1], played.asked(later)[0]
        kept = len(before.pieces) - 1
        assert before.pieces[:kept] == after.pieces[:kept]


@in_each(but=("claude-code",))  # it names them in a message, as soon as it knows them
def test_the_servers_tools_are_offered_from_the_first_request_on(
    played: Played,
) -> None:
    for prompt in (said.OPTIONS_ASKED, said.RESUMED, said.UNRELATED):
        tools = played.asked(prompt)[0].tools
        assert any("keeplore" in tool for tool in tools), prompt


@in_each()
def test_what_was_decided_is_told_again_after_a_compaction_alone(
    played: Played,
) -> None:
    for prompt in (said.OPTIONS_ASKED, said.DECISION, said.CORRECTION):
        assert not any(AGAIN in request.everything for request in played.asked(prompt))
    assert AGAIN in played.asked(said.INTERRUPTED)[-1].everything


@in_each()
def test_no_file_is_read_because_a_memory_names_it(played: Played) -> None:
    assert "plan.txt" in played.asked(said.UNRELATED)[0].everything
    assert not any(said.PLANNED in request.everything for request in played.requests)


@in_each()
def test_what_a_host_asks_beside_the_conversation_gets_no_brief(
    played: Played,
) -> None:
    """A title, a summary: what stands before the conversation there is the host's alone."""
    beside = [request for request in played.requests if not request.tools]
    assert [request.system for request in beside if RECALL.search(request.system)] == []


@in_each()
def test_a_typed_command_is_carried_out_and_its_outcome_told(played: Played) -> None:
    request = played.asked(said.KEPT)[0]
    assert f"Remembered, for good:\n- “{said.KEPT}”" in request.text
    kept = [path for path, text in played.memory.items() if said.KEPT in text]
    (note,) = [path for path in kept if "/conversations/" not in path]
    assert note.startswith("projects/ledgerly/memory/")


@in_each()
def test_nothing_comes_that_no_adapter_knows(played: Played) -> None:
    assert played.unknown == {}


@in_each()
def test_an_import_of_what_was_recorded_adds_nothing(played: Played) -> None:
    """It ends the open conversations; whatever was said in them stays."""
    assert bodies(played.imported) == bodies(played.memory)


@in_each()
def test_disconnecting_gives_the_bytes_back(played: Played) -> None:
    """Unless the host has written into its file too: then its lines stay, and ours go."""
    assert played.after.keys() == played.before.keys()
    for path, content in played.before.items():
        left = played.after[path].decode()
        assert "keeplore" not in left
        assert set(content.decode().splitlines()) <= set(left.splitlines())


def standing(request: Request) -> str:
    """The system prompt without a line in which Claude Code says what the first message was."""
    return re.sub(r"^x-anthropic-billing-header: .*\n", "", request.system)


def conversations(memory: dict[str, str]) -> list[Conversation]:
    return [
        Conversation.from_markdown(parse(text).body)
        for path, text in memory.items()
        if "/memory/conversations/" in path
    ]


def bodies(memory: dict[str, str]) -> dict[str, str]:
    return {
        path: parse(text).body
        for path, text in memory.items()
        if "/memory/conversations/" in path
    }
