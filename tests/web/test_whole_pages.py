"""Whole pages as they are written down, and what each act says and leaves behind.

To write them anew: WRITE_GOLDEN=1 pytest -n0 tests/web -k whole, then read the difference.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from fixed_workspace import FAR, TALK, dispute, fill, key, propose
from new_workspace import lay_down
from open_window import Window, opened
from written_down import written_lines

from keeplore.config.places import Places
from keeplore.memory import new_id

# what is another in each run, and what stands in its place
SIGNS = (
    (re.compile(r'<figure class="activity">.*?</figure>', re.DOTALL), "(a year)"),
    (re.compile(r'<th scope="row">age.*?</tr>', re.DOTALL), "(age)"),
    (re.compile(r"(?<=Today · )\w+, \d+ \w+ \d{4}"), "DAY"),
    (re.compile(r"\d+ (?:year|month|day|hour|minute)s? ago|just now"), "AGO"),
    (
        re.compile(r'(?<=said=)[\w-]+|(?<=Token": ")[^"]+|(?<=csrf" value=")[^"]+'),
        "KEY",
    ),
    (re.compile(r"\b\d+ ms\b|(?<=likelihood of )\d+ %"), "N"),
)
NOTICE = re.compile(r'<div class="notice.*?</div>', re.DOTALL)
CLOCK = re.compile(r"\b\d\d:\d\d(?!\d)")
TAG = re.compile(r"<[^>]*>")
ID = re.compile(r"(?:mem_)?([0-9a-f]{8})(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{12})?")


@pytest.fixture
def window(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    places = Places(home / "state", home / "cache")
    # a name that begins with a digit would stand behind a time without a gap
    monkeypatch.setattr(socket, "gethostname", lambda: "studio")
    lay_down(places, home / "memory")
    with opened(home / "memory") as window:
        fill(window.workspace)
        window.enter()
        yield window


def plain(window: Window, text: str) -> Iterator[str]:
    """The lines of a page, without what is another in each run."""
    for pattern, sign in SIGNS:
        text = pattern.sub(sign, text)
    text = text.replace(str(window.root), "ROOT")
    text = text.replace(window.workspace.machine, "MACHINE")
    return (line.strip() for line in text.splitlines() if line.strip())


def bare(text: str) -> str:
    """A page's words, each on the line where it stands, without the picture of a year."""
    figure, sign = SIGNS[0]
    return TAG.sub("", figure.sub(sign, main_part(text)))


def main_part(text: str) -> str:
    """What tells one page from another; of a picture its data."""
    if data := re.search(
        r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text
    ):
        return json.dumps(json.loads(data[1]), indent=1)
    return text[text.find("<main") : text.find("</main>")] if "<main" in text else text


FILTERS = (
    {"project": "billing"},
    {"project": "nowhere"},
    {"kind": "note", "permanent": "yes"},
    {"category": "project-conventions"},
    {"host": "cursor"},
    {"machine": FAR},
    {"trust": "user"},
    {"trust": "foreign"},
    {"open": "yes"},
    {"day": "2026-04-01"},
    {"day": "yesterday"},
)
SHOWN = ("old", "new", "ledger", "tabs", "shop", "shop-other")
PAGES = (
    "/",
    "/timeline",
    *(f"/timeline?{urlencode(chosen)}" for chosen in FILTERS),
    "/search",
    "/search?q=failed+jobs",
    "/search?q=zebra+crossing+permit",
    f"/why?q=failed+jobs&id={TALK}",
    *(f"/m/{id_}" for id_ in (TALK, new_id("hostile"), new_id("foreign"))),
    *(f"/m/{key(name)}" for name in SHOWN),
    f"/m/{key('new')}/raw",
    f"/m/{key('new')}/edit",
    f"/m/{key('shop')}/edit?joins={key('shop-other')}",
    "/m/ffffffff",
    "/threads",
    f"/threads/{TALK}",
    "/threads/ffffffff",
    "/graph",
    "/graph?name=SQS&project=website",
    "/graph/picture",
    "/graph/picture?name=postgres",
    "/graph/picture?name=orders_eta&project=shop",
    "/graph/picture?name=orders_eta&project=website",
    "/graph/picture?project=website",
    "/graph/picture?name=orders_thet",
    "/graph/picture?name=nothing+like+it",
    "/projects",
    "/review",
    "/waiting",
    "/health",
    "/forgotten",
    "/nowhere",
    "/static/nothing.js",
)


def test_whole_pages(window: Window) -> None:
    seen = []
    for path in PAGES:
        status, headers, text = window.ask(path)
        part = text if path == "/" else main_part(text)
        if "?" in path:  # what can be chosen is the same on each timeline
            part = re.sub('<form class="filters.*?</form>', "", part, flags=re.DOTALL)
        kind = headers.get("content-type", "")
        seen += ["", f"=== {path} {status} {kind}", *plain(window, part)]
    assert seen == written_lines("web/pages.txt", seen)


