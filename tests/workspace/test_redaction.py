"""What a workspace's settings say of redaction holds when something is remembered and before it is pushed."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.errors import ConfigError
from keeplore.sync import SyncError
from keeplore.workspace import Registry
from keeplore.workspace.notes import Draft
from keeplore.workspace.setup import initialise


@pytest.fixture
def places():
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    return places


def settle(text: str) -> None:
    (Path.home() / "memory" / "keeplore.yaml").write_text(text)


def test_the_patterns_of_a_workspace_and_the_home_directory_reach_no_file(places):
    settle("redaction: {deny: ['(?i)acme gmbh']}")
    with Registry(places) as registry:
        outcome = registry.named("memory").notes.write(
            Draft(f"We deploy for ACME GmbH from {Path.home()}/deploy on Fridays.", title="For Acme GmbH")
        )
        text = (registry.named("memory").root / outcome.path).read_text()
    assert "acme gmbh" not in text.lower() and str(Path.home()) not in text
    assert "[REDACTED:denied:" in text and "~/deploy" in text


def test_a_secret_by_hand_stops_the_push_until_its_mark_is_allowed(places, tmp_path, git):
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), cwd=tmp_path)
    token = "gh" + "p_" + "".join(random.Random(7).choices("abcdefghijkmnpqrstuvwxyz23456789", k=36))
    file = Path.home() / "memory" / "memory" / "notes" / "by-hand.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    with Registry(places) as registry:
        workspace = registry.named("memory")
        git("remote", "add", "origin", str(remote), cwd=workspace.root)
        file.write_text(f"# A sample\n\n{token}\n")
        with pytest.raises(SyncError, match=r"by-hand\.md:3 \(github-token:") as caught:
            workspace.synchronise()
        assert workspace.sync_log.last().error == caught.value.message
        name = caught.value.message.partition("(")[2].partition(")")[0]
    settle(f"redaction: {{allow: ['{name}']}}")
    with Registry(places) as registry:
        assert registry.named("memory").synchronise().pushed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{deny: ['a(']}", r"redaction.deny: 'a\(' is no regular expression of RE2: missing \)"),
        ("{deny: ['a(?=b)']}", r"redaction.deny: 'a\(\?=b\)' is no regular expression of RE2: invalid perl"),
        ("{deny: ['x*']}", r"redaction.deny: 'x\*' matches an empty text"),
        ('{deny: ["\\ud800"]}', "redaction.deny|no YAML"),
        ("{deny: secret}", "redaction.deny: it should be a list of texts"),
        ("{allow: [github-token]}", "redaction.allow: 'github-token' should be a kind and six digits"),
    ],
)
def test_a_pattern_or_mark_that_cannot_be_meant_is_named(places, text, expected):
    settle(f"redaction: {text}")
    with Registry(places) as registry, pytest.raises(ConfigError, match=expected):
        registry.named("memory")
