"""A recall that may wait for nothing, models that workspaces share, and settings that change under
them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.errors import ConfigError
from keeplore.memory.note import NoteDraft
from keeplore.recall.request import RecallRequest
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

SAID = "Ledger entries are append-only"


@pytest.fixture
def registry(home: Path) -> Iterator[Registry]:
    places = Places.from_environment(os.environ)
    for name in ("private", "work"):
        initialise(places, home / name)
    with Registry(places) as opened:
        yield opened


def test_at_once_reads_no_file_and_loads_no_model(
    registry: Registry, home: Path
) -> None:
    workspace = registry.named("private")
    workspace.index.refresh()
    workspace.notes.write(NoteDraft(SAID))
    workspace.index.refresh()
    workspace.index.embed_pending()
    with Registry(registry.places) as fresh:
        answer = fresh.recall(RecallRequest(SAID, home / "private", at_once=True))
        assert (answer.status, answer.legs, fresh.named("private").is_warm) == (
            "found",
            ("text",),
            False,
        )
        workspace.notes.write(NoteDraft("Invoices are sent on Fridays"))
        assert (
            fresh.recall(
                RecallRequest("invoices Fridays", home / "private", at_once=True)
            ).hits
            == ()
        )
        assert (
            fresh.recall(
                RecallRequest("invoices Fridays", home / "private", text_only=True)
            ).status
            == "found"
        )
        fresh.named("private").warm_up()
        assert fresh.recall(
            RecallRequest(SAID, home / "private", at_once=True)
        ).legs == (
            "text",
            "vectors",
        )


def test_workspaces_share_one_model(registry: Registry) -> None:
    one, other = registry.named("private"), registry.named("work")
    one.embedder.embed(["loads it"])
    assert other.embedder.fingerprint == one.embedder.fingerprint
    assert other.embedder.is_loaded


def test_settings_that_change_are_those_that_count(
    registry: Registry, home: Path
) -> None:
    settings = home / "work" / "keeplore.yaml"
    assert registry.named("work").settings.capture.enabled
    settings.write_text("schema: 1\ncapture: {enabled: false}\n")
    assert not registry.named("work").settings.capture.enabled
    settings.write_text("no such key: 1\n")
    with pytest.raises(ConfigError):
        registry.named("work")
    assert registry.opened() == []
