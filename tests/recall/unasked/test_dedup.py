"""Sentences count as shown, however they are quoted; and when two texts say the same."""

import pytest

from keeplore.recall.render import quoted
from keeplore.recall.unasked.dedup import is_repeated, says_same, words_in

SAID = (
    "We drop Redis and take SQLite for the job queue, because nobody wants to watch a second "
    "service at night."
)


@pytest.mark.parametrize(
    "passage",
    [
        SAID,
        f"User: {SAID}",
        f"User: {SAID}\n\nAssistant: Done.",
        f"User: Redis or SQLite for the job queue?\n\nAssistant: Decision: {SAID}",
        f"Decision\n- {SAID}",
        f"… {SAID} …",
    ],
)
def test_a_sentence_is_known_again_wherever_it_stands(passage: str) -> None:
    assert is_repeated(
        quoted(passage, 400),
        words_in(f"- 2026-02-09 · ledgerly · {quoted(SAID, 260)} (said by)"),
    )


def test_a_sentence_that_was_cut_is_known_again() -> None:
    assert is_repeated(quoted(SAID, 400), words_in(quoted(SAID, 104)))
    assert not is_repeated(quoted(SAID, 400), words_in(quoted(SAID, 40)))


def test_what_stands_beside_it_is_new() -> None:
    known = words_in(quoted(SAID, 260))
    assert not is_repeated(quoted(f"{SAID} The old jobs were copied over.", 400), known)
    assert not is_repeated(quoted("Use tabs.", 400), known)
    assert is_repeated(quoted("Use tabs.", 400), words_in(quoted("Use tabs", 400)))


def test_a_sentence_of_three_words_tells_nothing_beside_others() -> None:
    known = words_in(quoted("We indent with tabs.", 400))
    assert is_repeated(quoted("We indent with tabs. No blanks anywhere.", 400), known)
    assert not is_repeated(
        quoted("We indent with tabs. No blanks are used.", 400), known
    )


def test_two_texts_that_share_three_words_do_not_say_the_same() -> None:
    assert not says_same("Rotate staging tokens", "Rotate staging tokens")
    assert says_same("Rotate staging tokens weekly", "Rotate staging tokens weekly")


def test_two_texts_that_share_less_than_four_fifths_do_not_say_the_same() -> None:
    one = "Rotate staging tokens weekly and lock doors"
    assert says_same(one, "Rotate staging tokens weekly, lock windows")
    assert not says_same(one, "Rotate staging tokens weekly, mail Bob lunch")


def test_a_note_says_the_same_as_the_talk_that_it_is_from() -> None:
    assert says_same(
        SAID,
        f"User: {SAID}\n\nAssistant: Done: one process writes to a file in WAL mode.",
    )
    assert not says_same(
        SAID, "Redis keeps the sessions for an hour and drops the oldest."
    )
    assert not says_same("Use tabs.", "Use tabs, four wide, in Makefiles alone.")
