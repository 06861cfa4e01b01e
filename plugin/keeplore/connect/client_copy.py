"""The copy of the client for this machine: a place that stays the same over all releases.

Codex trusts a hash of the command line, and a plugin's own folder moves with every update: so hosts
run this copy.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from pathlib import Path

from keeplore.connect import assets
from keeplore.connect.hook_events import Launcher
from keeplore_hooks import durable
from keeplore_hooks.hosts import PLUGIN

FOLDER = "client"
WITH_PATH = ("claude-code",)  # its shell finds what lies in a plugin's bin/
HINTS = 12  # of a context, "`keeplore …`", in which the command line is replaced


def launcher(
    state: Path,
    *,
    search_path: str,
    has_mcp: bool,
    before_edit: bool = False,
    is_windows: bool = os.name == "nt",
) -> Launcher:
    """How hosts start the copy. ``search_path`` is the person's PATH; without ``has_mcp`` hosts get
    no MCP server.
    """
    client, mcp = (str(state / FOLDER / name) for name in ("client.py", "mcp.py"))
    python = sys.executable if is_windows else _python(search_path)
    isolated = (python, "-I", "-S")
    tell: tuple[str, ...] = ("sh", str(state / FOLDER / "client.sh"))
    if is_windows:
        tell = (_windowless_python(python), "-I", "-S", client)
    server = (*isolated, mcp) if has_mcp else ()
    return Launcher(
        (*isolated, client),
        tell,
        server,
        is_windows=is_windows,
        before_edit=before_edit,
        command=PLUGIN if is_windows else command_line(state),
    )


def command_line(state: Path) -> str:
    """Keeplore's command line for an agent's shell, where the person's own way to it may not be."""
    return shlex.join(("sh", str(state / FOLDER / "command.sh")))


def agents_command(state: Path, host: str, search_path: str = "") -> str:
    """Keeplore's command line for the agents of a host: the bare program where a PATH that they
    share has it, or where the host puts the folder of its plugin there; else by its path.

    Without a copy a plugin brought the client: the one beside this program is the same.
    """
    if _program_outside(PLUGIN, search_path):
        return PLUGIN
    if (state / FOLDER / "command.sh").exists():
        return command_line(state)
    if host in WITH_PATH or os.name == "nt":
        return PLUGIN
    return shlex.join(("sh", str(assets.client_folder() / "command.sh")))


def composing_room(size: int, command: str) -> int:
    """The bytes for composing a context that may have ``size`` bytes once ``with_command`` has put
    the longer command line into its hints.
    """
    return size - HINTS * (len(command) - len(PLUGIN))


def with_command(text: str, command: str) -> str:
    """A context with this command line in the hints that name ours."""
    parts = text.split(f"`{PLUGIN} ")
    named = f"`{command} ".join(parts[: HINTS + 1])
    return f"`{PLUGIN} ".join((named, *parts[HINTS + 1 :]))


def _windowless_python(python: str) -> str:
    """The Python beside it that opens no window and prints nothing, itself where there is none."""
    silent = Path(python).with_name("pythonw.exe")
    return str(silent) if silent.exists() else python


def refresh_clients(state: Path) -> tuple[str, ...]:
    """Bring the copy to the state of this release where hosts use one; returns what was written.
    Raises OSError.
    """
    return write_clients(state) if (state / FOLDER).is_dir() else ()


def write_clients(state: Path) -> tuple[str, ...]:
    """Write what differs; returns its names. Raises OSError."""
    old = outdated(state)
    # clients that run from here know by the spool that this is their state directory, whatever
    # their environment says
    for folder in (FOLDER, "spool"):
        durable.make_private(state / folder)
    for name in old:
        durable.write(state / FOLDER / name, assets.client_files()[name])
    return old


def outdated(state: Path) -> tuple[str, ...]:
    """The files of the copy that differ from those of this release."""
    files = assets.client_files().items()
    return tuple(
        name for name, data in files if _read_or_none(state / FOLDER / name) != data
    )


def _read_or_none(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _python(search_path: str) -> str:
    """``python3`` where the PATH has one that stays and is no script; else this very interpreter.

    One of a virtual environment goes away with it, and only the shell in which it is active finds
    it. A script, which looks for the version to run, takes ten times as long at each event.
    """
    found = _program_outside("python3", search_path)
    return "python3" if found and not _is_script(found) else sys.executable


def _is_script(program: str) -> bool:
    with contextlib.suppress(OSError), Path(program).open("rb") as file:
        return file.read(2) == b"#!"
    return False


def _program_outside(program: str, search_path: str) -> str | None:
    """The path of the program in PATH that is outside the environment that runs this process."""
    folders = [folder for folder in search_path.split(os.pathsep) if folder]
    staying = [
        folder for folder in folders if not Path(folder).is_relative_to(sys.prefix)
    ]
    return shutil.which(program, path=os.pathsep.join(staying))
