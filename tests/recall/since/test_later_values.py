"""Of two statements that give one thing a value, recall puts the later one first, in whatever words
it is put (later_values.yaml).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from keeplore.index import Embedder
from keeplore.memory import Memory
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import RecallRequest, SearchScope

WRITTEN = yaml.load(
    Path(__file__).with_name("later_values.yaml").read_text(encoding="utf-8"),
    yaml.CSafeLoader,
)
PAIRS = [*WRITTEN["changed"], *WRITTEN["others"]]
NOW = datetime(2026, 4, 1, tzinfo=UTC)
# what these have in common needs another word for the same, or is said of something after it
NOT_TOLD = {
    "which Go version does CI build with?",
    "what is the maximum line length?",
    "what is the budget of the offsite?",
    "when does the audit take place?",
    "what is the discount for schools?",
    "how often is the search index rebuilt?",
}


@pytest.fixture(scope="module")
def firsts(
    memory_builders: SimpleNamespace,
    embedder: Embedder,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, str]]:
    """Each question with the key of the memory that comes first."""
    written = [
        _memory(memory_builders, f"{age}-{place}", date, pair[age])
        for place, pair in enumerate(PAIRS)
        for age, date in (("old", "2026-02-01"), ("new", "2026-03-01"))
    ]
    keys = {
        memory_builders.memory_id(f"{age}-{place}"): f"{age}-{place}"
        for place in range(len(PAIRS))
        for age in ("old", "new")
    }
    index, store = memory_builders.indexed(
        tmp_path_factory.mktemp("values"), written, embedder
    )
    index.embed_pending()
    deps = RecallDeps(index, store, embedder=embedder)
    found = {}
    for pair in PAIRS:
        asked = RecallRequest(pair["ask"])
        answer = recall(deps, asked, SearchScope("kasha-api"), now=NOW)
        found[pair["ask"]] = keys[answer.hits[0].memory_id]
    yield found
    index.close()


def _memory(
    builders: SimpleNamespace, key: str, date: str, said: str | Sequence[str]
) -> Memory:
    """A note, or a conversation of one question and its answer."""
    if isinstance(said, str):
        note: Memory = builders.note(key, date, said, said, project="kasha-api")
        return note
    talk: Memory = builders.conversation(
        key, date, said[0], [said], project="kasha-api"
    )
    return talk


def test_the_value_that_was_stated_later_comes_first_and_no_other_things_does(
    firsts: dict[str, str],
) -> None:
    right = {
        pair["ask"]: f"{'new' if pair in WRITTEN['changed'] else 'old'}-{place}"
        for place, pair in enumerate(PAIRS)
    }
    wrong = {question for question in right if firsts[question] != right[question]}
    assert wrong == NOT_TOLD


def test_a_figure_counts_that_stands_in_a_message_whose_reply_is_shown(
    memory_builders: SimpleNamespace, tmp_path: Path
) -> None:
    reply = "How many sources are in a Zotero library matters little: tag each of them."
    said = {
        "old": "Now that my Zotero library has 45 sources, where do I begin?",
        "new": "The Zotero library has reached 52 sources, any ideas?",
    }
    talks = [
        memory_builders.conversation(
            age, date, "Sources", [(said[age], reply)], project="kasha-api"
        )
        for age, date in (("old", "2026-02-01"), ("new", "2026-03-01"))
    ]
    index, store = memory_builders.indexed(tmp_path, talks, None)
    read: list[str] = []
    noting = SimpleNamespace(load=lambda path: read.append(path) or store.load(path))
    answer = recall(
        RecallDeps(index, noting),
        RecallRequest("How many sources are in my Zotero library?", by_exchange=True),
        SearchScope("kasha-api"),
        now=NOW,
    )
    index.close()
    assert [hit.turn for hit in answer.hits] == ["new-turn-0", "old-turn-0"]
    assert sorted(read) == sorted(hit.path for hit in answer.hits)  # each once
