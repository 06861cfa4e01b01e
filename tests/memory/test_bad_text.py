"""Text from strangers: each bad file is refused with a reason and a remedy, or read with its
problems listed.
"""

from __future__ import annotations

import pytest

from keeplore.errors import Corrupt
from keeplore.memory import Conversation, Memory, parse, serialise
from keeplore.memory.frontmatter import MAX_DEPTH, MAX_FRONT_MATTER

SOUND = """\
id: mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d
kind: note
title: t
created_at: 2026-02-09T14:03:11Z
scope: user
"""


def file(front: str, body: str = "words\n") -> str:
    return f"---\n{front}---\n\n{body}"


# each of these once crashed, hung or fooled a YAML reader
REFUSED = {
    "an empty file": ("", "no front matter"),
    "no front matter": ("# just markdown\n", "no front matter"),
    "a fence that is never closed": ("---\ntitle: t\n", "no front matter"),
    "text before the fence": (f"\n{file(SOUND)}", "no front matter"),
    "50,000 nested brackets": (file(f"a: {'[' * 50_000}\n"), "nests too deeply"),
    "50,000 nested brackets that close": (file(f"a: "
                                               f"{'[' * 25_000}{']' * 25_000}\n"), "nests too deeply"),
    "50,000 nested braces": (file("a: " + "{a: " * 15_000 + "\n"), "nests too deeply"),
    "lists nested on one line": (file("a:\n  " + "- " * 30_000 + "\n"), "nests too deeply"),
    "keys nested on one line": (file("? " * 30_000 + "\n"), "nests too deeply"),
    "mappings nested line by "
    "line": (file("".join(f"{' ' * n}a:\n" for n in range(340))), "nests too deeply"),
    "a front matter of a megabyte": (file(f"a: {'x' * 1_000_000}\n"), "larger than 64 KB"),
    "200,000 keys": (file("".join(f"k{n}: 1\n" for n in range(200_000))), "larger than 64 KB"),
    "an alias bomb": (file("a: &a [1, 1]\nb: &b [*a, *a]\nc: [*b, *b]\n"), "anchors and aliases"),
    "an anchor": (file("a: &a 1\n"), "anchors and aliases"),
    "a duplicate key": (file("title: one\ntitle: two\n"), "'title' stands twice"),
    "a duplicate key further down": (file("source:\n  host: a\n  host: "
                                          "b\n"), "'host' stands twice"),
    "a key that is a list": (file("? [a, b]\n: 1\n"), "key must be plain text"),
    "a key that is a number": (file("1: one\n"), "key of the front matter is no text"),
    "a list where a mapping is meant": (file("- a\n- b\n"), "no mapping"),
    "plain text where a mapping is meant": (file("only words\n"), "no mapping"),
    "an empty front matter": (file(""), "no mapping"),
    "two documents": (file("a: 1\n...\nb: 2\n"), "no YAML"),
    "a Python object": (file("a: !!python/object/apply:os.getcwd []\n"), "no YAML"),
    "a date by its tag": (file("a: !!timestamp 2026-02-09\n"), "no text, number, list or mapping"),
    "bytes by their tag": (file("a: !!binary aGk=\n"), "no text, number, list or mapping"),
    "a set by its tag": (file("a: !!set {x, y}\n"), "no text, number, list or mapping"),
    "a wikilink": (file("link: [[page]] and more\n"), "no YAML"),
    "a tab as indentation": (file("source:\n\thost: a\n"), "no YAML"),
    "a NUL": (file("title: a\0b\n"), "no YAML"),
    "a Windows path in double quotes": (file('path: "C:\\Users\\kim"\n'), "no YAML"),
    "conflict markers": (file("<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> "
                              "other\n"), "conflict markers"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_with_a_reason_and_a_remedy(text: str, reason: str) -> None:
    with pytest.raises(Corrupt, match=reason) as refusal:
        parse(text)
    assert refusal.value.remedy
    assert len(refusal.value.message) < 300


READ = {
    "a byte order mark": f"\ufeff{file(SOUND)}",
    "line ends of Windows": file(SOUND).replace("\n", "\r\n"),
    "spaces behind the fence": file(SOUND).replace("---\n", "---  \n"),
    "no line end at the end": file(SOUND).rstrip("\n"),
    "no text below": f"---\n{SOUND}---",
    "a comment": file(f"# mine\n{SOUND}"),
    "a second block between fences": file(SOUND, "---\nid: other\n---\n"),
    "a NUL in the text": file(SOUND, "a\0b\n"),
    "brackets in a title": file(SOUND.replace("title: t", f"title: '{'[' * 500}'")),
    "asterisks in a title": file(
        SOUND.replace("title: t", "title: '*important* & more'")
    ),
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_it_is_read_without_a_problem(text: str) -> None:
    memory = parse(text)
    assert memory.id == "mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d"
    assert memory.problems == ()


@pytest.mark.parametrize(
    ("front", "problem"),
    [
        (SOUND.replace("id: mem", "identity: mem"), "`id` is missing"),
        (SOUND.replace("kind: note", "kind: poem"), ("`kind: poem` is not one of conversation, "
                                                    "note, document")),
        (SOUND.replace("scope: user", "scope: galaxy"), "`scope: galaxy` is not one of"),
        (SOUND.replace("scope: user", "scope: project"), "`scope: project` needs `project: NAME`"),
        (f"schema: 2\n{SOUND}", "`schema: 2` is newer than 1; update keeplore"),
        (f"trust: everybody\n{SOUND}", "`trust: everybody` is not one of"),
        (f"category: [a, b]\n{SOUND}", "`category: ['a', 'b']` is not one of"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_a_problem_and_no_exception(front: str, problem: str) -> None:
    memory = parse(file(front))
    assert any(found.startswith(problem) for found in memory.problems), memory.problems
    # every view still answers
    assert (
        memory.kind,
        memory.scope,
        memory.trust,
        memory.turns,
        memory.is_open,
    ) is not None
    assert serialise(parse(serialise(memory))) == serialise(memory)


def test_conflict_markers_in_the_text_are_a_problem_and_the_text_is_kept() -> None:
    body = "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n"
    memory = parse(file(SOUND, body))
    assert memory.body == body
    assert "conflict markers" in memory.problems[0]


def test_a_line_of_equals_signs_alone_is_no_conflict() -> None:
    assert parse(file(SOUND, "A heading\n=======\n")).problems == ()


@pytest.mark.parametrize("value", [12, None, [], {}, True, "x" * 100_000])
def test_a_value_of_another_type_reads_as_its_default(value: object) -> None:
    fields = (
        "id",
        "title",
        "kind",
        "scope",
        "project",
        "category",
        "trust",
        "created_at",
        "supersedes",
        "source",
    )
    memory = Memory(dict.fromkeys(fields, value), "")
    assert memory.kind in ("document", "conversation", "note")
    assert memory.scope == "workspace"
    assert memory.trust == "foreign"
    assert memory.turns == ()


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        ({"title": "x" * (MAX_FRONT_MATTER + 1)}, "larger"),
        ({"a": eval("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))}, "nests"),
    ],
)
def test_what_could_not_be_read_again_is_never_written(
    meta: dict[str, object], reason: str
) -> None:
    with pytest.raises(Corrupt, match=reason):
        serialise(Memory(meta, ""))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no heading",
        "# title",
        "## Exchanges",
        "# t\n\n## Exchanges\n",
        (
            "# t\n\n## Exchanges\n\n<!-- keeplore:assistant -->\n### Assistant\n\nwords before any "
            "turn\n"
        ),
        "# t\n\n## Exchanges\n\n<!-- keeplore:turn -->\n",
        "# t\n\n## Exchanges\n\n<!-- keeplore:turn a b c d e -->\n### User\n\nwords\n",
        "# t\n\n## Exchanges\n\n<!-- keeplore:turn a b -->\n\n<!-- keeplore:question {broken -->\n",
        "# t\n\n## Exchanges\n\n<!-- keeplore:turn a b -->\n\n<!-- keeplore:question [1, 2] -->\n",
        "# t\n\n## Exchanges\n\n<!-- keeplore:turn a b -->\n\n<!-- keeplore:question "
        + "[" * 50_000
        + " -->\n",
        "# t\n\n## Decision\n\n- no turn here\n- half — user, turn\n",
        "# t\n\n## Code references\n\n- : \n- file: ```\n- what: ever\n",
    ],
)
def test_a_conversation_that_was_mangled_is_read_as_far_as_it_goes(body: str) -> None:
    conversation = Conversation.from_markdown(body)
    assert (
        Conversation.from_markdown(conversation.to_markdown()).exchanges
        == conversation.exchanges
    )
