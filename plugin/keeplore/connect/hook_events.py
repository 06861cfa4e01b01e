"""What each host is told to run: one table of host events, written in the form of each host's own
files.

The files below ``plugin/`` are this table with ``BUNDLED``; ``keeplore connect`` writes it with
this machine's paths.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keeplore.errors import ConfigError
from keeplore_hooks.hosts import COMMANDS, PLUGIN

TIMEOUT_S = 5
_TABLE = Path(__file__).with_name("hook_events.toml")
_OWN = rf"({PLUGIN}:)?({'|'.join(COMMANDS)})"
_PLAIN = re.compile(r"[\w@%+=:,./\\-]+", re.ASCII)
_VERSIONED = ("cursor", "copilot")
# runs a shell script in the shell that guards its exit code, which saves one
_IN_THIS_SHELL = "trap 'exit 0' 0; . \"$0\""


@dataclass(frozen=True)
class HookEvent:
    """An event for which a host runs the client."""

    event: str
    is_asked: bool = False
    matcher: str = ""
    timeout_s: int = TIMEOUT_S


@dataclass(frozen=True)
class Launcher:
    """How a host starts Keeplore's client: beginnings of command lines; ``ask`` and ``tell`` get
    host and event.

    ``windows`` is client.py as Windows starts it, for hosts that read one command for each system
    from one file; ``is_windows`` says that the rest is for Windows too, ``has_variable`` that a
    shell must fill in a variable. With ``before_edit`` hosts ask before an agent edits a file.
    ``command`` is Keeplore's command line as it stands in every shell.
    """

    ask: tuple[str, ...]  # client.py: a reply is wanted
    # client.sh: nothing is answered; on Windows client.py as well
    tell: tuple[str, ...]
    mcp: tuple[str, ...]
    windows: tuple[str, ...] = ()
    is_windows: bool = False
    has_variable: bool = False
    before_edit: bool = False
    command: str = PLUGIN  # what agents are told to run

    def words(self, host: str, hook: HookEvent) -> tuple[str, ...]:
        """The command line for an event."""
        return (*(self.ask if hook.is_asked else self.tell), host, hook.event)


def _events() -> dict[str, tuple[HookEvent, ...]]:
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8").replace("{own}", _OWN))
    return {
        host: tuple(HookEvent(**row) for row in rows) for host, rows in table.items()
    }


# host → the events that its adapter reads
EVENTS: Mapping[str, tuple[HookEvent, ...]] = _events()
# only where a person wants to be told before an edit: else every edit would start a client for
# nothing
BEFORE_EDIT: Mapping[str, HookEvent] = {
    "claude-code": HookEvent(
        "PreToolUse", is_asked=True, matcher="Edit|Write|MultiEdit|NotebookEdit"
    ),
    "codex": HookEvent("PreToolUse", is_asked=True, matcher="apply_patch"),
}


def hooks(host: str, launcher: Launcher) -> dict[str, Any]:
    """The whole content of the file in which ``host`` reads what to run at its events."""
    form = _FORMS.get(host)
    if form is None:
        raise ConfigError(
            f"{host} reads no file of host events", f"Use one of: {', '.join(_FORMS)}"
        )
    wished = [BEFORE_EDIT[host]] if launcher.before_edit and host in BEFORE_EDIT else []
    events: dict[str, list[dict[str, Any]]] = {}
    for hook in (*EVENTS[host], *wished):
        handler = form(launcher, hook)
        events.setdefault(hook.event, []).append(_entry(host, hook, handler))
    return {"version": 1, "hooks": events} if host in _VERSIONED else {"hooks": events}


def _entry(host: str, hook: HookEvent, handler: dict[str, Any]) -> dict[str, Any]:
    entry = {"hooks": [handler]} if host in _GROUPED else handler
    return {"matcher": hook.matcher, **entry} if hook.matcher else entry


def mcp(host: str, launcher: Launcher) -> dict[str, Any]:
    """The entry of the MCP server as ``host`` writes it, under the server's name ``keeplore``."""
    command, *arguments = launcher.mcp
    if host == "opencode":
        return {"type": "local", "command": [command, *arguments], "enabled": True}
    if host == "copilot":
        return {"type": "local", "command": command, "args": arguments, "tools": ["*"]}
    return {"command": command, "args": arguments}


def _claude(launcher: Launcher, hook: HookEvent) -> dict[str, Any]:
    words = launcher.words("claude-code", hook)
    if launcher.is_windows:
        command, *arguments = words
    elif hook.is_asked:  # sh: a person's own shell may print before the client does
        command, arguments = "sh", ["-c", _posix(launcher, "claude-code", hook)]
    else:
        command, *arguments = "sh", "-c", _IN_THIS_SHELL, *words[1:]
    line = {"command": command, "args": arguments}
    return {"type": "command", **line, "timeout": hook.timeout_s}


