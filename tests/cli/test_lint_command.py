"""``keeplore lint`` as a person, a program and the pre-commit framework meet it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from ready import keeplore

REPOSITORY = Path(__file__).resolve().parents[2]
BROKEN = '---\nkind: note\ntitle: t\ncategory: "\\e]0;title\\anonsense\\u202e"\n---\n\nWords.\n'


def lint(
    *arguments: str, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return keeplore("lint", *arguments, cwd=cwd, **environment)


@pytest.fixture
def root(workspace_dir: Path, git: Callable[..., str]) -> Path:
    """A workspace that is not registered on this machine."""
    git("init", "-q", cwd=workspace_dir)
    (workspace_dir / "keeplore.yaml").write_text("schema: 1\n")
    (workspace_dir / "memory" / "decisions").mkdir(parents=True)
    return workspace_dir


def test_a_sound_workspace_is_said_to_be_one(root: Path) -> None:
    done = lint(cwd=root / "memory" / "decisions")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "0 files, nothing wrong\n",
        "",
    )
    assert lint(str(root), cwd=root.parent).stdout == "0 files, nothing wrong\n"


def test_findings_are_printed_by_path_and_line_with_the_remedy(root: Path) -> None:
    (root / "memory" / "latin.md").write_bytes("größe\n".encode("latin-1"))
    done = lint(cwd=root)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "memory/latin.md:1: error: the bytes here are no UTF-8",
        "  → Save the file as UTF-8 with your editor",
    ]
    assert done.stderr == "1 error and 0 warnings in 1 file\n"


def test_a_warning_fails_only_where_that_is_asked_for(root: Path) -> None:
    (root / "memory" / "mine.md").write_text("# Mine\n")
    assert lint(cwd=root).returncode == 0
    assert lint("--strict", cwd=root).returncode == 1


def test_a_terminal_is_not_told_what_to_do_by_a_file(root: Path) -> None:
    (root / "memory" / "\x1b[2Jx.md").write_text(BROKEN)
    done = lint(cwd=root)
    assert done.returncode == 1 and "is not one of" in done.stdout
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f\u202e]", done.stdout + done.stderr) == []


def test_a_program_gets_every_finding_as_json(root: Path) -> None:
    (root / "memory" / "a.md").write_text("---\nschema: 1\nkind: poem\n---\n")
    done = lint("--json", cwd=root)
    found = json.loads(done.stdout)
    assert done.returncode == 1 and {one["path"] for one in found} == {"memory/a.md"}
    assert {(one["line"], one["level"]) for one in found} == {
        (1, "error"),
        (3, "error"),
    }
    assert all(
        one.keys() == {"path", "line", "level", "message", "remedy"} for one in found
    )


def test_paths_are_taken_from_where_one_stands(root: Path) -> None:
    (root / "memory" / "bad.md").write_text("")
    (root / "memory" / "decisions" / "good.md").write_text("# Good\n")
    assert lint("good.md", cwd=root / "memory" / "decisions").returncode == 0
    assert lint("decisions", cwd=root / "memory").returncode == 0
    assert lint(str(root / "memory" / "bad.md"), cwd=Path.home()).returncode == 1
    for nowhere in ("README.md", "memory/none.md", str(Path.home())):
        done = lint("memory/bad.md", nowhere, cwd=root)
        assert done.returncode == 1 and "  → " in done.stderr and done.stdout == ""


def test_what_excludes_one_another_is_wrong_usage(root: Path) -> None:
    assert lint("--staged", "--install", cwd=root).returncode == 2
    assert lint("--staged", "memory", cwd=root).returncode == 2


def test_outside_of_any_workspace_it_says_what_to_do(tmp_path: Path) -> None:
    done = lint(cwd=tmp_path)
    assert done.returncode == 1 and "keeplore init" in done.stderr


def test_the_check_is_installed_and_taken_out_by_command(root: Path) -> None:
    done = lint("--install", cwd=root)
    place = root / ".git" / "hooks" / "pre-commit"
    assert done.returncode == 0 and str(place) in done.stdout and place.exists()
    assert lint("--uninstall", cwd=root).returncode == 0 and not place.exists()
    done = lint("--uninstall", cwd=root)
    assert done.returncode == 1 and "  → " in done.stderr


def test_the_pre_commit_framework_is_told_a_command_that_exists() -> None:
    [entry] = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    assert (
        entry["entry"].split()[:2] == ["keeplore", "lint"]
        and entry["language"] == "python"
    )
    files = re.compile(entry["files"])
    wanted = (
        "memory/a.md",
        "memory/x/y z.md",
        "user/memory/a.md",
        "projects/p/memory/facts/a.md",
        "entities/a.yaml",
    )
    others = (
        "entities/x/a.yaml",
        "README.md",
        "docs/memory/a.md",
        "memory/a.txt",
        "memory/.a.md",
        "memory/.x/a.md",
        "projects/memory/a.md",
    )
    assert [path for path in (*wanted, *others) if files.search(path)] == list(wanted)
