"""Under which words a passage is found that puts an end to something."""

from __future__ import annotations

from typing import Any

import pytest
from sample_note import note

from keeplore.index import ScopeFilter
from keeplore.index.passages import passages_of
from keeplore.index.revision_rows import revising_terms

SAID = "Use pnpm instead of npm for the shop"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"trust": "user"}, ["npm", "pnpm", "shop"]),
        ({"trust": "assistant"}, ["npm", "pnpm", "shop"]),
        ({"trust": "document"}, []),
        ({"trust": "user", "kind": "document"}, []),
    ],
    ids=["the person's", "the agent's", "a page's", "a document"],
)
def test_what_is_believed_is_found_by_what_it_replaces(
    fields: dict[str, str], expected: list[str]
) -> None:
    memory = note("Packages", f"{SAID}.\n", **fields)
    found = revising_terms(memory, passages_of(memory))
    assert [term for _, term in found] == expected


def test_an_index_finds_what_puts_an_end_to_something_in_the_places_that_are_asked(
    index: Any, files: Any
) -> None:
    path = files.put(note("Packages", f"{SAID}.\n", trust="user"))
    files.put(note("Others", "Use tabs.\n", trust="user"))
    index.refresh()
    [row] = index.revising(ScopeFilter(), {"npm", "yarn"})
    assert (row.path, row.title) == (path, "Packages")
    assert index.revising(ScopeFilter(), {"yarn"}) == []
    assert index.revising(ScopeFilter((("project", "shop"),)), {"npm"}) == []
