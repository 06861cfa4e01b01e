"""What each host is told to run: one table of host events, written in the form of each host's own
files.

The files below ``plugin/`` are this table with ``BUNDLED``; ``keeplore connect`` writes it with
this machine's paths.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.errors import ConfigError
from keeplore_hooks.hosts import COMMANDS, PLUGIN

TIMEOUT_S = 5
_LAST_S = 1  # Claude Code gives a plugin 1.5 s at a session's end
_CODEX_LAST_S = 3  # Codex gives no more at a session's end and after an interruption
_OWN = rf"({PLUGIN}:)?({'|'.join(COMMANDS)})"
_PLAIN = re.compile(r"[\w@%+=:,./\\-]+", re.ASCII)


@dataclass(frozen=True)
class Launcher:
    """How a host starts Keeplore's client: beginnings of command lines; ``ask`` and ``tell`` get
    host and event.

    ``windows`` is client.py as Windows starts it, for hosts that read one command for each system
    from one file; ``is_windows`` says that the rest is for Windows too, ``has_variable`` that a
    shell must fill in a variable. With ``before_edit`` hosts ask before an agent edits a file.
    """

    ask: tuple[str, ...]  # client.py: a reply is wanted
    tell: tuple[str, ...]  # client.sh: nothing is answered; on Windows client.py as well
    mcp: tuple[str, ...]
    windows: tuple[str, ...] = ()
    is_windows: bool = False
    has_variable: bool = False
    before_edit: bool = False


@dataclass(frozen=True)
class Entry:
    """One host event for which a host runs the client."""

    event: str
    is_asked: bool = False
    matcher: str = ""
    timeout_s: int = TIMEOUT_S


# host → the events that its adapter reads; matchers are in the host's own syntax
ENTRIES: Mapping[str, tuple[Entry, ...]] = {
    "claude-code": (
        Entry("SessionStart", is_asked=True),
        Entry("UserPromptSubmit", is_asked=True),
        Entry("UserPromptExpansion", is_asked=True, matcher=f"^{_OWN}$"),
        Entry("UserPromptExpansion", matcher=f"^(?!{_OWN}$).*$"),
        Entry("PostToolUse", matcher="AskUserQuestion"),
        Entry("Stop"),
        Entry("StopFailure"),
        Entry("SubagentStop"),
        Entry("PreCompact"),
        Entry("PostCompact"),
        Entry("SessionEnd", timeout_s=_LAST_S),
    ),
    "codex": (
        Entry("SessionStart", is_asked=True),
        Entry("UserPromptSubmit", is_asked=True),
        Entry("PostToolUse", matcher="request_user_input"),
        Entry("PreCompact"),
        Entry("PostCompact"),
        Entry("Stop"),
        Entry("SubagentStop"),
        Entry("Interrupt", timeout_s=_CODEX_LAST_S),
        Entry("SessionEnd", timeout_s=_CODEX_LAST_S),
    ),
    "gemini-cli": (
        Entry("SessionStart", is_asked=True),
        Entry("BeforeAgent", is_asked=True),
        Entry("AfterAgent"),
        Entry("AfterTool", matcher="^ask_user$"),
        Entry("PreCompress"),
        Entry("SessionEnd"),
    ),
    "cursor": (
        Entry("sessionStart", is_asked=True),
        Entry("beforeSubmitPrompt", is_asked=True),
        Entry("afterAgentResponse"),
        Entry("afterFileEdit"),
        Entry("afterShellExecution"),
        Entry("postToolUse", matcher="AskQuestion|Delete"),
        Entry("preCompact"),
        Entry("subagentStop"),
        Entry("stop"),
        Entry("sessionEnd"),
    ),
    "copilot": (
        Entry("sessionStart", is_asked=True),
        Entry("userPromptSubmitted", is_asked=True),
        Entry("postToolUse", matcher="ask_user"),
        Entry("preCompact"),
        Entry("agentStop"),
        Entry("subagentStop"),
        Entry("errorOccurred"),
        Entry("sessionEnd"),
    ),
    # it has no file of this kind: the shim opencode/keeplore.ts runs the client
    "opencode": (
        Entry("session.created", is_asked=True),
        Entry("chat.message", is_asked=True),
        Entry("command.execute.before", is_asked=True),
        Entry("experimental.session.compacting"),
        Entry("session.compacted", is_asked=True),
        Entry("session.idle"),
        Entry("session.error"),
        Entry("session.deleted"),
    ),
}


# only where a person wants to be told before an edit: else every edit would start a client for
# nothing
BEFORE_EDIT: Mapping[str, Entry] = {
    "claude-code": Entry("PreToolUse", is_asked=True, matcher="Edit|Write|MultiEdit|NotebookEdit"),
    "codex": Entry("PreToolUse", is_asked=True, matcher="apply_patch"),
}


def hooks(host: str, launcher: Launcher) -> dict[str, Any]:
    """The whole content of the file in which ``host`` reads what to run at its events."""
    form = _FORMS.get(host)
    if form is None:
        raise ConfigError(
            f"{host} reads no file of host events", f"Use one of: {', '.join(_FORMS)}"
        )
    events: dict[str, list[dict[str, Any]]] = {}
    wished = [BEFORE_EDIT[host]] if launcher.before_edit and host in BEFORE_EDIT else []
    for entry in [*ENTRIES[host], *wished]:
        events.setdefault(entry.event, []).append(form(launcher, entry))
    return {"version": 1, "hooks": events} if host in _VERSIONED else {"hooks": events}


def mcp(host: str, launcher: Launcher) -> dict[str, Any]:
    """The entry of the MCP server as ``host`` writes it, under the server's name ``keeplore``."""
    command, *arguments = launcher.mcp
    if host == "opencode":
        return {"type": "local", "command": [command, *arguments], "enabled": True}
    if host == "copilot":
        return {"type": "local", "command": command, "args": arguments, "tools": ["*"]}
    return {"command": command, "args": arguments}


