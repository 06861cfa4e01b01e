"""What this machine is called and which workspaces it knows: ``machine.json`` in the state
directory.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
import socket
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from keeplore.config import machine_fingerprint
from keeplore.config.places import Places
from keeplore.errors import ConfigError, reason_of
from keeplore_hooks import durable

FILE = "machine.json"
COPY = "machine.json.copy"  # of the same; a power cut may leave the file empty or torn
SCHEMA = 1
KEY_BYTES = 32
UNNAMED = "machine"  # to which the system gives no name
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class Machine:
    """``workspaces`` maps a name to the workspace's directory; ``home`` names the person's own.

    ``copied_from`` is the id that this machine had while its files were still those of another one.
    """

    id: str
    name: str
    home: str = ""
    workspaces: dict[str, Path] = field(default_factory=dict)
    copied_from: str = ""

    @classmethod
    def load(cls, places: Places) -> Machine:
        """Read ``machine.json``, or make a new identity where there is none, or where it was copied
        from elsewhere.

        Two machines with one identity would write the same files. Raises ConfigError where it
        cannot be read.
        """
        path = places.state / FILE
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return _new_machine()
        except OSError as e:
            raise _unreadable(path, e) from e
        try:
            return cls._from_data(json.loads(data), places)
        except _DAMAGE as e:
            if (whole := cls._load_copy(places)) is not None:
                return whole
            if not data:
                return _new_machine()
            raise _unreadable(path, e) from e

    @classmethod
    def _load_copy(cls, places: Places) -> Machine | None:
        """What the copy says, put back in its place; None where it cannot be read either."""
        try:
            machine = cls._from_data(
                json.loads((places.state / COPY).read_bytes()), places
            )
        except (OSError, *_DAMAGE):
            return None
        with contextlib.suppress(OSError):
            machine.save(places)
        return machine

    @classmethod
    def _from_data(cls, data: dict[str, Any], places: Places) -> Machine:
        known = {str(name): Path(place) for name, place in data["workspaces"].items()}
        copied = str(data.get("copied_from", ""))
        found = cls(
            str(data["id"]), str(data["name"]), str(data["home"]), known, copied
        )
        return found._on_this_computer(places, str(data.get("hardware", "")))

    def save(self, places: Places) -> None:
        data = {
            "schema": SCHEMA,
            "id": self.id,
            "name": self.name,
            "home": self.home,
            "hardware": machine_fingerprint.mark(),
            "copied_from": self.copied_from,
            "workspaces": {
                name: str(path) for name, path in sorted(self.workspaces.items())
            },
        }
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        for name in (COPY, FILE):
            durable.write(places.state / name, text.encode())

    def _on_this_computer(self, places: Places, mark: str) -> Machine:
        """This machine; with an id of its own where the file was written on another computer, which
        has the fingerprint ``mark``.
        """
        here = machine_fingerprint.mark()
        if not (mark and here) or mark == here:
            return self
        host = host_name() or UNNAMED
        # every process of this machine comes to the same id, whichever is first
        own = hashlib.sha256(f"{self.id}/{here}".encode()).hexdigest()[:4]
        machine = replace(self, id=f"{host[:24]}-{own}", name=host, copied_from=self.id)
        machine.save(places)
        return machine

    def workspace_around(self, directory: Path) -> str:
        """The name of the innermost workspace that a directory lies in, "" for none."""
        around = {
            len(root.parts): name
            for name, root in self.workspaces.items()
            if directory.is_relative_to(root)
        }
        return around[max(around)] if around else ""

    def with_workspace(self, name: str, directory: Path) -> Machine:
        """A copy that knows one more workspace; the first one becomes the home workspace."""
        return replace(
            self,
            home=self.home or name,
            workspaces={**self.workspaces, name: directory},
        )


def _new_machine() -> Machine:
    """A machine that has no name and no workspaces yet."""
    host = host_name() or UNNAMED
    return Machine(f"{host[:24]}-{secrets.token_hex(2)}", host)


def _unreadable(path: Path, error: Exception) -> ConfigError:
    return ConfigError(
        f"{path} cannot be read: {reason_of(error)}",
        "Mend or remove it, then run `keeplore init DIR`",
    )


def host_name() -> str:
    """What the system calls this computer, in letters and digits of ASCII; "" for no such."""
    name = socket.gethostname().split(".")[0].lower()
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")


def redaction_key(places: Places) -> bytes:
    """The key of this machine's secret fingerprints: made once, never synced, so that they cannot
    be guessed.
    """
    path = places.state / "redaction.key"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        durable.write(path, secrets.token_bytes(KEY_BYTES))
        return path.read_bytes()
