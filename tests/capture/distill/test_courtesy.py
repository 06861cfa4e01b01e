"""What is said out of courtesy: it leaves nothing open and tells of no outcome."""

from __future__ import annotations

import pytest

from keeplore.capture.cues import says
from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange


def part(name: str, *said: str) -> list[str]:
    exchanges = [
        Exchange(
            f"t{n}", "2026-03-01T10:00:00Z", words, tuple(said[2 * n + 1 : 2 * n + 2])
        )
        for n, words in enumerate(said[::2])
    ]
    return [quote.text for quote in distill(exchanges)[name]]


@pytest.mark.parametrize(
    "courtesy",
    [
        "All set — what's the task?",
        "I have read the rules. What should I work on next?",
        "What can I help you with today?",
        "What are your instructions?",
        "还有什么需要调整的吗？",
    ],
)
def test_to_ask_for_a_task_leaves_nothing_open(courtesy: str) -> None:
    assert part("open_questions", "read the rules of the project", courtesy) == []


def test_to_ask_for_a_task_below_the_open_points_is_none_of_them() -> None:
    points = "## Open points\n\n- Drafts of deleted users are still listed\n\n"
    said = f"{points}The rules are clear — what's the task?"
    assert part("open_questions", "read the rules", said, "wait", "I do.") == [
        "Drafts of deleted users are still listed"
    ]


@pytest.mark.parametrize(
    "question",
    [
        "What should we do about the drafts of deleted users?",
        "What is the task queue called in production?",
        "Which drafts can I work on without a lock?",
    ],
)
def test_a_question_that_names_its_matter_stays_open(question: str) -> None:
    assert part("open_questions", "look at the drafts", question) == [question]


@pytest.mark.parametrize(
    "offer",
    [
        "If you want, I can now shorten this to the length of a tweet for the drafts page.",
        "If you'd like, I can rephrase or expand the summary for readers of the drafts.",
    ],
)
def test_to_offer_other_words_for_the_same_leaves_nothing_open(offer: str) -> None:
    assert (
        part("open_questions", "describe the drafts", f"They are files. {offer}") == []
    )


def test_an_offer_tells_of_no_outcome_in_a_long_talk_either() -> None:
    said = [f"Drafts of kind {n} are kept in the folder `kind{n}/`." for n in range(20)]
    offers = [
        "If you want, I can now shorten this to the length of a tweet for the drafts page.",
        "如需修改草稿页面的颜色或者布局，可以继续提出具体要求。",
    ]
    told = part("outcome", "where are the drafts kept?", "\n\n".join([*said, *offers]))
    assert told and not {*told} & {*offers}


def test_to_offer_work_on_something_that_is_named_leaves_it_open() -> None:
    offer = "If you want, I can rewrite the loader of drafts so that it streams."
    assert part("open_questions", "why is it slow?", f"It reads all. {offer}") == [
        offer
    ]


@pytest.mark.parametrize(
    "courtesy",
    [
        "如需修改颜色或者布局，可以继续提出具体要求。",
        "如果你有任何问题，请随时联系。",
        "如需帮助，我可以继续优化草稿页面。",
    ],
)
def test_an_offer_in_chinese_is_no_outcome(courtesy: str) -> None:
    done = "已经修复草稿页面的保存按钮。"
    assert part("outcome", "草稿无法保存，帮我修复。", f"{done}{courtesy}") == [done]


def test_a_condition_in_chinese_offers_nothing() -> None:
    assert not says("如果需要缓存草稿，可以使用Redis。", "offer")
    assert not says("如果有草稿，页面会显示它们。", "idle_offer")


REPORT = """Saved drafts are now read by `loader.py` alone.

`golangci-lint` clean, all 12 tests pass."""
CHECKED = "All 14 tests pass and the build is clean."


def test_of_lines_that_say_only_that_the_checks_passed_the_last_is_told() -> None:
    later = f"Drafts of deleted users are now removed by `sweep.py`.\n\n{CHECKED}"
    assert part("outcome", "read drafts once", REPORT, "and sweep them", later) == [
        "Saved drafts are now read by `loader.py` alone.",
        "Drafts of deleted users are now removed by `sweep.py`.",
        CHECKED,
    ]


def test_a_check_of_something_that_is_named_is_told_beside_others() -> None:
    named = "All 9 tests of the sweeper pass."
    found = part("outcome", "read drafts once", REPORT, "and the sweeper?", named)
    assert found[-2:] == ["`golangci-lint` clean, all 12 tests pass.", named]
