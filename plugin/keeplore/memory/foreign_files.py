"""Files that people and other programs put into a memory folder: read as memories, never rewritten.

What the front matter does not say is told from the path and the text, so that every machine comes
to the same: neither the time of the file nor anything else of its disk counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from keeplore.errors import Corrupt
from keeplore.memory.frontmatter import conflict, conflict_line, parse
from keeplore.memory.location import Location, as_id, location_of
from keeplore.memory.model import (
    CATEGORIES,
    KINDS,
    SCOPES,
    TRUST_LEVELS,
    Memory,
    Scope,
    Trust,
    without_empty,
)
from keeplore.memory.names import FOLDERS, is_id, is_project_name
from keeplore.memory.note import title_and_text
from keeplore.text import agent_scope
from keeplore.text.code_fences import fenced_lines
from keeplore.text.folding import shortened

NOTE_CHARS = 2000  # what is longer is no single statement
TITLE_CHARS = 200
MAX_SECONDS = 1e11  # of Unix time; more are milliseconds
INDEX = "MEMORY.md"  # the list of files that Claude Code keeps beside its own notes
_CREATED = ("created_at", "created", "createdAt", "date", "timestamp")
_UPDATED = ("updated_at", "updated", "updatedAt", "modified", "last_modified")
# what other programs call a category; project notes of Claude Code are news of any sort, so they
# get none
_TYPES: Mapping[str, str] = {
    "user": "user-facts",
    "feedback": "corrections",
    "reference": "infrastructure",
    **{
        word: category
        for category, folder in FOLDERS.items()
        for word in (category, folder, folder.removesuffix("s"))
    },
}
_CLAUDE_TYPES = ("user", "feedback", "project", "reference")
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*?)[ \t#]*\Z")
# an index's line about one file: what it points to is a memory of its own
_POINTER = re.compile(
    r"[ \t]*[-*+][ \t]+\**(?:\[\[[^\]\n]+\]\]|\[[^\]\n]*\]\((?!\w+://)[^)\n]+\.md\))"
)


def as_memory(text: str, path: str) -> Memory:
    """Read any markdown file of a memory folder; ``path`` is relative to the workspace.

    A file with front matter of ours is what ``parse`` makes of it. ``hints`` say what was missing
    elsewhere. Raises Corrupt for a file without text, and for one whose front matter cannot be
    read.
    """
    memory = _as_it_is(text.removeprefix("\ufeff"))
    if not memory.problems and is_id(memory.id):
        return memory
    at = location_of(path)
    if "schema" in memory.meta or memory.meta.get("kind") in KINDS:
        return _with_required_fields(memory, at)
    facts = {**_with_nested_metadata(memory.meta), **_required_fields(memory, at)}
    meta = {**memory.meta, **_fields_from_file(facts, memory.body, at)}
    conflicts = tuple(filter(_is_conflict, memory.problems))
    return Memory(
        meta, _body(memory, at), conflicts, (_missing_fields_hint(memory.meta),)
    )


def _is_conflict(problem: str) -> bool:
    return problem.startswith("conflict")


def _as_it_is(text: str) -> Memory:
    """What ``parse`` makes of a file with front matter, else a memory of text alone."""
    if _begins_with_front_matter(text):
        return parse(text)
    return Memory({}, text, conflict(text))


def _with_required_fields(memory: Memory, at: Location) -> Memory:
    """A memory of ours with what it cannot be found without."""
    fields = {
        "title": memory.title.strip() or title_of({}, memory.body, at),
        "created_at": memory.created_at or utc_time(at.day),
    }
    return Memory(
        {**memory.meta, **_required_fields(memory, at), **fields},
        memory.body,
        memory.problems,
    )


def _begins_with_front_matter(text: str) -> bool:
    """Whether the file means to have front matter, sound or not."""
    stripped = text.lstrip()
    if not stripped.strip("\0"):
        raise Corrupt(
            "the file is empty",
            "Delete it, or bring its text back with `git checkout -- FILE`",
        )
    if stripped.startswith("<<<<<<<") and (line := conflict_line(text)):
        raise Corrupt(
            "conflict markers stand where the front matter begins",
            "Keep one side and delete the markers",
            line,
        )
    if not re.match(r"---[ \t]*(?:\r?\n|\Z)", stripped):
        return False
    if stripped != text:
        raise Corrupt("blank lines stand before the front matter", "Delete them")
    return True


def _required_fields(memory: Memory, at: Location) -> dict[str, Any]:
    """What no memory can be found without: its id, and whom it is for."""
    meta = _with_nested_metadata(memory.meta)
    scope, project = _scope_and_project(meta, at)
    found = {
        "id": as_id(meta.get("id")) or as_id(meta.get("uuid")) or at.id,
        **agent_scope.scope_meta(scope, project),
        "supersedes": as_id(meta.get("supersedes")),
    }
    return without_empty(found)


def _scope_and_project(meta: Mapping[str, Any], at: Location) -> tuple[str, str]:
    """Scope and project, those of the folder where the file names no sound ones."""
    scope = str(meta.get("scope"))
    if scope == Scope.AGENT:
        scope = agent_scope.key_of(str(meta.get("agent") or ""))
    elif scope == "repo":
        scope = Scope.PROJECT
    project = _project(meta) or at.project
    is_sound = scope in SCOPES or agent_scope.agent_of(scope)
    if not is_sound or (agent_scope.is_of_project(scope) and not project):
        scope, project = at.scope, at.project
    return scope, project if agent_scope.is_of_project(scope) else ""


def _project(meta: Mapping[str, Any]) -> str:
    """The project that it names, "" for none."""
    names = (meta.get("project"), meta.get("repo"))
    return next(
        (name for name in names if isinstance(name, str) and is_project_name(name)), ""
    )


def _fields_from_file(
    facts: Mapping[str, Any], text: str, at: Location
) -> dict[str, Any]:
    """Every field that Keeplore reads, from what the file says of itself in its own words."""
    created = _first_time(facts, _CREATED) or utc_time(at.day)
    fields = {
        "kind": _kind(facts, text, at),
        "title": title_of(facts, text, at),
        "created_at": created,
        "updated_at": max(created, _first_time(facts, _UPDATED)),
        "category": _category(facts, at),
        "trust": _trust(facts.get("trust")),
    }
    kept = {
        key: facts[key]
        for key in ("id", "scope", "project", "agent", "supersedes")
        if key in facts
    }
    return kept | without_empty(fields)


def _trust(stated: object) -> str:
    """The trust that a file of another program states, else ``document``: nothing proves that the
    user said it, and no other machine's Keeplore wrote it either.
    """
    return str(stated) if stated in TRUST_LEVELS else Trust.DOCUMENT.value


def _first_time(facts: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The first of the keys that holds a time, as RFC 3339."""
    return next(filter(None, (utc_time(facts.get(key)) for key in keys)), "")


