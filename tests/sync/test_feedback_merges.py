"""Two machines that count offline and merge through git come to the same sums."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sample_note import note

from keeplore.config.feedback_settings import FeedbackSettings
from keeplore.index import Index
from keeplore.memory import feedback_counters, new_id
from keeplore.memory.feedback_counters import UsageCounters
from keeplore.store import Store
from keeplore.sync import synchronise

NOW = datetime(2026, 6, 1, tzinfo=UTC)
IDS = {name: new_id(name) for name in ("both", "mine", "theirs")}


def by_hand(store: Store) -> None:
    """A person with git alone."""
    store.commit()
    for command in (["pull", "-q", "--no-rebase", "--no-edit"], ["push", "-q"]):
        subprocess.run(
            ["git", *command], cwd=store.root, check=True, capture_output=True
        )


def count(store: Store, machine: str, **used: int) -> None:
    tallies = {
        IDS[name]: UsageCounters(number, "2026-05-31") for name, number in used.items()
    }
    store.write_text(
        feedback_counters.path_of(machine), feedback_counters.to_text(tallies)
    )


@pytest.mark.parametrize("exchange", [synchronise, by_hand])
def test_what_two_machines_counted_offline_adds_up_on_both(
    first, network, tmp_path: Path, exchange
) -> None:
    for title in IDS:
        first.save(note(title))
    count(first, "first", both=1)
    synchronise(first)
    second = network.machine("second")
    count(first, "first", both=2, mine=1)
    count(second, "second", both=3, theirs=4)
    for store in (first, second, first, second):
        exchange(store)
    assert first.head() == second.head()
    for store in (first, second):
        index = Index(tmp_path / f"index of {store.root.name}", store, None)
        index.refresh()
        weights = index.graph.feedback(list(IDS.values()), NOW, FeedbackSettings())
        assert {name: round(weights[id_], 6) for name, id_ in IDS.items()} == {
            "both": 1.5,
            "mine": 1.1,
            "theirs": 1.4,
        }
        assert not index.problems()
        index.close()


def test_a_copied_disk_conflicts_with_nothing_and_counts_once(first, network) -> None:
    first.save(note("both"))
    count(first, "first", both=1)
    synchronise(first)
    copy = network.machine("copy")
    count(first, "first", both=4)
    count(copy, "first", both=3, theirs=1)
    for store in (first, copy, first):
        synchronise(store)
    texts = {
        store.read_text(feedback_counters.path_of("first"), feedback_counters.MAX_FILE)
        for store in (first, copy)
    }
    assert [feedback_counters.parse(text) for text in texts] == [
        {
            IDS["both"]: UsageCounters(4, "2026-05-31"),
            IDS["theirs"]: UsageCounters(1, "2026-05-31"),
        }
    ]
    assert [
        path.name for path in (first.root / feedback_counters.FOLDER).iterdir()
    ] == ["first.json"]