def edited(
    title: str, text: str = "We deploy daily.\r\n", **fields: str
) -> dict[str, str]:
    usual = {"category": "project-conventions", "scope": "project", "project": "shop"}
    return {"title": title, "text": text, **usual, **fields}


def acts(window: Window) -> list[tuple[str, dict[str, str]]]:
    """Where each form goes, in their order, and what stands in it."""
    offered = re.findall(
        r'act/keep-statement.*?name="id" value="([^"]+)"', window.ask("/review")[2]
    )
    statements = [*dict.fromkeys(offered)]
    deploys, ledger, tabs = (
        f"m/{key('new')}/edit",
        key("ledger"),
        f"m/{key('tabs')}/edit",
    )
    join = {"joins": key("joined-other"), "scope": "workspace", "project": ""}
    return [
        (deploys, edited("")),
        (deploys, edited("Deploys", category="no such")),
        (deploys, edited("Deploys", scope="no such")),
        (deploys, edited("Deploys", project="no/such")),
        (deploys, edited("Deploys  twice")),
        (deploys, edited("Deploys again")),
        (tabs, edited("I prefer tabs in Makefiles", "", scope="user", category="")),
        (tabs, edited("I prefer tabs", "", project="billing", category="")),
        (f"m/{key('joined')}/edit", edited("It is 40 seconds.", "", **join)),
        ("act/return", {"id": key("old")}),
        ("act/pin", {"id": ledger, "permanent": "no"}),
        ("act/pin", {"id": key("shop"), "permanent": "yes"}),
        ("act/forget", {"id": TALK}),
        ("act/restore", {"id": TALK}),
        ("act/restore", {"id": TALK}),
        ("act/keep-statement", {"id": statements[0]}),
        ("act/keep-statement", {"id": statements[1], "text": " Mine. "}),
        ("act/reject-statement", {"id": statements[2]}),
        ("act/reject-statement", {"id": statements[2]}),
        ("act/accept-proposal", {"id": key("add")}),
        ("act/accept-proposal", {"id": key("own words"), "text": " In my words. "}),
        ("act/accept-proposal", {"id": key("instead"), "replaces": "yes"}),
        ("act/accept-proposal", {"id": key("update")}),
        ("act/accept-proposal", {"id": key("delete")}),
        ("act/accept-proposal", {"id": key("delete")}),
        ("act/reject-proposal", {"id": key("refused")}),
        ("act/decide-dispute", {"id": key("left-other"), "decision": "first"}),
        ("act/decide-dispute", {"id": key("right-other"), "decision": "other"}),
        ("act/decide-dispute", {"id": key("shop-other"), "decision": "both"}),
        ("act/decide-dispute", {"id": key("shop-other"), "decision": "both"}),
        ("act/decide-dispute", {"id": key("shop-other"), "decision": "none"}),
        ("act/accept-machine", {"id": FAR}),
        ("act/refuse-machine", {"id": FAR}),
        ("act/refuse-machine", {"id": window.workspace.machine}),
        ("act/accept-machine", {"id": "nobody"}),
        ("act/exclude", {"id": "shop"}),
        ("act/include", {"id": "shop"}),
        ("act/exclude", {"id": "a/b/../c"}),
        ("act/exclude", {}),
        ("act/nothing", {"id": "shop"}),
    ]


def test_what_each_act_says_and_leaves_behind(window: Window) -> None:
    own = {"machine": window.workspace.machine}
    for name in ("left", "right", "joined"):
        for made in dispute(name, 3, source=own):
            window.workspace.store.save(made)
    propose(window.workspace)
    seen, known = [], {}
    for path, fields in acts(window):
        status, headers, text = window.post(f"/{path}", **fields)
        address = headers.get("location", "")
        page = window.ask(address)[2] if address else text
        notice = NOTICE.search(page) if address else None
        subject = subprocess.run(
            ("git", "log", "-1", "--format=%s"),
            cwd=window.root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        told = plain(window, notice[0] if notice else bare(page))
        seen += [f"=== {path} {fields}", f"{status} {address}", *told, subject]
    for path in ("/forgotten", "/projects", "/review", "/timeline?kind=note"):
        told = bare(window.ask(path)[2])
        # of two that were written in one second either comes first
        seen += [f"=== {path}", *sorted(plain(window, CLOCK.sub("NOW", told)))]
    lines = [*plain(window, "\n".join(seen))]

    def numbered(found: re.Match[str]) -> str:
        return known.setdefault(found[1], f"id-{len(known)}")

    lines = [ID.sub(numbered, line) for line in lines]
    assert lines == written_lines("web/acts.txt", lines)
