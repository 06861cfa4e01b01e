"""The scope of one agent of a project: how its name is written, in files and as a key.

Everywhere but in front matter the scope is one word, ``agent:reviewer``.
"""

from __future__ import annotations

import re
from typing import Any

from keeplore.text.slugs import RESERVED, slugify

FOLDER = "agents"  # below the project's folder of memory
PREFIX = "agent:"
NAME_CHARS = 40
_SUM_CHARS = 8
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


def agent_name(named: str) -> str:
    """The name under which memory of an agent is filed, whatever a host calls it; "" where that
    has no letter or digit.

    Case and punctuation do not tell agents apart. A name that is cut or transliterated carries a
    checksum, so that two agents never share one.
    """
    text = " ".join(named.split()).lower()
    if not re.search(r"[^\W_]", text):
        return ""
    slug = slugify(text, NAME_CHARS)
    if text.isascii() and len(text) <= NAME_CHARS:
        return slug
    # here, because few names need it, and OpenSSL comes with it
    import hashlib

    total = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_SUM_CHARS]
    return f"{slugify(text, NAME_CHARS - _SUM_CHARS - 1)}-{total}"


def is_agent_name(text: str) -> bool:
    return len(text) <= NAME_CHARS and bool(_NAME.match(text)) and text not in RESERVED


def key_of(agent: str) -> str:
    """The scope of an agent; ``agent:`` for a name that is none, which is nobody's."""
    return f"{PREFIX}{agent if is_agent_name(agent) else ''}"


def agent_of(scope: str) -> str:
    """The agent of a scope, "" for other scopes."""
    return scope[len(PREFIX) :] if scope.startswith(PREFIX) else ""


def is_of_project(scope: str) -> bool:
    """Whether memory of the scope belongs to a project: its own, or one of its agents'."""
    return scope == "project" or scope.startswith(PREFIX)


def scope_meta(scope: str, project: str) -> dict[str, Any]:
    """The front matter of a scope; None for what does not belong to it."""
    agent = agent_of(scope)
    return {
        "scope": "agent" if agent else scope,
        "project": project if is_of_project(scope) else None,
        "agent": agent or None,
    }


def short_place(scope: str, project: str) -> str:
    """The owner of a memory in the width of a column: ledgerly, ledgerly/reviewer, workspace."""
    agent = agent_of(scope)
    return f"{project}/{agent}" if agent else project or scope


def long_place(scope: str, project: str) -> str:
    """The owner of a memory in a sentence: "project ledgerly", "agent reviewer of ledgerly", "user
    scope".
    """
    if agent := agent_of(scope):
        return f"agent {agent} of {project}"
    return f"project {project}" if project else f"{scope} scope"
