"""What Keeplore has put into hosts' directories: ``connections.json`` in the state directory.

It is written before a file is touched, so that whoever is killed at any moment finds everything
that may be there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from keeplore.connect.resources import JsonEntries, OwnFile, Resource, TomlTable
from keeplore.errors import ConfigError, reason_of
from keeplore_hooks import durable

FILE = "connections.json"
SCHEMA = 1
_KINDS: Mapping[str, type[Resource]] = {
    "own": OwnFile,
    "entries": JsonEntries,
    "table": TomlTable,
}
_KIND_OF = {resource: kind for kind, resource in _KINDS.items()}


@cache
def _reader(kind: str) -> TypeAdapter[Resource]:
    """What reads the form of a kind of resource; making one takes longer than reading a file of
    many. Raises KeyError.
    """
    return TypeAdapter(_KINDS[kind])


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """A host with its directory; several may need one file."""

    host: str
    directory: str


@dataclass(frozen=True, slots=True)
class ConnectedFile:
    """A file that was changed for hosts: ``path`` as a host names it, ``target`` where it really
    lies.
    """

    path: str
    target: str
    owners: tuple[Owner, ...]
    resource: Resource

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ConnectedFile:
        """The file as the record has it. Raises ValueError, KeyError and TypeError."""
        owners = tuple(Owner(**owner) for owner in data["owners"])
        resource = _reader(data["kind"]).validate_python(data["form"])
        return cls(data["path"], data["target"], owners, resource)

    def as_json(self) -> dict[str, Any]:
        data = asdict(self)
        form = data.pop("resource")
        form.pop("data", None)  # the hash tells as much
        return {**data, "kind": _KIND_OF[type(self.resource)], "form": form}


@dataclass(frozen=True, slots=True)
class ConnectionRecord:
    """``files`` by path; ``folders`` are directories that we made."""

    files: Mapping[str, ConnectedFile] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    @classmethod
    def load(cls, state: Path) -> ConnectionRecord:
        """The record in a state directory, an empty one where there is none. Raises ConfigError
        where the file cannot be read.
        """
        path = state / FILE
        try:
            data = json.loads(path.read_bytes())
            if data["schema"] != SCHEMA:
                raise ConfigError(
                    f"{path} is of a later Keeplore",
                    "Run `keeplore upgrade`, which says how to upgrade this one",
                )
            files = [ConnectedFile.of(file) for file in data["files"]]
            return cls(
                {file.path: file for file in files}, tuple(map(str, data["folders"]))
            )
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, KeyError, TypeError) as e:
            raise ConfigError(
                f"{path} cannot be read: {reason_of(e)}",
                (
                    "Restore it from a backup, or remove it and take out by hand what names "
                    "keeplore in hosts' files"
                ),
            ) from e

    def save(self, state: Path) -> None:
        """Write the record into the state directory, or delete its file where nothing is connected.
        Raises OSError.
        """
        if not self.files and not self.folders:
            (state / FILE).unlink(missing_ok=True)
            return
        files = [self.files[path].as_json() for path in sorted(self.files)]
        data = {"schema": SCHEMA, "files": files, "folders": self.folders}
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        durable.write(state / FILE, text.encode())

    def owners(self, host: str = "") -> list[Owner]:
        """Who is connected: every owner, or those of one host."""
        every = {owner for file in self.files.values() for owner in file.owners}
        return sorted(owner for owner in every if host in ("", owner.host))

    def of(self, owner: Owner) -> list[ConnectedFile]:
        return [file for file in self.files.values() if owner in file.owners]

    def with_files(self, files: Iterable[ConnectedFile]) -> ConnectionRecord:
        return replace(
            self, files={**self.files, **{file.path: file for file in files}}
        )

    def without_former(self) -> ConnectionRecord:
        """When everything is done: without what was there before."""
        return self.with_files(
            replace(file, resource=file.resource.without_former())
            for file in self.files.values()
        )
