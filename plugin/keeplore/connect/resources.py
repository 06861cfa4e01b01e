"""The three forms in which something of ours stands in a host's directory, and how it gets there
and away again.

``Own`` is a file of ours, ``Entries`` are parts of a person's JSON file, ``Table`` is one of a
person's TOML file. Each is plain data without paths: bytes go in, bytes come out, and the manifest
keeps it as JSON. ``former`` is what an earlier release had put there, until it is gone: whoever is
killed in between knows both.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from keeplore.connect import json_edit, toml_edit
from keeplore.connect.json_edit import Entry, Trace
from keeplore.connect.jsonc import Document, NotJson, parse

INTACT, CHANGED, MISSING = "intact", "changed", "missing"
MARKS = ("client/client.py", "client/client.sh", r"client\client.py")  # in every command of ours
BY_HAND = "was changed by hand and is left as it is"


class Refused(Exception):
    """The file is left alone; the message says why, ``remedy`` what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Outcome:
    """``after``: the file's bytes then, None for no file; ``told``: what was left as it is, and
    why.

    ``is_done`` is False where the rest can be done once the person has mended the file.
    """

    after: bytes | None
    told: tuple[str, ...] = ()
    is_done: bool = True


@dataclass(frozen=True, slots=True)
class Own:
    """``hashes`` of what we have put there, the newest first; ``data`` is not kept."""

    hashes: tuple[str, ...]
    data: bytes = b""

    @classmethod
    def of(cls, data: bytes) -> Own:
        return cls((_hash(data),), data)

    def give(self, current: bytes | None, known: Own | None) -> tuple[Outcome, Own]:
        if current is None or current == self.data or (known and _hash(current) in known.hashes):
            former = tuple(one for one in (known.hashes if known else ()) if one not in self.hashes)
            return Outcome(self.data), replace(self, hashes=(*self.hashes, *former))
        if known:
            return Outcome(current, (BY_HAND,)), known
        raise Refused(
            "it is there already, and not Keeplore's",
            "Move it away and run `keeplore connect` again",
        )

    def take(self, current: bytes | None) -> Outcome:
        is_ours = current is None or _hash(current) in self.hashes
        return Outcome(None) if is_ours else Outcome(current, (BY_HAND,))

    def look(self, current: bytes | None) -> str:
        if current is None:
            return MISSING
        return INTACT if _hash(current) == self.hashes[0] else CHANGED

    def settled(self) -> Own:
        return replace(self, hashes=self.hashes[:1])


