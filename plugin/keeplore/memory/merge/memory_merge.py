"""Two changed versions of one memory as one: a pure function, the same on every machine and whoever
merges first.

Nothing that a person wrote is lost: what cannot be joined stands in a second memory that
``contradicts`` the first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.errors import Corrupt, UnsafePath
from keeplore.memory.entity_file import (
    UNKNOWN,
    EntityFile,
    key_of,
    parse_entity,
    serialise_entity,
)
from keeplore.memory.frontmatter import parse, serialise
from keeplore.memory.merge.conversation_merge import merge_conversations
from keeplore.memory.merge.line_merge import LineMerge, merge_by_lines, merge_lists
from keeplore.memory.model import (
    TRUST_LEVELS,
    Memory,
    MemoryKind,
    Trust,
    in_order,
    least_trusted,
    links_to_others,
)
from keeplore.memory.names import is_id, new_id, relative_path

CONFLICT = ".conflict-"  # in the name of a file that is no memory with an id
TRIGGER = "merge"  # of the memory that stands beside another
_HASH_CHARS = 8
MAX_NAME = 255  # bytes, the limit of common file systems
_MISSING: Any = object()
_Read = tuple[str, Memory]  # a text with the memory that it holds


@dataclass(frozen=True, slots=True)
class FileMerge:
    """``text`` for the file's own place, and what stands beside it: path and text, for what could
    not be joined.
    """

    text: str
    beside: Mapping[str, str]


def merge_memory(path: str, base: str | None, one: str, other: str) -> FileMerge:
    """Merge two versions of the file at ``path``; ``base`` is what both were made of, None where
    nothing was.

    Both orders of the two give the same. Never raises: what has no front matter of ours is merged
    as plain text.
    """
    winner, loser = sorted((one, other), key=_precedence, reverse=True)
    if loser in (winner, base):
        return FileMerge(winner, {})
    if base == winner:
        return FileMerge(loser, {})
    first, second = _memory(winner), _memory(loser)
    if first is None or second is None or first.id != second.id:
        # a version that can be read comes before one that cannot, which is what _precedence puts
        # last
        is_text = first is None and second is None
        return _merge_plain(path, base, winner, loser, is_text=is_text)
    text, is_clash = _joined_text(
        _read_base(base, first.id), (loser, second), (winner, first)
    )
    return FileMerge(text, _beside_file(path, first, second, loser) if is_clash else {})


def _joined_text(base: _Read | None, loser: _Read, winner: _Read) -> tuple[str, bool]:
    """The two texts as one, and whether any of the loser's words are lost."""
    if winner[1].kind == MemoryKind.DIGEST:  # it is made anew of what both were made of
        return winner[0], False
    joined, is_clash = _joined_memory(base and base[1], loser[1], winner[1])
    front = merge_by_lines(
        base and _front_matter_text(*base),
        _front_matter_text(*loser),
        _front_matter_text(*winner),
    )
    try:
        return _as_written(front, joined), is_clash
    except Corrupt:  # together it is more than a front matter may hold
        return winner[0], True


def _read_base(base: str | None, id_: str) -> _Read | None:
    """What both versions were made of, where that was the same memory."""
    memory = _memory(base) if base else None
    return (base, memory) if base and memory and memory.id == id_ else None


def _joined_memory(
    base: Memory | None, loser: Memory, winner: Memory
) -> tuple[Memory, bool]:
    """The joined memory, front matter and body each by itself, and whether the loser's words are
    lost somewhere.
    """
    meta, is_meta_clash = _joined_meta(
        base.meta if base else None, loser.meta, winner.meta
    )
    is_talk = loser.kind == winner.kind == MemoryKind.CONVERSATION
    merge_bodies = merge_conversations if is_talk else merge_by_lines
    body = merge_bodies(base.body if base else None, loser.body, winner.body)
    return Memory(meta, body.text), is_meta_clash or body.is_clash


