from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from keeplore_hooks.spool import (
    LEFTOVER_S,
    MAX_ATTEMPTS,
    MAX_DEATHS,
    Spool,
    SpoolEntry,
    file_name_part,
)


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "state" / "spool")


def only(spool: Spool) -> SpoolEntry:
    (entry,) = spool.pending()
    return entry


def claim(spool: Spool) -> SpoolEntry:
    entry = spool.claim(only(spool))
    assert entry is not None
    return entry


def files(spool: Spool, box: str) -> list[str]:
    return sorted(path.name for path in (spool.directory / box).iterdir())


def put(
    spool: Spool, name: str, payload: bytes = b"x", mtime_ns: int | None = None
) -> None:
    path = spool.directory / "new" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(payload)
    if mtime_ns is not None:
        os.utime(path, ns=(mtime_ns, mtime_ns))


def test_a_spool_that_was_never_used_is_empty(spool: Spool) -> None:
    assert spool.pending() == []
    assert spool.counts() == {"new": 0, "claimed": 0, "dead": 0}
    assert spool.recover() == 0
    assert not spool.directory.exists()


def test_an_entry_says_where_and_when_it_came_from_and_holds_the_payload_byte_for_byte(
    spool: Spool,
) -> None:
    payload = b'{"a": "\xff\x00\r\n"}'
    before = int(time.time())
    name = spool.add("claude-code", "UserPromptSubmit", payload)
    entry = only(spool)
    assert (entry.name, entry.host, entry.event, entry.attempts) == (
        name,
        "claude-code",
        "UserPromptSubmit",
        0,
    )
    assert entry.read() == payload
    moments = [
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before + late))
        for late in range(60)
    ]
    assert entry.at in moments


def test_entries_come_oldest_first(spool: Spool) -> None:
    for number in range(20):
        spool.add("host", f"Event{number}", b"")
    assert [entry.event for entry in spool.pending()] == [
        f"Event{number}" for number in range(20)
    ]


def test_a_name_with_whole_seconds_is_ordered_by_the_time_of_its_file(
    spool: Spool,
) -> None:
    second_ns = 1_770_645_791 * 10**9  # 2026-02-09T14:03:11Z
    put(spool, "20260209T140311Z.500000000.1-a.0.host.Third", mtime_ns=second_ns)
    put(spool, "20260209T140311Z.0.2-b.0.host.Second", mtime_ns=second_ns + 400_000_000)
    put(spool, "20260209T140311Z.0.3-c.0.host.First", mtime_ns=second_ns + 300_000_000)
    put(spool, "20260209T140311Z.0.4-d.0.host.Last", mtime_ns=second_ns + 2_000_000_000)
    assert [entry.event for entry in spool.pending()] == [
        "First",
        "Second",
        "Third",
        "Last",
    ]


def test_a_claimed_entry_is_no_longer_pending_and_keeps_its_payload(
    spool: Spool,
) -> None:
    spool.add("host", "Stop", b"payload")
    entry = claim(spool)
    assert spool.pending() == []
    assert entry.read() == b"payload"
    assert spool.counts() == {"new": 0, "claimed": 1, "dead": 0}


def test_only_one_of_two_gets_an_entry(spool: Spool) -> None:
    spool.add("host", "Stop", b"payload")
    seen_by_one, seen_by_other = only(spool), only(Spool(spool.directory))
    assert spool.claim(seen_by_one) is not None
    assert Spool(spool.directory).claim(seen_by_other) is None


def test_an_acknowledged_entry_is_gone_and_may_be_acknowledged_again(
    spool: Spool,
) -> None:
    spool.add("host", "Stop", b"payload")
    entry = claim(spool)
    spool.acknowledge(entry)
    spool.acknowledge(entry)
    assert spool.counts() == {"new": 0, "claimed": 0, "dead": 0}


def test_a_retried_entry_keeps_its_place_and_counts_the_attempt(spool: Spool) -> None:
    for event in ("First", "Second"):
        spool.add("host", event, b"payload")
    first = spool.claim(spool.pending()[0])
    assert first is not None
    spool.retry(first)
    assert [(entry.event, entry.attempts) for entry in spool.pending()] == [
        ("First", 1),
        ("Second", 0),
    ]


def test_a_host_named_like_the_other_parts_of_the_name_is_retried_right(
    spool: Spool,
) -> None:
    put(spool, "20260209T140311Z.0.7.0.7.0")
    spool.retry(claim(spool))
    assert [(entry.name, entry.host, entry.event) for entry in spool.pending()] == [
        ("20260209T140311Z.0.7.1.7.0", "7", "0")
    ]


