"""What is wrong with memory files, by line: pure, from path and bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from keeplore.errors import Corrupt
from keeplore.memory.chains import Chain, chains
from keeplore.memory.foreign_files import as_memory
from keeplore.memory.frontmatter import conflict_line, parse
from keeplore.memory.location import Location, location_of, precedence
from keeplore.memory.model import Memory, Relationship
from keeplore.memory.names import FOLDERS, root_of
from keeplore.memory.validation import SHOWN, faults, is_sound_id
from keeplore.text import agent_scope

_KEYS = "`scope` and `project`"


class LintLevel(StrEnum):
    ERROR = "error"  # Keeplore skips or misreads it
    WARNING = "warning"  # it is read, and could be better


_OWN_ID = "Delete this one, or give it an id of its own"
_TO_GIT = "Take it out, and replace it where it is used: once committed it stays in git's history"
# start, end and kind of each
Secrets = Callable[[bytes], Iterable[tuple[int, int, str]]]


@dataclass(frozen=True, slots=True, order=True)
class LintFinding:
    """``line`` counts from 1; sorted by path and line."""

    path: str
    line: int
    level: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class LintedFile:
    """A file with what is wrong in it alone; ``memory`` is None where it cannot be read as one."""

    path: str
    memory: Memory | None
    findings: tuple[LintFinding, ...]
    text: str = ""

    def line_of(self, key: str) -> int:
        """The line of a key of the front matter, 1 where it has none."""
        front = re.match(
            r"\ufeff?---[ \t]*\r?\n.*?^---", self.text, re.DOTALL | re.MULTILINE
        )
        match = (
            re.search(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*:", front[0], re.MULTILINE)
            if front
            else None
        )
        return self.text.count("\n", 0, match.start()) + 1 if match else 1

    def finding(self, key: str, level: str, message: str, remedy: str) -> LintFinding:
        return LintFinding(self.path, self.line_of(key), level, message, remedy)


def check(
    path: str,
    data: bytes,
    secrets: Secrets,
    read: Callable[[str, bytes], LintedFile] | None = None,
) -> LintedFile:
    """Everything that one file tells about itself, read as a memory or by ``read``. No message
    repeats a secret.
    """
    hits = list(secrets(data))
    checked = (read or _linted)(path, data)
    found = [_without_secrets(finding, data, hits) for finding in checked.findings]
    found += [
        LintFinding(
            path,
            data.count(b"\n", 0, start) + 1,
            LintLevel.ERROR,
            f"a secret stands here: {kind}",
            _TO_GIT,
        )
        for start, _, kind in hits
    ]
    return replace(checked, findings=tuple(found))


def no_text(path: str, data: bytes, start: int) -> LintFinding:
    """What is said of a file that is no UTF-8 from a byte on."""
    return LintFinding(
        path,
        data.count(b"\n", 0, start) + 1,
        LintLevel.ERROR,
        "the bytes here are no UTF-8",
        "Save the file as UTF-8 with your editor",
    )


def _linted(path: str, data: bytes, *, has_scopes: bool = True) -> LintedFile:
    try:
        text = data.decode()
        memory = as_memory(text, path)
    except UnicodeDecodeError as e:
        return LintedFile(path, None, (no_text(path, data, e.start),))
    except Corrupt as e:
        finding = LintFinding(path, e.line, LintLevel.ERROR, e.message, e.remedy)
        return LintedFile(path, None, (finding,))
    checked = LintedFile(path, memory, (), text)
    found = _findings(checked, memory, has_scopes=has_scopes)
    return replace(checked, findings=tuple(found))


def read_of_code(path: str, data: bytes) -> LintedFile:
    """A note kept with the code, which is the project's whatever it says of its scope."""
    return _linted(path, data, has_scopes=False)


def _findings(
    checked: LintedFile, memory: Memory, *, has_scopes: bool
) -> Iterator[LintFinding]:
    """What is wrong in a file that can be read."""
    for hint in memory.hints:
        yield LintFinding(
            checked.path,
            1,
            LintLevel.WARNING,
            hint,
            "Leave it so, or write the keys down",
        )
    if memory.problems:
        yield from _problems(checked, memory)
    if not memory.hints:
        yield from _misplaced_findings(checked, memory, has_scopes=has_scopes)


def _problems(checked: LintedFile, memory: Memory) -> Iterator[LintFinding]:
    """What is wrong in the front matter, and conflict markers in the text."""
    if not memory.hints:
        for key, said, remedy in faults(parse(checked.text).meta):
            yield checked.finding(
                key, LintLevel.ERROR, said, remedy[:1].upper() + remedy[1:]
            )
    if line := conflict_line(checked.text):
        remedy = "Keep one side and delete the markers"
        yield LintFinding(
            checked.path,
            line,
            LintLevel.ERROR,
            "conflict markers stand in the text",
            remedy,
        )


def _misplaced_findings(
    checked: LintedFile, memory: Memory, *, has_scopes: bool
) -> Iterator[LintFinding]:
    """A folder or category that does not fit what the memory says of itself."""
    at = location_of(checked.path)
    if has_scopes and memory.place != (at.scope, at.project):
        yield _wrong_root(checked, memory, at)
    folder = FOLDERS.get(memory.category, "")
    if memory.kind == "note" and folder and at.category not in ("", memory.category):
        yield checked.finding(
            "category",
            LintLevel.WARNING,
            f"its category is {memory.category}, its folder {at.folder}",
            f"Move it to {folder}/, or change `category`",
        )