def merge_session(
    base: Memory | None, ours: Memory, edited: Memory
) -> tuple[Memory, Memory | None]:
    """What a session writes anew into an open conversation that somebody changed since it wrote
    ``base``.

    Each change stays, also where the session has something else: what it has above the exchanges is
    made from them. Where both changed the same words of an exchange, the session's version is the
    second memory, to stand beside.
    """
    meta, _ = _joined_meta(base.meta if base else None, ours.meta, edited.meta)
    body = merge_conversations(
        base.body if base else None, ours.body, edited.body, is_derived=True
    )
    return Memory(meta, body.text), _contradicting(
        edited, ours, serialise(ours)
    ) if body.is_clash else None


def contradicting(kept: str, other: str) -> str:
    """The second of two files with one id as a memory of its own; "" where one of them is not a
    memory of ours.
    """
    first, second = _memory(kept), _memory(other)
    if first is None or second is None or first.id != second.id:
        return ""
    if not all({"schema", "kind"} & memory.meta.keys() for memory in (first, second)):
        return ""  # another program's, which are never rewritten
    return serialise(_contradicting(first, second, other))


def merge_text(path: str, base: str | None, one: str, other: str) -> FileMerge:
    """Merge a text file that is no memory: lines are joined; on a clash both files stay."""
    winner, loser = sorted((one, other), key=_fingerprint, reverse=True)
    return _merge_plain(path, base, winner, loser, is_text=True)


