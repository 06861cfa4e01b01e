"""The graph of what memory is about, with the memories behind each of its nodes."""

from __future__ import annotations

from typing import Any

from keeplore.errors import NotFound
from keeplore.index import ScopeFilter
from keeplore.text.fences import one_plain_line
from keeplore.viewer.collect import GraphView, neighbourhood, overview
from keeplore.viewer.page import as_served_page
from keeplore.viewer.picture import GraphPicture
from keeplore.web.page_context import PageContext

NODES = 300
HOPS = 2


def graph_values(context: PageContext, name: str, project: str) -> dict[str, Any]:
    """What is asked for, and what can be."""
    graph = context.workspace.index.graph
    return {
        "name": name,
        "project": project,
        "projects": [*context.workspace.index.timeline.facets()["project"]],
        "known": [entity.spelling for entity in graph.entities(limit=NODES)],
    }


def picture_page(context: PageContext, name: str, project: str) -> str:
    """The picture around a name, or of what is mentioned most. Raises NotFound."""
    picture = _picture(context, name, project)
    links = context.links
    style, script = links.asset("graph.css"), links.asset("graph.js")
    return as_served_page(picture, style, script, (links.page("m/"), ""))


def _picture(context: PageContext, name: str, project: str) -> GraphPicture:
    workspace = context.workspace
    allowed = ScopeFilter((("project", project),) if project else ())
    view = GraphView(workspace.index, workspace.name, allowed, project)
    if not name:
        return overview(view, NODES)
    graph = workspace.index.graph
    middle = graph.entity(name, project) or next(iter(graph.named(name)), None)
    if middle is None:
        close = ", ".join(graph.similar_names(name, 5))
        known = (
            f"Near it: {close}" if close else "Leave the name empty to see everything"
        )
        raise NotFound(f"nothing is known by the name {one_plain_line(name)!r}", known)
    return neighbourhood(view, middle, HOPS, NODES)
