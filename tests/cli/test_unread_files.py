"""A memory file that cannot be read is told of where a person would miss it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ready import Done

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