@dataclass(frozen=True, slots=True)
class Entries:
    """``skeleton`` is what a file that we make holds besides; ``origin`` is what a file without
    content held instead.

    ``host`` is named where it reads neither comments nor trailing commas.
    """

    entries: tuple[Entry, ...]
    skeleton: str = "{}"
    host: str = ""
    former: tuple[Entry, ...] = ()
    trace: Trace = field(default_factory=Trace)
    is_made: bool = False
    origin: str | None = None

    def give(self, current: bytes | None, known: Entries | None) -> tuple[Outcome, Entries]:
        text = _decoded(current)
        known = known or replace(self, entries=(), is_made=current is None)
        if not text.strip():  # whatever was there before is gone
            known = replace(
                known, is_made=known.is_made or current is None, origin=text, trace=Trace()
            )
        before = text if text.strip() else json.dumps(json.loads(self.skeleton), indent=2) + "\n"
        try:
            document = parse(before)
            if self.host and not document.is_strict:
                raise Refused(
                    f"it has comments or trailing commas, which {self.host} does not read",
                    "Take them out and run `keeplore connect` again",
                )
            return self._given(before, document, known)
        except NotJson as e:
            raise Refused(
                f"it is no JSON: {e}", "Mend it and run `keeplore connect` again"
            ) from None
        except ValueError as e:
            raise Refused(str(e), "Mend it and run `keeplore connect` again") from None

    def _given(self, before: str, document: Document, known: Entries) -> tuple[Outcome, Entries]:
        old = (*known.entries, *(one for one in known.former if one not in known.entries))
        obstacles = [
            (entry, why)
            for entry in self.entries
            if (why := _obstacle(document, entry, (*old, *self.entries)))
        ]
        held = [entry for entry, _ in obstacles]
        stale = [
            entry for entry in old if entry not in self.entries and json_edit.find(document, entry)
        ]
        missing = [
            entry
            for entry in self.entries
            if entry not in held and not json_edit.find(document, entry)
        ]
        text, kept = before, []
        for entry in stale:
            new = next(
                (
                    one
                    for one in missing
                    if (one.path, one.is_element) == (entry.path, entry.is_element)
                ),
                None,
            )
            if new is None:
                text = json_edit.take(text, [entry], known.trace)
            else:
                text = json_edit.swap(text, entry, new.value)
                missing.remove(new)
                kept.append(new)
        text, trace = json_edit.put(text, missing, known.trace)
        entries = tuple(
            entry for entry in self.entries if entry not in held or entry in known.entries
        )
        given = replace(known, entries=entries, former=tuple(stale), trace=trace, host=self.host)
        adopted = (
            ()
            if known.entries
            else tuple(one for one in self.entries if one not in missing and one not in held)
        )
        if adopted:  # the manifest was lost: what is empty without ours was made for ours
            old = adopted
            trace = replace(trace, made=tuple(dict.fromkeys((*trace.made, *_holders(adopted)))))
            given = replace(
                given,
                trace=trace,
                is_made=self._is_bare(parse(json_edit.take(before, adopted, trace))),
            )
        bare = json_edit.take(before, old, trace if adopted else known.trace)
        if json_edit.take(text, (*given.entries, *old), trace) != bare:
            raise Refused(
                "what would be put in could not be taken out byte for byte",
                "Please report this as a bug",
            )
        return Outcome(text.encode(), tuple(dict.fromkeys(why for _, why in obstacles))), given

    def take(self, current: bytes | None) -> Outcome:
        if current is None:
            return Outcome(None)
        try:
            text = json_edit.take(_decoded(current), (*self.former, *self.entries), self.trace)
            document = parse(text)
        except (Refused, ValueError) as e:
            return Outcome(
                current,
                (f"cannot be read ({e}), and Keeplore's entries stay in it",),
                is_done=False,
            )
        told = {why for entry in self.entries if (why := _obstacle(document, entry, ()))}
        is_bare = self._is_bare(document)
        if is_bare and self.is_made:
            return Outcome(None)
        if is_bare and self.origin is not None:
            return Outcome(self.origin.encode())
        return Outcome(text.encode(), tuple(sorted(told)))

    def look(self, current: bytes | None) -> str:
        try:
            document = parse(_decoded(current)) if current is not None else None
        except (Refused, ValueError):
            return CHANGED
        found = (
            [json_edit.find(document, entry) is not None for entry in self.entries]
            if document
            else []
        )
        if all(found) and document:
            return INTACT
        is_there = document and (
            any(found) or any(_obstacle(document, entry, ()) for entry in self.entries)
        )
        return CHANGED if is_there else MISSING

    def _is_bare(self, document: Document) -> bool:
        return document.is_strict and _bare(document.root.value) == _bare(json.loads(self.skeleton))

    def settled(self) -> Entries:
        return replace(self, former=())