def _wrong_root(checked: LintedFile, memory: Memory, at: Location) -> LintFinding:
    """A memory whose folder belongs to another scope or project."""
    is_projects = agent_scope.is_of_project(memory.scope)
    whose = f"{memory.scope} {memory.project}" if is_projects else memory.scope
    said = f"it is of scope {whose} and lies in {at.home}/"
    root = root_of(memory.scope, memory.project)
    keys = "`scope`, `project` and `agent`" if "agent" in memory.meta else _KEYS
    return checked.finding(
        "scope", LintLevel.WARNING, said, f"Move it below {root}/, or change {keys}"
    )


def _without_secrets(
    finding: LintFinding, data: bytes, hits: Sequence[tuple[int, int, str]]
) -> LintFinding:
    """The finding without the secrets that its message repeats."""
    message = finding.message
    for start, end, kind in hits:
        secret = data[start:end].decode("utf-8", "replace")
        message = message.replace(secret, f"[{kind}]")
        # a long value is cut, and so may the secret in it be
        for size in range(min(len(secret), SHOWN), 3, -1):
            message = message.replace(f"{secret[:size]}…", f"[{kind}]…")
    return replace(finding, message=message)


def check_links(
    files: Sequence[LintedFile], forgotten: Iterable[str], *, is_whole: bool
) -> Iterator[LintFinding]:
    """What files say of one another; chains are looked at only where ``files`` are all there
    are.
    """
    by_id: dict[str, list[LintedFile]] = {}
    for file in files:
        if file.memory:
            by_id.setdefault(file.memory.id, []).append(file)
    for same in by_id.values():
        yield from _duplicate_ids(same)
    for id_ in sorted(by_id.keys() & set(forgotten)):
        yield from (_forgotten_finding(file, id_) for file in by_id[id_])
    for file in files:
        yield from _dangling_link_findings(file, by_id.keys())
    if is_whole:
        yield from _chains({id_: same[0] for id_, same in by_id.items()})


def _duplicate_ids(files: Sequence[LintedFile]) -> Iterator[LintFinding]:
    """All but the first of several files with one id."""
    first, *others = sorted(files, key=_rank, reverse=True)
    said = f"its id is that of {first.path}, which is used"
    for other in others:
        yield other.finding("id", LintLevel.ERROR, said, _OWN_ID)


def _forgotten_finding(file: LintedFile, id_: str) -> LintFinding:
    """The finding for a file whose memory has a tombstone."""
    remedy = (
        f"`keeplore restore {id_}` keeps it, `keeplore forget {id_}` removes it again"
    )
    # an id made from the path: the tombstone is for any file that lies there
    if location_of(file.path).id == id_:
        remedy = (
            f"Rename it if it is another memory; `keeplore restore {id_}` brings the old one "
            f"back"
        )
    return file.finding(
        "id", LintLevel.ERROR, f"it was forgotten: forgotten/{id_}.json says so", remedy
    )


def _rank(file: LintedFile) -> tuple[bool, bool, str, str]:
    """Which of several files of one id is used: the greatest."""
    return precedence(
        file.path,
        *((file.memory.id, file.memory.updated_at) if file.memory else ("", "")),
    )


def _dangling_link_findings(
    file: LintedFile, known: Collection[str]
) -> Iterator[LintFinding]:
    """Links to memories that are not here."""
    if file.memory is None:
        return
    own = file.memory.supersedes
    for relationship, target in file.memory.links:
        if target in known or not is_sound_id(target):
            continue
        key = "supersedes" if target == own else "related"
        yield file.finding(
            key,
            LintLevel.WARNING,
            f"it {relationship} {target}, which is not here",
            "Correct the id, or take the line out",
        )


def _chains(files: dict[str, LintedFile]) -> Iterator[LintFinding]:
    memories = {id_: file.memory for id_, file in files.items() if file.memory}
    ages = {id_: (memory.created_at, id_) for id_, memory in memories.items()}
    olds = {
        id_: _superseded(memory) for id_, memory in memories.items() if memory.links
    }
    itself = (id_ for id_, replaced in olds.items() if id_ in replaced)
    yield from (_own_successor(files[id_]) for id_ in itself)
    for chain in chains(olds, ages):
        if chain.has_cycle:
            yield from _in_a_circle(chain, files)
        if len(chain.leaves) > 1:
            yield _forked(chain, files)


def _own_successor(file: LintedFile) -> LintFinding:
    """The finding for a memory that names itself."""
    said = "it supersedes itself"
    return file.finding("supersedes", LintLevel.WARNING, said, "Take the line out")


def _superseded(memory: Memory) -> list[str]:
    """The memories that this one replaced."""
    return [to for kind, to in memory.links if kind == Relationship.SUPERSEDES]


def _in_a_circle(
    chain: Chain, files: Mapping[str, LintedFile]
) -> Iterator[LintFinding]:
    head = files[chain.head].path
    said = f"its chain of versions runs in a circle; {head} counts as the newest"
    remedy = "Take `supersedes` out of the oldest version"
    for id_ in chain.members:
        if id_ != chain.head:
            yield files[id_].finding("supersedes", LintLevel.WARNING, said, remedy)


def _forked(chain: Chain, files: Mapping[str, LintedFile]) -> LintFinding:
    """The finding for the newest of several versions that replaced one memory."""
    others = ", ".join(files[id_].path for id_ in chain.leaves if id_ != chain.head)
    return files[chain.head].finding(
        "supersedes",
        LintLevel.WARNING,
        f"this version and {others} replaced the same memory; this one counts, being newer",
        f"`keeplore edit {chain.head}` makes one version of them",
    )