def _codex(launcher: Launcher, hook: HookEvent) -> dict[str, Any]:
    handler: dict[str, Any] = {
        "type": "command",
        "command": _shell(launcher, "codex", hook, _cmd),
    }
    if launcher.windows:
        handler["commandWindows"] = _cmd(
            launcher, (*launcher.windows, "codex", hook.event)
        )
    return {**handler, "timeout": hook.timeout_s}


def _gemini(launcher: Launcher, hook: HookEvent) -> dict[str, Any]:
    command = _shell(launcher, "gemini-cli", hook, _powershell)
    handler = {"type": "command", "name": PLUGIN, "command": command}
    return {**handler, "timeout": hook.timeout_s * 1000}


def _cursor(launcher: Launcher, hook: HookEvent) -> dict[str, Any]:
    command = _shell(launcher, "cursor", hook, _powershell)
    return {"command": command, "timeout": hook.timeout_s}


def _copilot(launcher: Launcher, hook: HookEvent) -> dict[str, Any]:
    """A handler as Copilot CLI reads it, with a command for each kind of shell."""
    handler: dict[str, Any] = {"type": "command"}
    if launcher.is_windows:
        handler["powershell"] = _powershell(launcher, launcher.words("copilot", hook))
    else:
        handler["bash"] = _posix(launcher, "copilot", hook)
    if launcher.windows:
        handler["powershell"] = _powershell(
            launcher, (*launcher.windows, "copilot", hook.event)
        )
    return {**handler, "timeoutSec": hook.timeout_s}


def _shell(launcher: Launcher, host: str, hook: HookEvent, windows: _Shell) -> str:
    if launcher.is_windows:
        return windows(launcher, launcher.words(host, hook))
    return _posix(launcher, host, hook)


def _posix(launcher: Launcher, host: str, hook: HookEvent) -> str:
    """The client always exits with 0: the rest runs where the client or Python is missing.

    A host takes the 2 with which shells and Python then exit for a refusal, and would stop the
    session. What is only asked before an edit need not be kept: the transcript has it.
    """
    lines = [launcher.words(host, hook)]
    if hook.is_asked and hook not in BEFORE_EDIT.values():
        lines.append((*launcher.tell, host, hook.event))
    runs = [" ".join(_word(launcher, word) for word in line) for line in lines]
    return " || ".join([*runs, "exit 0"])


def _word(launcher: Launcher, word: str) -> str:
    return f'"{word}"' if launcher.has_variable and "$" in word else shlex.quote(word)


def _cmd(_launcher: Launcher, words: tuple[str, ...]) -> str:
    quoted = [
        word if _PLAIN.fullmatch(word) and "%" not in word else f'"{word}"'
        for word in words
    ]
    return f"{' '.join(quoted)} || exit 0"


def _powershell(launcher: Launcher, words: tuple[str, ...]) -> str:
    def quoted(word: str) -> str:
        if launcher.has_variable and "$" in word:
            return f'"{word}"'
        if _PLAIN.fullmatch(word) and "," not in word:
            return word
        return "'" + word.replace("'", "''") + "'"

    return f"& {' '.join(map(quoted, words))}; exit 0"


_Shell = Callable[[Launcher, tuple[str, ...]], str]
_FORMS: Mapping[str, Callable[[Launcher, HookEvent], dict[str, Any]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "cursor": _cursor,
    "copilot": _copilot,
}
# they take several handlers for one matcher
_GROUPED = ("claude-code", "codex", "gemini-cli")


def _bundled_launcher(root: str, server: str = "", windows: str = "") -> Launcher:
    client = f"{root}/keeplore/client"
    python = ("python3", "-I", "-S")
    launcher = rf"{windows}\keeplore\client\client.py"
    return Launcher(
        ask=(*python, f"{client}/client.py"),
        tell=("sh", f"{client}/client.sh"),
        mcp=(*python, f"{server or root}/keeplore/client/mcp.py"),
        windows=("py", "-3", "-I", "-S", launcher) if windows else (),
        has_variable=True,
    )


# host → how it starts the client out of the plugin that a marketplace installed, or of a linked
# extension
BUNDLED: Mapping[str, Launcher] = {
    "claude-code": _bundled_launcher("${CLAUDE_PLUGIN_ROOT}"),
    "codex": _bundled_launcher("$PLUGIN_ROOT", server=".", windows="%PLUGIN_ROOT%"),
    "gemini-cli": _bundled_launcher("${extensionPath}/.."),
    "cursor": _bundled_launcher(
        "${CURSOR_PLUGIN_ROOT:-$CLAUDE_PLUGIN_ROOT}", server="${CURSOR_PLUGIN_ROOT}"
    ),
    "copilot": _bundled_launcher("${PLUGIN_ROOT}", windows="$env:PLUGIN_ROOT"),
}
