"""What is told where nothing is sure enough to be shown: the titles of what comes closest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from live_session import played

from keeplore.index import MemoryFilter
from keeplore.recall.request import AnswerStatus, RecallRequest, ResultFilter

TALK = (
    (
        "The tourist offices get a commission of 8 % on each ticket.",
        "Noted: the commission is 8 % of a ticket.",
    ),
    ("And 10 % for the Lofoten office", "Lofoten gets 10 %."),
)


CLOSEST = "closest, maybe of something else: “Tourist offices get a commission of 8 % on each ticket” "


@pytest.mark.parametrize(
    ("question", "is_near"),
    [("what percentage do resellers earn", True), ("how do whales sleep", False)],
)
def test_what_may_answer_is_named_where_nothing_is_sure(
    question: str, *, is_near: bool
) -> None:
    cwd = Path.home() / "code" / "ledgerly"
    asked = RecallRequest(question, cwd)
    with played({"s": TALK}) as registry:
        index = registry.named("memory").index
        index.refresh()
        index.embed_pending()
        answer = registry.recall(asked)
        unasked = registry.recall(replace(asked, filter=ResultFilter(is_unasked=True)))
        [row] = index.listed(MemoryFilter())
    assert (answer.status, answer.hits) == (AnswerStatus.NOTHING, ())
    assert answer.notes == ((f"{CLOSEST}({row.id[4:12]})",) if is_near else ())
    assert unasked.notes == ()
