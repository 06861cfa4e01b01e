"""What a quotation shows of a turn's id tells it from all others, also where ids begin with the
time.
"""

import pytest

from keeplore.errors import NotFound
from keeplore.memory import Conversation, Exchange, Quote
from keeplore.memory.conversation_body import chosen_exchange, shown_turns
from keeplore.text.turn_ids import short_turn, shown_turn

RANDOM = "4f13c0fd-1cff-4299-aa50-6bd451a49253"
TIMED = (
    "019f8af9-6dba-7530-8ddf-0753a4f2e030",
    "019f8af9-6dba-7530-8ddf-0753a4f2e030:1",
)


@pytest.mark.parametrize("turn", [*TIMED, "msg_ce0297b1c001LMfJ", "prompt:2f0c", ""])
def test_an_id_that_is_not_random_from_its_beginning_stands_whole(turn):
    assert short_turn(turn) == turn


def test_a_random_id_is_known_by_its_beginning():
    assert short_turn(RANDOM) == "4f13c0fd"


MADE = "specstory:030131dd1ad9c2d5"


def test_an_id_that_is_made_of_a_record_is_shown_without_its_host_and_stands_whole_in_files():
    assert (shown_turn(MADE), short_turn(MADE)) == ("030131dd", MADE)
    assert [shown_turn(turn) for turn in (RANDOM, *TIMED, f"{MADE}~3")] == [
        "4f13c0fd", *TIMED, f"{MADE}~3",
    ]  # fmt: skip


def test_what_is_shown_of_a_turn_finds_its_exchange():
    turns = (MADE, "specstory:8ddf07530301ab2c", RANDOM, *TIMED)
    exchanges = tuple(Exchange(turn, "", turn, ("yes",)) for turn in turns)
    for turn, shown in shown_turns(exchanges).items():
        assert chosen_exchange(exchanges, shown).id == turn
        assert chosen_exchange(exchanges, turn).id == turn


@pytest.mark.parametrize("wanted", ["3", "00", "4f13c0fe", "", "²"])
def test_what_finds_no_exchange_is_told_with_what_would(wanted):
    exchanges = [Exchange(turn, "", turn, ("yes",)) for turn in (RANDOM, MADE)]
    assert [chosen_exchange(exchanges, number) for number in "12"] == exchanges
    with pytest.raises(NotFound) as error:
        chosen_exchange(exchanges, wanted)
    assert (error.value.message, error.value.remedy) == (
        f"{wanted!r} is none of its 2 exchanges",
        "Give a number from 1 to 2, or a turn's id or how that begins",
    )
    with pytest.raises(NotFound) as error:
        chosen_exchange([], wanted)
    assert (error.value.message, error.value.remedy) == (
        "this memory has no exchanges",
        "Look at it as a whole",
    )


def test_quotations_find_the_turns_that_they_name():
    turns = (*TIMED, RANDOM, RANDOM[:8] + "-0000-4000-8000-000000000000")
    exchanges = tuple(
        Exchange(turn, "2026-02-09T14:00:00Z", f"prompt {turn}", ("yes",))
        for turn in turns
    )
    said = tuple(Quote(f"prompt {turn}", "user", turn) for turn in turns)
    talk = Conversation("Which one", exchanges, decision=said)
    assert Conversation.from_markdown(talk.to_markdown()).decision == said
