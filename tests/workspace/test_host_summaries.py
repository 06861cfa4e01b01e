"""The host's summary at a compaction: a source of the agent's, once, beside the conversation that
was open.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.memory import Memory
from keeplore.recall.request import RecallRequest
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Compaction, Origin, Turn

ORIGIN = Origin("claude-code", "s1")
AT = "2026-03-01T10:00:00Z"
SUMMARY = (
    "Analysis: the user wants the invoice queue to move to Postgres. The worker was rewritten, two "
    "tests of the retry "
    "limit still fail, and the migration has not been started."
)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    places = Places(tmp_path / "state", tmp_path / "cache")
    made = initialise(places, tmp_path / "memory")
    with Workspace(made.name, made.root, places, Machine.load(places)) as workspace:
        workspace.emit(
            Turn(
                "t1",
                ORIGIN,
                AT,
                "Move the invoice queue to Postgres",
                ("I rewrote the worker.",),
                AT,
            )
        )
        yield workspace


def kept(workspace: Workspace, kind: str) -> list[Memory]:
    memories = [workspace.store.load(file.path) for file in workspace.store.scan()]
    return [memory for memory in memories if memory.kind == kind]


def compact(workspace: Workspace, id_: str, summary: str = SUMMARY) -> None:
    workspace.emit(
        Compaction(id_, ORIGIN, "2026-03-01T11:00:00Z", "after", "auto", summary)
    )


def test_the_summary_is_a_document_of_the_agents(workspace: Workspace) -> None:
    compact(workspace, "c1")
    [document] = kept(workspace, "document")
    [conversation] = kept(workspace, "conversation")
    assert (document.trust, document.meta["trigger"], document.source["session"]) == (
        "assistant",
        "compaction",
        "s1",
    )
    assert SUMMARY in document.body
    assert document.links == (("relates-to", conversation.id),)
    assert (
        conversation.meta["trigger"] == "compaction"
        and SUMMARY not in conversation.body
    )


def test_payload_and_transcript_report_one_compaction_and_one_file_is_written(
    workspace: Workspace,
) -> None:
    compact(workspace, "payload")
    compact(workspace, "transcript", f"  {SUMMARY}\n\n")
    assert len(kept(workspace, "document")) == 1


def test_each_later_compaction_has_a_summary_of_its_own(workspace: Workspace) -> None:
    compact(workspace, "c1")
    compact(
        workspace,
        "c2",
        f"{SUMMARY} Since then the migration ran on the staging database.",
    )
    assert len(kept(workspace, "document")) == 2


def test_a_compaction_without_a_summary_writes_nothing(workspace: Workspace) -> None:
    compact(workspace, "c1", "Compacted.")
    compact(workspace, "c2", "")
    assert kept(workspace, "document") == []


def test_a_summary_that_was_forgotten_stays_away(workspace: Workspace) -> None:
    compact(workspace, "c1")
    [document] = kept(workspace, "document")
    workspace.store.forget(document.id, "studio", AT)
    compact(workspace, "c2")
    assert kept(workspace, "document") == []


def test_secrets_of_a_summary_are_redacted(workspace: Workspace) -> None:
    token = "ghp_" + "Ab3dE5fG7h" * 3 + "Xy12Zw"
    compact(workspace, "c1", f"{SUMMARY} The token is {token}.")
    [document] = kept(workspace, "document")
    assert token not in document.body and token not in document.title


def test_the_summary_is_found(workspace: Workspace) -> None:
    compact(workspace, "c1")
    workspace.index.refresh()
    answer = workspace.recall(
        RecallRequest("retry limit tests that still fail", text_only=True)
    )
    assert "document" in {hit.kind for hit in answer.hits}


def test_what_the_host_says_to_the_agent_is_no_memory(workspace: Workspace) -> None:
    said = (
        "1. Primary Request and Intent:\n   The user wanted to move the invoice queue to Postgres. "
        "The worker was rewritten.\n\n2. Pending Tasks:\n   - the migration"
    )
    compact(
        workspace,
        "c1",
        "This session is being continued from a previous conversation that ran out of context. "
        f"The conversation is summarized below:\nAnalysis:\nLet me see.\n\nSummary:\n{said}\n\n"
        "Please continue the conversation from where we left off without asking the user.",
    )
    [document] = kept(workspace, "document")
    assert document.title == (
        "Summary by claude-code: Move the invoice queue to Postgres"
    )
    assert document.body.endswith(f"own words.\n\n{said}\n")
