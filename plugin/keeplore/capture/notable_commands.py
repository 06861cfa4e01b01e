"""Which commands of a session are worth a line in its file: those that tested, built, installed,
migrated, deployed or published something, and commits.

Looking around, loops over files and one-off scripts say nothing about what came of a session. The
programs and their verbs stand in ``notable_commands.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

MAX_COMMANDS = 12  # that a conversation lists
WORDS_SEEN = 8  # of one command
VERBS_SEEN = 3
CHANGING, COMMITTING = 1, 2  # ranks
_TABLE = "notable_commands.toml"
_STEPS = re.compile(r"&&|\|\||;|\n")
# what is done with the output of the last step
_OUTPUT = re.compile(r"(?:2>&1|[12&]?>|\|(?!\|)).*", re.DOTALL)
_LOOP = re.compile(r"\s*(?:(?:for|while|until|if|case|select|function)\b|[({])")
_SETTING = re.compile(r"[A-Za-z_]\w{0,60}=")
_SCRIPT = re.compile(r"\.(?:py|sh|[cm]?[jt]s|rb|php|pl)\Z")
_STATEMENT = re.compile(r"\b(?:CREATE|ALTER|DROP|INSERT|UPDATE|DELETE)\b")


@dataclass(frozen=True, slots=True)
class CommandRank:
    """``programs`` count whatever they do, ``verbs`` by program, ``tasks`` by their names."""

    programs: frozenset[str]
    verbs: Mapping[str, frozenset[str]]
    tasks: re.Pattern[str]

    @staticmethod
    def of(row: Mapping[str, Any]) -> CommandRank:
        verbs = {program: _word_set(names) for program, names in row["verbs"].items()}
        # a form that nothing has, where no tasks are named
        tasks = re.compile(row["tasks"] or r"(?!)", re.IGNORECASE)
        return CommandRank(_word_set(row["programs"]), verbs, tasks)

    def has(self, program: str, verbs: Iterable[str]) -> bool:
        """Is a program with these verbs of the rank?"""
        known = self.verbs.get(program, frozenset())
        return program in self.programs or not known.isdisjoint(verbs)

    def has_task(self, names: Iterable[str]) -> bool:
        return any("/" not in name and self.tasks.search(name) for name in names)


@dataclass(frozen=True, slots=True)
class CommandTable:
    before: frozenset[str]
    before_two: frozenset[str]
    interpreters: frozenset[str]
    runners: frozenset[str]
    databases: frozenset[str]
    ranks: tuple[CommandRank, ...]  # the first counts most


def rank(command: str, *, has_commits: bool = False) -> int | None:
    """How much a command tells, the least number most; None for one that tells nothing.

    ``has_commits`` says that the commits are told beside it, by their hashes.
    """
    if _LOOP.match(command):
        return None
    steps = (_rank_of_step(step.split()) for step in _STEPS.split(command))
    ranks = {step for step in steps if step is not None}
    return min(ranks - {COMMITTING} if has_commits else ranks, default=None)


def most_notable(
    commands: Iterable[str], *, has_commits: bool = False
) -> tuple[str, ...]:
    """At most MAX_COMMANDS commands that tell most, in their order; of several that differ only in
    what is done with their output, the first.
    """
    ranks: dict[str, int] = {}
    seen: set[str] = set()
    for command in commands:
        without_output = _OUTPUT.sub("", command).rstrip()
        worth = rank(command, has_commits=has_commits)
        if worth is not None and without_output not in seen:
            seen.add(without_output)
            ranks[command] = worth
    kept = set(sorted(ranks, key=ranks.__getitem__)[:MAX_COMMANDS])
    return tuple(command for command in ranks if command in kept)


def _rank_of_step(words: list[str]) -> int | None:
    """The rank of one program call, the most telling being 0; None for one that tells nothing."""
    table = _load_table()
    words = list(_without_runner(words, table))[:WORDS_SEEN]
    if not words:
        return None
    path = words[0].strip("\"'`(")
    program = path.rsplit("/", 1)[-1]
    verbs = [word for word in words[1:] if not word.startswith("-")][:VERBS_SEEN]
    is_script = _SCRIPT.search(path) is not None
    is_own = is_script or (path != program and path[0] not in "/~")
    tasks = verbs if program in table.runners or is_script else []
    tasks = [*tasks, program] if is_own else tasks
    for place, row in enumerate(table.ranks):
        if row.has(program, verbs) or row.has_task(tasks):
            return place
    is_change = program in table.databases and _STATEMENT.search(" ".join(words))
    return CHANGING if is_change else _rank_of_make(program, table)


def _rank_of_make(program: str, table: CommandTable) -> int | None:
    """The last rank for a target of make that no rank names: it builds something."""
    return len(table.ranks) - 1 if program == "make" else None


def _without_runner(words: list[str], table: CommandTable) -> Iterator[str]:
    """The words of a command without settings and programs that only run another."""
    place = 0
    while place < len(words):
        word, behind = words[place], "".join(words[place + 1 : place + 2]) or "-"
        runs_file = word in table.interpreters and not behind.startswith("-")
        if _SETTING.match(word) or word in table.before or runs_file:
            place += 1
        elif f"{word} {behind}" in table.before_two:
            place += 2
        else:
            break
    yield from words[place:]


@cache
def _load_table() -> CommandTable:
    text = files(__package__).joinpath(_TABLE).read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return CommandTable(
        _word_set(data["before"]),
        frozenset(data["before_two"]),
        _word_set(data["interpreters"]),
        _word_set(data["runners"]),
        _word_set(data["databases"]),
        tuple(map(CommandRank.of, data["ranks"])),
    )


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())
