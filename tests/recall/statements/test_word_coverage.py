"""How much of a question each of many statements says."""

from __future__ import annotations

import pytest

from keeplore.recall.question import parse_question, stems_of
from keeplore.recall.statements.word_coverage import coverages, likenesses_of


def shares(question: str, *texts: str) -> list[float]:
    found = coverages(parse_question(question), texts, [stems_of(t) for t in texts])
    assert len(found) == len(texts)
    return [round(share, 2) for share in found]


def test_a_word_in_common_counts_whole_and_a_rare_one_most() -> None:
    found = shares(
        "Which port does the proxy use?",
        "The proxy listens on port 8080.",
        "The proxy is nginx.",
        "The proxy restarts at night.",
        "Lunch is at noon.",
    )
    assert found[0] == max(found)
    assert found[1] < 0.6
    assert found[3] < 0.2


def test_other_words_for_the_same_are_seen() -> None:
    same, other = shares(
        "How was the crash repaired?",
        "The failure is fixed by a lock.",
        "The banner is green.",
    )
    assert same > 0.1 > 4 * other


def test_names_are_compared_by_their_parts() -> None:
    same, other = shares(
        "Who deletes the temporary folder?",
        "removeTempDirectory() does it.",
        "parseInvoiceNumber() does it.",
    )
    assert same > 0.1 > 1.5 * other


def test_figures_and_other_scripts_are_compared_as_they_are() -> None:
    assert shares("8080?", "Port 8080 is taken.", "Port 3000 is taken.") == [1.0, 0.0]
    assert shares("メール", "メールを送る", "印刷する")[1] == 0.0


@pytest.mark.parametrize("question", ["", "ok, go on"])
def test_a_question_without_words_is_covered_by_nothing(question: str) -> None:
    assert shares(question, "The proxy is nginx.") == [0.0]
    assert shares("Which port?") == []


def test_a_text_in_other_words_is_more_like_a_question_than_what_is_of_another_matter() -> (
    None
):
    texts = (
        "The failure on launch is fixed.",
        "Invoices go through a queue in Postgres.",
        "Templates live in a folder of the mailer.",
        "Сборка упала.",
    )
    found = likenesses_of("how was the crash at startup repaired?", texts)
    assert max(found[:3]) == found[0] > 0.05
    assert all(one < 0 for one in found[1:3])
    assert found[3] == 0.0


@pytest.mark.parametrize("question", ["", "почему упала сборка", "42"])
def test_a_question_that_is_not_read_is_like_nothing(question: str) -> None:
    assert likenesses_of(question, ["The build failed.", "It is green."]) == [0.0, 0.0]
    assert likenesses_of("why", []) == []