def test_an_entry_is_given_up_after_three_attempts_with_the_reason_beside_it(
    spool: Spool,
) -> None:
    spool.add("host", "Stop", b"payload")
    for _ in range(MAX_ATTEMPTS):
        spool.retry(claim(spool))
    assert spool.pending() == []
    assert spool.counts() == {"new": 0, "claimed": 0, "dead": 1}
    entry, reason = files(spool, "dead")
    assert (spool.directory / "dead" / entry).read_bytes() == b"payload"
    assert (
        spool.directory / "dead" / reason
    ).read_text() == "given up after 3 attempts\n"


def test_a_released_entry_is_as_if_it_had_never_been_claimed(spool: Spool) -> None:
    spool.add("host", "Stop", b"payload")
    before = spool.pending()
    spool.release(claim(spool))
    assert spool.pending() == before


def test_a_quarantined_entry_is_kept_with_its_reason(spool: Spool) -> None:
    spool.add("host", "Stop", b"{broken")
    spool.quarantine(claim(spool), "not JSON")
    entry, reason = files(spool, "dead")
    assert (spool.directory / "dead" / entry).read_bytes() == b"{broken"
    assert (spool.directory / "dead" / reason).read_text() == "not JSON\n"


def test_recovery_puts_back_what_a_dead_worker_had_claimed(spool: Spool) -> None:
    for event in ("First", "Second", "Third"):
        spool.add("host", event, b"payload")
    for entry in spool.pending()[:2]:
        spool.claim(entry)
    assert Spool(spool.directory).recover() == 2
    assert [(entry.event, entry.attempts) for entry in spool.pending()] == [
        ("First", 1),
        ("Second", 1),
        ("Third", 0),
    ]


def test_an_entry_that_kills_its_worker_again_and_again_is_set_aside(
    spool: Spool,
) -> None:
    spool.add("host", "Poison", b"payload")
    for _ in range(MAX_DEATHS):
        assert spool.counts()["new"] == 1
        claim(spool)
        spool.recover()
    assert spool.counts() == {"new": 0, "claimed": 0, "dead": 1}


def test_recovery_sweeps_old_leftovers_of_killed_writers_and_nothing_else(
    spool: Spool,
) -> None:
    spool.add("host", "Stop", b"accepted")
    accepted = only(spool).path
    fresh, old = (spool.directory / "tmp" / name for name in ("fresh", "old"))
    for path in (fresh, old):
        path.write_bytes(b"half of a pay")
    long_ago = time.time() - LEFTOVER_S - 60
    os.utime(old, (long_ago, long_ago))
    os.utime(accepted, (long_ago, long_ago))
    spool.recover()
    assert files(spool, "tmp") == ["fresh"]
    assert only(spool).read() == b"accepted"


@pytest.mark.parametrize(
    "name",
    [
        ".DS_Store",
        "notes.txt",
        "20260209T140311Z.0.1-a.0.host",
        "20261309T140311Z.0.1-a.0.host.Stop",
        "20260209T140311Z.0.1-a.0.host.Stop\n",
        "20260209T140311Z.0.1-a.0.hö.Stop",
        "20260209T140311Z.0.1-a.9999.host.Stop",
    ],
)
def test_a_foreign_file_is_set_aside_and_hides_nothing(spool: Spool, name: str) -> None:
    put(spool, name, b"foreign")
    spool.add("host", "Stop", b"payload")
    assert only(spool).read() == b"payload"
    assert (spool.directory / "dead" / name).read_bytes() == b"foreign"
    assert spool.counts() == {"new": 1, "claimed": 0, "dead": 1}


def test_two_foreign_files_of_one_name_are_both_kept(spool: Spool) -> None:
    for payload in (b"first", b"second"):
        put(spool, "notes.txt", payload)
        assert spool.pending() == []
    dead = spool.directory / "dead"
    assert {
        (dead / name).read_bytes()
        for name in files(spool, "dead")
        if not name.endswith(".reason")
    } == {
        b"first",
        b"second",
    }


def test_what_is_no_plain_file_is_never_taken_for_an_entry(
    spool: Spool, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not ours")
    new = spool.directory / "new"
    new.mkdir(parents=True)
    (new / "20260209T140311Z.0.1-a.0.host.Link").symlink_to(secret)
    (new / "20260209T140311Z.0.2-b.0.host.Folder").mkdir()
    os.mkfifo(new / "20260209T140311Z.0.3-c.0.host.Pipe")
    assert spool.pending() == []
    assert files(spool, "new") == []
    assert secret.read_text() == "not ours"


def test_an_entry_that_becomes_a_link_is_not_followed(
    spool: Spool, tmp_path: Path
) -> None:
    spool.add("host", "Stop", b"payload")
    entry = only(spool)
    entry.path.unlink()
    (tmp_path / "secret").write_text("not ours")
    entry.path.symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match="symbolic links"):
        entry.read()


