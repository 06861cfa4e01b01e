"""What the shape of a piece of developer text says that it is: a file, an identifier, an issue, a
package.

Nothing here knows which entities there are. A shape that nobody writes by accident is *sure*: it
shows that there is such a thing. Others, a word with a capital in it or a name in a block of code,
only say that this would be its name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keeplore.index.graph.code_spans import BLOCK, INLINE, PROSE, SHELL, TextSpan
from keeplore.text.common_words import common, stem

FILE, IDENTIFIER, ISSUE, TOOL = "system", "concept", "task", "tool"  # types of entities
EXTENSIONS = frozenset(
    """
    astro bash bat bib c cc cfg cjs cmake cmd conf cpp cs csproj css csv cts cue dart db diff
    ejs env erl ex exs fish fs gitignore go gql gradle graphql h hbs hcl hpp hs html ini ipynb
    java jinja jinja2 jl js json json5 jsonc jsonl jsx kt kts less lock lua m4 md mdc mdx mjs ml
    mod mts ndjson nix onnx parquet patch pdf php pl plist png pom prisma properties proto ps1
    psm1 py pyi pyx r rb rs rst ruby sass scala scss sh sln sql sqlite sqlite3 sum svelte svg
    swift tar tcl template tf tfvars toml ts tsv tsx txt vim vue wasm webp whl xml yaml yml zig
    zip zsh
    """.split()  # noqa: SIM905  # a list of literals cannot be read
)
# "e.g. a.c": only where marks or a folder show that it is a file
_LETTER_EXTENSIONS = frozenset({"c", "h", "r"})
_BARE_FILES = frozenset(
    """
    brewfile caddyfile codeowners containerfile dockerfile gemfile jenkinsfile justfile makefile
    pipfile procfile rakefile vagrantfile
    """.split()  # noqa: SIM905  # likewise
)
# names that are in many folders: the folder is part of what such a file is called
_EVERYWHERE = frozenset(
    """
    __init__ __main__ app base changelog cli client cmd common config conftest constants errors
    go handler handlers helpers index init layout lib license main mod models package page
    plugin pyproject readme root route router server settings setup skill test tests tsconfig
    types util utils version
    """.split()  # noqa: SIM905  # likewise
)
_NO_TRACKERS = frozenset(
    """
    AES AMD ARM BLAKE CENTOS COVID CP ECMA EN ES FIPS GPT HTTP IEC IEEE ISO JDK KEY LATIN LINUX
    LLAMA MAX MD MIN MPEG MS OAUTH PCI PEP PHASE PORT RC RFC RSA SHA SOC STEP TASK TLS UCS USB
    US UTC UTF VP WCAG WIN XHTML
    """.split()  # noqa: SIM905  # likewise
)
# plain words of the trade, beside those of English
_TRADE = frozenset(
    """
    admin alias amplitude api app array arrow assert async atom auth backend badge benchmark
    beta binary bool browser buffer bug bundle bytes cache callback canvas changelog checkout
    cli click clone cluster codec compiler compress concurrent config console container cookie
    crate cron cursor daemon dashboard dataset datasets debug decorator default defer degraded
    delete deletions demo diff diffs dig discord docs dump embed emoji endpoint enum env exec
    expandable export fetch filter fixture flush flux folder frontend graph hash hatch header
    helper highlight hook hypothesis icon import init initialized inject inspect invoke iterator
    json kernel layout lib lint linter loader log logger login macro markdown menu metrics
    middleware migrate migration mock module monitor neutral node notebook notion null override
    parse parsed parser passport patch pipeline pixel plug plugin plural pointer poll pr
    prefixed preview prod prompt proxy prune query queue react realm redirect refactor regex
    reindex render repo repository reset restart retry revert rollback router runtime sandbox
    scan scheduler schema scope screenshot semantic server setup slack snippet stack sync syntax
    tap template textual thread timeout token tokenizers toml toolbar transform transformers
    trigger unchanged undo unsafe upload url utils uuid validate validator variable vault verify
    viewport warmup webhook widget workflow wrapper yaml zap zip zoom
    """.split()  # noqa: SIM905  # a list of literals cannot be read
)
# of languages, formats and HTTP: nobody's in particular
_ANYBODYS = frozenset(
    """
    any api args array async await bool boolean byte char chr cli const ctx def del dict elif
    enum env err eof err fmt float func get goto html http https impl int int32 int64 init iter
    json jsonl len let lambda list loc log map mut nan nil none null num obj object params pkg
    post print ptr put ref repr req res ret self sizeof src stderr stdin stdout str string
    struct sudo switch todo tmp true false tuple typedef uint uri url urls usize utf8 uuid val
    var vec void xml yaml yml
    """.split()  # noqa: SIM905  # likewise
)
_RUN = r"[A-Za-z0-9_@~./#+-]"  # what names are written with
# an address, or a run that is more than a plain word: the look-ahead passes over those without a
# match object each
_CHUNK = re.compile(
    rf"https?://[^\s<>`\"')\]]{{1,300}}|(?<!{_RUN})"
    rf"(?=[A-Za-z]?[a-z0-9-]*(?:[A-Z_@~/#]|"
    rf"\.[A-Za-z_./]|\(\))|[A-Z][a-z]{{3,12}}file\b){_RUN}{{2,300}}(?:\(\))?"
)
_NO_NEIGHBOUR = frozenset("{}<$%\\")  # beside a chunk: a placeholder, no name
_ISSUE = re.compile(r"(?:[\w.-]+/)?([A-Za-z][\w.-]*)#(\d{1,7})", re.ASCII)
_ISSUE_URL = re.compile(
    r"https?://[\w.-]+/(?:[\w.-]+/){1,4}?([\w.-]+)/(?:-/)?(?:pull|issues|merge_requests)/(\d{1,7})",
    re.ASCII,
)
_TICKET = re.compile(r"([A-Z][A-Z0-9]{1,9})-\d{1,6}|CVE-\d{4}-\d{4,7}")
_BARE_ISSUE = re.compile(r"#(\d{1,6})")
_SPEAKS_OF_ISSUE = re.compile(
    r"(?:\b(?:pr|prs|mr|issue|issues|bug|ticket|pull request|merge request|fix(?:es|ed)?|"
    r"close[sd]?|resolve[sd]?)"
    r"|[,&]|\band)[ :]{0,2}\(?$|[\w)]\s\($",
    re.IGNORECASE,
)
_SCOPED = re.compile(r"@[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*")
_SNAKE = re.compile(r"_{0,2}[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_{0,2}")
_CAMEL = re.compile(
    r"(?=[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z]))[A-Za-z][A-Za-z0-9]*"
)
_PLURAL = re.compile(r"[A-Z]{2,}s|[A-Z][a-z]?[A-Z]?s|v\d\w*")
_DOTTED = re.compile(r"_{0,2}[A-Za-z]\w*(?:\.[A-Za-z_]\w*){1,6}", re.ASCII)
_KEBAB = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+")
_LONE = re.compile(r"[A-Za-z][A-Za-z0-9]{2,40}")
_HEX = re.compile(
    r"(?=[a-f]*[0-9])[0-9a-f]{6,64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{4,}"
)
_CODE = re.compile(r"[A-Z]{1,4}\d{3,5}")
_INTRODUCED = re.compile(
    r"^[ \t+]*(?:export |default |pub |public |private |abstract |async |final |static |data )*"
    r"(?:class|def|func|fn|function|interface|struct|enum|trait|type|"
    r"protocol)[ \t]+(?:\([^()\n]{1,80}\)[ \t]*)?"
    r"([A-Za-z_]\w*)",
    re.MULTILINE | re.ASCII,
)
# of a file, whatever it holds
_ENDING = re.compile(r"[A-Za-z_-][\w-]*\.[a-z]{1,6}", re.ASCII)
_DOT_FILE = re.compile(r"[a-z][a-z_-]{2,30}")
_EXAMPLES = frozenset(
    {"bar", "example", "foo", "org", "owner", "repo", "to", "user", "username", "your"}
)
_SELF = frozenset({"self", "this", "cls"})
_DOMAIN = re.compile(
    r"(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|sh|land|me|co|uk|de|fm)(?:/|$)"
)
_GENERATED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{24}|\d{8}")


@dataclass(frozen=True, slots=True)
class NameShape:
    """``type`` is "" where the shape alone does not show that there is such a thing."""

    name: str  # as it is called wherever it is written
    spelling: str  # as written here
    type: str
    is_word: bool = False


def shapes(piece: TextSpan, project: str = "") -> Iterator[NameShape]:
    """Every name in a piece that can be told by its shape; a bare ``#12`` is an issue of
    ``project``.
    """
    if piece.kind in (BLOCK, SHELL):
        for found in _INTRODUCED.finditer(piece.text):
            if is_shaped(found[1]):
                yield NameShape(found[1], found[1], IDENTIFIER)
    elif piece.kind == INLINE and (lone := _single_word(piece.text.removesuffix("()"))):
        yield lone
        return
    for chunk in _CHUNK.finditer(piece.text):
        if _is_pattern(piece.text, chunk.start(), chunk.end()):
            continue
        if bare := _BARE_ISSUE.fullmatch(chunk[0].rstrip(".")):
            if project and _is_about_issues(piece, chunk.start()):
                yield NameShape(f"{project}#{bare[1]}", bare[0], ISSUE)
            continue
        yield from _chunk_shapes(chunk[0], piece.kind)


def _is_about_issues(piece: TextSpan, at: int) -> bool:
    """Whether the words before a number say that it is one of an issue."""
    said = piece.text[max(0, at - 20) : at]
    return piece.kind == PROSE and _SPEAKS_OF_ISSUE.search(said) is not None


def file_name(path: str) -> str:
    """What a file is called wherever it is mentioned: its name, and its folder's where many have
    that name.
    """
    parts = [
        part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..", "~")
    ]
    if not parts:
        return ""
    base = parts[-1]
    is_generic = base.lower().split(".")[0] in _EVERYWHERE
    return "/".join(parts[-2:]) if is_generic and len(parts) > 1 else base


def _single_word(text: str) -> NameShape | None:
    """A single word between marks of code: a name, unless it is a plain word or everybody's."""
    if _HEX.fullmatch(text) or text.lower() in _ANYBODYS or text in EXTENSIONS:
        return None
    if _CODE.fullmatch(text):
        return (
            None
            if text.startswith(("SHA", "UTF", "HTTP"))
            else NameShape(text, text, IDENTIFIER)
        )
    if _LONE.fullmatch(text) and not is_shaped(text):
        return (
            None
            if is_plain(text) or text[1:].isdigit()
            else NameShape(text, text, IDENTIFIER)
        )
    if _KEBAB.fullmatch(text) and not _TICKET.fullmatch(text):
        return NameShape(text, text, IDENTIFIER, is_word=True)
    return None


