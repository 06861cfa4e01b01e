"""A memory file that cannot be read is told of where a person would miss it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from ready import Done

from keeplore.config.places import Places
from keeplore_hooks.spool import Spool

UNREAD = (
    "1 memory file cannot be read and is not searched: `keeplore lint` says what is "
    "wrong"
)


def test_what_cannot_be_read_is_told_where_nothing_is_found_and_at_a_sync(
    memory: Path, shop: Path, run: Callable[..., Done], git: Callable[..., str]
) -> None:
    git("init", "-q", "--bare", "remote.git", cwd=memory.parent)
    git("remote", "add", "origin", memory.parent / "remote.git", cwd=memory)
    run("remember", "The ledger is append-only", cwd=shop)
    (path,) = memory.rglob("*ledger*.md")
    whole = path.read_text()
    path.write_text(whole.replace("title: ", "title: [", 1))
    done = run("recall", "ledger", cwd=shop)
    assert (done.returncode, f"note: {UNREAD}\n" in done.stderr) == (4, True)
    answer = json.loads(run("recall", "--json", "ledger", cwd=shop).stdout)
    assert (answer["status"], answer["notes"][-1]) == ("nothing", UNREAD)
    assert run("sync", cwd=shop).stderr == f"note: {UNREAD}\n"
    listed = run("list", cwd=shop).stderr
    assert listed.endswith(f"note: {UNREAD}\n") and "no memory yet" not in listed
    path.write_text(whole)
    answer = json.loads(run("recall", "--json", "ledger", cwd=shop).stdout)
    assert (answer["status"], UNREAD in answer["notes"]) == ("found", False)
    assert run("sync", cwd=shop).stderr == ""


def test_a_list_that_is_empty_says_what_waits_to_be_read(
    memory: Path, shop: Path, run: Callable[..., Done]
) -> None:
    del memory
    empty = run("list", cwd=shop).stderr
    assert "no memory yet" in empty and "host event" not in empty
    spool = Spool(Places.from_environment(os.environ).spool)
    spool.add("claude-code", "Stop", b"{}")
    told = run("list", cwd=shop).stderr.splitlines()
    waits = "note: 1 host event waits to be read; `keeplore worker run` reads them"
    assert told == [*empty.splitlines(), waits]


def test_a_file_of_any_name_that_cannot_be_read_is_said_to_be_so(
    memory: Path, run: Callable[..., Done]
) -> None:
    path = memory / "memory" / "patterns" / "by-hand.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ntitle: [\n---\n\nTabs.\n")
    for command in (["show"], ["forget", "--yes"], ["pin"]):
        done = run(*command, "memory/patterns/by-hand.md", cwd=memory)
        first, remedy = done.stderr.splitlines()[-2:]
        name = "memory/patterns/by-hand.md"
        assert first.startswith(f"keeplore: {name} cannot be read, line ")
        assert remedy.startswith("  → ")
