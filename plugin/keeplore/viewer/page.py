"""The page: one file that holds its style, its program and its data, asks the network for nothing
and cannot.

What memories say is data in it, never markup: JSON without any character that HTML or a script
could read as its own.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

from keeplore.viewer.picture import GraphPicture, as_data

HERE = Path(__file__).parent
# each needs those before it
LIBRARIES = ("d3-dispatch", "d3-quadtree", "d3-timer", "d3-force")
PARTS = ("layout", "panel", "view", "main")
_FIELD = re.compile(r"\{\{(\w+)\}\}")
_MARKUP = re.compile("[<>&]")


def as_page(picture: GraphPicture, memory: tuple[str, str] | None = None) -> str:
    """The whole page, ASCII but for the texts of our own. ``memory`` is what stands before and
    behind the digits of an id in the address of a memory's page, where there are such.
    """
    style, script = page_style(), page_script()
    fields = {
        # hashes, not 'unsafe-inline': were text of a memory ever taken for a script, it would still
        # not run
        "policy": f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
        "title": html.escape(picture.title),
        "style": f"<style>{style}</style>",
        "script": f"<script>{script}</script>",
        "data": _embedded(_with_addresses(picture, memory)),
        "licence": "d3-dispatch, d3-force, d3-quadtree and d3-timer, which are part of this "
        "page:\n\n" + _read_file("vendor/LICENSE").strip(),
    }
    return _filled_page(fields)


def as_served_page(
    picture: GraphPicture, style: str, script: str, memory: tuple[str, str]
) -> str:
    """The page of a server that gives style and program at these addresses."""
    fields = {
        "policy": "default-src 'none'; script-src 'self'; style-src 'self'",
        "title": html.escape(picture.title),
        "style": f'<link rel="stylesheet" href="{html.escape(style)}">',
        "script": f'<script src="{html.escape(script)}"></script>',
        "data": _embedded(_with_addresses(picture, memory)),
        "licence": "The licence of d3 stands with its program.",
    }
    return _filled_page(fields)


def _with_addresses(
    picture: GraphPicture, memory: tuple[str, str] | None
) -> dict[str, Any]:
    addresses = {"memory_address": memory} if memory else {}
    return as_data(picture) | addresses


def page_style() -> str:
    return _read_file("page/page.css")


def _filled_page(fields: dict[str, str]) -> str:
    # in one pass, so that a name like "{{script}}" stays a name
    return _FIELD.sub(lambda field: fields[field[1]], _read_file("page/page.html"))


def page_script() -> str:
    # the line above each library names its address; its licence stands in the page beside it
    libraries = [
        _read_file(f"vendor/{name}.min.js").partition("\n")[2] for name in LIBRARIES
    ]
    own = "".join(_read_file(f"page/{name}.js") for name in PARTS)
    return "".join(libraries) + f'(() => {{\n"use strict";\n{own}}})();\n'


def _embedded(data: dict[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return _MARKUP.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def _hash(text: str) -> str:
    """The hash by which a Content-Security-Policy names a script that may run."""
    return (
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
    )


def _read_file(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
