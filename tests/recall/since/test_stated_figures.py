"""Which figures a text states, what each counts, and the words that it stands among."""

from __future__ import annotations

import pytest

from keeplore.recall.since.stated_figures import (
    Figure,
    stated_figures,
    unit_kinds,
)

TALK = """User: The cart holds 40 items now, and the limit of uploads is 12 MB.
We moved the review to March 3rd; the demo is on the 4 of May at 10:30.
Assistant: Retries were raised to 5 because 3 of the calls failed. The server at 10.0.0.12 costs $ 25 a month.
It could take 90 minutes, was the guess. Before the release in 7 days we test 14 browsers.
Is it 8 workers? How do I sort the 9 blue glass plates quickly? Another 6 users came, and 2 more wait.
Since 2026-02-09 about 20 % of tests use version 2.5, or 11."""


def told(figure: Figure) -> str:
    change = " changed" if figure.is_changed else ""
    return f"{figure.value} {' '.join(sorted(figure.kinds))}{change}: {figure.clauses}"


def test_the_figures_of_a_talk() -> None:
    assert [told(figure) for figure in stated_figures(TALK)] == [
        "40 hold item changed: The cart holds 40 items now",
        "12 size changed: The cart holds 40 items now, and the limit of uploads is 12 MB",
        "3 mar day changed: We moved the review to March 3rd",
        "4 may day changed: We moved the review to March 3rd; the demo is on the 4 of May at 10:30",
        "10:30 clock changed: We moved the review to March 3rd; the demo is on the 4 of May at 10:30",
        "5 bare changed: Retries were raised to 5",
        "10.0.0.12 address: The server at 10.0.0.12 costs $ 25 a month",
        "25 money: The server at 10.0.0.12 costs $ 25 a month",
        "9 blu glas plates: How do I sort the 9 blue glass plates quickly",
        "2026-02-09 day changed: Since 2026-02-09 about 20 % of tests use version 2.5",
        "20 share changed: Since 2026-02-09 about 20 % of tests use version 2.5",
        "2.5 bare vers changed: Since 2026-02-09 about 20 % of tests use version 2.5",
        "11 bare changed: Since 2026-02-09 about 20 % of tests use version 2.5, or 11.",
    ]


def test_a_figure_knows_the_words_of_the_sentence_before() -> None:
    (figure,) = stated_figures("Carts are blue. After the sale, a shop sells 4 pears.")
    assert figure == Figure(
        value="4",
        kinds=frozenset({"pear", "sel"}),
        near=frozenset({"a", "shop", "sel", "4", "pear"}),
        said=frozenset({"cart", "are", "blu", "a", "shop", "sel", "4", "pear"}),
        sentence="After the sale, a shop sells 4 pears.",
        clauses="After the sale, a shop sells 4 pears.",
        is_changed=False,
    )


def test_only_the_beginning_of_a_text_is_read() -> None:
    words = ("ab " * 1_000)[:1_996]
    assert [one.value for one in stated_figures(f"{words} 7 8")] == ["7", "8"]
    assert [one.value for one in stated_figures(f"{words}a 7 8")] == ["7"]


@pytest.mark.parametrize(
    ("figure", "unit", "kinds"),
    [
        ("7", "days", {"time"}),
        ("7", "kB", {"size"}),
        ("7", "%", {"share"}),
        ("7", "EUR", {"money"}),
        ("7", "pm", {"clock"}),
        ("7:30", "", {"clock"}),
        ("7:3", "", set()),
        ("10.0.0.1", "", {"address"}),
        ("10.0.1", "s", {"time"}),
        ("7", "pears", set()),
    ],
)
def test_a_shape_or_a_unit_tells_the_kind(
    figure: str, unit: str, kinds: set[str]
) -> None:
    assert unit_kinds(figure, unit) == kinds


@pytest.mark.parametrize(
    "said",
    [
        "5 retries is too many, 3 is enough",
        "5 is far too many, 3 is enough",
        "drop the limit from 5 to 3",
        "Lower the limit to 3",
    ],
)
def test_a_figure_that_is_too_much_states_nothing_and_the_other_one_is_new(
    said: str,
) -> None:
    (figure,) = stated_figures(said)
    assert (figure.value, figure.is_changed) == ("3", True)


def test_a_comparison_of_the_thing_itself_is_no_change() -> None:
    (figure,) = stated_figures("The lower limit is 3")
    assert not figure.is_changed
