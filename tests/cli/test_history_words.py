"""What ``keeplore history`` says of each version, word for word."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from sample_note import note

from keeplore.cli.commands.ask import history_
from keeplore.cli.output import emit_json

AT = "2026-02-09T10:30:00Z"


def step(
    *,
    fields: tuple[tuple[str, str, str], ...] = (),
    pieces: tuple[tuple[str, str], ...] = (),
    is_head: bool = False,
    is_leaf: bool = False,
    trust: str = "user",
    **meta: Any,
) -> Any:
    memory = note("The ledger", version=2, **meta)
    row = SimpleNamespace(
        id=memory.id, title="The ledger", created_at=AT, path="ledger.md"
    )
    version = SimpleNamespace(memory=memory, row=row, is_head=is_head, is_leaf=is_leaf)
    changes = [
        SimpleNamespace(field=field, before=before, after=after)
        for field, before, after in fields
    ]
    texts = [SimpleNamespace(sign=sign, text=text) for sign, text in pieces]
    return SimpleNamespace(version=version, trust=trust, fields=changes, pieces=texts)


def shown(capsys: pytest.CaptureFixture[str], act: Any) -> list[str]:
    act()
    return capsys.readouterr().out.splitlines()


SOURCE = {"host": "codex", "machine": "laptop-1", "session": "s-1"}


@pytest.mark.parametrize(
    ("more", "is_forked", "about"),
    [
        ({}, False, "user"),
        ({"trigger": "remember"}, False, "user, remember"),
        (
            {"trigger": "remember", "source": SOURCE},
            False,
            "user, remember, codex, laptop-1",
        ),
        ({"source": {"machine": "laptop-1"}}, False, "user, laptop-1"),
        ({"is_head": True, "is_leaf": True}, False, "user  (newest)"),
        ({"is_head": True, "is_leaf": True}, True, "user  (newest, fork)"),
        ({"is_leaf": True}, True, "user  (fork)"),
        ({}, True, "user"),
    ],
)
def test_a_version_is_told_with_its_time_and_writer(
    capsys: pytest.CaptureFixture[str],
    more: dict[str, Any],
    is_forked: bool,
    about: str,
) -> None:
    one = step(**more)
    lines = shown(capsys, lambda: history_._show_heading(one, is_forked=is_forked))
    digits = one.version.row.id[4:12]
    assert lines == [f"version 2  {digits}  2026-02-09 10:30, {about}"]


def test_the_first_version_has_its_title_and_the_others_what_changed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fields = (("trust", "assistant", "user"), ("category", "", "gotchas"))
    pieces = (("", "It is "), ("-", "slow\n"), ("+", "quick\n"), ("", "now.\n"))
    one = step(fields=(*fields, ("status", "open", "")), pieces=pieces)
    changed = [
        "  trust: assistant → user",
        "  category: none → gotchas",
        "  status: open → none",
        "    It is [-slow-]",
        "    {+quick+}",
        "    now.",
    ]
    show = history_._show_changes
    assert shown(capsys, lambda: show(one, is_first=False)) == changed
    assert shown(capsys, lambda: show(one, is_first=True)) == [
        "  The ledger",
        *changed,
    ]
    nothing = ["  nothing that can be seen changed"]
    assert shown(capsys, lambda: show(step(), is_first=False)) == nothing
    assert shown(capsys, lambda: show(step(), is_first=True)) == ["  The ledger"]


@pytest.mark.parametrize(("count", "more"), [(3_999, 0), (4_000, 0), (4_001, 1)])
def test_a_long_change_is_cut_and_it_is_told_where_the_rest_is(
    capsys: pytest.CaptureFixture[str], count: int, more: int
) -> None:
    one = step(pieces=(("", "x" * count),))
    digits = one.version.row.id[4:12]
    rest = f"    … and {more} characters more: `keeplore show {digits}`"
    assert shown(capsys, lambda: history_._show_text(one)) == [
        f"    {'x' * min(count, 4_000)}",
        *([rest] if more else []),
    ]


def test_a_change_cannot_speak_to_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = step(pieces=(("+", "a\x1b[2Jb"),))
    (line,) = shown(capsys, lambda: history_._show_text(one))
    assert "\x1b[2J" not in line
    assert line.startswith("    {+a") and line.endswith("b+}")


def test_a_program_gets_the_same_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    one = step(
        fields=(("trust", "assistant", "user"),),
        pieces=(("+", "x"),),
        is_head=True,
        trigger="remember",
        source=SOURCE,
        trust="user",
    )
    emit_json(history_._as_json(one))
    assert json.loads(capsys.readouterr().out) == {
        "id": one.version.row.id,
        "version": 2,
        "title": "The ledger",
        "created_at": AT,
        "trigger": "remember",
        "source": SOURCE,
        "path": "ledger.md",
        "is_head": True,
        "is_leaf": False,
        "fields": [{"field": "trust", "before": "assistant", "after": "user"}],
        "text": [{"sign": "+", "text": "x"}],
        "trust": "user",
    }
