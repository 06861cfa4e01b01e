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
from keeplore.web.actions.action_result import ActionResult
from keeplore.web.guard import FORM
from keeplore.web.live_changes import ChangeFeed
from keeplore.web.notices import Notice
from keeplore.web.page_context import PageContext
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

Page = Callable[[PageContext, Request], Response]
ASSETS = ("style.css", "app.js", "htmx.min.js", "icon.svg")


def application(context: PageContext, changes: ChangeFeed) -> Starlette:
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
    routes = [Route(path, partial(page, context)) for path, page in pages.items()]
    routes += [
        Route("/m/{id}/edit", partial(save, context), methods=["POST"]),
        Route("/act/{name}", partial(run_action, context), methods=["POST"]),
        Route("/static/{name}", asset),
        Route("/w/{name}", partial(elsewhere, context)),
        Route("/w/{name}/{rest:path}", partial(elsewhere, context)),
        Route("/events", partial(events, changes)),
        Route("/alive", partial(alive, changes)),
    ]
    handlers = {
        KeeploreError: partial(_refused_response, context),
        OSError: partial(_failed, context),
        HTTPException: partial(_missing_response, context),
    }
    return Starlette(routes=routes, exception_handlers=handlers)


def home(context: PageContext, request: Request) -> Response:
    return _page(context, request, "home.html", "home", home_values(context))


def elsewhere(context: PageContext, request: Request) -> Response:
    """A workspace that cannot be opened, and why: others have pages of their own."""
    context.registry.named(request.path_params["name"])
    raise HTTPException(404)


def waiting(context: PageContext, _request: Request) -> Response:
    # heavy: refining and its rules, for which the first page does not wait
    from keeplore.web.pages.review_page import waiting as counted

    return HTMLResponse(context.piece("waiting.html", waiting=counted(context)))


def health(context: PageContext, request: Request) -> Response:
    findings = context.health.findings(is_anew="anew" in request.query_params)
    return HTMLResponse(context.piece("health.html", findings=findings))


def timeline(context: PageContext, request: Request) -> Response:
    query = TimelineQuery.of(request.query_params)
    after = request.query_params.get("after", "")
    values = timeline_values(context, query, after)
    if after and "hx-request" in request.headers:
        return HTMLResponse(context.piece("timeline_rows.html", **values))
    values |= picture_values(context, query)
    return _page(context, request, "timeline.html", "timeline", values)


def search(context: PageContext, request: Request) -> Response:
    values = search_values(context, request.query_params.get("q", ""))
    return _page(context, request, "search.html", "search", values)


def why(context: PageContext, request: Request) -> Response:
    parameters = request.query_params
    values = why_values(context, parameters.get("q", ""), parameters.get("id", ""))
    return HTMLResponse(context.piece("why.html", **values))


def _found_memory(context: PageContext, request: Request) -> FoundMemory:
    """The memory that the address names. Raises NotFound."""
    return context.registry.find(request.path_params["id"], context.cwd)


def memory(context: PageContext, request: Request) -> Response:
    found = _found_memory(context, request)
    note_looked_at(found)
    values = memory_values(context, found)
    return _page(context, request, "memory.html", "timeline", values)


def raw(context: PageContext, request: Request) -> Response:
    return PlainTextResponse(raw_text(_found_memory(context, request)))


def edit(context: PageContext, request: Request) -> Response:
    found = _found_memory(context, request)
    joins = request.query_params.get("joins", "")
    values = edit_values(context, newest_version(context.registry, found), joins=joins)
    return _page(context, request, "edit.html", "timeline", values)


def save(context: PageContext, request: Request) -> Response:
    """The next page; the form again, with what was typed, where it cannot be saved."""
    from keeplore.web.actions import memory_actions  # heavy, as above

    form = request.scope[FORM]
    found = _found_memory(context, request)
    try:
        return _next_page(context, memory_actions.save_edit(context, found, form))
    except (KeeploreError, OSError) as e:
        values = edit_values(context, found, EditedText.of_form(form), trouble=str(e))
        values["joins"] = form.get("joins", "")
        return _page(context, request, "edit.html", "timeline", values, 409)


def threads(context: PageContext, request: Request) -> Response:
    return _page(context, request, "threads.html", "threads", threads_values(context))


def thread(context: PageContext, request: Request) -> Response:
    values = thread_values(context, request.path_params["id"])
    return _page(context, request, "thread.html", "threads", values)


def graph(context: PageContext, request: Request) -> Response:
    parameters = request.query_params
    values = graph_values(
        context, parameters.get("name", ""), parameters.get("project", "")
    )
    return _page(context, request, "graph.html", "graph", values)


def picture(context: PageContext, request: Request) -> Response:
    parameters = request.query_params
    page = picture_page(
        context, parameters.get("name", ""), parameters.get("project", "")
    )
    return HTMLResponse(page)


def places(context: PageContext, request: Request) -> Response:
    return _page(context, request, "places.html", "projects", place_values(context))


def cost(context: PageContext, request: Request) -> Response:
    return _page(context, request, "cost.html", "cost", cost_values(context))


def statistics(context: PageContext, request: Request) -> Response:
    values = statistics_values(context, request.query_params.get("since", ""))
    return _page(context, request, "statistics.html", "statistics", values)


def review(context: PageContext, request: Request) -> Response:
    from keeplore.web.pages.review_page import review_values  # heavy, as above

    return _page(context, request, "review.html", "review", review_values(context))


def forgotten(context: PageContext, request: Request) -> Response:
    return _page(
        context, request, "forgotten.html", "forgotten", forgotten_values(context)
    )


def run_action(context: PageContext, request: Request) -> Response:
    """Do what a form asks for, and go on to the page that shows it."""
    from keeplore.web.actions.action_names import ACTIONS  # heavy, as above

    chosen = ACTIONS.get(request.path_params["name"])
    if chosen is None:
        raise HTTPException(404)
    form = {**request.query_params, **request.scope[FORM]}
    try:
        done = chosen(context, form)
    except (KeyError, ValueError) as e:
        raise HTTPException(400) from e
    return _next_page(context, done)


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
    context: PageContext,
    request: Request,
    template: str,
    here: str,
    values: dict[str, object],
    status: int = 200,
) -> Response:
    notice = context.notices.get(request.query_params.get("said", ""))
    return HTMLResponse(context.page(template, here, notice=notice, **values), status)


def _next_page(context: PageContext, done: ActionResult) -> Response:
    key = context.notices.add(done.notice)
    return RedirectResponse(f"{done.address}?said={key}", 303)


def _refused_response(
    context: PageContext, request: Request, error: KeeploreError
) -> Response:
    status = 404 if isinstance(error, NotFound) else 409
    return _trouble_response(context, request, status, error.message, error.remedy)


def _failed(context: PageContext, request: Request, error: OSError) -> Response:
    return _trouble_response(
        context,
        request,
        500,
        disk_message(error),
        "Check that path, its rights, and the free space there",
    )


def _missing_response(
    context: PageContext, request: Request, error: HTTPException
) -> Response:
    message = "There is no such page" if error.status_code == 404 else error.detail
    return _trouble_response(context, request, error.status_code, message, "")


def _trouble_response(
    context: PageContext, request: Request, status: int, message: str, remedy: str
) -> Response:
    values = {"message": message, "remedy": remedy}
    if "hx-request" in request.headers:
        return HTMLResponse(context.piece("trouble_piece.html", **values), status)
    notice: Notice | None = None
    page = context.page("trouble.html", "", notice=notice, **values)
    return HTMLResponse(page, status)
