"""Which open questions are still told: what a later conversation answered is none any more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keeplore.index import MemoryRow
from keeplore.memory import Conversation, Exchange, Memory, Quote
from keeplore.recall.unasked.memory_lines import LoadedMemory
from keeplore.recall.unasked.open_questions import is_answered, waiting_questions


def talk(
    number: int,
    *,
    session: str,
    asked: tuple[tuple[str, str, int], ...] = (),
    decided: str = "",
) -> LoadedMemory:
    """Two exchanges; ``asked`` are texts, speakers and the numbers of their exchanges."""
    at = f"2026-03-{number:02d}T10:00:00Z"
    exchanges = tuple(
        Exchange(f"{number}-{n}", at, "Said", ("Heard",), at) for n in range(2)
    )
    said = Conversation(
        f"Talk {number}",
        exchanges,
        open_questions=tuple(
            Quote(text, speaker, exchanges[n].id) for text, speaker, n in asked
        ),
        decision=(Quote(decided, "user", exchanges[0].id),) if decided else (),
    )
    row = MemoryRow(
        f"mem_{number}", f"{number}.md", said.title, "conversation", "project", "shop", "",
        at, at, permanent=False, trust="assistant", session=session, host="codex",
        is_open=False, is_archived=False,
    )  # fmt: skip
    return LoadedMemory(row, Memory({}, said.to_markdown()), talk=said)


def waiting(*newest_first: LoadedMemory) -> list[str]:
    return [quote.text for _, quote in waiting_questions(newest_first)]


OFFER = ("Want me to build the snippets lazily?", "assistant", 1)
ADVICE = ("Build lazy snippets", "assistant", 1)


def test_what_the_agent_asked_last_waits_until_the_session_goes_on() -> None:
    first = talk(1, session="one", asked=(OFFER,))
    assert waiting(first) == [OFFER[0]]
    assert waiting(talk(2, session="two"), first) == [OFFER[0]]
    assert waiting(talk(2, session="one"), first) == []
    choice = ("Which one do you prefer? A list / A path", "assistant", 1)
    assert (
        waiting(talk(2, session="one"), talk(1, session="one", asked=(choice,))) == []
    )


def test_what_was_asked_before_or_by_the_person_waits_on() -> None:
    earlier = ("Which regions shall the backup cover?", "assistant", 0)
    own = ("Who may delete a workspace?", "user", 1)
    first = talk(1, session="one", asked=(earlier, own))
    assert waiting(talk(2, session="one"), first) == [earlier[0], own[0]]


def test_a_decision_of_the_same_session_needs_fewer_of_the_words() -> None:
    first = talk(1, session="one", asked=(ADVICE,))
    decided = "Lazy snippets it is"
    assert waiting(talk(2, session="two", decided=decided), first) == [ADVICE[0]]
    assert waiting(talk(2, session="one", decided=decided), first) == []
    assert waiting(first, talk(2, session="one", decided=decided)) == [ADVICE[0]]


def test_what_stands_behind_a_dash_is_no_part_of_the_question() -> None:
    advice = ("**Build lazy snippets** — no index makes them cheaper.", "assistant", 1)
    first = talk(1, session="one", asked=(advice,))
    decided = "Lazy snippets it is, and the index goes"
    assert waiting(talk(2, session="one", decided=decided), first) == []


def test_a_decision_with_nearly_all_words_answers_wherever_it_was_made() -> None:
    first = talk(1, session="one", asked=(ADVICE,))
    later = talk(2, session="two", decided="We build lazy snippets in both lists")
    assert waiting(later, first) == []


def test_talks_of_no_known_session_are_no_one_session() -> None:
    first = talk(1, session="", asked=(OFFER,))
    assert waiting(talk(2, session=""), first) == [OFFER[0]]


def test_a_single_word_is_met_by_chance() -> None:
    decided = [Quote("The cache expires at night", "user", "1")]
    assert not is_answered("Cache?", decided)
    assert is_answered("Does the cache expire?", decided)


def test_a_question_for_what_was_decided_does_not_wait() -> None:
    asked = ("What did we decide about the cache?", "user", 1)
    own = ("Who may delete a workspace?", "user", 1)
    assert waiting(talk(1, session="one", asked=(asked, own))) == [own[0]]


PLAN = """# Plan: Render the diff in the files tab

## Change
Each line of the diff is drawn by `renderTabFiles` in its colour."""
WANTED = Quote("Could we render the diff?", "user", "1-0")


def beginning(session: str, *exchanges: Exchange) -> LoadedMemory:
    said = Conversation("Files tab", exchanges, open_questions=(WANTED,))
    return replace(talk(1, session=session), talk=said)


@pytest.mark.parametrize(
    ("first_words", "is_open"),
    [
        (
            f"Implement the following plan:\n\n{PLAN}\n\nIf you need details, ask.",
            False,
        ),
        (PLAN.replace("## Change\n", "## Change\n\n"), False),
        ("Implement the plan for the files tab.", True),
        (PLAN[:40], True),
    ],
)
def test_a_plan_with_which_a_newer_session_began_waits_no_more(
    first_words: str, *, is_open: bool
) -> None:
    ended = beginning("one", Exchange("1-0", "", WANTED.text, ("I looked.", PLAN)))
    newer = beginning("two", Exchange("2-0", "", first_words, ("Done.",)))
    assert waiting(newer, ended) == [WANTED.text] * (1 + is_open)
    assert waiting(ended, newer) == [WANTED.text] * 2


def test_what_was_asked_before_the_last_exchange_waits_on() -> None:
    asked = Exchange("1-0", "", WANTED.text, (PLAN,))
    ended = beginning("one", asked, Exchange("1-1", "", "And the logo?", ("Done.",)))
    newer = beginning("two", Exchange("2-0", "", PLAN, ("Done.",)))
    assert waiting(newer, ended) == [WANTED.text] * 2
