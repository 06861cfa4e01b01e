"""What stands before every page: the address it was asked under, the session, and what a browser
may do with the answer.

Another page in the same browser may send requests here: under a name of its own that leads to this
machine (DNS rebinding), or across origins. Neither gets further than this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keeplore.web.access import Access

ENTRY = "/enter"
FORM = "keeplore.form"  # in the scope of a request that was sent as a form
CSRF_HEADER, CSRF_FIELD = "x-csrf-token", "csrf"
MAX_FORM = 4 * 1024 * 1024  # bytes
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "SAMEORIGIN",
    "x-content-type-options": "nosniff",
    # nothing is told to other sites; `no-referrer` would also hide from us where a form is from
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_CLOSED = (
    "This address opens nothing any more: it can be used once, by one browser.\n"
    "Run `keeplore open` again, and use the address that it prints.\n"
)


class Refused(Exception):
    """A request that gets no further; the text says why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Guard:
    """An ASGI application around the pages; ``port`` is the one that is listened on."""

    def __init__(
        self, pages: ASGIApp, access: Access, port: int, *, is_read_only: bool
    ) -> None:
        self._pages = pages
        self._access = access
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"keeplore-{port}"  # cookies know no ports
        self._is_read_only = is_read_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._pages(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        answer: ASGIApp
        try:
            answer = await self._checked_app(scope, receive)
        except Refused as e:
            answer = PlainTextResponse(e.reason, e.status)
        await answer(scope, receive, _with_headers(send))

    async def _checked_app(self, scope: Scope, receive: Receive) -> ASGIApp:
        """What answers the request. Raises Refused."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._hosts:
            raise Refused(421, "This address is not served here.\n")
        if scope["path"] == ENTRY and scope["method"] == "GET":
            return self._open_session(scope)
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Refused(403, "Another page may not ask here.\n")
        if not self._access.is_session(_cookie(headers, self._cookie)):
            raise Refused(403, _CLOSED)
        if scope["method"] == "POST":
            await self._check_form(scope, receive, headers, host)
        elif scope["method"] not in ("GET", "HEAD"):
            raise Refused(405, "Pages are only read and forms sent.\n")
        return self._pages

    def _open_session(self, scope: Scope) -> Response:
        """The session for a ticket, and the way to the first page."""
        ticket = QueryParams(scope["query_string"]).get("ticket", "")
        session = self._access.admit(ticket)
        if session is None:
            # the person opened the address a second time, in the browser that has the session
            if self._access.is_session(_cookie(Headers(scope=scope), self._cookie)):
                return RedirectResponse("/", 303)
            raise Refused(403, _CLOSED)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, session, httponly=True, samesite="strict")
        return answer

    async def _check_form(
        self, scope: Scope, receive: Receive, headers: Headers, host: str
    ) -> None:
        """Keep what was sent in the scope. Raises Refused."""
        if headers.get("origin") != f"http://{host}":
            raise Refused(403, "A form of another page is not taken.\n")
        if self._is_read_only:
            raise Refused(403, "Nothing can be changed: `keeplore open --read-only`.\n")
        form = _form(await _body(receive))
        token = headers.get(CSRF_HEADER) or form.get(CSRF_FIELD, "")
        if not self._access.is_csrf(token):
            raise Refused(
                403, "The form is not from this window; load the page anew.\n"
            )
        scope[FORM] = form


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


async def _body(receive: Receive) -> bytes:
    """The whole body. Raises Refused where it is too large."""
    body, is_more = b"", True
    while is_more:
        message = await receive()
        body += message.get("body", b"")
        is_more = message.get("more_body", False)
        if len(body) > MAX_FORM:
            raise Refused(413, f"A form of more than {MAX_FORM} bytes is not taken.\n")
    return body


def _form(body: bytes) -> Mapping[str, str]:
    """The last value of each field."""
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True)
    except ValueError as e:
        raise Refused(400, "The form cannot be read.\n") from e
    return {name: values[-1] for name, values in fields.items()}
