"""The three forms in which something of ours stands in a host's directory, and how it is installed
and uninstalled.

``OwnFile`` is a file of ours, ``JsonEntries`` are parts of a person's JSON file, ``TomlTable`` is
one table of a person's TOML file. Each is plain data without paths: bytes go in, bytes come out,
and the connection record keeps it as JSON. ``former`` is what an earlier release had put there,
until it is gone: whoever is killed in between knows both.
"""

from __future__ import annotations

import abc
import hashlib
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from keeplore.connect import json_edit, toml_edit
from keeplore.connect.json_edit import JsonEntry, JsonTrace
from keeplore.connect.jsonc import JsonDocument, NotJson, parse

# in every command of ours
MARKS = ("client/client.py", "client/client.sh", r"client\client.py")
BY_HAND = "was changed by hand and is left as it is"
AGAIN = "run `keeplore connect` again"


class ResourceStatus(StrEnum):
    """How our part of a file stands there."""

    INTACT = "intact"
    CHANGED = "changed"
    MISSING = "missing"


class EditRefused(Exception):
    """The file is left alone; the message says why, ``remedy`` what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class FileEdit:
    """``after``: the file's bytes then, None for no file; ``left``: what was left as it is, and
    why.

    ``is_done`` is False where the rest can be done once the person has mended the file.
    """

    after: bytes | None
    left: tuple[str, ...] = ()
    is_done: bool = True


class Resource(abc.ABC):
    """What of ours stands in one file."""

    __slots__ = ()

    @abc.abstractmethod
    def install(
        self, current: bytes | None, known: Resource | None
    ) -> tuple[FileEdit, Resource]:
        """The file with our part, and what is to be recorded of it; ``known`` was recorded before.
        Raises EditRefused.
        """

    def uninstall(self, current: bytes | None) -> FileEdit:
        """The file without our part."""
        return FileEdit(None) if current is None else self._remove_from(current)

    def status(self, current: bytes | None) -> ResourceStatus:
        if current is None:
            return ResourceStatus.MISSING
        try:
            return self._status(current)
        except (EditRefused, ValueError, RecursionError):  # it cannot be read
            return ResourceStatus.CHANGED

    @abc.abstractmethod
    def without_former(self) -> Self:
        """When everything is done: without what was there before."""

    @abc.abstractmethod
    def _remove_from(self, current: bytes) -> FileEdit: ...

    @abc.abstractmethod
    def _status(self, current: bytes) -> ResourceStatus: ...


@dataclass(frozen=True, slots=True)
class OwnFile(Resource):
    """``hashes`` of what we have put there, the newest first; ``data`` is not recorded."""

    hashes: tuple[str, ...]
    data: bytes = b""

    @classmethod
    def of(cls, data: bytes) -> OwnFile:
        return cls((_hash(data),), data)

    def install(
        self, current: bytes | None, known: Resource | None
    ) -> tuple[FileEdit, Resource]:
        former = known.hashes if isinstance(known, OwnFile) else ()
        if current is None or current == self.data or _hash(current) in former:
            hashes = tuple(dict.fromkeys((*self.hashes, *former)))
            return FileEdit(self.data), replace(self, hashes=hashes)
        if isinstance(known, OwnFile):
            return FileEdit(current, (BY_HAND,)), known
        raise EditRefused(
            "it is there already, and not Keeplore's", f"Move it away and {AGAIN}"
        )

    def without_former(self) -> Self:
        return replace(self, hashes=self.hashes[:1])

    def _remove_from(self, current: bytes) -> FileEdit:
        if _hash(current) in self.hashes:
            return FileEdit(None)
        return FileEdit(current, (BY_HAND,))

    def _status(self, current: bytes) -> ResourceStatus:
        is_intact = _hash(current) == self.hashes[0]
        return ResourceStatus.INTACT if is_intact else ResourceStatus.CHANGED


@dataclass(frozen=True, slots=True)
class JsonEntries(Resource):
    """``skeleton`` is what a file that we make holds besides; ``origin`` is what a file without
    content held instead.

    ``host`` is named where it reads neither comments nor trailing commas.
    """

    entries: tuple[JsonEntry, ...]
    skeleton: str = "{}"
    host: str = ""
    former: tuple[JsonEntry, ...] = ()
    trace: JsonTrace = field(default_factory=JsonTrace)
    is_made: bool = False
    origin: str | None = None

    def install(
        self, current: bytes | None, known: Resource | None
    ) -> tuple[FileEdit, Resource]:
        text = _decoded_text(current)
        base = known if isinstance(known, JsonEntries) else replace(self, entries=())
        if not text.strip():  # whatever was there before is gone
            is_made = base.is_made or current is None
            base = replace(base, is_made=is_made, origin=text, trace=JsonTrace())
            text = json.dumps(json.loads(self.skeleton), indent=2) + "\n"
        try:
            document = parse(text)
            self._expect_readable(document)
            return self._with_entries(document, base)
        except NotJson as e:
            raise EditRefused(f"it is no JSON: {e}", f"Mend it and {AGAIN}") from None
        except ValueError as e:
            raise EditRefused(str(e), f"Mend it and {AGAIN}") from None

    def _expect_readable(self, document: JsonDocument) -> None:
        """Raise EditRefused where the host does not read a file with comments or
        trailing commas.
        """
        if self.host and not document.is_strict:
            raise EditRefused(
                f"it has comments or trailing commas, which {self.host} does not read",
                f"Take them out and {AGAIN}",
            )

    def _with_entries(
        self, document: JsonDocument, known: JsonEntries
    ) -> tuple[FileEdit, JsonEntries]:
        """Ours replaces what was ours, and goes where nothing else stands; proved to be undone byte
        for byte.
        """
        former = [entry for entry in known.former if entry not in known.entries]
        old = (*known.entries, *former)
        free, obstacles = self._placeable_entries(document, old)
        stale = _entries_present(
            document, [entry for entry in old if entry not in self.entries]
        )
        present = _entries_present(document, free)
        missing = [entry for entry in free if entry not in present]
        text, trace = _replace_stale(document.text, stale, missing, known.trace)
        entries = tuple(
            entry for entry in self.entries if entry in free or entry in known.entries
        )
        made = replace(
            known, entries=entries, former=tuple(stale), trace=trace, host=self.host
        )
        if present and not known.entries:  # the record was lost
            made = made.adopting(document, present)
            old, known = tuple(present), made
        bare = json_edit.take(document.text, old, known.trace)
        made.expect_reversible(text, old, bare)
        return FileEdit(text.encode(), obstacles), made

    def _placeable_entries(
        self, document: JsonDocument, old: Sequence[JsonEntry]
    ) -> tuple[list[JsonEntry], tuple[str, ...]]:
        """The entries that have their place for themselves or for us, and what is in the way of
        the others.
        """
        free: list[JsonEntry] = []
        obstacles: dict[str, None] = {}
        for entry in self.entries:
            if obstacle := _obstacle(document, entry, (*old, *self.entries)):
                obstacles[obstacle] = None
            else:
                free.append(entry)
        return free, tuple(obstacles)

    def expect_reversible(self, text: str, old: Sequence[JsonEntry], bare: str) -> None:
        """Raise EditRefused where taking out our entries, and the ``old`` ones, would not leave
        ``bare``.
        """
        if json_edit.take(text, (*self.entries, *old), self.trace) != bare:
            raise _not_reversible()

    def adopting(
        self, document: JsonDocument, present: Sequence[JsonEntry]
    ) -> JsonEntries:
        """What is empty without ours was made for ours."""
        made = dict.fromkeys((*self.trace.made, *_holders(present)))
        trace = replace(self.trace, made=tuple(made))
        bare = parse(json_edit.take(document.text, present, trace))
        return replace(self, trace=trace, is_made=self._is_bare(bare))

    def without_former(self) -> Self:
        return replace(self, former=())

    def _remove_from(self, current: bytes) -> FileEdit:
        try:
            text = json_edit.take(
                _decoded_text(current), (*self.former, *self.entries), self.trace
            )
            document = parse(text)
        except (EditRefused, ValueError) as e:
            why = f"cannot be read ({e}), and Keeplore's entries stay in it"
            return FileEdit(current, (why,), is_done=False)
        if self._is_bare(document):
            if self.is_made:
                return FileEdit(None)
            if self.origin is not None:
                return FileEdit(self.origin.encode())
        left = {_obstacle(document, entry, ()) for entry in self.entries} - {""}
        return FileEdit(text.encode(), tuple(sorted(left)))

    def _status(self, current: bytes) -> ResourceStatus:
        document = parse(_decoded_text(current))
        found = [json_edit.find(document, entry) is not None for entry in self.entries]
        if all(found):
            return ResourceStatus.INTACT
        if any(found) or any(_obstacle(document, entry, ()) for entry in self.entries):
            return ResourceStatus.CHANGED
        return ResourceStatus.MISSING

    def _is_bare(self, document: JsonDocument) -> bool:
        """Whether nothing stands there but what we make."""
        return document.is_strict and _without_empty(
            document.root.value
        ) == _without_empty(json.loads(self.skeleton))


@dataclass(frozen=True, slots=True)
class TomlTable(Resource):
    """``values`` of the table ``name``; ``pieces`` are the very texts that were appended."""

    name: str
    values: toml_edit.Values
    former: tuple[toml_edit.Values, ...] = ()
    pieces: tuple[str, ...] = ()
    is_made: bool = False

    def install(
        self, current: bytes | None, known: Resource | None
    ) -> tuple[FileEdit, Resource]:
        text = _decoded_text(current)
        found = self._table_in(text)
        base = known if isinstance(known, TomlTable) else self
        base = replace(base, is_made=base.is_made or current is None)
        if found == toml_edit.as_read(self.values):
            return FileEdit(current), self._recorded_table(base, text)
        bare = text if found is None else base.bare_text(text)
        if bare is None:
            mine = f"[{self.name}] {BY_HAND}"
            theirs = f"has another [{self.name}], which is left as it is"
            return FileEdit(current, (mine if base.pieces else theirs,)), base
        return self._append_table(base, bare)

    def _table_in(self, text: str) -> Any:
        """What the table holds, None for no table. Raises EditRefused."""
        try:
            return toml_edit.table_at(tomllib.loads(text), self.name)
        except (tomllib.TOMLDecodeError, RecursionError) as e:
            raise EditRefused(f"it is no TOML: {e}", f"Mend it and {AGAIN}") from None

    def _recorded_table(self, known: TomlTable, text: str) -> TomlTable:
        """The table stands there as it should; where the record was lost, as if we had put it
        there.
        """
        made = replace(known, values=self.values, former=())
        if known.pieces:
            return made
        made = replace(made, pieces=(toml_edit.block(text, self.name, self.values),))
        return replace(made, is_made=not (made.bare_text(text) or "").strip())

    def _append_table(self, known: TomlTable, bare: str) -> tuple[FileEdit, TomlTable]:
        """Put our table at the end, and note it with its former values."""
        piece = toml_edit.block(bare, self.name, self.values)
        try:
            after = toml_edit.append(bare, self.name, piece)
        except ValueError as e:
            raise EditRefused(str(e), f"Add it by hand:\n{piece.strip()}") from None
        former = tuple(
            values for values in (known.values, *known.former) if values != self.values
        )
        pieces = (piece, *known.pieces)
        made = replace(known, values=self.values, former=former, pieces=pieces)
        if made.bare_text(after) != bare:
            raise _not_reversible()
        return FileEdit(after.encode()), made

    def without_former(self) -> Self:
        return replace(self, former=(), pieces=self.pieces[:1])

    def bare_text(self, text: str) -> str | None:
        """``text`` without our table, None where the table says something else by now."""
        for values in (self.values, *self.former):
            bare = toml_edit.cut(text, self.name, self.pieces, values)
            if bare is not None:
                return bare
        return None

    def _remove_from(self, current: bytes) -> FileEdit:
        try:
            text = _decoded_text(current)
            if toml_edit.table_at(tomllib.loads(text), self.name) is None:
                return FileEdit(current)
            bare = self.bare_text(text)
        except (EditRefused, ValueError, RecursionError) as e:
            why = f"cannot be read ({e}), and [{self.name}] stays in it"
            return FileEdit(current, (why,), is_done=False)
        if bare is None:
            return FileEdit(current, (f"[{self.name}] {BY_HAND}",))
        return FileEdit(None if self.is_made and not bare.strip() else bare.encode())

    def _status(self, current: bytes) -> ResourceStatus:
        found = toml_edit.table_at(tomllib.loads(_decoded_text(current)), self.name)
        if found is None:
            return ResourceStatus.MISSING
        is_intact = found == toml_edit.as_read(self.values)
        return ResourceStatus.INTACT if is_intact else ResourceStatus.CHANGED


def read_file(path: Path) -> bytes | None:
    """The bytes of a file, None where there is none. Raises OSError."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _entries_present(
    document: JsonDocument, entries: Iterable[JsonEntry]
) -> list[JsonEntry]:
    return [entry for entry in entries if json_edit.find(document, entry)]


