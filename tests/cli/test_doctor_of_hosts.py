"""What doctor says of an agent and of what `keeplore connect` put there, word for word."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.cli.doctor import check_hosts
from keeplore.connect.resources import ResourceStatus

AT = "2026-02-09T14:00:30Z"
OWNER: Any = SimpleNamespace(host="codex", directory="/home/ann/.codex")
GONE, INTACT = ResourceStatus.MISSING, ResourceStatus.INTACT


def told(found: Any) -> list[str]:
    return [f"{one.level} {one.part}: {one.message} → {one.remedy}" for one in found]


@pytest.mark.parametrize(
    ("statuses", "lines"),
    [
        ({"a": INTACT}, []),
        (
            {"a": GONE, "b": INTACT, "c": GONE, "d": GONE, "e": GONE},
            [
                (
                    "wrong host codex: what `keeplore connect` put there is missing from a, c, d and "
                    "1 more → `keeplore connect codex` puts it back, `keeplore disconnect codex` "
                    "takes out the rest"
                )
            ],
        ),
        (
            {"a": "changed", "b": INTACT},
            [
                "note host codex: changed by hand since `keeplore connect` put it there: a → "
                + check_hosts.LOOK
            ],
        ),
    ],
    ids=["intact", "gone", "changed"],
)
def test_what_is_gone_or_changed_is_named(
    statuses: dict[str, str], lines: list[str]
) -> None:
    assert told(check_hosts._not_intact("codex", statuses)) == lines


@pytest.mark.parametrize(
    ("status", "problems", "has_changes", "lines"),
    [
        (
            INTACT,
            (),
            False,
            ["ok host codex: connected in /home/ann/.codex: 2 files, all intact → "],
        ),
        (
            INTACT,
            (),
            True,
            [
                "ok host codex: connected in /home/ann/.codex: 2 files, all intact → ",
                (
                    "note host codex: its entries are not as this release writes them → "
                    "`keeplore connect codex` brings them up to date"
                ),
            ],
        ),
        (
            INTACT,
            (SimpleNamespace(message="it is locked", remedy="Wait"),),
            True,
            ["wrong host codex: connected in part: it is locked → Wait"],
        ),
    ],
    ids=["well", "old", "in part"],
)
def test_entries_are_well_where_nothing_is_wrong_with_them(
    monkeypatch: pytest.MonkeyPatch,
    status: str,
    problems: tuple[Any, ...],
    has_changes: bool,
    lines: list[str],
) -> None:
    files = [
        (SimpleNamespace(path="a", owners=(OWNER,)), status),
        (SimpleNamespace(path="b", owners=(OWNER,)), status),
        (SimpleNamespace(path="c", owners=()), GONE),
    ]
    again = (problems, has_changes)
    monkeypatch.setattr(check_hosts, "statuses", lambda _: files)
    monkeypatch.setattr(check_hosts, "_connecting_again", lambda *_: again)
    surroundings: Any = None
    record: Any = None
    found = check_hosts._entry_findings(OWNER, record, surroundings)
    assert told(found) == lines


@pytest.mark.parametrize(
    ("directory", "is_asked"), [("/home/ann/.codex", True), ("/elsewhere", False)]
)
def test_only_the_directory_that_is_used_now_is_connected_again_in_thought(
    monkeypatch: pytest.MonkeyPatch, directory: str, is_asked: bool
) -> None:
    plan = SimpleNamespace(problems=("x",), changes=("y",))
    asked: list[Any] = []

    def connect(*given: Any) -> Any:
        asked.append(given)
        return plan

    monkeypatch.setattr(check_hosts, "connect", connect)
    monkeypatch.setattr(check_hosts, "client_launcher", lambda _: "launcher")
    surroundings: Any = SimpleNamespace(directory=lambda _: Path(directory))
    record: Any = "record"
    found = check_hosts._connecting_again(OWNER, record, surroundings)
    assert found == ((("x",), True) if is_asked else ((), False))
    given = (["codex"], surroundings, "record", "launcher")
    assert asked == ([given] if is_asked else [])


def test_what_a_person_set_up_besides_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"twice": "", "off": ""}
    monkeypatch.setattr(check_hosts, "installed_otherwise", lambda *_: said["twice"])
    monkeypatch.setattr(check_hosts, "switched_off", lambda *_: said["off"])
    assert told(check_hosts._connected_by_a_person(OWNER)) == []
    said.update(twice="as a plugin", off="hooks = false")
    assert told(check_hosts._connected_by_a_person(OWNER)) == [
        (
            "note host codex: it is connected twice: as a plugin → Remove one of the two: "
            "`keeplore disconnect codex` takes out what it has put there"
        ),
        (
            "note host codex: it runs none of our entries: hooks = false → Take that out to have "
            "its sessions remembered"
        ),
    ]


def test_when_an_agent_was_heard_of_last_is_told_or_what_to_do() -> None:
    never = check_hosts._last_event("codex", "")
    step = check_hosts.LOCATIONS["codex"].next_step
    assert told([check_hosts._last_event("codex", AT), never]) == [
        "ok host codex: its last event came at 2026-02-09 14:00 → ",
        (
            "note host codex: connected, and nothing was heard of it yet → In "
            f"{check_hosts.LOCATIONS['codex'].label}: {step}"
        ),
    ]


@pytest.mark.parametrize(
    ("host", "is_found", "why", "at", "lines"),
    [
        (
            "codex",
            True,
            "",
            "",
            [
                "note: Codex CLI is here, and is not connected → `keeplore connect codex`"
            ],
        ),
        (
            "codex",
            True,
            "installed as a plugin",
            "",
            [
                (
                    "note: installed as a plugin, and nothing was heard yet → Start a new session of "
                    "Codex CLI"
                )
            ],
        ),
        (
            "codex",
            True,
            "installed as a plugin",
            AT,
            [
                "ok: its last event came at 2026-02-09 14:00 → ",
                "ok: installed as a plugin → ",
            ],
        ),
        ("codex", True, "", AT, ["ok: its last event came at 2026-02-09 14:00 → "]),
        ("codex", False, "", "", []),
        ("acme", False, "", AT, ["ok: its last event came at 2026-02-09 14:00 → "]),
        ("acme", False, "", "", []),
    ],
)
def test_an_agent_that_is_not_connected_is_told_of_where_it_is_here_or_was_heard(
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    is_found: bool,
    why: str,
    at: str,
    lines: list[str],
) -> None:
    monkeypatch.setattr(check_hosts, "installed_otherwise", lambda *_: why)
    surroundings: Any = SimpleNamespace(
        found=lambda: [host] if is_found else [], directory=lambda _: Path("/x")
    )
    found = told(check_hosts._unconnected_findings(host, surroundings, at))
    assert [line.replace(f" host {host}", "", 1) for line in found] == lines
