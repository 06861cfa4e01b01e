"""What memory holds, counted; and written out so that a program or a person can read it without
Keeplore.
"""

from __future__ import annotations

import json
import os
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from new_workspace import lay_down
from ready import keeplore

from keeplore.cli.commands.tidy.stats_ import show_statistics
from keeplore.config.places import Places
from keeplore.memory import Conversation, Exchange, Memory, new_id, new_meta, parse
from keeplore.memory.note import NoteDraft
from keeplore.workspace.reading.statistics import statistics
from keeplore.workspace.registry import Registry

HOSTILE = "# Fake\n\nFake\n===\n\n<!-- swallow\n\n```\nnever closed\n\n## Also fake"


@pytest.fixture
def root(home: Path) -> Path:
    """Notes of two projects, one of them changed once, one forgotten, one hostile; and a
    conversation.
    """
    places = Places.from_environment(os.environ)
    lay_down(places, home / "memory")
    with Registry(places) as registry:
        workspace = registry.named("memory")
        notes = workspace.notes
        first = notes.write(
            NoteDraft(
                "Use pnpm",
                category="project-conventions",
                project="web",
                permanent=True,
            )
        )
        notes.revise(
            first.memory.id,
            title="Use bun",
            body="# Use bun\n\nSince 2026, with `bun.lock`.\n",
        )
        notes.write(
            NoteDraft(
                "The ledger is append-only",
                category="architectural-decisions",
                project="ledgerly",
            )
        )
        notes.write(
            NoteDraft(
                HOSTILE,
                title="x](javascript:1) <b>\x1b[31m",
                project="web",
                category="gotchas",
            )
        )
        gone = notes.write(NoteDraft("Forget this"))
        workspace.store.forget(gone.memory.id, "here", "2026-12-01T00:00:00Z")
        at = "2024-03-01T10:00:00Z"
        meta = new_meta(
            id=new_id("c"),
            kind="conversation",
            title="Kafka",
            created_at=at,
            updated_at=at,
            scope="workspace",
        )
        said = Exchange(
            "t-1",
            at,
            "How long do we keep events?",
            ("Seven days, said nobody twice.",),
        )
        workspace.store.save(Memory(meta, Conversation("Kafka", (said,)).to_markdown()))
        workspace.commit()
    return home / "memory"


def test_everything_is_counted(root: Path) -> None:
    told = json.loads(keeplore("stats", "--json").stdout)
    assert (
        told["memories"],
        told["permanent"],
        told["superseded"],
        told["forgotten"],
        told["chains"],
    ) == (
        4,
        1,
        1,
        1,
        1,
    )
    assert told["by_kind"] == {"note": 3, "conversation": 1}
    assert told["by_project"] == {"web": 2, "ledgerly": 1}
    assert told["by_scope"] == {"project": 3, "workspace": 1}
    assert told["by_category"]["gotchas"] == 1 and told["by_trust"]["user"] == 3
    assert told["by_month"]["2024-03"] == 1 and told["oldest"] == "2024-03-01T10:00:00Z"
    assert (
        min(
            told["bytes_text"],
            told["bytes_git"],
            told["bytes_index"],
            told["bytes_cache"],
            told["bytes_state"],
        )
        > 0
    )
    assert told["spool"] == {"new": 0, "claimed": 0, "dead": 0}
    assert told["forks"] == 0


def test_a_person_gets_words_and_a_pipe_gets_tabs(root: Path) -> None:
    lines = keeplore("stats").stdout.splitlines()
    assert lines[0] == "memory: 4 memories, 1 of them permanent"
    assert "project\tweb\t2" in lines and "month\t2024-03\t1" in lines
    sizes = [line.split("\t") for line in lines if line.endswith(("kB", "MB"))]
    assert [name for name, _ in sizes] == [
        "text", "git", "index", "cache, all workspaces", "inbox",
    ]  # fmt: skip
    assert all(re.fullmatch(r"[1-9]\d* kB|\d+\.\d MB", size) for _, size in sizes)