def is_plain(word: str) -> bool:
    """True for one of the commonest words of English or of the trade."""
    lower = word.lower()
    return (
        len(lower) < 2
        or lower.isdigit()
        or lower in _TRADE
        or lower in common()
        or stem(lower) in common()
    )


def _is_pattern(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start] if start else ""
    after = text[end : end + 2]
    if before in _NO_NEIGHBOUR or after[:1] in _NO_NEIGHBOUR:
        return True
    # "Name*", but not "**Name**"
    return after[:1] == "*" and after != "**" and before != "*"


@functools.lru_cache(maxsize=8192)  # a talk says the same names again and again
def _chunk_shapes(chunk: str, kind: str) -> tuple[NameShape, ...]:
    if (chunk.isupper() and chunk.isalpha()) or "REDACTED" in chunk.upper():
        return ()
    return tuple(_iter_chunk_shapes(chunk, kind))


def _iter_chunk_shapes(chunk: str, kind: str) -> Iterator[NameShape]:
    """The names in a run of characters without a space."""
    if "://" in chunk:
        if issue := _ISSUE_URL.match(chunk):
            yield NameShape(f"{issue[1]}#{issue[2]}", issue[0], ISSUE)
        return
    is_call = chunk.endswith("()")
    text = chunk.removesuffix("()").strip("-+#").rstrip("./@~").removeprefix("./")
    if issue := _ISSUE.fullmatch(text):
        yield NameShape(f"{issue[1]}#{issue[2]}", text, ISSUE)
    elif ticket := _TICKET.fullmatch(text):
        if ticket[1] not in _NO_TRACKERS:
            yield NameShape(text, text, ISSUE)
    elif path := _path(text, kind):
        yield path
    elif "/" in text or "@" in text or "#" in text:
        yield from _alternatives(text, kind)
    else:
        yield from _identifiers(text, INLINE if is_call and kind == PROSE else kind)


