"""Any order of writing, claiming, finishing and crashing: nothing is lost, nothing is done twice,
order is kept.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from example_count import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from keeplore_hooks.spool import LEFTOVER_S, MAX_ATTEMPTS, MAX_DEATHS, Spool, SpoolEntry

PICK = st.integers(0, 1000)


class SpoolMachine(RuleBasedStateMachine):
    """``waiting`` and ``claimed`` map a payload to its failed attempts; ``finished`` and ``dead``
    hold payloads.
    """

    @initialize()
    def start(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.spool = Spool(self.root / "spool")
        self.added: list[bytes] = []  # in order
        self.clock = 1_800_000_000  # seconds since 1970
        self.uptime = 12_345  # hundredths of a second
        self.waiting: dict[bytes, int] = {}
        self.claimed: dict[bytes, int] = {}
        self.hands: list[SpoolEntry] = []  # what this worker has claimed
        self.finished: set[bytes] = set()
        self.dead: set[bytes] = set()
        self.foreign = 0
        self.halves: dict[str, bool] = {}  # name in tmp: is it old

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @rule(noise=st.binary(max_size=50), host=st.text(max_size=5))
    def add(self, noise: bytes, host: str) -> None:
        payload = b"%d:" % len(self.added) + noise
        name = self.spool.add(host, "Event", payload)
        # as the writer would have called it then, at another hundredth of a second since the boot
        _, fraction, unique, *rest = name.split(".")
        self.uptime += 1
        at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self.clock))
        unique = f"{unique.rpartition('-')[0]}-{self.uptime}"
        place = self.root / "spool" / "new"
        (place / name).rename(place / ".".join((at, fraction, unique, *rest)))
        self.added.append(payload)
        self.waiting[payload] = 0

    @rule(by=st.integers(-10_000_000, 10_000_000))
    def the_clock_is_set(self, by: int) -> None:
        self.clock += by

    @rule(is_old=st.booleans())
    def a_writer_is_killed(self, is_old: bool) -> None:
        aside = self.root / "spool" / "tmp"
        aside.mkdir(parents=True, exist_ok=True)
        name = f"half-{len(self.halves)}"
        (aside / name).write_bytes(b"half of a pay")
        if is_old:
            os.utime(aside / name, (time.time() - LEFTOVER_S - 60,) * 2)
        self.halves[name] = is_old

    @rule()
    def a_foreign_file_appears(self) -> None:
        place = self.root / "spool" / "new"
        place.mkdir(parents=True, exist_ok=True)
        (place / "foreign file").write_bytes(b"no event")
        self.foreign += 1
        self.spool.pending()

    @precondition(lambda self: self.waiting)
    @rule(pick=PICK)
    def claim(self, pick: int) -> None:
        entries = self.spool.pending()
        seen = entries[pick % len(entries)]
        entry = self.spool.claim(seen)
        assert entry is not None
        assert self.spool.claim(seen) is None  # whoever saw it as well comes too late
        payload = entry.read()
        assert entry.attempts == self.waiting[payload]
        self.claimed[payload] = self.waiting.pop(payload)
        self.hands.append(entry)

    @precondition(lambda self: self.hands)
    @rule(pick=PICK)
    def acknowledge(self, pick: int) -> None:
        entry, payload = self.take(pick)
        assert payload not in self.finished
        self.spool.acknowledge(entry)
        del self.claimed[payload]
        self.finished.add(payload)

    @precondition(lambda self: self.hands)
    @rule(pick=PICK)
    def retry(self, pick: int) -> None:
        entry, payload = self.take(pick)
        self.spool.retry(entry)
        self.put_back(payload)

    @precondition(lambda self: self.hands)
    @rule(pick=PICK)
    def quarantine(self, pick: int) -> None:
        entry, payload = self.take(pick)
        self.spool.quarantine(entry, "a reason")
        del self.claimed[payload]
        self.dead.add(payload)

    @rule()
    def the_worker_crashes_and_another_starts(self) -> None:
        self.hands.clear()
        self.spool = Spool(self.root / "spool")
        assert self.spool.recover() == len(self.claimed)
        for payload in list(self.claimed):
            self.put_back(payload, MAX_DEATHS)
        self.halves = {
            name: False for name, is_old in self.halves.items() if not is_old
        }

    @invariant()
    def what_waits_is_what_was_added_and_not_taken_in_the_order_of_its_arrival(
        self,
    ) -> None:
        entries = self.spool.pending()
        assert [entry.read() for entry in entries] == [
            payload for payload in self.added if payload in self.waiting
        ]
        assert [entry.attempts for entry in entries] == [
            self.waiting[entry.read()] for entry in entries
        ]

    @invariant()
    def every_payload_is_in_one_place(self) -> None:
        assert self.spool.counts() == {
            "new": len(self.waiting),
            "claimed": len(self.claimed),
            "dead": len(self.dead) + self.foreign,
        }
        boxes = {"claimed": set(self.claimed), "dead": self.dead}
        for box, expected in boxes.items():
            files = (self.root / "spool" / box).glob("*.Event")
            assert sorted(path.read_bytes() for path in files) == sorted(expected)
        assert len(self.added) == len(self.waiting) + len(self.claimed) + len(
            self.dead
        ) + len(self.finished)

    @invariant()
    def only_old_leftovers_are_swept(self) -> None:
        assert {path.name for path in (self.root / "spool" / "tmp").glob("*")} == set(
            self.halves
        )

    def take(self, pick: int) -> tuple[SpoolEntry, bytes]:
        entry = self.hands.pop(pick % len(self.hands))
        return entry, entry.read()

    def put_back(self, payload: bytes, most: int = MAX_ATTEMPTS) -> None:
        attempts = self.claimed.pop(payload) + 1
        if attempts < most:
            self.waiting[payload] = attempts
        else:
            self.dead.add(payload)


TestSpoolMachine = SpoolMachine.TestCase
TestSpoolMachine.settings = settings(
    max_examples=examples(40), stateful_step_count=40, deadline=None
)
