"""``keeplore open`` as a person runs it, and its pages as files."""

from __future__ import annotations

import html.parser
import importlib.util
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from ready import keeplore

from keeplore.cli.commands.ask import open_
from keeplore.config.places import Places
from keeplore.errors import ConfigError
from keeplore.memory.note import NoteDraft
from keeplore.workspace.registry import Registry


def test_its_health_is_what_doctor_says_and_looking_commits_nothing(
    sample: Path, home: Path
) -> None:
    places = Places(home / "state", home / "cache")
    with Registry(places) as registry:
        registry.for_directory(sample).notes.write(NoteDraft("Not committed yet."))
        registry.for_directory(sample).index.refresh()
        before = registry.for_directory(sample).store.head()
        found = open_.health_of(registry).findings()
        assert registry.for_directory(sample).store.head() == before
    told = [f"{one.level} {one.part}: {one.message} {one.remedy}" for one in found]
    waiting = "on disk and not committed yet: 1 file"
    assert sum(waiting in one for one in told) == 1
    said = json.loads(keeplore("doctor", "--json", cwd=sample).stdout)
    others = [
        "{level} {part}: {message} {remedy}".format(**one)
        for one in said
        if "HEAD holds" not in one["message"]
    ]
    assert sorted(others) == sorted(one for one in told if waiting not in one)


class Links(html.parser.HTMLParser):
    """Where a page leads, and which elements it has."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.targets.update(
            value for name, value in attrs if name in ("href", "src") and value
        )


def test_the_export_is_whole_and_every_link_leads_somewhere(
    sample: Path, home: Path
) -> None:
    done = keeplore("open", "--export", str(home / "pages"), cwd=sample)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("pages: ~/pages/index.html\n")
    broken, tags = [], set()
    for page in (home / "pages").rglob("*.html"):
        if page.name == "graph-picture.html":  # a page of its own, with its program
            continue
        links = Links()
        links.feed(page.read_text(encoding="utf-8"))
        tags |= links.tags
        for target in links.targets:
            path = target.partition("#")[0]
            is_far = target.startswith(("https://", "http://"))
            if path and not is_far and not (page.parent / path).is_file():
                broken.append(f"{page.name}: {target}")
    assert broken == []
    assert tags.isdisjoint({"script", "form", "img"})


def test_without_its_extra_it_names_the_command_that_installs_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    places = Places(home / "state", home / "cache")
    done = CliRunner().invoke(open_.open_command, [], obj=places)
    assert isinstance(done.exception, ConfigError)
    assert done.exception.remedy == (
        "Run `pip install 'keeplore[web]'` where Keeplore is installed"
    )