def _claude(launcher: Launcher, entry: Entry) -> dict[str, Any]:
    if launcher.is_windows:
        command, *arguments = _line(launcher, "claude-code", entry)
    else:  # sh, because a person's own shell may print something before the client does
        command, arguments = "sh", ["-c", _posix(launcher, "claude-code", entry)]
    return _grouped(
        entry,
        {"type": "command", "command": command, "args": arguments, "timeout": entry.timeout_s},
    )


def _codex(launcher: Launcher, entry: Entry) -> dict[str, Any]:
    handler: dict[str, Any] = {"type": "command", "command": _shell(launcher, "codex", entry, _cmd)}
    if launcher.windows:
        handler["commandWindows"] = _cmd(launcher, (*launcher.windows, "codex", entry.event))
    return _grouped(entry, {**handler, "timeout": entry.timeout_s})


def _gemini(launcher: Launcher, entry: Entry) -> dict[str, Any]:
    command = _shell(launcher, "gemini-cli", entry, _powershell)
    handler = {
        "type": "command",
        "name": PLUGIN,
        "command": command,
        "timeout": entry.timeout_s * 1000,
    }
    return _grouped(entry, handler)


def _cursor(launcher: Launcher, entry: Entry) -> dict[str, Any]:
    command = _shell(launcher, "cursor", entry, _powershell)
    return _matched(entry, {"command": command, "timeout": entry.timeout_s})


def _copilot(launcher: Launcher, entry: Entry) -> dict[str, Any]:
    handler: dict[str, Any] = {"type": "command"}
    if launcher.is_windows:
        handler["powershell"] = _powershell(launcher, _line(launcher, "copilot", entry))
    else:
        handler["bash"] = _posix(launcher, "copilot", entry)
    if launcher.windows:
        handler["powershell"] = _powershell(launcher, (*launcher.windows, "copilot", entry.event))
    return _matched(entry, {**handler, "timeoutSec": entry.timeout_s})


