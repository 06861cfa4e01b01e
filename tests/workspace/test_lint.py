"""A whole workspace, some of it, or what is staged: each file is looked at as it lies there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.errors import NotFound
from keeplore.memory import Memory, new_id, new_meta, serialise
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.workspace.lifecycle.lint import LintReport, lint, lint_staged

Git = Callable[..., str]


def ours(title: str, body: str = "Words.\n", **meta: object) -> str:
    fields = {
        "kind": "note",
        "title": title,
        "created_at": "2026-02-09T14:03:11Z",
        "scope": "workspace",
        "trust": "user",
    }
    return serialise(
        Memory(new_meta(id=new_id(title), **fields, **meta), f"# {title}\n\n{body}")
    )


def name(title: str, folder: str = "memory/decisions") -> str:
    return f"{folder}/2026-02-09-{title}-{new_id(title)[4:12]}.md"


@pytest.fixture
def root(workspace_dir: Path, git: Git) -> Path:
    git("init", "-q", cwd=workspace_dir)
    return workspace_dir


def write(root: Path, path: str, text: str | bytes) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())


def seen(report: LintReport) -> list[tuple[str, int, str]]:
    assert all(finding.message and finding.remedy for finding in report.findings)
    assert list(report.findings) == sorted(report.findings)
    return [(finding.path, finding.line, finding.level) for finding in report.findings]


def test_a_sound_workspace_has_nothing_wrong_and_nothing_is_written(root: Path) -> None:
    write(root, name("a"), ours("a"))
    write(root, name("b", "memory/archive/gotchas"), ours("b", supersedes=new_id("a")))
    write(root, "projects/ledgerly/project.json", "{}")
    write(root, "README.md", "no memory at all")
    before = {path: path.read_bytes() for path in root.rglob("*.md")}
    assert (seen(lint(root)), lint(root).files) == ([], 3)
    assert {path: path.read_bytes() for path in root.rglob("*.md")} == before


def test_an_empty_directory_has_nothing_wrong(root: Path) -> None:
    assert lint(root) == LintReport((), 0)


def test_names_that_some_systems_cannot_hold_are_errors(root: Path) -> None:
    write(root, "memory/Ledger.md", ours("a"))
    write(root, "memory/ledger.md", ours("b"))
    write(root, "memory/CON.md", ours("c"))
    write(root, "memory/when: now.md", ours("d"))
    write(root, "memory/words.MD", "x")
    write(root, "memory/words.markdown", "x")
    (root / "memory" / "link.md").symlink_to("ledger.md")
    assert seen(lint(root)) == [
        ("memory/CON.md", 1, "error"),
        ("memory/ledger.md", 1, "error"),
        ("memory/link.md", 1, "warning"),
        ("memory/when: now.md", 1, "error"),
        ("memory/words.MD", 1, "warning"),
        ("memory/words.markdown", 1, "warning"),
    ]


def test_a_name_that_is_no_utf_8_is_told_in_print(root: Path) -> None:
    write(root, name("a"), ours("a"))
    try:
        Path(os.fsdecode(os.fsencode(root / "memory") + b"/gr\xf6sse.md")).write_text(
            "x"
        )
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    [finding] = lint(root).findings
    assert (
        finding.level == "error" and finding.path.isascii() and "sse.md" in finding.path
    )


def test_a_file_that_is_too_large_is_not_read(root: Path) -> None:
    write(root, "memory/huge.md", b"")
    os.truncate(root / "memory" / "huge.md", MAX_FILE + 1)
    [finding] = lint(root).findings
    assert "larger than 32 MB" in finding.message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_an_error(root: Path) -> None:
    write(root, "memory/closed.md", "x")
    (root / "memory" / "closed.md").chmod(0)
    folder = root / "memory" / "gotchas"
    folder.mkdir()
    folder.chmod(0)
    try:
        report = lint(root)
    finally:
        folder.chmod(0o700)
    assert seen(report) == [
        ("memory/closed.md", 1, "error"),
        ("memory/gotchas", 1, "error"),
    ]
    assert "look into it" in report.findings[1].message


def test_a_secret_is_told_by_kind_and_line_and_not_shown(root: Path) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    write(root, name("a"), ours("a", f"Deploy with {token} from now on.\n"))
    [finding] = lint(root).findings
    assert (finding.line, finding.level) == (13, "error")
    assert "secret" in finding.message and token not in str(finding)


def test_a_tombstone_is_known_by_its_name(root: Path) -> None:
    write(root, name("a"), ours("a"))
    write(root, f"forgotten/{new_id('a')}.json", "{}")
    assert seen(lint(root)) == [(name("a"), 3, "error")]


def test_some_files_are_looked_at_with_the_others_in_mind(root: Path) -> None:
    write(root, name("a"), ours("a"))
    write(root, name("b"), ours("b", supersedes=new_id("a")))
    write(root, "memory/renamed.md", ours("c"))
    write(root, name("d"), ours("d", supersedes=new_id("c")))
    write(root, "memory/gotchas/copy of a.md", ours("a"))
    write(root, name("e"), "---\nbroken: [\n---\n")
    assert seen(lint(root, [name("b"), name("d")])) == []
    assert seen(lint(root, ["memory/gotchas"])) == [
        ("memory/gotchas/copy of a.md", 3, "error")
    ]
    assert lint(root, ["memory"]).files == 6
    with pytest.raises(NotFound, match="memory/none"):
        lint(root, ["memory/none.md"])


def test_what_is_staged_counts_and_not_what_is_on_disk(root: Path, git: Git) -> None:
    path = name("a")
    write(root, path, ours("a", kind_of="x").replace("kind: note", "kind: poem"))
    git("add", path, cwd=root)
    write(root, path, ours("a"))
    assert seen(lint(root)) == []
    assert seen(lint_staged(root)) == [(path, 4, "error")]  # before the first commit
    git("add", path, cwd=root)
    write(root, path, "---\nbroken")
    assert (seen(lint_staged(root)), lint_staged(root).files) == ([], 1)
    git("commit", "-qm", "x", cwd=root)
    assert lint_staged(root) == LintReport((), 0)


def test_a_staged_file_is_compared_with_those_that_are_committed(
    root: Path, git: Git
) -> None:
    write(root, name("a"), ours("a"))
    git("add", ".", cwd=root)
    git("commit", "-qm", "x", cwd=root)
    write(root, name("b"), ours("b", supersedes=new_id("a")))
    write(root, name("c"), ours("c", supersedes=new_id("gone")))
    write(root, "memory/größe\n2.md", ours("a"))
    git("add", "memory", cwd=root)
    git("add", "-N", ".", cwd=root)
    found = seen(lint_staged(root))
    assert (name("c"), 8, "warning") in found and name("b") not in {
        path for path, *_ in found
    }
    assert ("memory/größe\n2.md", 1, "error") in found


def test_a_commit_of_some_paths_has_an_index_of_its_own(root: Path, git: Git) -> None:
    write(root, name("a"), "---\nbroken: [\n---\n")
    git("add", ".", cwd=root)
    other = root.parent / "other-index"
    assert [level for *_, level in seen(lint_staged(root))] == ["error"]
    assert lint_staged(root, str(other)) == LintReport((), 0)


def test_a_filter_of_git_is_undone_before_its_text_is_judged(
    root: Path, git: Git
) -> None:
    git("config", "filter.turned.clean", "tr 'a-z' 'n-za-m'", cwd=root)
    git("config", "filter.turned.smudge", "tr 'a-z' 'n-za-m'", cwd=root)
    (root / ".gitattributes").write_text("memory/** filter=turned\n")
    write(root, name("a"), ours("a"))
    git("add", ".", cwd=root)
    assert "---\nfpurzn" in git("cat-file", "blob", f":{name('a')}", cwd=root)
    assert (seen(lint_staged(root)), lint_staged(root).files) == ([], 1)


def test_what_says_who_and_what_there_is_is_looked_at_too(root: Path) -> None:
    write(root, "entities/wizard.yaml", "name: Merlin\ntype: wizard\n")
    write(root, "entities/open.yaml", "name: Merlin\ntype: [tool\naliases: x\n")
    (root / "entities/old.yaml").write_bytes(b"name: Merlin\naliases: [\xe9]\n")
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    write(root, "projects/shop/entities/key.yaml", f"name: key\naliases:\n- {token}\n")
    write(root, "projects/shop/project.json", "<<<<<<< HEAD\n")
    findings = {
        (one.path, one.line, one.message.split(",")[0].split(":")[0])
        for one in lint(root).findings
    }
    assert findings == {
        ("entities/wizard.yaml", 1, "`type"),
        ("entities/open.yaml", 3, "the file is no YAML"),
        ("entities/old.yaml", 2, "the bytes here are no UTF-8"),
        ("projects/shop/entities/key.yaml", 3, "a secret stands here"),
        ("projects/shop/project.json", 1, "it is no JSON"),
    }


def test_a_name_that_two_entities_claim_in_one_place_is_told_of(root: Path) -> None:
    write(root, "entities/one.yaml", "name: Ledger\naliases: [books]\n")
    write(root, "entities/two.yaml", "name: Journal\naliases: [Books, pages]\n")
    write(root, "projects/shop/entities/own.yaml", "name: shelf\naliases: [books]\n")
    [finding] = lint(root).findings
    assert (finding.path, finding.level) == ("entities/one.yaml", "warning")
    assert "'books' is a name of 'journal' too, in entities/two.yaml" in finding.message