def _replace_stale(
    text: str, stale: Iterable[JsonEntry], missing: list[JsonEntry], trace: JsonTrace
) -> tuple[str, JsonTrace]:
    """The text with what is missing: in the place of something stale, where it belongs there."""
    for old in stale:
        new = next((entry for entry in missing if entry.place == old.place), None)
        if new is None:
            text = json_edit.take(text, [old], trace)
        else:
            text = json_edit.replace_value(text, old, new.value)
            missing.remove(new)
    return json_edit.put(text, missing, trace)


def _obstacle(
    document: JsonDocument, entry: JsonEntry, known: Iterable[JsonEntry]
) -> str:
    """Why an entry cannot be put there: a person changed it, or something else has its name."""
    there = document.at(entry.path)
    if there is None or json_edit.find(document, entry):
        return ""
    place = ".".join(entry.path)
    values = [entry_.value for entry_ in known if entry_.path == entry.path]
    if not entry.is_element:
        why = f"{place} is another's, or was changed by hand, and is left as it is"
        return "" if there.value in values else why
    strange = [item.node.value for item in there.items if item.node.value not in values]
    is_ours = any(map(_names_keeplore, strange))
    return f"an entry of {place} is from elsewhere, or {BY_HAND}" if is_ours else ""


def _names_keeplore(value: Any) -> bool:
    text = json.dumps(value)
    return any(json.dumps(mark)[1:-1] in text for mark in MARKS)


def _holders(entries: Iterable[JsonEntry]) -> list[tuple[str, ...]]:
    """Every object and array that entries stand in, but for the whole."""
    return [
        entry.holder[:depth]
        for entry in entries
        for depth in range(1, len(entry.holder) + 1)
    ]


def _without_empty(value: Any) -> Any:
    """The value without empty lists and objects, which say nothing."""
    if not isinstance(value, dict):
        return value
    kept = {key: _without_empty(one) for key, one in value.items()}
    return {key: one for key, one in kept.items() if one not in ({}, [])}


def _decoded_text(data: bytes | None) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        raise EditRefused("it is not UTF-8", f"Save it as UTF-8 and {AGAIN}") from None


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _not_reversible() -> EditRefused:
    return EditRefused(
        "what would be put in could not be taken out byte for byte",
        "Please report this as a bug",
    )