def _matched(entry: Entry, handler: dict[str, Any]) -> dict[str, Any]:
    return {"matcher": entry.matcher, **handler} if entry.matcher else handler


def _grouped(entry: Entry, handler: dict[str, Any]) -> dict[str, Any]:
    return _matched(entry, {"hooks": [handler]})


def _line(launcher: Launcher, host: str, entry: Entry) -> tuple[str, ...]:
    return (*(launcher.ask if entry.is_asked else launcher.tell), host, entry.event)


def _shell(launcher: Launcher, host: str, entry: Entry, windows: _Quote) -> str:
    return (
        windows(launcher, _line(launcher, host, entry))
        if launcher.is_windows
        else _posix(launcher, host, entry)
    )


def _posix(launcher: Launcher, host: str, entry: Entry) -> str:
    """The client always exits with 0: the rest runs where the client or Python is missing.

    A host takes the 2 with which shells and Python then exit for a refusal, and would stop the
    session. What is only asked before an edit need not be kept: the transcript has it.
    """
    asked = [launcher.ask] if entry in BEFORE_EDIT.values() else [launcher.ask, launcher.tell]
    lines = asked if entry.is_asked else [launcher.tell]
    runs = [
        " ".join(_word(launcher, word) for word in (*line, host, entry.event)) for line in lines
    ]
    return " || ".join([*runs, "exit 0"])


def _word(launcher: Launcher, word: str) -> str:
    return f'"{word}"' if launcher.has_variable and "$" in word else shlex.quote(word)


def _cmd(launcher: Launcher, words: tuple[str, ...]) -> str:  # noqa: ARG001 (one signature for all shells)
    return (
        " ".join(
            word if _PLAIN.fullmatch(word) and "%" not in word else f'"{word}"' for word in words
        )
        + " || exit 0"
    )


def _powershell(launcher: Launcher, words: tuple[str, ...]) -> str:
    def quoted(word: str) -> str:
        if launcher.has_variable and "$" in word:
            return f'"{word}"'
        return (
            word
            if _PLAIN.fullmatch(word) and "," not in word
            else "'" + word.replace("'", "''") + "'"
        )

    return f"& {' '.join(map(quoted, words))}; exit 0"


_Quote = Callable[[Launcher, tuple[str, ...]], str]
_FORMS: Mapping[str, Callable[[Launcher, Entry], dict[str, Any]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "cursor": _cursor,
    "copilot": _copilot,
}
_VERSIONED = ("cursor", "copilot")


def _bundled(root: str, server: str = "", windows: str = "") -> Launcher:
    client = f"{root}/keeplore/client"
    python = ("python3", "-I", "-S")
    return Launcher(
        ask=(*python, f"{client}/client.py"),
        tell=("sh", f"{client}/client.sh"),
        mcp=(*python, f"{server or root}/keeplore/client/mcp.py"),
        windows=("py", "-3", "-I", "-S", rf"{windows}\keeplore\client\client.py")
        if windows
        else (),
        has_variable=True,
    )


# host → how it starts the client out of the plugin that a marketplace installed, or of a linked
# extension
BUNDLED: Mapping[str, Launcher] = {
    "claude-code": _bundled("${CLAUDE_PLUGIN_ROOT}"),
    "codex": _bundled("$PLUGIN_ROOT", server=".", windows="%PLUGIN_ROOT%"),
    "gemini-cli": _bundled("${extensionPath}/.."),
    "cursor": _bundled(
        "${CURSOR_PLUGIN_ROOT:-$CLAUDE_PLUGIN_ROOT}", server="${CURSOR_PLUGIN_ROOT}"
    ),
    "copilot": _bundled("${PLUGIN_ROOT}", windows="$env:PLUGIN_ROOT"),
}
