"""What a workspace's settings say of redaction holds when something is remembered and before it is
pushed.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from keeplore.cli.doctor.check_workspace import findings
from keeplore.errors import ConfigError
from keeplore.memory.note import NoteDraft
from keeplore.sync import SyncError
from keeplore.workspace import Registry
from keeplore.workspace.lifecycle.lint import lint, secrets_of
from keeplore.workspace.lifecycle.sync_workspace import synchronise
from keeplore_hooks.events import Origin, Session, Turn


def settle(text: str) -> None:
    (Path.home() / "memory" / "keeplore.yaml").write_text(text)


def test_the_patterns_of_a_workspace_and_the_home_directory_reach_no_file(places):
    settle("redaction: {deny: ['(?i)acme gmbh']}")
    with Registry(places) as registry:
        outcome = registry.named("memory").notes.write(
            NoteDraft(
                f"We deploy for ACME GmbH from {Path.home()}/deploy on Fridays.",
                title="For Acme GmbH",
            )
        )
        text = (registry.named("memory").root / outcome.path).read_text()
    assert "acme gmbh" not in text.lower() and str(Path.home()) not in text
    assert "[REDACTED:denied:" in text and "~/deploy" in text


@pytest.fixture
def ledgerly(places, git):
    """The directory of a project that denies a name and, with a pattern that is wrong, another."""
    directory = Path.home() / "code" / "ledgerly"
    directory.mkdir(parents=True)
    git("init", "-q", "-b", "main", cwd=directory)
    entry = Path.home() / "memory" / "projects" / "ledgerly" / "project.json"
    entry.parent.mkdir(parents=True)
    data = {
        "schema": 1,
        "name": "ledgerly",
        "path": "~/code/ledgerly",
        "deny": ["(?i)blue ?heron", "Acme ("],
    }
    entry.write_text(json.dumps(data))
    return directory


def everything(root: Path) -> str:
    paths = [
        path
        for folder in ("memory", "projects")
        for path in (root / folder).rglob("*.md")
    ]
    return "\n".join(str(path) + path.read_text() for path in paths).lower()


def test_what_a_project_denies_reaches_no_file_of_it_and_only_of_it(places, ledgerly):
    said = (
        "We decided to call the service Blue Heron for Acme (Berlin), because the customer "
        "asked for it."
    )
    origin = Origin("claude-code", "s1", str(ledgerly))
    turn = Turn("t1", origin, "2026-02-03T10:00:00Z", f"Remember: {said}", (said,))
    with Registry(places) as registry:
        workspace = registry.named("memory")
        workspace.emit(turn)
        workspace.emit(Session("e1", origin, "2026-02-03T10:01:00Z", "ended"))
        workspace.notes.write(
            NoteDraft(
                said, title="Blue heron naming", scope="project", project="ledgerly"
            )
        )
        text = everything(workspace.root)
        assert text.count("[redacted:denied:") >= 4
        assert (
            "blueheron" not in text
            and "blue heron" not in text
            and "blue-heron" not in text
            and "acme (" not in text
        )
        workspace.notes.write(
            NoteDraft("The blue heron is a bird of the coast.", scope="workspace")
        )
        assert "the blue heron is a bird" in everything(workspace.root)


def test_lint_and_the_look_before_a_push_know_what_a_project_denies(places, ledgerly):
    with Registry(places) as registry:
        workspace = registry.named("memory")
        outcome = workspace.notes.write(
            NoteDraft("We deploy on Fridays only.", scope="project", project="ledgerly")
        )
        path = workspace.root / outcome.path
        path.write_text(path.read_text() + "\nThat is for Blue Heron.\n")
        assert [
            name.partition(":")[0]
            for _, _, name in workspace.redactor.spans(path.read_bytes())
        ] == ["denied"]
        found = lint(workspace.root, (), secrets_of(workspace.root, places)).findings
        [finding] = [f for f in found if f.level == "error"]
        assert (
            finding.path == outcome.path
            and "denied" in finding.message
            and "heron" not in finding.message.lower()
        )
        assert [f for f in lint(workspace.root).findings if f.level == "error"] == []


def test_doctor_names_a_pattern_of_a_project_that_is_wrong(places, ledgerly):
    with Registry(places) as registry:
        [found] = [
            f
            for f in findings("memory", registry.named("memory"))
            if "RE2" in f.message
        ]
    assert "projects/ledgerly/project.json" in found.remedy


def test_a_secret_by_hand_is_not_committed_until_its_mark_is_allowed(
    places, tmp_path, git
):
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), cwd=tmp_path)
    token = "ghp_" + "".join(
        random.Random(7).choices("abcdefghijkmnpqrstuvwxyz23456789", k=36)
    )
    file = Path.home() / "memory" / "memory" / "notes" / "by-hand.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    with Registry(places) as registry:
        workspace = registry.named("memory")
        git("remote", "add", "origin", str(remote), cwd=workspace.root)
        file.write_text(f"# A sample\n\n{token}\n")
        workspace.notes.write(NoteDraft("The rollback takes four minutes"))
        done = synchronise(workspace)
        assert "held back" in done.note and done.pushed
        place = done.note.rpartition("secret: ")[2]
        assert "by-hand.md:3 (github-token:" in place and token not in done.note
        assert git("log", "--all", "--format=%H", f"-S{token}", cwd=remote) == ""
        assert git("log", "--all", f"-S{token}", cwd=workspace.root) == ""
        said = [finding.message for finding in findings("memory", workspace)]
        assert f"{place} looks like a secret, so the file is not committed" in said
        git("add", "memory", cwd=workspace.root)
        git("commit", "-qm", "By hand", cwd=workspace.root)
        with pytest.raises(SyncError, match=r"by-hand\.md:3 \(github-token:") as caught:
            synchronise(workspace)
        assert workspace.sync_log.last().error == caught.value.message
        # HEAD has it already: an edit beside it is as good as any
        file.write_text(f"# A sample\n\n{token}\n\nAnd more.\n")
        assert workspace.store.commit().paths == ("memory/notes/by-hand.md",)
        file.write_text(f"{file.read_text()}{token[:-1]}7\n")
        assert workspace.store.commit().held_back
        file.write_text(f"# A sample\n\n{token}\n")
    settle(f"redaction: {{allow: ['{place.partition('(')[2].rstrip(')')}']}}")
    with Registry(places) as registry:
        assert synchronise(registry.named("memory")).pushed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{deny: ['a(']}", r"no regular expression of RE2: 'a\(': missing \)"),
        (
            "{deny: ['a(?=b)']}",
            r"no regular expression of RE2: 'a\(\?=b\)': invalid perl",
        ),
        ("{deny: ['x*']}", r"matches an empty text and so says nothing: 'x\*'"),
        ('{deny: ["\\ud800"]}', "a pattern to deny|no YAML"),
        ("{deny: secret}", "redaction.deny: it should be a list of texts"),
        (
            "{allow: [github-token]}",
            "redaction.allow: 'github-token' should be a kind and six digits",
        ),
    ],
)
def test_a_pattern_or_mark_that_cannot_be_meant_is_named(places, text, expected):
    settle(f"redaction: {text}")
    with Registry(places) as registry, pytest.raises(ConfigError, match=expected):
        registry.named("memory")
