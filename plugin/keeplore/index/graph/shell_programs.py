"""Which programs a shell command runs, and which packages it installs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MAX_COMMAND = 2000  # characters that are looked at
# a quotation that nothing ends goes to the end: of a long command only its first line is known
_TOKEN = re.compile(r"\"[^\"]*(?:\"|$)|'[^']*(?:'|$)|&&|\|\|?|;|&|\n|[^\s;&|\"']+")
_ENDS = frozenset({"&&", "||", "|", ";", "&", "\n"})
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=(?!\$\().*")
_CAUGHT = re.compile(r"^(?:[A-Za-z_]\w*=)?\$?\(")  # "name=$(program"
_PROGRAM = re.compile(r"[a-z][\w.+-]{1,40}", re.ASCII)
_PACKAGE = re.compile(r"(@[a-z0-9][\w.-]*/)?[A-Za-z][\w.-]{0,60}", re.ASCII)
_NOTHING = frozenset(
    """
    . [ [[ alias awk bash basename break case cat cd chmod chown clear command continue cp cut date declare df diff
    dirname do done du echo egrep elif else env esac eval exec exit export false fgrep fi file find for function grep
    head history id if in kill less let ln local ls mkdir more mv open popd printf ps pushd pwd read realpath return
    rm rmdir sed select set sh shift sleep sort source stat tail tee test then time touch tr trap true type ulimit
    umask unset wait wc which whoami while xargs yes zsh
    """.split()  # noqa: SIM905  # a list of literals cannot be read
)
# a program that runs the one named after it: words between the two, options that take a value
_RUNNERS = {
    "sudo": ((), {"-u", "-g"}), "env": ((), {"-u"}), "time": ((), ()), "nice": ((), {"-n"}), "nohup": ((), ()),
    "exec": ((), ()), "command": ((), ()), "xargs": ((), {"-n", "-I", "-P", "-L"}), "stdbuf": ((), {"-o", "-e", "-i"}),
    "timeout": ((), {"-s", "-k"}), "npx": ((), {"-p", "--package"}), "bunx": ((), ()), "uvx": ((), {"--from"}),
    "pipx": (("run",), ()), "uv": (("run",), {"--with", "--python", "-p", "--group", "--extra"}),
    "poetry": (("run",), ()), "pdm": (("run",), ()), "hatch": (("run",), ()), "rye": (("run",), ()),
    "pipenv": (("run",), ()), "bundle": (("exec",), ()), "pnpm": (("exec", "dlx"), ()), "yarn": (("dlx", "exec"), ()),
    "npm": (("exec", "x"), ()), "mise": (("exec",), ()), "direnv": (("exec",), ()),
}  # fmt: skip
_INSTALLERS = {
    "pip": ("install",), "pip3": ("install",), "pipx": ("install", "inject"), "uv": ("add",), "poetry": ("add",),
    "pdm": ("add",), "npm": ("install", "i", "add"), "pnpm": ("add", "install", "i"), "yarn": ("add",),
    "bun": ("add", "install"), "cargo": ("add", "install"), "gem": ("install",), "brew": ("install",),
    "apt": ("install",), "apt-get": ("install",), "dnf": ("install",), "apk": ("add",), "go": ("get", "install"),
}  # fmt: skip
_TAKES_VALUE = frozenset({"-r", "-c", "-e", "-i", "--features", "-F", "-p", "--package", "-t"})
_MAX_RUNNERS = 4


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
        for name in _of_words(words, _MAX_RUNNERS):
            found.setdefault(name)
        words = []
    return list(found)


def _of_words(words: Sequence[str], depth: int) -> Iterator[str]:
    at = 0
    while at < len(words) and (_ASSIGNED.fullmatch(words[at]) or words[at] in ("(", "{", "!", "$")):
        at += 1
    if at == len(words):
        return
    program, rest = _base(_CAUGHT.sub("", words[at])), words[at + 1 :]
    if not program:
        return
    if program not in _NOTHING:
        yield program
    yield from _installed(program, rest)
    if depth:
        yield from _of_words(_run_by(program, rest), depth - 1)


def _base(word: str) -> str:
    base = word.strip("\"'()").rpartition("/")[2].removesuffix(".exe")
    return (
        base
        if _PROGRAM.fullmatch(base)
        and base.rpartition(".")[2] not in ("sh", "py", "js", "ts", "rb")
        else ""
    )


def _run_by(program: str, rest: Sequence[str]) -> Sequence[str]:
    """The words from the program on that this one runs."""
    if re.fullmatch(r"python[0-9.]*|py", program) and "-m" in rest[:4]:
        module = rest[list(rest).index("-m") + 1 :]
        return [module[0].partition(".")[0], *module[1:]] if module else []
    if program not in _RUNNERS:
        return []
    between, with_value = _RUNNERS[program]
    words = list(rest)
    if between:
        if not words or words[0] not in between:
            return []
        words = words[1:]
    while words and (words[0].startswith("-") or re.fullmatch(r"[\d.]+[smh]?", words[0])):
        words = words[2:] if words[0] in with_value else words[1:]
    if words and program in ("npx", "bunx", "uvx", "pnpm", "yarn"):
        words[0] = re.sub(r"(?<=.)@.*", "", words[0])
        if words[0].startswith("@"):  # a scoped package is no program of that name
            return []
    return words


def _installed(program: str, rest: Sequence[str]) -> Iterator[str]:
    verbs = _INSTALLERS.get(program, ())
    words = list(rest[1:]) if program == "uv" and rest[:1] == ["pip"] else list(rest)
    if not words or words[0] not in (
        *verbs,
        *(("install",) if words is not rest and program == "uv" else ()),
    ):
        return
    is_skipped = False
    for word in words[1:]:
        plain = word.strip("\"'")
        if is_skipped or plain.startswith("-"):
            is_skipped = not is_skipped and plain in _TAKES_VALUE
            continue
        name = re.split(r"[=<>~!\[^]|(?<=.)@", plain)[0]
        if program in ("go", "brew"):  # a path of the module, a tap
            parts = [part for part in name.split("/") if not re.fullmatch(r"v\d+|\.*", part)]
            name = parts[-1] if parts else ""
        if _PACKAGE.fullmatch(name) and name != ".":
            yield name
