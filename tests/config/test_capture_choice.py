"""Rules and pauses of capture: their words, and the file that holds them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from keeplore.config.capture_choice import (
    MAX_PAUSES,
    MAX_VALUE,
    CaptureRule,
    Pause,
    Pauses,
    RuleKind,
)
from keeplore.config.places import Places
from keeplore.errors import ConfigError

T = [f"2026-02-09T1{hour}:00:00Z" for hour in range(10)]


@pytest.fixture
def places() -> Places:
    return Places.from_environment(os.environ)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("path:~/private", CaptureRule(RuleKind.PATH, "~/private")),
        ("path: /srv/a:b ", CaptureRule(RuleKind.PATH, "/srv/a:b")),
        ("project:shop-*", CaptureRule(RuleKind.PROJECT, "shop-*")),
        ("remote:github.com/acme/*", CaptureRule(RuleKind.REMOTE, "github.com/acme/*")),
        ("pattern:**/x", CaptureRule(RuleKind.PATTERN, "**/x")),
        (f"project:{'x' * MAX_VALUE}", CaptureRule(RuleKind.PROJECT, "x" * MAX_VALUE)),
    ],
)
def test_a_rule_is_read_and_written_in_words(text: str, rule: CaptureRule) -> None:
    assert CaptureRule.parse(text) == rule
    assert CaptureRule.parse(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("shop", "'shop' should be one of path:…, project:…, remote:…, pattern:…"),
        ("host:a", "'host:a' should be one of path:…, project:…, remote:…, pattern:…"),
        ("path: ", "'path: ' should be one of path:…, project:…, remote:…, pattern:…"),
        ("path:private", "path:private should begin with / or ~"),
        ("project:a\nb", "project: it should be one line of 500 characters at most"),
        (
            f"project:{'x' * 501}",
            "project: it should be one line of 500 characters at most",
        ),
    ],
)
def test_what_is_no_rule_says_what_it_should_be(text: str, flaw: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(flaw)}\Z"):
        CaptureRule.parse(text)


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [(0, 2, False), (0, 3, True), (4, 4, True), (5, 8, True), (6, 8, False)],
)
def test_a_pause_overlaps_what_began_before_its_end(
    begin: int, end: int, expected: bool
) -> None:
    assert Pause(T[3], T[6]).overlaps(T[begin], T[end]) is expected
    assert Pause(T[3]).overlaps(T[begin], T[end]) is (expected or begin == 6)


def test_a_new_pause_goes_on_with_the_one_that_holds() -> None:
    ended = Pauses((Pause(T[0], T[1]),))
    begun = ended.with_pause(T[2], "")
    assert begun.known == (Pause(T[0], T[1]), Pause(T[2]))
    assert begun.with_pause(T[3], T[5]).known == (Pause(T[0], T[1]), Pause(T[2], T[5]))
    assert begun.with_current_ended(T[4]).known == (
        Pause(T[0], T[1]),
        Pause(T[2], T[4]),
    )
    assert [begun.at(moment) for moment in T[:3]] == [
        begun.known[0],
        None,
        begun.known[1],
    ]
    many = Pauses(
        tuple(Pause(f"{year:04}", f"{year:04}x") for year in range(MAX_PAUSES))
    )
    assert many.with_pause(T[0], "").known == (*many.known[1:], Pause(T[0]))


def test_pauses_are_kept_in_a_file(places: Places) -> None:
    assert Pauses.load(places) == Pauses()
    pauses = Pauses((Pause(T[0], T[1]), Pause(T[2])))
    pauses.save(places)
    text = (places.state / "pauses.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"schema": 1, "pauses": [[T[0], T[1]], [T[2], ""]]}
    assert (text.count("\n"), text[-2:]) == (13, "}\n")
    assert Pauses.load(places) == pauses


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pauses": [1]}'])
def test_pauses_that_cannot_be_read_keep_everything_out(
    places: Places, text: str
) -> None:
    places.create()
    file: Path = places.state / "pauses.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        Pauses.load(places)
    assert refused.value.message.startswith(
        f"{file} cannot be read, so nothing is captured: "
    )
    assert refused.value.remedy == "Mend or remove it"


def test_clients_are_told_until_when_nothing_is_kept(places: Places) -> None:
    marker = places.state / "paused"
    places.create()
    pauses = Pauses((Pause(T[1], T[3]), Pause(T[5])))
    pauses.tell_clients(places, T[0])
    assert not marker.exists()
    pauses.tell_clients(places, T[2])
    assert marker.read_bytes() == b"20260209130000\n"
    pauses.tell_clients(places, T[6])
    assert marker.read_bytes() == b"\n"
    pauses.tell_clients(places, T[4])
    assert not marker.exists()
