"""What an agent does during a turn, gathered as references from its tool calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from keeplore_hooks.events import Work
from keeplore_hooks.hosts import shell_commands

_FILES, _COMMANDS, _COMMITS, _LINKS, _AGENTS = 100, 50, 20, 10, 20  # kept of one turn
_TASK_LENGTH = 150  # characters
_ID_LENGTH = 60  # characters


@dataclass(slots=True)
class WorkLog:
    """References by tool call, so that those of a call that came to nothing can be taken back."""

    _files: dict[str, str] = field(default_factory=dict)  # by call
    _commands: dict[str, str] = field(default_factory=dict)  # by call
    _commits: list[str] = field(default_factory=list)
    _links: list[str] = field(default_factory=list)
    # by call: task, the host's id of the agent
    _agents: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add_file(self, call: str, path: str) -> None:
        """Add a file that the call writes, edits or removes."""
        if path and len(self._files) < _FILES:
            self._files[call] = path

    def add_command(self, call: str, command: str) -> str:
        """Add a shell command; returns what is kept of it."""
        kept = shell_commands.telling_line(command)
        if kept and len(self._commands) < _COMMANDS:
            self._commands[call] = kept
        return kept

    def add_command_with_output(self, call: str, command: str, output: str) -> None:
        """Add a shell command with the commits and pull requests that its output tells."""
        self.add_command(call, command)
        self.add_output(command, output)

    def drop_file(self, call: str) -> None:
        """Forget the file of a call that failed; that a command was run stays worth knowing."""
        self._files.pop(call, None)

    def drop_call(self, call: str) -> None:
        """Forget all of a call that was refused, which therefore did nothing."""
        self._files.pop(call, None)
        self._commands.pop(call, None)
        self._agents.pop(call, None)

    def add_subagent_task(
        self, call: str, kind: str, task: str, agent: str = ""
    ) -> None:
        """Add the task of a subagent, whose talk is kept by the host and not here."""
        line = ": ".join(
            filter(None, (kind.strip(), task.strip().partition("\n")[0].strip()))
        )[:_TASK_LENGTH]
        if line and len(self._agents) < _AGENTS:
            self._agents[call] = (line, agent[:_ID_LENGTH])

    def add_subagent_id(self, call: str, agent: str) -> None:
        """Add the id of the subagent that did the task of the call."""
        if agent and call in self._agents:
            self._agents[call] = (self._agents[call][0], agent[:_ID_LENGTH])

    def add_output(
        self, command: str, output: str, *, has_failed: bool = False
    ) -> None:
        """Add the commits and the pull requests that a command made."""
        for commit in shell_commands.commits(command, output, has_failed=has_failed):
            if (
                shell_commands.amends_commit(command)
                and self._commits
                and commit not in self._commits
            ):
                self._commits.pop()
            self._commit(commit)
        for url in shell_commands.requests(command, output):
            self.add_link(url)

    def _commit(self, commit: str) -> None:
        subjects = [kept.partition(" ")[2] for kept in self._commits]
        subject = commit.partition(" ")[2]
        if commit in self._commits or commit in subjects:
            return
        if subject in self._commits:  # first heard of from a quiet git
            self._commits[self._commits.index(subject)] = commit
        elif len(self._commits) < _COMMITS:
            self._commits.append(commit)

    def add_link(self, url: str) -> bool:
        """Add a pull request's address; False when there is nothing new in it."""
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
            agents=tuple(
                f"{task} ({agent})" if agent else task
                for task, agent in self._agents.values()
            ),
        )
