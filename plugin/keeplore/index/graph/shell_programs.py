"""Which programs a shell command runs, and which packages it installs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

MAX_COMMAND = 2000  # characters that are looked at
# a quotation that nothing ends goes to the end: of a long command only its first line is known
_TOKEN = re.compile(r"\"[^\"]*(?:\"|$)|'[^']*(?:'|$)|&&|\|\|?|;|&|\n|[^\s;&|\"']+")
_ENDS = frozenset({"&&", "||", "|", ";", "&", "\n"})
_BEFORE_PROGRAM = re.compile(r"[A-Za-z_]\w*=(?!\$\().*|[({!$]")
_CAUGHT = re.compile(r"^(?:[A-Za-z_]\w*=)?\$?\(")  # "name=$(program"
_PROGRAM = re.compile(r"[a-z][\w.+-]{1,40}", re.ASCII)
_SCRIPT = re.compile(r"(?:.*\.)?(?:sh|py|js|ts|rb)")
_PACKAGE = re.compile(r"(@[a-z0-9][\w.-]*/)?[A-Za-z][\w.-]{0,60}", re.ASCII)
_PYTHON = re.compile(r"python[0-9.]*|py")
_OPTION = re.compile(r"-.*|[\d.]+[smh]?")  # or how long a program may run
_VERSION = re.compile(r"[=<>~!\[^]|(?<=.)@")  # where that of a package begins
# that run a program by its package's name
_OF_PACKAGES = ("npx", "bunx", "uvx", "pnpm", "yarn")
_MAX_RUNNERS = 4


@cache
def _tables() -> dict[str, Any]:
    import tomllib  # here, because every command imports this module

    return tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    )


@cache
def _everyday_programs() -> frozenset[str]:
    return frozenset(_tables()["everyday"].split())


def programs(command: str) -> list[str]:
    """Names of the programs and packages of a command line, each once, in order; the shell's
    everyday ones left out.
    """
    found: dict[str, None] = {}
    words: list[str] = []
    for token in [*_TOKEN.findall(command[:MAX_COMMAND]), ";"]:
        if token not in _ENDS:
            words.append(token)
            continue
        found |= dict.fromkeys(_programs_run(words, _MAX_RUNNERS))
        words = []
    return list(found)


def _programs_run(words: Sequence[str], depth: int) -> Iterator[str]:
    """The program of one command and the packages it installs; where it runs another program, as
    sudo or npx do, those of that one too, ``depth`` times at most.
    """
    at = 0
    while at < len(words) and _BEFORE_PROGRAM.fullmatch(words[at]):
        at += 1
    if at == len(words):
        return
    program, rest = _base(_CAUGHT.sub("", words[at])), list(words[at + 1 :])
    if not program:
        return
    if program not in _everyday_programs():
        yield program
    yield from _installed_packages(program, rest)
    if depth:
        yield from _programs_run(_run_by(program, rest), depth - 1)


def _base(word: str) -> str:
    """The name of a program without its folder; "" for a script and for what is no name."""
    base = word.strip("\"'()").rpartition("/")[2].removesuffix(".exe")
    return base if _PROGRAM.fullmatch(base) and not _SCRIPT.fullmatch(base) else ""


def _run_by(program: str, words: list[str]) -> list[str]:
    """The words from the program on that this one runs."""
    if "-m" in words[:4] and _PYTHON.fullmatch(program):
        module = words[words.index("-m") + 1 :]
        return [module[0].partition(".")[0], *module[1:]] if module else []
    runner = _tables()["runners"].get(program)
    if runner is None:
        return []
    if runner["words"]:
        if not words or words[0] not in runner["words"]:
            return []
        words = words[1:]
    while words and _OPTION.fullmatch(words[0]):
        words = words[2:] if words[0] in runner["options"] else words[1:]
    return _package_words(words) if words and program in _OF_PACKAGES else words


def _package_words(words: list[str]) -> list[str]:
    """The words with the package's name for the program's; a scoped one has another."""
    name = re.sub(r"(?<=.)@.*", "", words[0])
    return [] if name.startswith("@") else [name, *words[1:]]


def _installed_packages(program: str, words: list[str]) -> Iterator[str]:
    """The packages that a program installs."""
    verbs = _tables()["installers"].get(program, ())
    if program == "uv" and words[:1] == ["pip"]:
        words = words[1:]
    if not words or words[0] not in verbs:
        return
    is_skipped = False
    for word in words[1:]:
        plain = word.strip("\"'")
        if is_skipped or plain.startswith("-"):
            is_skipped = not is_skipped and plain in _tables()["installer_options"]
            continue
        name = _package(program, _VERSION.split(plain)[0])
        if _PACKAGE.fullmatch(name):
            yield name


def _package(program: str, name: str) -> str:
    """The name of a package; of the path of a module, or of a tap, the last part."""
    if program not in ("go", "brew"):
        return name
    parts = [part for part in name.split("/") if not re.fullmatch(r"v\d+|\.*", part)]
    return parts[-1] if parts else ""
