"""What a shell command did, by its own words and by what it printed: commits, pull requests, the
line that tells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TELLING_LENGTH = 200  # characters of a command that are kept
# lines of a script that only prepare for what it does
_PREPARING = re.compile(
    r"\s*(?:#|set\s+[-+]|export\s|(?:cd|pushd|source|\.)\s+\S+\s*\Z|[A-Za-z_]\w*=\S*\s*\Z|\Z)"
)
_OPTIONS = r"(?:\s+(?:-[cC]\s+\S{1,200}|-[\w-]{1,60}(?:=\S{1,200})?)){0,6}"
_MAKES_COMMITS = re.compile(
    rf"\bgit{_OPTIONS}\s+(?:commit|cherry-pick|revert|am|merge|rebase)\b(?![-./\w])"
)
_COMMITS = re.compile(rf"\bgit{_OPTIONS}\s+commit\b(?![-./\w])([^\n;&|]{{0,500}})")
# a repository that is made to try something out
_TRIES = re.compile(rf"\bgit{_OPTIONS}\s+(?:init|clone)\b|\bmktemp -d")
_AMENDS = re.compile(r"\s--amend\b")
_MAKES_REQUESTS = re.compile(r"\b(?:gh\s+pr|glab\s+mr)\s+create\b")
_COMMITTED = re.compile(
    r"^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] (.{1,200})$", re.MULTILINE
)
_LOGGED = re.compile(
    r"^\W{0,3}([0-9a-f]{7,40})\s(?:\([^)\n]{1,200}\)\s)?(.{1,200})$", re.MULTILINE
)
_REQUEST = re.compile(
    r"^https://[\w.-]{1,200}/[\w./-]{1,200}/(?:pull|merge_requests)/\d{1,10}$",
    re.MULTILINE,
)
_MESSAGE = re.compile(
    r"(?:\s-\w{0,6}m|\s--message)(?:[ =]\s{0,10}|(?=[\"']))(?:"
    r"\"\$\(cat\s+<<-?\s{0,5}['\"]?\w{1,40}['\"]?\s{0,5}\n\s{0,100}(?P<document>[^\n]{1,400})"
    r"|\"(?P<double>(?:[^\"\\\n]|\\.){1,400})|'(?P<single>[^'\n]{1,400}))"
    r"|\s(?:-F|--file)[ =]?-\s{0,5}<<-?\s{0,5}['\"]?\w{1,40}['\"]?\s{0,5}\n(?P<file>[^\n]{1,400})"
)
_FAILED = re.compile(
    r"^(?:fatal|error):|exit(?:ed with)?(?: code)?:? [1-9]|nothing to commit|no changes added|"
    r"^Process running with",
    re.IGNORECASE | re.MULTILINE,
)


def telling_line(command: str) -> str:
    """The first line of a script that does something, and does not only prepare for it."""
    lines = command.strip().split("\n")
    return next(
        (line for line in lines if not _PREPARING.match(line)), lines[0]
    ).strip()[:_TELLING_LENGTH]


def is_telling(command: str) -> bool:
    """May what it prints tell of a commit or a pull request?"""
    return makes_commits(command) or bool(_MAKES_REQUESTS.search(command))


def makes_commits(command: str) -> bool:
    """Does it run git for a commit? A file or a test with that word in its name does not."""
    return bool(_MAKES_COMMITS.search(command)) and not _TRIES.search(command)


def amends_commit(command: str) -> bool:
    """Does its last commit take the place of the one before?"""
    found = _COMMITS.findall(command)
    return bool(found and _AMENDS.search(found[-1]))


def commits(
    command: str,
    output: str,
    *,
    has_failed: bool = False,
) -> Iterator[str]:
    """The commits that a command made, ``<abbreviated hash> <subject>``.

    They are those that git reports; of a quiet git the message that it was given, with the hash if
    a log that was printed afterwards names it, and without one otherwise.
    """
    if not makes_commits(command):
        return
    reported = [(match[1], match[2].strip()) for match in _COMMITTED.finditer(output)]
    yield from (f"{hash_} {subject}" for hash_, subject in reported)
    if reported or has_failed or _FAILED.search(output):
        return
    logged = {match[2].strip(): match[1] for match in _LOGGED.finditer(output)}
    for subject in _subjects(command):
        yield f"{logged[subject]} {subject}" if subject in logged else subject


def requests(command: str, output: str) -> Iterator[str]:
    """The pull requests that ``gh pr create`` and ``glab mr create`` report: addresses alone on
    their lines.
    """
    if _MAKES_REQUESTS.search(command):
        yield from (match[0] for match in _REQUEST.finditer(output))


def _subjects(command: str) -> Iterator[str]:
    """The first lines of the messages that are given to ``git commit`` in a command."""
    for found in _COMMITS.finditer(command):
        message = _MESSAGE.search(command, found.start(1), found.start(1) + 2000)
        if message and (words := next(filter(None, message.groups()), "").strip()):
            yield words.replace('\\"', '"').replace("\\`", "`")[:_TELLING_LENGTH]