def _alternatives(text: str, kind: str) -> Iterator[NameShape]:
    """The names in "PostgreSQL/MySQL"."""
    if kind in (PROSE, INLINE) and text.count("/") == 1:
        for part in text.split("/"):
            yield from _identifiers(part, BLOCK)


def _identifiers(text: str, kind: str) -> Iterator[NameShape]:
    """Identifiers; one with dots names its parts as well. In a block of code they are used, not
    introduced.
    """
    text = text.strip(".-+~")
    if _HEX.fullmatch(text) or _DOMAIN.fullmatch(text):
        return
    type_ = IDENTIFIER if kind == INLINE else ""
    if _DOTTED.fullmatch(text):
        yield from _dotted(text, type_)
    elif "_" in text.strip("_"):
        if is_shaped(text):
            yield NameShape(text, text, type_ or (IDENTIFIER if kind == PROSE else ""))
    elif is_shaped(text.strip("_")):
        yield NameShape(text.strip("_"), text, type_)
    elif "-" in text:
        for part in filter(is_shaped, text.split("-")):  # "CamelCase-based"
            yield NameShape(part, part, "")


def _dotted(text: str, type_: str) -> Iterator[NameShape]:
    """An identifier with dots, and its parts."""
    owner, _, rest = text.partition(".")
    # the name of a variable says nothing
    whole = rest if len(owner) < 3 or owner in _SELF else text
    if type_ and (is_shaped(whole) or "." in whole):
        yield NameShape(whole, whole, type_)
    if "." in whole or not type_:
        for part in filter(is_shaped, whole.split(".")):
            yield NameShape(part, part, "")


