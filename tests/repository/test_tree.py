"""What must never be committed, and what every file keeps to."""

from __future__ import annotations

import re
from pathlib import Path

# written so that this file does not match its own patterns
REGISTRIES = re.compile(
    r"pyp[i]\.org|pythonh[o]sted|registry\.npm[j]s|deb\.deb[i]an\.org|index-u[r]l",
    re.IGNORECASE,
)
MACHINE = re.compile(r"(?:^|[^A-Za-z0-9_.~])/(?:wor[k]|far[m]|roo[t])/")
SECRETS = re.compile(
    r"AKI[A][0-9A-Z]{16}|gh[pousr]_[0-9A-Za-z]{36}|sk-[0-9A-Za-z]{20}|xox[abp]-[0-9]{6}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----\\?n?\s*[0-9A-Za-z+/]{20}"
)
CONFLICT = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
LARGEST = 1_000_000  # bytes; the model comes as a dependency


def texts(files: list[Path]) -> list[tuple[Path, str]]:
    return [(path, path.read_text(encoding="utf-8")) for path in files]


def found(pattern: re.Pattern[str], files: list[Path]) -> list[str]:
    return [
        f"{path}: {match[0].strip()!r}"
        for path, text in texts(files)
        for match in pattern.finditer(text)
    ]


def test_every_file_is_text_in_utf_8_with_unix_line_ends(files: list[Path]) -> None:
    assert len(files) > 50
    assert [path for path, text in texts(files) if "\r" in text or "\0" in text] == []


def test_no_file_is_large(files: list[Path]) -> None:
    assert {
        path.name: path.stat().st_size
        for path in files
        if path.stat().st_size > LARGEST
    } == {}


def test_no_file_names_a_package_registry(files: list[Path]) -> None:
    assert found(REGISTRIES, files) == []


def test_no_file_names_a_path_of_somebodys_machine(files: list[Path]) -> None:
    assert found(MACHINE, files) == []


def test_no_file_holds_what_looks_like_a_secret(files: list[Path]) -> None:
    assert found(SECRETS, files) == []


def test_no_conflict_was_committed(files: list[Path]) -> None:
    assert found(CONFLICT, [path for path in files if path.suffix != ".py"]) == []


def test_every_change_is_told_from_the_users_side(root: Path) -> None:
    fragments = sorted((root / "changelog.d").glob("*.md"))
    assert fragments
    for fragment in fragments:
        kind, _, rest = fragment.read_text(encoding="utf-8").partition(": ")
        assert kind in ("Added", "Changed", "Fixed", "Removed", "Security"), (
            fragment.name
        )
        assert fragment.name.startswith(f"{kind.lower()}-")
        headline, _, body = rest.partition("\n\n")
        assert headline.endswith(".") and "\n" not in headline, fragment.name
        assert len(body.split()) >= 20, fragment.name


def test_the_two_commands_exist(root: Path) -> None:
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "soak", "bench", "peers", "setup", "hosts"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    ci = root / ".ci" / "run"
    assert ci.stat().st_mode & 0o111
    assert "make test" in ci.read_text(encoding="utf-8")


def test_tests_mirror_the_packages(root: Path) -> None:
    """A folder of tests is named after what it tests, so that both are found together."""
    packages = {
        path.name
        for path in (root / "plugin" / "keeplore").iterdir()
        if (path / "__init__.py").exists()
    }
    beside = {
        "hooks",
        "repository",
        "demo",
        "e2e",
        "real_hosts",
        "golden",
        "property",
        "crash",
        "benchmarks",
        "docs",
        "support",
    }
    folders = {
        path.name
        for path in (root / "tests").iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert folders <= packages | beside