@dataclass(frozen=True, slots=True)
class Table:
    """``values`` of the table ``name``; ``pieces`` are the very texts that were appended."""

    name: str
    values: tuple[tuple[str, toml_edit.Value], ...]
    former: tuple[tuple[tuple[str, toml_edit.Value], ...], ...] = ()
    pieces: tuple[str, ...] = ()
    is_made: bool = False

    def give(self, current: bytes | None, known: Table | None) -> tuple[Outcome, Table]:
        text = _decoded(current)
        try:
            found = toml_edit.at(tomllib.loads(text), self.name)
        except (tomllib.TOMLDecodeError, RecursionError) as e:
            raise Refused(
                f"it is no TOML: {e}", "Mend it and run `keeplore connect` again"
            ) from None
        known = known or replace(self, former=(), is_made=current is None)
        known = known if current is not None else replace(known, is_made=True)
        if found == toml_edit.plain(dict(self.values)):
            given = replace(known, values=self.values, former=())
            if not known.pieces:  # the manifest was lost
                given = replace(
                    given, pieces=(toml_edit.block(text, self.name, dict(self.values)),)
                )
                given = replace(given, is_made=not (given.without(text) or "").strip())
            return Outcome(current), given
        bare = text if found is None else known.without(text)
        if bare is None:
            why = BY_HAND if known.pieces else f"has another [{self.name}], which is left as it is"
            return Outcome(current, (f"[{self.name}] {why}" if known.pieces else why,)), known
        piece = toml_edit.block(bare, self.name, dict(self.values))
        try:
            after = toml_edit.append(bare, self.name, piece)
        except ValueError as e:
            raise Refused(str(e), f"Add it by hand:\n{piece.strip()}") from None
        former = tuple(one for one in (known.values, *known.former) if one != self.values)
        given = replace(known, values=self.values, former=former, pieces=(piece, *known.pieces))
        if given.without(after) != bare:
            raise Refused(
                "what would be put in could not be taken out byte for byte",
                "Please report this as a bug",
            )
        return Outcome(after.encode()), given

    def without(self, text: str) -> str | None:
        """``text`` without our table, None where the table says something else by now."""
        for values in (self.values, *self.former):
            bare = toml_edit.cut(text, self.name, self.pieces, dict(values))
            if bare is not None:
                return bare
        return None

    def take(self, current: bytes | None) -> Outcome:
        if current is None:
            return Outcome(None)
        try:
            text = _decoded(current)
            if toml_edit.at(tomllib.loads(text), self.name) is None:
                return Outcome(current)
            bare = self.without(text)
        except (Refused, ValueError, RecursionError) as e:
            return Outcome(
                current, (f"cannot be read ({e}), and [{self.name}] stays in it",), is_done=False
            )
        if bare is None:
            return Outcome(current, (f"[{self.name}] {BY_HAND}",))
        return Outcome(None if self.is_made and not bare.strip() else bare.encode())

    def look(self, current: bytes | None) -> str:
        try:
            found = toml_edit.at(tomllib.loads(_decoded(current)), self.name)
        except (Refused, ValueError, RecursionError):
            return CHANGED
        if found is None:
            return MISSING
        return INTACT if found == toml_edit.plain(dict(self.values)) else CHANGED

    def settled(self) -> Table:
        return replace(self, former=(), pieces=self.pieces[:1])


Form = Own | Entries | Table


def _obstacle(document: Document, entry: Entry, known: Iterable[Entry]) -> str:
    """Why an entry cannot be put there: something of ours that a person changed, or something of
    the same name.
    """
    there = document.at(entry.path)
    if there is None or json_edit.find(document, entry):
        return ""
    place, values = ".".join(entry.path), [one.value for one in known if one.path == entry.path]
    if not entry.is_element:
        is_ours = there.value in values
        return (
            "" if is_ours else f"{place} is another's, or was changed by hand, and is left as it is"
        )
    strange = (json.dumps(item.node.value) for item in there.items if item.node.value not in values)
    is_strange = any(json.dumps(mark)[1:-1] in text for text in strange for mark in MARKS)
    return f"an entry of {place} is from elsewhere, or {BY_HAND}" if is_strange else ""


def _holders(entries: Iterable[Entry]) -> list[tuple[str, ...]]:
    """Every object and array that entries stand in, but for the whole."""
    return [entry.holder[:depth] for entry in entries for depth in range(1, len(entry.holder) + 1)]


def _bare(value: Any) -> Any:
    """Without empty lists and objects, which say nothing."""
    if isinstance(value, dict):
        kept = {key: _bare(one) for key, one in value.items()}
        return {key: one for key, one in kept.items() if one not in ({}, [])}
    return value


def _decoded(data: bytes | None) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        raise Refused(
            "it is not UTF-8", "Save it as UTF-8 and run `keeplore connect` again"
        ) from None


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
