"""The summary that a host makes of a talk, beside the talk itself and beside a document."""

from __future__ import annotations

from datetime import UTC, datetime

from sample_note import note

from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import RecallRequest, SearchScope

QUERY = "why does the gateway retry uploads twice?"
SAID = (
    "The gateway retries uploads twice, because the store drops the first connection."
)


def test_a_hosts_summary_stands_behind_what_else_says_the_same(
    memory_builders, workspace_of
) -> None:
    source = {"host": "codex", "session": "s"}
    assert first(memory_builders, workspace_of, source) == "Gateway"


def test_a_document_that_is_of_no_talk_does_not(memory_builders, workspace_of) -> None:
    source = {"host": "import"}
    assert first(memory_builders, workspace_of, source) == "Retried uploads"


def first(memory_builders, workspace_of, source: dict[str, str]) -> str:
    """The first answer, of a document from this source, newer than a note about the same."""
    gateway = memory_builders.note(
        "gateway", "2026-02-03", "Gateway", SAID, project="kasha-api"
    )
    document = note(
        "Retried uploads",
        f"# Retried uploads\n\n{SAID}\n",
        kind="document",
        created_at="2026-03-03T10:00:00Z",
        updated_at="2026-03-03T10:00:00Z",
        scope="project",
        project="kasha-api",
        category=None,
        trust="assistant",
        source=source,
    )
    index, store = workspace_of([gateway, document])
    now = datetime(2026, 5, 1, tzinfo=UTC)
    scope = SearchScope("kasha-api")
    answer = recall(RecallDeps(index, store), RecallRequest(QUERY), scope, now=now)
    return answer.hits[0].title
