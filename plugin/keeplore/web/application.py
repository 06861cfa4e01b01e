"""The pages as an application: which address shows what, which one does what, and how errors are
told.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from functools import partial
from importlib import resources

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from keeplore.errors import KeeploreError, NotFound, disk_message
from keeplore.viewer.page import page_script, page_style
from keeplore.web.acts.done import Done
from keeplore.web.guard import FORM
from keeplore.web.live_changes import ChangeFeed
from keeplore.web.notices import Notice
from keeplore.web.page_desk import Desk
from keeplore.web.pages.cost_page import cost_values
from keeplore.web.pages.edit_page import EditedText, edit_values
from keeplore.web.pages.forgotten_page import forgotten_values
from keeplore.web.pages.graph_page import graph_values, picture_page
from keeplore.web.pages.home_page import home_values
from keeplore.web.pages.memory_page import memory_values, raw_text
from keeplore.web.pages.place_page import place_values
from keeplore.web.pages.search_page import search_values, why_values
from keeplore.web.pages.statistics_page import statistics_values
from keeplore.web.pages.thread_pages import thread_values, threads_values
from keeplore.web.pages.timeline_page import (
    TimelineQuery,
    picture_values,
    timeline_values,
)
from keeplore.worker.usage.view_log import note_looked_at
from keeplore.workspace.registry import FoundMemory
from keeplore.workspace.writing.editing import newest_version

Page = Callable[[Desk, Request], Response]
ASSETS = ("style.css", "app.js", "htmx.min.js", "icon.svg")


def application(desk: Desk, changes: ChangeFeed) -> Starlette:
    """The pages without the guard that stands around them."""
    pages: dict[str, Page] = {
        "/": home,
        "/waiting": waiting,
        "/health": health,
        "/timeline": timeline,
        "/search": search,
        "/why": why,
        "/m/{id}": memory,
        "/m/{id}/raw": raw,
        "/m/{id}/edit": edit,
        "/threads": threads,
        "/threads/{id}": thread,
        "/graph": graph,
        "/graph/picture": picture,
        "/projects": places,
        "/cost": cost,
        "/statistics": statistics,
        "/review": review,
        "/forgotten": forgotten,
    }
    routes = [Route(path, partial(page, desk)) for path, page in pages.items()]
    routes += [
        Route("/m/{id}/edit", partial(save, desk), methods=["POST"]),
        Route("/act/{name}", partial(act, desk), methods=["POST"]),
        Route("/static/{name}", asset),
        Route("/w/{name}", partial(elsewhere, desk)),
        Route("/w/{name}/{rest:path}", partial(elsewhere, desk)),
        Route("/events", partial(events, changes)),
        Route("/alive", partial(alive, changes)),
    ]
    handlers = {
        KeeploreError: partial(_refused_response, desk),
        OSError: partial(_failed, desk),
        HTTPException: partial(_missing_response, desk),
    }
    return Starlette(routes=routes, exception_handlers=handlers)


def home(desk: Desk, request: Request) -> Response:
    return _page(desk, request, "home.html", "home", home_values(desk))


def elsewhere(desk: Desk, request: Request) -> Response:
    """A workspace that cannot be opened, and why: others have pages of their own."""
    desk.registry.named(request.path_params["name"])
    raise HTTPException(404)


def waiting(desk: Desk, _request: Request) -> Response:
    # heavy: refining and its rules, for which the first page does not wait
    from keeplore.web.pages.review_page import waiting as counted

    return HTMLResponse(desk.piece("waiting.html", waiting=counted(desk)))


def health(desk: Desk, request: Request) -> Response:
    findings = desk.health.findings(is_anew="anew" in request.query_params)
    return HTMLResponse(desk.piece("health.html", findings=findings))


def timeline(desk: Desk, request: Request) -> Response:
    query = TimelineQuery.of(request.query_params)
    after = request.query_params.get("after", "")
    values = timeline_values(desk, query, after)
    if after and "hx-request" in request.headers:
        return HTMLResponse(desk.piece("timeline_rows.html", **values))
    values |= picture_values(desk, query)
    return _page(desk, request, "timeline.html", "timeline", values)


def search(desk: Desk, request: Request) -> Response:
    values = search_values(desk, request.query_params.get("q", ""))
    return _page(desk, request, "search.html", "search", values)


def why(desk: Desk, request: Request) -> Response:
    parameters = request.query_params
    values = why_values(desk, parameters.get("q", ""), parameters.get("id", ""))
    return HTMLResponse(desk.piece("why.html", **values))


def _found_memory(desk: Desk, request: Request) -> FoundMemory:
    """The memory that the address names. Raises NotFound."""
    return desk.registry.find(request.path_params["id"], desk.cwd)


def memory(desk: Desk, request: Request) -> Response:
    found = _found_memory(desk, request)
    note_looked_at(found)
    values = memory_values(desk, found)
    return _page(desk, request, "memory.html", "timeline", values)


def raw(desk: Desk, request: Request) -> Response:
    return PlainTextResponse(raw_text(_found_memory(desk, request)))


def edit(desk: Desk, request: Request) -> Response:
    found = _found_memory(desk, request)
    joins = request.query_params.get("joins", "")
    values = edit_values(desk, newest_version(desk.registry, found), joins=joins)
    return _page(desk, request, "edit.html", "timeline", values)


def save(desk: Desk, request: Request) -> Response:
    """The next page; the form again, with what was typed, where it cannot be saved."""
    from keeplore.web.acts import memory_acts  # heavy, as above

    form = request.scope[FORM]
    found = _found_memory(desk, request)
    try:
        return _next_page(desk, memory_acts.save_edit(desk, found, form))
    except (KeeploreError, OSError) as e:
        typed = EditedText.of_form(form)
        values = edit_values(desk, found, typed, trouble=str(e))
        values["joins"] = form.get("joins", "")
        return _page(desk, request, "edit.html", "timeline", values, 409)


def threads(desk: Desk, request: Request) -> Response:
    return _page(desk, request, "threads.html", "threads", threads_values(desk))


def thread(desk: Desk, request: Request) -> Response:
    values = thread_values(desk, request.path_params["id"])
    return _page(desk, request, "thread.html", "threads", values)


def graph(desk: Desk, request: Request) -> Response:
    parameters = request.query_params
    values = graph_values(
        desk, parameters.get("name", ""), parameters.get("project", "")
    )
    return _page(desk, request, "graph.html", "graph", values)


def picture(desk: Desk, request: Request) -> Response:
    parameters = request.query_params
    page = picture_page(desk, parameters.get("name", ""), parameters.get("project", ""))
    return HTMLResponse(page)


def places(desk: Desk, request: Request) -> Response:
    return _page(desk, request, "places.html", "projects", place_values(desk))


def cost(desk: Desk, request: Request) -> Response:
    return _page(desk, request, "cost.html", "cost", cost_values(desk))


def statistics(desk: Desk, request: Request) -> Response:
    values = statistics_values(desk, request.query_params.get("since", ""))
    return _page(desk, request, "statistics.html", "statistics", values)


def review(desk: Desk, request: Request) -> Response:
    from keeplore.web.pages.review_page import review_values  # heavy, as above

    return _page(desk, request, "review.html", "review", review_values(desk))


def forgotten(desk: Desk, request: Request) -> Response:
    return _page(desk, request, "forgotten.html", "forgotten", forgotten_values(desk))


def act(desk: Desk, request: Request) -> Response:
    """Do what a form asks for, and go on to the page that shows it."""
    from keeplore.web.acts.act_names import ACTS  # heavy, as above

    chosen = ACTS.get(request.path_params["name"])
    if chosen is None:
        raise HTTPException(404)
    form = {**request.query_params, **request.scope[FORM]}
    try:
        done = chosen(desk, form)
    except (KeyError, ValueError) as e:
        raise HTTPException(400) from e
    return _next_page(desk, done)


def asset(request: Request) -> Response:
    name = request.path_params["name"]
    kind = mimetypes.guess_type(name)[0] or "text/plain"
    return Response(asset_data(name), media_type=kind)


def asset_data(name: str) -> bytes:
    """The bytes of a style sheet, script or picture. Raises HTTPException for a name
    that none has.
    """
    made = {"graph.css": page_style, "graph.js": page_script}
    if name in made:
        return made[name]().encode()
    if name not in ASSETS:
        raise HTTPException(404)
    return (resources.files(__package__ or "") / "static" / name).read_bytes()


async def events(changes: ChangeFeed, _request: Request) -> Response:
    return StreamingResponse(changes.stream(), media_type="text/event-stream")


async def alive(changes: ChangeFeed, _request: Request) -> Response:
    changes.note_visit()
    return Response(status_code=204)


def _page(
    desk: Desk,
    request: Request,
    template: str,
    here: str,
    values: dict[str, object],
    status: int = 200,
) -> Response:
    notice = desk.notices.get(request.query_params.get("said", ""))
    return HTMLResponse(desk.page(template, here, notice=notice, **values), status)


def _next_page(desk: Desk, done: Done) -> Response:
    key = desk.notices.add(done.notice)
    return RedirectResponse(f"{done.address}?said={key}", 303)


def _refused_response(desk: Desk, request: Request, error: KeeploreError) -> Response:
    status = 404 if isinstance(error, NotFound) else 409
    return _trouble_response(desk, request, status, error.message, error.remedy)


def _failed(desk: Desk, request: Request, error: OSError) -> Response:
    remedy = "Check that path, its rights, and the free space there"
    return _trouble_response(desk, request, 500, disk_message(error), remedy)


def _missing_response(desk: Desk, request: Request, error: HTTPException) -> Response:
    message = "There is no such page" if error.status_code == 404 else error.detail
    return _trouble_response(desk, request, error.status_code, message, "")


def _trouble_response(
    desk: Desk, request: Request, status: int, message: str, remedy: str
) -> Response:
    values = {"message": message, "remedy": remedy}
    if "hx-request" in request.headers:
        return HTMLResponse(desk.piece("trouble_piece.html", **values), status)
    notice: Notice | None = None
    page = desk.page("trouble.html", "", notice=notice, **values)
    return HTMLResponse(page, status)