def is_shaped(word: str) -> bool:
    """True for ``snake_case`` and ``camelCase``, which no plain word is written like."""
    if "_" in word.strip("_"):
        return bool(_SNAKE.fullmatch(word))
    return bool(_CAMEL.fullmatch(word)) and not _PLURAL.fullmatch(word)


def _path(text: str, kind: str) -> NameShape | None:
    """A file, a folder or a scoped package."""
    plain = text.removeprefix("@")
    base = plain.rpartition("/")[2]
    if _is_file(base, is_marked=kind != PROSE or "/" in plain):
        return _file(plain, base, kind)
    if text.startswith("@"):
        return NameShape(text, text, TOOL) if _SCOPED.fullmatch(text) else None
    parts = [part for part in plain.split("/") if part not in ("", ".", "..", "~")]
    return _folder(plain, parts, kind) if _are_folders(plain, parts) else None


def _folder(path: str, parts: list[str], kind: str) -> NameShape | None:
    """A path of folders, where it stands for itself."""
    name, base = "/".join(parts[-2:]), path.rpartition("/")[2]
    is_rooted = path.startswith(("/", "~/"))
    if kind == INLINE or (kind == PROSE and is_rooted and len(parts) > 2):
        return NameShape(base if _ENDING.fullmatch(base) else name, path, FILE)
    is_low = all(part == part.lower() for part in parts)
    if kind == PROSE and is_low and not all(map(is_plain, parts)):
        return NameShape(name, path, "")
    return None


def _file(path: str, base: str, kind: str) -> NameShape | None:
    if _GENERATED.search(base):
        return None
    is_alone = kind == PROSE and path == base
    if is_alone and base[:1].isupper() and base.endswith(".js") and base[:-3].isalpha():
        return NameShape(base, base, "")  # Node.js and the like
    return NameShape(file_name(path), path, FILE)


def _are_folders(path: str, parts: Sequence[str]) -> bool:
    """Whether the parts of a path are names, not those of a web address or of an example."""
    if len(parts) < 2 or not any(map(str.isalpha, path)) or _DOMAIN.match(path):
        return False
    return not any(
        len(part) < 2 or part in _EXAMPLES or _HEX.fullmatch(part) for part in parts
    )


def _is_file(base: str, *, is_marked: bool) -> bool:
    before, dot, extension = base.rpartition(".")
    if not dot:
        return base.lower() in _BARE_FILES and base[:1].isupper()
    if not before:  # ".gitignore", but no ".py"
        return bool(_DOT_FILE.fullmatch(extension)) and (
            extension.endswith(("ignore", "rc")) or extension == "env"
        )
    is_known = extension in EXTENSIONS or (
        extension.isupper() and extension.lower() in EXTENSIONS
    )
    if not is_known or not any(map(str.isalnum, before)):
        return False
    return is_marked or extension not in _LETTER_EXTENSIONS
