"""The same pages as files: a folder that any browser shows, and any server, without Keeplore."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from keeplore.errors import ConfigError, KeeploreError
from keeplore.index import MemoryFilter
from keeplore.viewer.collect import GraphView, overview
from keeplore.viewer.page import as_page
from keeplore.web.application import ASSETS, asset_data
from keeplore.web.links import FileLinks
from keeplore.web.page_context import PageContext
from keeplore.web.pages.cost_page import cost_values
from keeplore.web.pages.graph_page import NODES
from keeplore.web.pages.home_page import home_values
from keeplore.web.pages.memory_page import memory_values
from keeplore.web.pages.place_page import place_values
from keeplore.web.pages.statistics_page import statistics_values
from keeplore.web.pages.thread_pages import thread_values, threads_values
from keeplore.web.pages.timeline_page import (
    TimelineQuery,
    picture_values,
    timeline_values,
)

MARK = 'content="keeplore open"'  # in every page that was made here
NEEDLESS = ("app.js", "htmx.min.js")
Page = tuple[str, str]  # path below the folder, and its text


def export(context: PageContext, folder: Path) -> int:
    """Write all pages into a folder, in the place of those of an earlier export; how many. Other
    files in it stay.

    Raises ConfigError where something else is there.
    """
    folder = folder.expanduser().absolute()
    _check_replaceable(folder)
    context.workspace.index.refresh_for_reading()
    aside = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(mode=0o700, parents=True)
    try:
        count = 0
        for path, text in _pages(replace(context, csrf="", changes=None)):
            count += 1
            _write(aside / path, text.encode("utf-8", "replace"))
        for name in (*ASSETS, "graph.css"):
            if name not in NEEDLESS:
                _write(aside / "static" / name, asset_data(name))
        _put(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return count


def _check_replaceable(folder: Path) -> None:
    """Raise ConfigError where the folder holds anything but an earlier export."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not _is_ours(folder / "index.html"):
        raise ConfigError(
            f"{folder} is there already, and was not written by `keeplore open`",
            "Name another folder, or take that one away",
        )


def _put(aside: Path, folder: Path) -> None:
    """Put what was made aside into the folder, and take away the pages that it lacks. Files of
    others stay: a folder that is published may be a repository.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    made = sorted(
        path.relative_to(aside) for path in aside.rglob("*") if path.is_file()
    )
    for path in made:
        (folder / path).parent.mkdir(exist_ok=True)
        (aside / path).replace(folder / path)
    for page in (*folder.glob("*.html"), *folder.glob("*/*.html")):
        if page.relative_to(folder) not in made and _is_ours(page):
            page.unlink()


def _is_ours(page: Path) -> bool:
    return page.is_file() and MARK in page.read_text("utf-8", "replace")


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def _pages(context: PageContext) -> Iterator[Page]:
    top = replace(context, links=FileLinks(0))
    below = replace(context, links=FileLinks(1))
    yield "index.html", top.page("home.html", "home", **home_values(top))
    yield from _timelines(top)
    found = threads_values(top)
    yield "threads.html", top.page("threads.html", "threads", **found)
    yield "projects.html", top.page("places.html", "projects", **place_values(top))
    yield "cost.html", top.page("cost.html", "cost", **cost_values(top))
    figures = statistics_values(top, "")
    yield "statistics.html", top.page("statistics.html", "statistics", **figures)
    yield from _graph(top)
    for one in found["threads"]:
        page = below.page("thread.html", "threads", **thread_values(below, one.id))
        yield below.links.thread(one.id).removeprefix("../"), page
    yield from _memories(below)


def _timelines(context: PageContext) -> Iterator[Page]:
    """The timelines of everything and of each project."""
    for project in ("", *context.workspace.index.timeline.facets()["project"]):
        query = TimelineQuery(project=project)
        picture, after, number = picture_values(context, query), "", 1
        while number == 1 or after:
            values = timeline_values(context, query, after)
            after = values["next"]
            here = str(number) if number > 1 else ""
            number += 1
            values |= {"next": str(number) if after else "", **picture}
            path = context.links.page("timeline", project=project, after=here)
            yield path, context.page("timeline.html", "timeline", **values)


def _graph(context: PageContext) -> Iterator[Page]:
    values = {"name": "", "project": "", "projects": [], "known": ["everything"]}
    yield "graph.html", context.page("graph.html", "graph", **values)
    view = GraphView(
        context.workspace.index, context.workspace.name, MemoryFilter().allowed
    )
    picture = as_page(overview(view, NODES), ("m/", ".html"))
    yield context.links.page("graph/picture"), picture


def _memories(context: PageContext) -> Iterator[Page]:
    """Archived ones and earlier versions too, since others lead there."""
    wanted = MemoryFilter(archived="with", superseded=True)
    for row in context.workspace.index.listed(wanted):
        try:
            found = context.registry.find(row.id, context.cwd)
        except KeeploreError:  # its file cannot be read, which the health of home tells
            continue
        page = context.page("memory.html", "timeline", **memory_values(context, found))
        yield context.links.memory(row.id).removeprefix("../"), page
