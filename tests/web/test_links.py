"""Where pages link to: addresses of the server, and names of files where they are exported."""

from __future__ import annotations

import pytest

from keeplore.web.links import FileLinks, PageLinks, ServedLinks

ID = "mem_12345678-1234-1234-1234-123456789012"
TURN = "5e551011-0000-4000-8000-000000000001"


@pytest.mark.parametrize("top", ["", "/w/team"])
def test_a_server_has_an_address_for_each_page(top: str) -> None:
    links: PageLinks = ServedLinks(top)
    assert (links.is_static, links.top) == (False, top)
    assert links.page("") == f"{top}/"
    asked = links.page("timeline", project="My Shop", after="", q="x y")
    assert asked == f"{top}/timeline?project=My+Shop&q=x+y"
    assert links.memory(ID) == f"{top}/m/12345678"
    assert links.memory(ID, TURN) == f"{top}/m/12345678#turn-5e551011"
    assert links.memory(ID, "a b") == f"{top}/m/12345678#turn-a%20b"
    assert links.thread(ID) == f"{top}/threads/12345678"
    assert links.asset("page.js") == "/static/page.js"


@pytest.mark.parametrize(("depth", "top"), [(0, ""), (1, "../"), (2, "../../")])
def test_an_export_has_a_file_for_each_page(depth: int, top: str) -> None:
    links: PageLinks = FileLinks(depth)
    assert (links.is_static, links.top) == (True, top)
    assert links.page("") == f"{top}index.html"
    assert links.page("a/b") == f"{top}a-b.html"
    chosen = links.page("timeline", project="My Shop", after="2026-02-01", q="x")
    assert chosen == f"{top}timeline-my-shop-2026-02-01.html"
    assert links.memory(ID) == f"{top}m/12345678.html"
    assert links.memory(ID, TURN) == f"{top}m/12345678.html#turn-5e551011"
    assert links.thread(ID) == f"{top}threads/12345678.html"
    assert links.asset("page.js") == f"{top}static/page.js"