def test_every_large_number_is_written_alike(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Registry(Places.from_environment(os.environ)) as registry:
        found = statistics(registry.named("memory"))
    large = {"passages": 1108, "vectors": 1108, "permanent": 1200, "forgotten": 1300}
    show_statistics(replace(found, **large))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "memory: 4 memories, 1,200 of them permanent"
    assert "0 archived, 1 earlier version, 1,300 forgotten" in lines
    (passages,) = (line for line in lines if "passages" in line)
    assert passages.startswith("1,108 passages, 1,108 with a vector; ")


def test_an_empty_workspace_is_counted_and_written_out_too(home: Path) -> None:
    assert keeplore("init", "memory").returncode == 0
    assert json.loads(keeplore("stats", "--json").stdout)["memories"] == 0
    assert keeplore("stats").returncode == 0
    assert keeplore("export").stdout.startswith("# Memory of memory\n\n0 memories.")
    assert keeplore("export", "--format", "jsonl").stdout == ""


def test_json_lines_hold_front_matter_and_body_as_they_are(root: Path) -> None:
    told = [
        json.loads(line)
        for line in keeplore(
            "export", "--format", "jsonl", "--all-versions"
        ).stdout.splitlines()
    ]
    assert len(told) == 5
    for one in told:
        memory = parse((root / one["path"]).read_text())
        assert (one["meta"], one["body"]) == (dict(memory.meta), memory.body)
    (old,) = [one for one in told if one["meta"]["title"] == "Use pnpm"]
    (new,) = [one for one in told if one["meta"]["title"] == "Use bun"]
    assert old["superseded_by"] == new["meta"]["id"] and new["superseded_by"] == ""


def test_a_document_has_contents_and_every_memory_and_nothing_in_one_changes_it(
    root: Path,
) -> None:
    text = keeplore("export").stdout
    tokens = MarkdownIt("commonmark").parse(text)
    headings = [
        (token.tag, tokens[at + 1].content)
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    ]
    assert [title for tag, title in headings if tag == "h1"] == ["Memory of memory"]
    assert [title for tag, title in headings if tag == "h2"] == [
        "Contents",
        "All projects",
        "ledgerly",
        "web",
    ]
    memories = [title.rpartition("</a>")[2] for tag, title in headings if tag == "h4"]
    assert memories[:2] == ["Kafka", "The ledger is append-only"]
    assert (
        len(memories) == 4
        and "Use bun" in memories
        and not any("pnpm" in title for title in memories)
    )
    assert "html_block" not in {token.type for token in tokens}
    links = [
        child.attrs["href"]
        for t in tokens
        for child in t.children or ()
        if child.type == "link_open"
    ]
    assert len(links) == 4 and all(str(link).startswith("#m-") for link in links)
    assert all(f'<a id="{str(link)[1:]}">' in text for link in links)
    assert "\x1b" not in text and "Since 2026, with `bun.lock`." in text
    assert (
        "Seven days" not in text and "Seven days" in keeplore("export", "--full").stdout
    )


def test_filters_choose(root: Path) -> None:
    def titles(*options: str) -> list[str]:
        lines = keeplore("export", "--format", "jsonl", *options).stdout.splitlines()
        return sorted(json.loads(line)["meta"]["title"] for line in lines)

    assert titles("--project", "ledgerly") == ["The ledger is append-only"]
    assert titles("--kind", "conversation") == ["Kafka"]
    assert (
        "Kafka" not in titles("--since", "30d") and len(titles("--since", "30d")) == 3
    )
    assert titles("--project", "nowhere") == []


def test_a_file_is_written_whole_or_not_at_all(root: Path, home: Path) -> None:
    done = keeplore("export", "--output", "memory.md")
    assert (
        done.returncode == 0
        and "4 memories are in memory.md" in done.stderr
        and done.stdout == ""
    )
    assert (home / "memory.md").read_text() == keeplore("export").stdout
    assert [
        path.name for path in home.iterdir() if path.name.startswith(".memory")
    ] == []
    for form in ("jsonl", "markdown"):  # an earlier export is replaced
        done = keeplore("export", "--format", form, "--output", "memory.md")
        assert done.returncode == 0
    (home / "letter.md").write_text("Dear Ann\n")
    done = keeplore("export", "--output", "letter.md")
    assert done.stderr.splitlines() == [
        "keeplore: letter.md is there already, and was not written by `keeplore export`",
        "  → Name another file with --output, or take that one away",
    ]
    assert (home / "letter.md").read_text() == "Dear Ann\n"
    done = keeplore("export", "--output", "nowhere/memory.md")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"keeplore: there is no folder {home.resolve()}/nowhere",
        "  → Make it first, or name another file",
    ]


def test_a_memory_that_cannot_be_read_is_named_and_the_others_are_written(
    root: Path,
) -> None:
    (root / "memory" / "facts").mkdir(exist_ok=True)
    (root / "memory" / "facts" / "bad.md").write_text("---\nid: [\n---\n")
    assert len(keeplore("export", "--format", "jsonl").stdout.splitlines()) == 4


def test_a_link_or_a_pipe_gets_the_text_and_stays(root: Path, home: Path) -> None:
    """As root, a device that was replaced would be gone for every program."""
    place, link, pipe = (home / name for name in ("real.md", "link.md", "pipe.md"))
    link.symlink_to(place)
    assert keeplore("export", "-o", str(link)).returncode == 0
    whole = place.read_text()
    assert whole.startswith("#") and link.is_symlink()
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    assert keeplore("export", "-o", str(pipe)).returncode == 0
    reader.join()
    assert heard == [whole] and pipe.is_fifo()
    link = home / "null.html"
    link.symlink_to(os.devnull)
    for command in (("export",), ("graph", "--format", "html")):
        assert keeplore(*command, "-o", str(link)).returncode == 0
        assert link.is_symlink() and Path(os.devnull).is_char_device()
