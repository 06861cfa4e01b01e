"""What doctor says of an index and its vectors, in states that a small workspace never has."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.cli.doctor import check_index, check_workspace
from keeplore.errors import EngineUnavailable, KeeploreError, ModelUnavailable
from keeplore.index import IndexFlaw
from keeplore.workspace.sync_status import LastSync

MB = 1024 * 1024


def told(found: Any) -> list[str]:
    return [f"{one.level} {one.part}: {one.message} → {one.remedy}" for one in found]


@pytest.mark.parametrize(
    ("text", "size", "message"),
    [
        (0, 500 * MB, ""),
        (0, 500 * MB + 1, "it takes 500 MB, for 0 MB of text"),
        (7 * MB, 1200 * MB, ""),
        (7 * MB, 1201 * MB, "it takes 1201 MB, for 7 MB of text"),
    ],
)
def test_an_index_may_take_a_hundred_times_its_text_and_500_mb(
    text: int, size: int, message: str
) -> None:
    files = [SimpleNamespace(size=text - text // 3), SimpleNamespace(size=text // 3)]
    workspace: Any = SimpleNamespace(
        store=SimpleNamespace(scan=lambda: files),
        index=SimpleNamespace(size_bytes=lambda: size, directory=Path("/cache/index")),
    )
    found = told(check_workspace._index_size("index", workspace))
    remedy = "Delete /cache/index; it is made again from the text"
    assert found == ([f"wrong index: {message} → {remedy}"] if message else [])


class Embedder:
    """Whether it is a server, and why it gives no vectors, "" where it does."""

    def __init__(self, *, is_remote: bool = False, problem: str = "") -> None:
        self.is_remote, self.problem = is_remote, problem
        self.asked: list[str] = []
        self.fingerprint = "model"

    def embed(self, texts: list[str]) -> None:
        self.asked += texts
        if self.problem:
            raise ModelUnavailable(self.problem, "Start it")


def workspace_with(
    embedder: Embedder | None = None,
    *,
    vectors: int = 5,
    switch: Any = None,
    **index: Any,
) -> Any:
    state = SimpleNamespace(passages=5, vectors=vectors, switch=switch)
    settings = SimpleNamespace(embedding=SimpleNamespace(model="small"))
    more: dict[str, Any] = {"is_remote": False, "note": ""}
    return SimpleNamespace(
        index=SimpleNamespace(state=lambda: state, **(more | index)),
        embedder=embedder or Embedder(),
        settings=settings,
    )


SWITCH = SimpleNamespace(vectors=2, answering="the model old")
MISSING = "note index: vectors that the model small has yet to make"
ADD_ONE = "`git -C /memory remote add origin URL`, then `keeplore sync`"
FAILED = "wrong memory sync: the sync at 2026-02-09 14:00 failed: it is away"
THEY_ARE_MADE = "The worker makes them, and so does `keeplore doctor --fix`"


@pytest.mark.parametrize(
    ("vectors", "switch", "lines"),
    [
        (5, None, []),
        (3, None, [f"{MISSING}: 2; text search serves meanwhile → {THEY_ARE_MADE}"]),
        (
            5,
            SWITCH,
            [f"{MISSING}: 3; the model old answers meanwhile → {THEY_ARE_MADE}"],
        ),
    ],
)
def test_vectors_that_are_missing_are_counted_with_what_serves_meanwhile(
    vectors: int, switch: Any, lines: list[str]
) -> None:
    workspace = workspace_with(vectors=vectors, switch=switch)
    assert told(check_workspace._vectors("index", workspace)) == lines


@pytest.mark.parametrize(
    ("switch", "serving"),
    [(None, "search is by text alone"), (SWITCH, "the model old answers")],
)
def test_a_server_of_vectors_is_asked_and_what_is_wrong_with_it_told_in_place_of_a_count(
    switch: Any, serving: str
) -> None:
    embedder = Embedder(is_remote=True, problem="it does not answer")
    workspace = workspace_with(embedder, vectors=3, switch=switch)
    assert told(check_workspace._vectors("index", workspace)) == [
        f"note index: {serving}: it does not answer → Start it"
    ]
    assert len(embedder.asked) == 1


def test_a_model_of_this_machine_is_not_made_to_work() -> None:
    embedder = Embedder(problem="it would take a while")
    assert told(check_workspace._vectors("index", workspace_with(embedder))) == []
    assert embedder.asked == []


@pytest.mark.parametrize("failure", [None, EngineUnavailable("gone", "Start it")])
def test_a_search_engine_is_asked_before_it_is_told_whether_it_serves(
    failure: Exception | None,
) -> None:
    asked = []

    def warm_up() -> None:
        asked.append(True)
        if failure:
            raise failure

    note = "qdrant does not answer: SQLite serves"
    workspace = workspace_with(is_remote=True, note=note, warm_up=warm_up)
    assert told(check_workspace._vectors("index", workspace)) == [
        f"note index: {note} → `keeplore engine` shows which engine is set"
    ]
    assert asked == [True]


@pytest.mark.parametrize(
    ("remote", "last", "line"),
    [
        (
            "",
            LastSync(),
            "note memory: it has no remote, so it is on this machine only → " + ADD_ONE,
        ),
        (
            "origin",
            LastSync(),
            "note memory sync: never on this machine, with origin → Run `keeplore sync`",
        ),
        (
            "origin",
            LastSync(at="2026-02-09T14:00:30Z"),
            "ok memory sync: last at 2026-02-09 14:00 → ",
        ),
        (
            "origin",
            LastSync(at="2026-02-09T14:00:30Z", error="it is away", remedy="Wait"),
            f"{FAILED} → Wait",
        ),
        (
            "origin",
            LastSync(
                at="2026-02-09T14:00:30Z",
                error="it is away",
                remedy="Wait",
                succeeded_at="2026-02-08T10:00:00Z",
            ),
            f"{FAILED}; the last that went well was at 2026-02-08 10:00 → Wait",
        ),
    ],
)
def test_the_last_sync_is_told_with_what_kept_it_from_going_well(
    remote: str, last: LastSync, line: str
) -> None:
    workspace: Any = SimpleNamespace(
        store=SimpleNamespace(remote=lambda: remote),
        root=Path("/memory"),
        sync_log=SimpleNamespace(last=lambda: last),
    )
    assert told(check_workspace._remote("memory", workspace)) == [line]


class Flawed:
    """A workspace whose index has these flaws, and after it was mended those."""

    def __init__(self, left: tuple[IndexFlaw, ...] = (), *, has_model: bool = True):
        self.left, self.index = left, self
        self.embedder = "model" if has_model else None
        self.mended: list[IndexFlaw] = []
        self.vectors_made = 0

    def mend(self, flaws: list[IndexFlaw]) -> None:
        self.mended += flaws

    def flaws(self) -> tuple[IndexFlaw, ...]:
        return self.left

    def embed_pending(self, progress: Any) -> None:
        self.vectors_made += 1


@pytest.mark.parametrize(
    ("part", "has_model", "vectors_made"),
    [
        ("database", True, 1),
        ("vectors", True, 1),
        ("engine", True, 1),
        ("text", True, 0),
        ("words", True, 0),
        ("vectors", False, 0),
    ],
)
def test_vectors_are_made_anew_where_a_flaw_has_cost_some(
    part: str, has_model: bool, vectors_made: int
) -> None:
    flaws = [IndexFlaw("text", "a.md", "it differs"), IndexFlaw(part, "", "it is gone")]
    workspace: Any = Flawed(has_model=has_model)
    done = check_index._mend_index(workspace, flaws, lambda *_: None)
    assert done == "made anew, and proved"
    assert (workspace.mended, workspace.vectors_made) == (flaws, vectors_made)


def test_flaws_that_cannot_be_mended_are_told_with_the_way_out() -> None:
    left = (IndexFlaw("words", "a.md", "it differs"), IndexFlaw("text", "", "x"))
    workspace: Any = Flawed(left)
    with pytest.raises(KeeploreError) as caught:
        check_index._mend_index(workspace, [], lambda *_: None)
    assert caught.value.message == "2 flaws are left, such as: it differs"
    assert caught.value.remedy == "Delete the cache directory"
