"""The files that a host is given, read from the installed distribution."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from keeplore.errors import ConfigError
from keeplore_hooks.hosts import PLUGIN

_PACKAGE = Path(__file__).resolve().parents[1]
# a program behind what it needs: a host may start it while a newer copy is written
_CLIENT = (
    "client.sh",
    "brief_on_disk.py",
    "contact.py",
    "client.py",
    "command.sh",
    "mcp_offer.json",
    "quick_json.py",
    "state_folder.py",
    "mcp_pipe.py",
    "mcp.py",
)
# an installed wheel carries them inside the package; in a checkout they stand where hosts look for
# them
_ROOTS = (_PACKAGE / "connect" / "plugin", _PACKAGE.parent)
# `keeplore` before a command of it
_COMMAND = re.compile(rb"(^|`)keeplore( [a-z])", re.MULTILINE)
_ADVICE = re.compile(rb"^If the shell does not find `keeplore`.*\n", re.MULTILINE)
# their directory for skills holds those of other programs too
SHARED_SKILLS = ("codex", "cursor", "copilot")


def client_folder() -> Path:
    """Where this installation has the client."""
    return _PACKAGE / "client"


def client_files() -> dict[str, bytes]:
    """File name → what the copy of the client for this machine holds."""
    return {name: (client_folder() / name).read_bytes() for name in _CLIENT}


def host_files(host: str, command: str = PLUGIN) -> dict[str, bytes]:
    """Relative path → content of what is put into a directory of ``host``'s own; agents are told to
    run ``command``, which must stay in every shell.

    Relative to: Claude Code's folder for this plugin, Gemini CLI's for this extension,
    ``~/.config/opencode``, and for Codex, Cursor and Copilot the directory that holds ``skills``.
    What ``hook_events`` gives is not among them. Raises ConfigError where the installation lacks
    them.
    """
    files = _host_files(host)
    return {name: _with_command(command, data) for name, data in files.items()}


def _with_command(command: str, text: bytes) -> bytes:
    """The text with this command line wherever it names ours: in scripts and in code spans. One
    that every shell finds needs no advice on where it is.
    """
    if command != PLUGIN:
        text = _ADVICE.sub(b"", text)
    return _COMMAND.sub(lambda found: found[1] + command.encode() + found[2], text)


def _host_files(host: str) -> dict[str, bytes]:
    root = _root()
    skills = _files_below(root / "skills")
    if host == "claude-code":
        manifest = ".claude-plugin/plugin.json"
        return {
            manifest: (root / manifest).read_bytes(),
            **_below_folder("skills", skills),
        }
    if host in SHARED_SKILLS:
        return _below_folder("skills", _renamed(skills))
    if host == "gemini-cli":
        files = _files_below(root / "gemini").items()
        return {name: data for name, data in files if not name.startswith("hooks/")}
    if host == "opencode":
        return _opencode(root / "opencode")
    raise ConfigError(
        f"there are no files for a host called {host}", "See keeplore connect --help"
    )


def _opencode(folder: Path) -> dict[str, bytes]:
    shim = {f"plugins/{PLUGIN}.ts": (folder / f"{PLUGIN}.ts").read_bytes()}
    return {**shim, **_below_folder("commands", _files_below(folder / "commands"))}


def _root() -> Path:
    for root in _ROOTS:
        if (root / "skills").is_dir():
            return root
    raise ConfigError(
        f"the parts for hosts are not at {_ROOTS[0]}", "Install keeplore again"
    )


def _files_below(folder: Path) -> dict[str, bytes]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _below_folder(folder: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{name}": data for name, data in files.items()}


def _renamed(skills: Mapping[str, bytes]) -> dict[str, bytes]:
    """The skills with the plugin's name before their own, ``keeplore-remember`` for ``remember``:
    there no host puts it there, and another tool may have a skill of that name.
    """
    renamed = {}
    for path, data in skills.items():
        name = path.partition("/")[0]
        renamed[f"{PLUGIN}-{path}"] = data.replace(
            f"name: {name}\n".encode(), f"name: {PLUGIN}-{name}\n".encode(), 1
        )
    return renamed
