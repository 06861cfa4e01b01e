"""Each thing that can be wrong in a memory file is found with its line, and what is sound gives
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from keeplore.memory import new_id
from keeplore.memory.lint_rules import (
    LintedFile,
    LintFinding,
    LintLevel,
    check,
    check_links,
)

PATH = "projects/ledgerly/memory/decisions/2026-02-09-ledger-00000000.md"
ID = new_id("one")
FRONT = f"""\
schema: 1
id: {ID}
kind: note
title: Ledger
created_at: 2026-02-09T14:03:11Z
scope: project
project: ledgerly
category: architectural-decisions
trust: user
"""


def file(front: str = FRONT, body: str = "# Ledger\n\nAppend-only.\n") -> bytes:
    return f"---\n{front}---\n\n{body}".encode()


def no_secrets(_: bytes) -> Iterable[tuple[int, int, str]]:
    return ()


def checked(data: bytes, path: str = PATH) -> LintedFile:
    return check(path, data, no_secrets)


def test_a_sound_file_has_nothing_wrong() -> None:
    assert checked(file()).findings == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        (f"id: {ID}\n", "", 1, "`id` is missing"),
        (f"id: {ID}", f"id: {ID.upper()}", 3, "is no memory id"),
        ("title: ", "title: 7 # ", 5, "`title: 7` is no text"),
        ("project: ledgerly", "project: 7", 7, "`scope: project` needs"),
        ("kind: note", "kind: poem", 4, "`kind: poem` is not one of"),
        ("2026-02-09T14:03:11Z", "last week", 6, "`created_at: last week` is no time"),
        ("2026-02-09T14:03:11Z", "2026-13-09T14:03:11Z", 6, "is no time"),
        ("scope: project", "scope: galaxy", 7, "`scope: galaxy` is not one of"),
        ("project: ledgerly\n", "", 7, "`scope: project` needs"),
        (
            "architectural-decisions",
            "'big ideas'",
            9,
            "`category: big ideas` is not one of",
        ),
        ("trust: user", "trust: me", 10, "`trust: me` is not one of"),
        (
            "trust: user",
            "trust: user\nsupersedes: last one",
            11,
            "`supersedes: last one` is no memory id",
        ),
        ("trust: user", "trust: user\npermanent: maybe", 11, "neither true nor false"),
        ("trust: user", "trust: user\nversion: 0", 11, "no number from 1 on"),
        ("trust: user", "trust: user\nconfidence: 7", 11, "not between 0 and 1"),
        (
            "trust: user",
            f"trust: user\nrelated:\n- {{id: {ID}, relationship: eats}}",
            11,
            "`relationship: eats`",
        ),
        ("trust: user", "trust: user\nrelated: [words]", 11, "`related` holds words"),
        ("trust: user", "trust: user\nrelated: 3", 11, "`related` holds 3"),
        ("schema: 1", "schema: 99", 2, "`schema: 99` is newer"),
        ("trust: user", "trust: [user", 11, "no YAML"),
        ("trust: user", "trust: user\ntrust: user", 11, "'trust' stands twice"),
        ("trust: user", "trust: us\x1ber", 10, "a control character stands in line 10"),
        ("trust: user", "trust: &a user", 10, "anchors and aliases"),
        (
            "trust: user",
            "<<<<<<< a\ntrust: user\n=======\ntrust: tool\n>>>>>>> b",
            10,
            "conflict markers",
        ),
    ],
)
def test_a_wrong_key_is_an_error_with_its_line(
    old: str, new: str, line: int, said: str
) -> None:
    [finding, *others] = checked(file(FRONT.replace(old, new))).findings
    assert (finding.line, finding.level) == (line, LintLevel.ERROR)
    assert said in finding.message and others == []


@pytest.mark.parametrize(
    "data",
    [
        file(FRONT + "trust: [\n"),
        file(FRONT.replace("note", "poem")),
        b"",
        b"---\nid: x\n",
    ],
)
def test_every_finding_has_a_remedy(data: bytes) -> None:
    found = checked(data).findings
    assert found and all(finding.remedy.strip() for finding in found)


def test_lines_are_counted_alike_with_windows_line_ends_and_a_byte_order_mark() -> None:
    data = file(FRONT.replace("kind: note", "kind: poem"))
    assert {f.line for f in checked(data.replace(b"\n", b"\r\n")).findings} == {4}
    assert {f.line for f in checked(b"\xef\xbb\xbf" + data).findings} == {4}


def test_conflict_markers_in_the_text_are_found_where_they_stand() -> None:
    body = "One.\n\n<<<<<<< a\nmine\n=======\ntheirs\n>>>>>>> b\n"
    for data, line in ((file(body=body), 15), (body.encode(), 3)):
        errors = [f for f in checked(data).findings if f.level == LintLevel.ERROR]
        assert [(f.line, f.message) for f in errors] == [
            (line, "conflict markers stand in the text")
        ]


def test_bytes_that_are_no_text_are_found_where_they_stand() -> None:
    [finding] = checked(file(body="Gr\xf6\xdfe\n").decode().encode("latin-1")).findings
    assert (finding.line, finding.level) == (
        13,
        LintLevel.ERROR,
    ) and "UTF-8" in finding.message


def test_plain_markdown_is_a_hint_alone() -> None:
    [finding] = checked(b"# Mine\n\nWords.\n").findings
    assert (finding.line, finding.level) == (
        1,
        LintLevel.WARNING,
    ) and "no front matter" in finding.message
    [finding] = checked(
        b"---\ntype: decision\ncategory: whatever\nscope: team\n---\nx\n"
    ).findings
    assert finding.level == LintLevel.WARNING and "`id`" in finding.message


@pytest.mark.parametrize(
    ("path", "line", "said"),
    [
        (
            PATH.replace("ledgerly", "kasha"),
            7,
            "scope project ledgerly and lies in projects/kasha/memory/",
        ),
        (
            PATH.replace("projects/ledgerly", "user"),
            7,
            "scope project ledgerly and lies in user/memory/",
        ),
        (
            PATH.replace("decisions", "gotchas"),
            9,
            "its category is architectural-decisions, its folder gotchas",
        ),
        (PATH.replace("memory/", "memory/archive/"), 0, ""),
        (PATH.replace("decisions/", "anywhere/"), 0, ""),
    ],
)
def test_a_file_in_the_folder_of_another_is_warned_of(
    path: str, line: int, said: str
) -> None:
    found = [(f.line, f.level, f.message) for f in checked(file(), path).findings]
    assert len(found) == (1 if said else 0)
    for at, level, message in found:
        assert (at, level) == (line, LintLevel.WARNING) and said in message


@pytest.mark.parametrize("length", [1, 50])
def test_a_secret_is_named_and_never_repeated(length: int) -> None:
    secret = "hunter" + length * "2hunter2"
    data = file(
        FRONT.replace("trust: user", f"trust: {secret}"), f"The password is {secret}.\n"
    )

    def secrets(text: bytes) -> Iterable[tuple[int, int, str]]:
        start = -1
        while (start := text.find(secret.encode(), start + 1)) >= 0:
            yield start, start + len(secret), "password"

    found = check(PATH, data, secrets).findings
    assert [
        (f.line, f.level)
        for f in found
        if f.message == "a secret stands here: password"
    ] == [
        (10, LintLevel.ERROR),
        (13, LintLevel.ERROR),
    ]
    assert any(
        re.search(r"`trust: \[password\]…?` is not one of", f.message) for f in found
    )
    assert "hunter" not in str(found)


def linked(**texts: str) -> list[LintedFile]:
    """Files ``NAME`` → front matter lines added; ids and dates follow from the names."""
    made = []
    for day, (name, more) in enumerate(texts.items(), 1):
        front = (
            FRONT.replace(ID, new_id(name)).replace("2026-02-09", f"2026-02-{day:02}")
            + more
        )
        made.append(
            checked(file(front), f"projects/ledgerly/memory/decisions/{name}.md")
        )
    assert [one.findings for one in made if one.findings] == []
    return made


def messages(
    files: list[LintedFile], forgotten: Iterable[str] = (), *, is_whole: bool = True
) -> list[tuple[str, int, str]]:
    found: list[LintFinding] = sorted(check_links(files, forgotten, is_whole=is_whole))
    assert all(f.remedy for f in found)
    return [(f.path.rpartition("/")[2], f.line, f.message) for f in found]


def after(*names: str) -> str:
    first, *rest = names
    more = "".join(
        f"\n- {{id: {new_id(name)}, relationship: supersedes}}" for name in rest
    )
    return f"supersedes: {new_id(first)}\n" + (f"related:{more}\n" if rest else "")


def test_a_sound_chain_has_nothing_wrong() -> None:
    assert messages(linked(a="", b=after("a"), c=after("b"))) == []
    mended = linked(a="", b=after("a"), c=after("a"), d=after("b", "c"))
    assert messages(mended) == []


def test_a_link_to_nothing_is_warned_of() -> None:
    [(name, line, said)] = messages(linked(a="", b=after("gone")))
    assert (name, line) == ("b.md", 11) and new_id("gone") in said
    [(name, line, said)] = messages(linked(a="", b=after("a", "gone")))
    assert (name, line) == ("b.md", 12) and new_id("gone") in said


def test_a_circle_names_all_but_the_newest() -> None:
    found = messages(linked(a=after("c"), b=after("a"), c=after("b")))
    assert [(name, line) for name, line, _ in found] == [("a.md", 11), ("b.md", 11)]
    assert all("circle" in said and "c.md counts" in said for *_, said in found)
    assert "supersedes itself" in messages(linked(a=after("a")))[0][2]


def test_a_fork_is_told_at_the_version_that_counts() -> None:
    files = linked(a="", b=after("a"), c=after("a"))
    [(name, line, said)] = messages(files)
    assert (name, line) == ("c.md", 11) and "b.md replaced the same memory" in said
    assert [one.level for one in check_links(files, (), is_whole=True)] == [
        LintLevel.WARNING
    ]


def test_chains_are_left_to_a_look_at_everything() -> None:
    assert messages(linked(a="", b=after("a"), c=after("a")), is_whole=False) == []


def test_two_files_with_one_id_are_told_at_the_second_and_the_archived() -> None:
    [one] = linked(a="")
    copies = [
        LintedFile(path, one.memory, (), one.text)
        for path in ("memory/b.md", "memory/archive/a.md", "memory/a.md")
    ]
    assert [
        (f.path, f.line) for f in sorted(check_links(copies, (), is_whole=True))
    ] == [
        ("memory/a.md", 3),
        ("memory/archive/a.md", 3),
    ]


def test_what_was_forgotten_and_is_there_again_is_an_error() -> None:
    [(name, line, said)] = messages(linked(a="", b=""), [new_id("a"), new_id("nobody")])
    assert (name, line) == ("a.md", 3) and "forgotten" in said


def test_a_forgotten_path_is_told_to_need_another_name() -> None:
    plain = checked(b"# Another\n", "memory/todo.md")
    assert plain.memory
    [finding] = check_links([plain], [plain.memory.id], is_whole=True)
    assert finding.level == LintLevel.ERROR and finding.remedy.startswith("Rename it")