def test_nothing_is_left_of_an_event_that_cannot_be_kept(spool: Spool) -> None:
    spool.add("host", "Stop", b"payload")
    entry = claim(spool)
    (spool.directory / "new").rmdir()
    (spool.directory / "new").write_text("in the way")
    with pytest.raises(OSError, match="new"):
        spool.add("host", "Stop", b"other")
    assert files(spool, "tmp") == []
    assert entry.read() == b"payload"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("claude-code", "claude-code"),
        ("../../etc/passwd", "etcpasswd"),
        ("a b\nc\x00d.e", "abcde"),
        ("é", "unknown"),
        ("", "unknown"),
        ("x" * 64, "x" * 64),
        ("x" * 65, "unknown"),
    ],
)
def test_a_word_of_a_name_has_harmless_characters_only(
    text: str, expected: str
) -> None:
    assert file_name_part(text) == expected


def test_what_was_set_aside_is_listed_with_its_reason_and_tried_again(tmp_path):
    spool = Spool(tmp_path / "spool")
    name = spool.add("claude-code", "Stop", b"{}")
    for _ in range(3):
        spool.retry(spool.claim(spool.pending()[0]))
    spool.add("claude-code", "Stop", b"{}")
    spool.quarantine(spool.claim(spool.pending()[0]), "no payload\nof claude-code")
    (tmp_path / "spool" / "dead" / "notes.txt").write_text("mine")
    first, second, foreign = spool.dead()
    assert (first.host, first.event, first.reason) == (
        "claude-code",
        "Stop",
        "given up after 3 attempts",
    )
    assert (second.reason, foreign.event) == ("no payload of claude-code", "")
    assert [spool.revive(dead) for dead in (first, second, foreign)] == [
        True,
        True,
        False,
    ]
    assert next(entry.name for entry in spool.pending()) == name
    assert [path.name for path in (tmp_path / "spool" / "dead").iterdir()] == [
        "notes.txt"
    ]


def test_only_old_files_of_killed_writers_are_leftovers(tmp_path):
    spool = Spool(tmp_path / "spool")
    spool.add("claude-code", "Stop", b"{}")
    old, young = (tmp_path / "spool" / "tmp" / name for name in ("old", "young"))
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    assert spool.leftovers() == [old]
    spool.sweep()
    assert not old.exists() and young.exists() and len(spool.pending()) == 1


def test_what_is_set_aside_is_cleaned_and_not_kept_for_ever(tmp_path):
    spool = Spool(tmp_path / "spool", lambda data: data.replace(b"secret", b"[...]"))
    spool.add("host", "event", b"a secret word")
    [entry] = spool.pending()
    claimed = spool.claim(entry)
    spool.quarantine(claimed, "it is no JSON")
    [dead] = spool.dead()
    assert dead.path.read_bytes() == b"a [...] word"
    spool.sweep()
    assert spool.dead() == [dead]
    for path in dead.path.parent.iterdir():
        os.utime(path, (0, 0))
    spool.sweep()
    assert [*dead.path.parent.iterdir()] == []


def test_what_a_person_wants_gone_goes_from_every_box_with_its_reason(
    spool: Spool,
) -> None:
    for payload in (b"secret 1", b"secret 2", b"secret 3", b"other"):
        spool.add("codex", "Stop", payload)
    first, second, *_ = spool.pending()
    assert spool.claim(first)
    claimed = spool.claim(second)
    assert claimed
    spool.quarantine(claimed, "no JSON")
    (spool.directory / "tmp" / "half").write_bytes(b"secret, half of it")
    link = spool.directory / "new" / "link"
    link.symlink_to(spool.directory / "tmp" / "half")
    assert spool.discard(lambda payload: b"secret" in payload) == 4
    link.unlink()  # it was no entry, and is not followed
    assert [entry.read() for entry in spool.pending()] == [b"other"]
    left = sorted(path.name for path in spool.directory.rglob("*") if path.is_file())
    assert left == [entry.name for entry in spool.pending()]
    assert spool.discard(lambda _: False) == 0


def test_events_that_wait_or_are_being_taken_are_called_by_their_names(
    spool: Spool,
) -> None:
    assert spool.events() == frozenset()
    for event in ("Stop", "SessionEnd", "PreCompact"):
        spool.add("codex", event, b"{}")
    first, second, _ = spool.pending()
    claimed = spool.claim(first)
    assert spool.claim(second) and claimed
    assert spool.events() == {"Stop", "SessionEnd", "PreCompact"}
    spool.quarantine(claimed, "no JSON")
    assert spool.events() == {"SessionEnd", "PreCompact"}


def test_what_never_was_an_entry_is_not_tried_again(spool: Spool) -> None:
    spool.add("codex", "Stop", b"{}")
    (spool.directory / "dead" / "letter.txt").write_text("dear Ann")
    [strange] = spool.dead()
    assert not spool.revive(strange)
    assert strange.path.exists()
    strange.path.unlink()
    assert len(spool.pending()) == 1
