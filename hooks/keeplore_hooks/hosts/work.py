"""What an agent does during a turn, gathered as references from its tool calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from keeplore_hooks.events import Work

_FILES, _COMMANDS, _COMMITS, _LINKS = 100, 50, 20, 10  # kept of one turn
_COMMAND_LENGTH = 200  # characters
_COMMIT = re.compile(r"^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] (.{1,200})$", re.MULTILINE)
_REQUEST = re.compile(r"^https://[\w.-]{1,200}/[\w./-]{1,200}/(?:pull|merge_requests)/\d{1,10}$", re.MULTILINE)


@dataclass(slots=True)
class WorkLog:
    """References by tool call, so that those of a call that came to nothing can be taken back."""

    _files: dict[str, str] = field(default_factory=dict)  # by call
    _commands: dict[str, str] = field(default_factory=dict)  # by call
    _commits: list[str] = field(default_factory=list)
    _links: list[str] = field(default_factory=list)

    def write(self, call: str, path: str) -> None:
        """Take a file that the call writes, edits or removes."""
        if path and len(self._files) < _FILES:
            self._files[call] = path

    def run(self, call: str, command: str) -> str:
        """Take a shell command; returns what is kept of it."""
        kept = command.strip().partition("\n")[0][:_COMMAND_LENGTH]
        if kept and len(self._commands) < _COMMANDS:
            self._commands[call] = kept
        return kept

    def failed(self, call: str) -> None:
        """The call changed nothing; that a command was run stays worth knowing."""
        self._files.pop(call, None)

    def refused(self, call: str) -> None:
        self._files.pop(call, None)
        self._commands.pop(call, None)

    def printed(self, output: str) -> None:
        """Take the commits that ``git commit`` reports."""
        found = [commit for commit in commits(output) if commit not in self._commits]
        self._commits += found[: _COMMITS - len(self._commits)]

    def link(self, url: str) -> bool:
        """Take a pull request's address; False when there is nothing new in it."""
        is_new = bool(url) and url not in self._links and len(self._links) < _LINKS
        if is_new:
            self._links.append(url)
        return is_new

    def work(self) -> Work:
        return Work(
            files=tuple(dict.fromkeys(self._files.values())),
            commands=tuple(dict.fromkeys(self._commands.values())),
            commits=tuple(self._commits),
            links=tuple(self._links),
        )


def commits(output: str) -> Iterator[str]:
    """The commits that ``git commit`` reports: ``<abbreviated hash> <subject>``."""
    return (f"{match[1]} {match[2].strip()}" for match in _COMMIT.finditer(output))


def requests(output: str) -> Iterator[str]:
    """The pull requests that ``gh pr create`` and ``glab mr create`` report: addresses alone on their lines."""
    return (match[0] for match in _REQUEST.finditer(output))