def _kind(facts: Mapping[str, Any], text: str, at: Location) -> str:
    """``note`` or ``document``: a short text states one thing, so it is a note."""
    is_list = at.stem.lower() in ("memory", "readme")
    if is_list or at.folder in ("documents", "conversations"):
        return "document"
    is_short = len(text) <= NOTE_CHARS
    if is_short or at.category or facts.get("type") in _CLAUDE_TYPES:
        return "note"
    return "document"


def _category(facts: Mapping[str, Any], at: Location) -> str:
    """The category that it states, that its folder stands for, or that its tags name."""
    stated = facts.get("category")
    if stated in CATEGORIES:
        return str(stated)
    names = (stated, facts.get("type"), *_tags(facts))
    known = (
        _TYPES.get(name.strip().lower()) for name in names if isinstance(name, str)
    )
    return at.category or next(filter(None, known), "")


def title_of(facts: Mapping[str, Any], text: str, at: Location) -> str:
    """The front matter's title, else a heading, a name, the file's name, the first words."""
    headings = list(_headings(text))
    top = next((words for level, words in headings if level == 1), "")
    first = headings[0][1] if headings and text.lstrip().startswith("#") else ""
    name = _words_of(facts.get("name"))
    found = _first_text(facts.get("title"), top, name, first, at.words)
    folded = " ".join((found or title_and_text(text)[0] or at.stem).split())
    return shortened(folded, TITLE_CHARS) or "untitled"


def _words_of(name: Any) -> str:
    """A slug, or words, as words."""
    return re.sub(r"[-_]+", " ", str(name or ""))


def _first_text(*values: object) -> str:
    """The first of the values that is a text with words."""
    return next(
        (value for value in values if isinstance(value, str) and value.strip()), ""
    )


def _headings(text: str) -> Iterator[tuple[int, str]]:
    """Level and words of each heading outside of code."""
    for line, is_code in fenced_lines(text.splitlines()):
        if not is_code and (match := _HEADING.match(line)):
            yield len(match[1]), match[2]


def _body(memory: Memory, at: Location) -> str:
    """The text, with what the front matter alone says of it, and without an index's lines about
    other files.
    """
    if at.rest[-1:] == (INDEX,) and not memory.meta:
        return _without_pointers(memory.body)
    meta = _with_nested_metadata(memory.meta)
    about = _first_text(meta.get("description"), meta.get("summary")).strip()
    tags = ", ".join(_tags(meta))
    said = (about if about not in memory.body else "", f"Tags: {tags}" if tags else "")
    return "\n\n".join((*filter(None, said), memory.body))


def _without_pointers(text: str) -> str:
    """The text without the lines that only name other files."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not _POINTER.match(line))


def _tags(meta: Mapping[str, Any]) -> list[str]:
    """The tags, written as a list or on one line."""
    tags = meta.get("tags")
    if isinstance(tags, str):
        tags = tags.split(",")
    words = tags if isinstance(tags, list) else []
    return [tag.strip() for tag in words if isinstance(tag, str) and tag.strip()]


def _with_nested_metadata(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The front matter with what lies one level deeper under ``metadata``, where Claude Code keeps
    its type.
    """
    inner = meta.get("metadata")
    return {**inner, **meta} if isinstance(inner, Mapping) else dict(meta)


def utc_time(value: object) -> str:
    """A time in any common notation as RFC 3339 in UTC; a day is its beginning, "" is what cannot
    be read.
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) > MAX_SECONDS else value
            then = datetime.fromtimestamp(seconds, UTC)
        elif isinstance(value, str):
            then = datetime.fromisoformat(value.strip())
            then = then.astimezone(UTC) if then.tzinfo else then.replace(tzinfo=UTC)
        else:
            return ""
    except (ValueError, OverflowError, OSError):
        return ""
    return then.isoformat(timespec="seconds").replace("+00:00", "Z")


def _missing_fields_hint(meta: Mapping[str, Any]) -> str:
    """What the front matter lacks, for a person who wants to mend it."""
    if not meta:
        return (
            "there is no front matter; id, title and scope are told from path and text"
        )
    missing = [
        f"`{key}`"
        for key in ("id", "kind", "title", "created_at", "scope")
        if key not in meta
    ]
    return f"the front matter lacks {', '.join(missing)}; path and text stand for it"
