"""Which files an export writes, what each is, and how pages of a timeline follow one another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from written_down import written_lines

from keeplore.config.places import Places
from keeplore.errors import ConfigError
from keeplore.web.doctor_findings import Health
from keeplore.web.page_context import PageContext
from keeplore.web.pages import timeline_page
from keeplore.web.static_export import export
from keeplore.workspace.registry import Registry

ID = re.compile(r"(?<=/)[0-9a-f]{8}(?=\.html)")
TITLE = re.compile(r"<title>(.*?)</title>")
CURRENT = re.compile(r'aria-current="page"[^>]*>([^<]*)')
NEXT = re.compile(r'href="(timeline[^"]*-\d+\.html)"')


@pytest.fixture
def context(sample: Path, home: Path) -> Iterator[PageContext]:
    with Registry(Places(home / "state", home / "cache")) as registry:
        yield PageContext(registry, sample, Health(list), csrf="t0ken")


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_every_page_is_written_once_and_offers_no_act(
    context: PageContext, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline_page, "AT_ONCE", 6)
    folder = home / "new" / "pages"
    count = export(context, folder)
    pages = [path for path in files_of(folder) if path.suffix == ".html"]
    assert (count, folder.stat().st_mode & 0o777) == (len(pages), 0o700)
    assert list(folder.parent.iterdir()) == [folder]
    picture = (folder / "graph-picture.html").read_text()
    assert '"memory_address":["m/",".html"]' in picture
    assert "t0ken" not in "".join(page.read_text() for page in pages)
    seen = []
    for path in files_of(folder):
        line = ID.sub("ID", path.relative_to(folder).as_posix())
        if path in pages:
            text = path.read_text(encoding="utf-8")
            parts = (TITLE, CURRENT, NEXT)
            line = " | ".join((line, *(" ".join(part.findall(text)) for part in parts)))
        seen.append(line)
    assert sorted(seen) == written_lines("exported.txt", sorted(seen))


def test_what_is_somebody_elses_stays(context: PageContext, home: Path) -> None:
    file, folder = home / "letter.txt", home / "letters"
    file.write_text("dear Ann")
    folder.mkdir()
    (folder / "a.txt").write_text("dear Ann")
    for place in (file, folder):
        with pytest.raises(ConfigError) as error:
            export(context, place)
        assert (error.value.message, error.value.remedy) == (
            f"{place} is there already, and was not written by `keeplore open`",
            "Name another folder, or take that one away",
        )
    assert files_of(folder) == [folder / "a.txt"] and file.read_text() == "dear Ann"


def test_of_an_earlier_export_no_page_is_left_and_what_others_put_there_stays(
    context: PageContext, home: Path
) -> None:
    folder = home / "pages"
    folder.mkdir()  # an empty one is nobody's
    export(context, folder)
    page = (folder / "cost.html").read_text()
    (folder / "m" / "stale.html").write_text(page)
    (folder / "threads-old.html").write_text(page)
    theirs = ("CNAME", ".git/HEAD", "m/own.html", "about/us.html")
    for name in theirs:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    (home / ".pages.new").mkdir()  # of an export that was cut short
    (home / ".pages.new" / "half.html").write_text("half")
    export(context, folder)
    names = {path.name for path in files_of(folder)}
    assert "cost.html" in names
    assert names.isdisjoint({"stale.html", "threads-old.html", "half.html"})
    assert {(folder / name).read_text() for name in theirs} == {"mine"}
    assert not (home / ".pages.new").exists()
