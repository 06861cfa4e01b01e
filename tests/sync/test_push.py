"""How a branch is pushed, and what is said where the remote refuses, word for word."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.sync.errors import FailureKind, SyncError
from keeplore.sync.synchronise import SyncResult

# the package has a function of that name
syncing = importlib.import_module("keeplore.sync.synchronise")
STORE: Any = SimpleNamespace(root="/memory", current_branch=lambda: "main")
PURGED = "a" * 40
RESCUED = (
    "nothing new; somebody rewrote the remote, and what it had is kept in the branch "
    "keeplore/rescued-1"
)


@pytest.fixture
def pushed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pushes to a remote that fails with this error; what git was asked, in ``asked``."""
    asked: list[tuple[Any, ...]] = []

    def push(
        error: SyncError | None = None, replaced: str = "", *, is_upstream: bool = True
    ) -> bool:
        def check(_: object) -> None:
            if error is not None:
                raise error

        monkeypatch.setattr(syncing, "attempt", lambda *given: asked.append(given))
        monkeypatch.setattr(syncing, "check", check)
        remote: Any = SimpleNamespace(name="origin", is_upstream=is_upstream)
        return syncing._push(STORE, remote, "https", replaced)

    return SimpleNamespace(push=push, asked=asked)


@pytest.mark.parametrize(
    ("is_upstream", "replaced", "options"),
    [
        (True, "", []),
        (False, "", ["--set-upstream"]),
        (True, PURGED, [f"--force-with-lease=refs/heads/main:{PURGED}"]),
        (
            False,
            PURGED,
            ["--set-upstream", f"--force-with-lease=refs/heads/main:{PURGED}"],
        ),
    ],
)
def test_nothing_is_forced_but_over_the_very_commit_that_held_purged_text(
    pushed: Any, is_upstream: bool, replaced: str, options: list[str]
) -> None:
    assert pushed.push(None, replaced, is_upstream=is_upstream)
    command = "push --porcelain --no-recurse-submodules"
    branch = "refs/heads/main:refs/heads/main"
    given = ("/memory", "https", command, *options, "--", "origin", branch)
    assert pushed.asked == [given]


@pytest.mark.parametrize("replaced", ["", PURGED])
def test_another_machine_that_was_faster_is_no_error(
    pushed: Any, replaced: str
) -> None:
    assert not pushed.push(SyncError(FailureKind.MOVED, "it moved", ""), replaced)


@pytest.mark.parametrize(
    ("kind", "replaced"),
    [(FailureKind.REFUSED, ""), (FailureKind.OFFLINE, PURGED), (FailureKind.OTHER, "")],
)
def test_what_a_remote_says_is_passed_on(
    pushed: Any, kind: FailureKind, replaced: str
) -> None:
    error = SyncError(kind, "no", "Ask its owner")
    with pytest.raises(SyncError) as caught:
        pushed.push(error, replaced)
    assert caught.value is error


def test_a_remote_that_keeps_purged_text_is_told_of_with_the_way_out(
    pushed: Any,
) -> None:
    refusal = SyncError(FailureKind.REFUSED, "it denies updates", "Ask its owner")
    with pytest.raises(SyncError) as caught:
        pushed.push(refusal, PURGED)
    assert caught.value.kind == FailureKind.REFUSED
    assert caught.value.message == (
        "the remote still has purged text and keeps it: it denies updates"
    )
    assert caught.value.remedy == (
        "Allow force pushes to main there until the next `keeplore sync`; nothing is pushed before"
    )


@pytest.mark.parametrize(
    ("result", "note"),
    [
        (SyncResult(0, 0, 0, ""), "nothing new"),
        (SyncResult(1, 1, 0, ""), "1 commit fetched, 1 file changed, 0 commits pushed"),
        (
            SyncResult(0, 0, 1, ""),
            "0 commits fetched, 0 files changed, 1 commit pushed",
        ),
        (
            SyncResult(0, 0, 0, "", ("mem_1",)),
            "0 commits fetched, 0 files changed, 0 commits pushed, 1 memory purged from history",
        ),
        (
            SyncResult(2, 3, 4, "", ("mem_1", "mem_2")),
            "2 commits fetched, 3 files changed, 4 commits pushed, 2 memories purged from history",
        ),
        (
            SyncResult(0, 0, 0, "", (), "keeplore/rescued-1"),
            RESCUED,
        ),
    ],
    ids=["nothing", "fetched", "pushed", "purged", "all", "rescued"],
)
def test_what_a_sync_did_is_one_sentence(result: SyncResult, note: str) -> None:
    assert syncing._note(result) == note


def test_a_result_names_each_purged_memory_once_and_the_first_five_held_back() -> None:
    taken = SyncResult(1, 2, 0, "", ("mem_1", "mem_2", "mem_1"))
    done = syncing._with_note(taken, 3, tuple(f"{n}.md:1" for n in range(6)))
    assert (done.fetched, done.merged, done.pushed) == (1, 2, 3)
    assert done.purged == ("mem_1", "mem_2")
    assert done.note == (
        "1 commit fetched, 2 files changed, 3 commits pushed, 2 memories purged from history; "
        "held back for what looks like a secret: 0.md:1, 1.md:1, 2.md:1, 3.md:1, 4.md:1 and 1 more"
    )


@pytest.mark.parametrize(
    ("path", "removal"),
    [
        (
            "memory/facts/a b.md",
            " or remove it with `keeplore forget --purge 'memory/facts/a b.md'`;",
        ),
        ("README.md", ""),
    ],
)
def test_a_secret_is_told_with_its_place_and_every_way_out(
    path: str, removal: str
) -> None:
    found = {f"{path}:3 (github-token:1a2b3c)": "github-token:1a2b3c"}
    error = syncing._secret_found(STORE, "b" * 40, found, path)
    assert error.kind == FailureKind.LEAK
    assert error.message == (
        "nothing is pushed, because commits hold what looks like a secret: "
        f"{path}:3 (github-token:1a2b3c)"
    )
    assert error.remedy == (
        "Take it out of the file, run `git -C /memory reset --soft bbbbbbbbbbbb` and "
        f"`keeplore sync`;{removal} where it is no secret, list github-token:1a2b3c under "
        "redaction.allow in keeplore.yaml"
    )


@pytest.mark.parametrize(("number", "shortest_s"), [(0, 0.0), (1, 0.4), (3, 1.6)])
def test_pauses_between_attempts_grow_with_jitter(
    monkeypatch: pytest.MonkeyPatch, number: int, shortest_s: float
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(syncing.time, "sleep", slept.append)
    monkeypatch.setattr(syncing.random, "random", lambda: 0.5)
    syncing._pause_before(number)
    assert slept == ([pytest.approx(shortest_s * 1.5)] if number else [])
