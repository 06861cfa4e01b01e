"""Which version of a host is installed, without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.connect.host_versions import _version_of


@pytest.mark.parametrize(
    ("program", "package", "text", "version"),
    [
        ("lib/bin/codex.js", "lib/package.json", '{"version": "1.2.3"}', "1.2.3"),
        ("lib/codex.js", "lib/package.json", '{"version": "1.2.3-beta.1"}', "1.2.3"),
        ("v/2.1.40/claude", "v/package.json", '{"version": 7}', "2.1.40"),
        ("v/1.0.0/2.1.40/claude", "v/package.json", "[]", "2.1.40"),
        ("v/2.1.40/claude", "v/package.json", "{", "2.1.40"),
        ("bin/claude", "elsewhere/package.json", '{"version": "1.2.3"}', ""),
    ],
)  # fmt: skip
def test_the_version_stands_in_the_package_or_in_the_path(
    home: Path, program: str, package: str, text: str, version: str
) -> None:
    file, facts = home / program, home / package
    for made in (file, facts):
        made.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    facts.write_text(text)
    link = home / "link"
    link.symlink_to(file)
    assert (_version_of(file), _version_of(link)) == (version, version)
    link.unlink()
    link.symlink_to(link)
    assert _version_of(link) == ""
