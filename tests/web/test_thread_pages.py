"""What the pages of threads are given, in whatever way a thread is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.errors import NotFound
from keeplore.index import MemoryFilter
from keeplore.web.doctor_findings import Health
from keeplore.web.page_context import PageContext
from keeplore.web.pages.thread_pages import ThreadStep, thread_values, threads_values
from keeplore.workspace.registry import Registry

PARKED = "Failed jobs are retried five times, then parked."
QUESTION = "Who looks at what is parked?"


@pytest.fixture
def context(sample: Path, home: Path) -> Iterator[PageContext]:
    with Registry(Places(home / "state", home / "cache")) as registry:
        yield PageContext(registry, sample, Health(list), csrf="t0ken")


def test_any_conversation_of_a_thread_leads_to_it(context: PageContext) -> None:
    all_threads = threads_values(context)["threads"]
    (thread,) = (one for one in all_threads if "Retries" in one.rows[-1].title)
    steps = [ThreadStep(row, (PARKED,), (QUESTION,)) for row in thread.rows]
    for row in thread.rows:
        expected = {"thread": thread, "steps": steps}
        assert thread_values(context, row.id) == expected
        assert thread_values(context, row.id[4:12]) == expected


def test_what_is_in_no_thread_is_told_where_to_look(context: PageContext) -> None:
    notes = context.workspace.index.listed(MemoryFilter(kind="note"))
    for wanted in (notes[0].id, "ffffffff"):
        with pytest.raises(NotFound) as error:
            thread_values(context, wanted)
        assert (error.value.message, error.value.remedy) == (
            "no other conversation goes on with this one",
            "Look at the timeline",
        )