def merge_bytes(path: str, one: bytes, other: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Merge two versions of something that is not text: one keeps its place, the other is kept
    beside it.
    """
    loser, winner = sorted((one, other), key=lambda data: hashlib.sha256(data).digest())
    return winner, {} if winner == loser else {beside_path(path, loser): loser}


def merge_log(_path: str, base: str | None, one: str, other: str) -> FileMerge:
    """Merge two versions of a file to which JSON objects with ``at`` are only appended: each line
    once, ordered by time.
    """
    # not splitlines(): JSON may hold other line ends inside of a text
    kept = base.removesuffix("\n").split("\n") if base else []
    # a person edited it
    if not (one.startswith(base or "") and other.startswith(base or "")):
        kept = []
    added = {line for line in [*one.split("\n"), *other.split("\n")] if line.strip()}
    lines = [*kept, *sorted(added.difference(kept), key=_log_line_key)]
    return FileMerge("".join(f"{line}\n" for line in lines), {})


def merge_project(_path: str, base: str | None, one: str, other: str) -> FileMerge:
    """Merge two versions of a ``project.json`` key by key, lists as sets. Where each has another
    ``path``, the one that gives way stands in ``paths``: its directory goes on being the project.
    """
    texts = sorted((one, other), key=_fingerprint)
    loser, winner = map(_json, texts)
    if loser is None or winner is None:
        readable = [text for text in texts if _json(text) is not None]
        return FileMerge((*readable, max(one, other))[0], {})
    meta = _joined_entry(_json(base or "") or {}, loser, winner)
    return FileMerge(json.dumps(meta, indent=2, ensure_ascii=False) + "\n", {})


def _joined_entry(
    base: Mapping[str, Any], loser: Mapping[str, Any], winner: Mapping[str, Any]
) -> dict[str, Any]:
    meta, _ = _joined_meta(base, loser, winner)
    path, paths = loser.get("path"), meta.get("paths", [])
    is_lost = isinstance(path, str) and path not in (base.get("path"), meta.get("path"))
    if is_lost and isinstance(paths, list):
        meta["paths"] = merge_lists([], [path], paths)
    return meta


def merge_entity(path: str, base: str | None, one: str, other: str) -> FileMerge:
    """Merge two versions of an entity's file: the aliases of both; where types or spellings of its
    name differ, the smaller of the two.

    A file that cannot be read, or is about another entity, stays beside the first.
    """
    loser, winner = sorted((one, other), key=_entity_precedence)
    first, second = _entity(winner), _entity(loser)
    if winner == loser or first is None:
        return merge_text(path, base, one, other)
    if second is None or key_of(first.name) != key_of(second.name):
        return FileMerge(winner, {beside_path(path, loser.encode()): loser})
    origin = _entity(base) if base is not None else None
    said = _joined_entity(origin.said if origin else {}, second.said, first.said)
    text = serialise_entity(said)
    return FileMerge(_with_comments_kept(text, merge_by_lines(base, loser, winner)), {})


def _entity_precedence(text: str) -> tuple[bool, str]:
    """The sort key by which one version keeps the place: readable before unreadable, else by
    content.
    """
    return _entity(text) is not None, _fingerprint(text)


def _with_comments_kept(text: str, by_lines: LineMerge) -> str:
    """An entity's text, in the lines of both versions where they say the same: a person's comments
    stay so.
    """
    reread = None if by_lines.is_clash else _entity(by_lines.text)
    is_same = reread is not None and reread.said == parse_entity(text).said
    return by_lines.text if is_same else text


def _joined_entity(
    base: Mapping[str, Any], loser: Mapping[str, Any], winner: Mapping[str, Any]
) -> dict[str, Any]:
    """The front matter of an entity's file, of two changed ones."""
    said, _ = _joined_meta(base, loser, winner)
    for key in ("name", "type"):
        given = {loser[key], winner[key]} - {base.get(key), UNKNOWN}
        said[key] = min(given, default=said[key])
    return said


def beside_path(path: str, loser: bytes) -> str:
    """The name for a version that lost its place: made of its content, so that every machine gives
    the same.
    """
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not stem:  # .gitignore
        stem, dot, extension = name, "", ""
    mark = (
        f"{CONFLICT}{hashlib.sha256(loser).hexdigest()[:_HASH_CHARS]}{dot}{extension}"
    )
    # a name that fills what file systems allow gives way
    room = MAX_NAME - len(mark.encode("utf-8", "surrogateescape"))
    stem = stem.encode("utf-8", "surrogateescape")[:room].decode("utf-8", "ignore")
    return f"{folder}{slash}{stem}{mark}"


def _merge_plain(
    path: str, base: str | None, winner: str, loser: str, *, is_text: bool
) -> FileMerge:
    """Lines joined where it is a text; else, and on a clash, both versions stay."""
    if is_text:
        joined = merge_by_lines(base, loser, winner)
        if not joined.is_clash:
            return FileMerge(joined.text, {})
    return FileMerge(winner, {beside_path(path, loser.encode()): loser})


def _precedence(text: str) -> tuple[bool, str, int, str]:
    """The sort key by which one version keeps the place: readable first, then the one that says it
    is later, else by content.
    """
    memory = _memory(text)
    if memory is None:
        return (False, "", 0, _fingerprint(text))
    return (True, memory.updated_at, memory.version, _fingerprint(text))


def _fingerprint(text: str) -> str:
    """The SHA-256 of a text, which puts two versions into the same order everywhere."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _memory(text: str) -> Memory | None:
    """A memory with an id of ours, None for every other text."""
    try:
        memory = parse(text)
    except Corrupt:
        return None
    return memory if is_id(memory.id) else None


def _entity(text: str) -> EntityFile | None:
    """An entity, None for a text that cannot be read as one."""
    try:
        return parse_entity(text)
    except Corrupt:
        return None


def _front_matter_text(text: str, memory: Memory) -> str:
    """What stands above the body, as somebody wrote it."""
    return (
        text[: len(text) - len(memory.body)]
        .removeprefix("\ufeff")
        .replace("\r\n", "\n")
    )


def _as_written(front: LineMerge, memory: Memory) -> str:
    """The text of a memory, its front matter in the lines of both sides where they say the same:
    comments stay so.
    """
    text = front.text + memory.body
    reread = None if front.is_clash else _memory(text)
    is_same = (
        reread
        and reread.body == memory.body
        and _canonical_json(reread.meta) == _canonical_json(memory.meta)
    )
    return text if is_same else serialise(memory)


def _canonical_json(meta: Mapping[str, Any]) -> str:
    return json.dumps(meta, sort_keys=True)


def _contradicting(winner: Memory, loser: Memory, text: str) -> Memory:
    """The version that lost lines, as a memory of its own that names the other; ``text`` is its
    file's.
    """
    related = loser.meta.get("related")
    # it replaces nothing: a second head would make a fork of the chain
    kept = links_to_others(related)
    copy = loser.with_meta(
        id=new_id("conflict", winner.id, _fingerprint(text)),
        related=[*kept, {"id": winner.id, "relationship": "contradicts"}],
        supersedes=None,
        status=None,
        trigger=TRIGGER,
    )
    return Memory(in_order(copy.meta), copy.body)


def _beside_file(path: str, winner: Memory, loser: Memory, text: str) -> dict[str, str]:
    """The version that lost lines under a path of its own."""
    copy = _contradicting(winner, loser, text)
    try:
        return {relative_path(copy): serialise(copy)}
    except (UnsafePath, Corrupt):
        return {beside_path(path, text.encode()): text}


def _joined_meta(
    base: Mapping[str, Any] | None,
    loser: Mapping[str, Any],
    winner: Mapping[str, Any],
    *,
    is_inside: bool = False,
) -> tuple[dict[str, Any], bool]:
    """The front matter joined key by key, and whether two values were given that cannot
    both stay.
    """
    joined: dict[str, Any] = {}
    is_clash = False
    for key in dict.fromkeys((*winner, *loser)):
        versions = [side.get(key, _MISSING) for side in (base or {}, loser, winner)]
        value, clashes = _joined_key("" if is_inside else key, *versions)
        is_clash = is_clash or clashes
        if value is not _MISSING:
            joined[key] = value
    return joined, is_clash


def _joined_key(key: str, was: Any, one: Any, other: Any) -> tuple[Any, bool]:
    """The value that one side changed, else what becomes of two changes."""
    if _is_identical(one, was) or _is_identical(one, other):
        return other, False
    return (
        (one, False)
        if _is_identical(other, was)
        else _joined_value(key, was, one, other)
    )


def _joined_value(key: str, was: Any, one: Any, other: Any) -> tuple[Any, bool]:
    """The value for two that both changed, ``other`` being the winner's, and whether the loser's is
    lost.
    """
    if _MISSING in (one, other):
        return _removed_or_changed(key, one, other), False
    if key == "status":  # who closed a conversation has closed it
        return other, False
    if isinstance(one, list) and isinstance(other, list):
        return merge_lists(was if isinstance(was, list) else [], one, other), False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return _joined_mappings(key, was, one, other)
    rule = _RULES.get(key)
    if rule and type(one) is type(other):
        return rule(one, other), False
    return other, True


def _joined_mappings(
    key: str, was: Any, one: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[Any, bool]:
    """Key by key."""
    before = was if isinstance(was, Mapping) else None
    joined, is_clash = _joined_meta(before, one, other, is_inside=True)
    # of two machines that wrote, one is named
    return joined, is_clash and key != "source"


def _removed_or_changed(key: str, one: Any, other: Any) -> Any:
    """The value of a key that one of two removed while the other changed it."""
    if key == "status":  # who closed a conversation has closed it
        return _MISSING
    return other if one is _MISSING else one


def _lower_trust(one: Any, other: Any) -> Any:
    """The lower of two levels; an unknown level counts as foreign."""
    is_known = one in TRUST_LEVELS and other in TRUST_LEVELS
    return least_trusted(one, other) if is_known else Trust.FOREIGN.value


_RULES: Mapping[str, Callable[[Any, Any], Any]] = {
    "created_at": min,
    "updated_at": max,
    "version": max,
    "confidence": min,
    "permanent": max,
    "trust": _lower_trust,
}


def _is_identical(one: Any, other: Any) -> bool:
    """Whether two values are equal and of one type: ``1`` and ``true`` are two values."""
    return one is other or (type(one) is type(other) and bool(one == other))


def _log_line_key(line: str) -> tuple[str, str]:
    """When a line of a log was written; one without a time comes first."""
    entry = _json(line)
    at = entry.get("at") if entry else ""
    return (at if isinstance(at, str) else ""), line


def _json(text: str) -> dict[str, Any] | None:
    """A JSON object, None for other texts."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
