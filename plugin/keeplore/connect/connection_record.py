"""What Keeplore has put into hosts' directories: ``connections.json`` in the state directory.

It is written before a file is touched, so that whoever is killed at any moment finds everything
that may be there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from keeplore.connect.json_edit import Entry, Trace
from keeplore.connect.resources import Entries, Form, Own, Table
from keeplore.errors import ConfigError
from keeplore_hooks import durable

FILE = "connections.json"
SCHEMA = 1
_KINDS: Mapping[str, type[Form]] = {"own": Own, "entries": Entries, "table": Table}


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """A host with its directory; several may need one file."""

    host: str
    directory: str


@dataclass(frozen=True, slots=True)
class Kept:
    """One file: ``path`` as a host names it, ``target`` where it really lies."""

    path: str
    target: str
    owners: tuple[Owner, ...]
    form: Form


@dataclass(frozen=True, slots=True)
class Manifest:
    """``files`` by path; ``folders`` are directories that we made."""

    files: Mapping[str, Kept] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    @classmethod
    def load(cls, state: Path) -> Manifest:
        """Raises ConfigError where the file is there and cannot be read."""
        path = state / FILE
        try:
            data = json.loads(path.read_bytes())
            if data["schema"] != SCHEMA:
                raise ConfigError(
                    f"{path} is of a later Keeplore", "Update this one: `pip install -U keeplore`"
                )
            files = [_kept(one) for one in data["files"]]
            return cls({kept.path: kept for kept in files}, tuple(map(str, data["folders"])))
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, KeyError, TypeError) as e:
            remedy = (
                "Restore it from a backup, or remove it and take out by hand what names "
                "keeplore in hosts' files"
            )
            raise ConfigError(f"{path} cannot be read: {e}", remedy) from e

    def save(self, state: Path) -> None:
        """Raises OSError."""
        if not self.files and not self.folders:
            (state / FILE).unlink(missing_ok=True)
            return
        files = [_data(self.files[path]) for path in sorted(self.files)]
        data = {"schema": SCHEMA, "files": files, "folders": self.folders}
        durable.write(
            state / FILE, (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()
        )

    def owners(self, host: str = "") -> list[Owner]:
        """Who is connected: every owner, or those of one host."""
        return sorted(
            {one for kept in self.files.values() for one in kept.owners if host in ("", one.host)}
        )

    def of(self, owner: Owner) -> list[Kept]:
        return [kept for kept in self.files.values() if owner in kept.owners]

    def with_files(self, files: Iterable[Kept]) -> Manifest:
        return replace(self, files={**self.files, **{kept.path: kept for kept in files}})

    def settled(self) -> Manifest:
        """When everything is done: without what was there before."""
        return replace(
            self,
            files={
                path: replace(kept, form=kept.form.settled()) for path, kept in self.files.items()
            },
        )


def _data(kept: Kept) -> dict[str, Any]:
    kind = next(name for name, form in _KINDS.items() if isinstance(kept.form, form))
    form = asdict(kept.form)
    form.pop("data", None)  # the hash tells as much
    owners = [asdict(owner) for owner in kept.owners]
    return {"path": kept.path, "target": kept.target, "owners": owners, "kind": kind, "form": form}


def _kept(data: Mapping[str, Any]) -> Kept:
    form = dict(data["form"])
    made: Form
    if data["kind"] == "own":
        made = Own(tuple(form["hashes"]))
    elif data["kind"] == "entries":
        trace = form.pop("trace")
        inner = tuple((tuple(path), text) for path, text in trace["inner"])
        form["trace"] = Trace(tuple(map(tuple, trace["made"])), inner)
        made = Entries(
            **{**form, **{name: tuple(map(_entry, form[name])) for name in ("entries", "former")}}
        )
    else:
        made = Table(
            form["name"],
            _values(form["values"]),
            tuple(map(_values, form["former"])),
            tuple(form["pieces"]),
            bool(form["is_made"]),
        )
    return Kept(
        data["path"], data["target"], tuple(Owner(**owner) for owner in data["owners"]), made
    )


def _entry(data: Mapping[str, Any]) -> Entry:
    return Entry(tuple(data["path"]), data["value"], bool(data["is_element"]))


def _values(data: Iterable[Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((key, tuple(value) if isinstance(value, list) else value) for key, value in data)
