"""Machines that capture, edit, forget, move, pull, die and sync in any order come to the same, and
nothing is lost.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from tests.property.people import World

from keeplore.index import EmbeddingModels

PICK = st.integers(0, 10_000)
WHO = st.integers(0, 7)


class SyncMachine(RuleBasedStateMachine):
    models = None

    @initialize(
        count=st.integers(2, 4),
        skews=st.lists(st.integers(-30, 30), min_size=4, max_size=4),
    )
    def begin(self, count: int, skews: list[int]) -> None:
        self.world = World(count, embedder(), skews)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            try:
                self.world.check()
            finally:
                self.world.close()

    @rule(who=WHO, what=PICK, pick=PICK)
    def step(self, who: int, what: int, pick: int) -> None:
        act(self.world, who, what, pick)

    @rule(who=WHO)
    def sync(self, who: int) -> None:
        self.world.people[who % len(self.world.people)].try_to_sync()


def act(world: World, who: int, what: int, pick: int) -> None:
    """One of the things that happen; how often each is here is how often it does."""
    person = world.people[who % len(world.people)]
    deeds = (
        *[lambda: person.say(f"{person.name}s{pick % 2}", pick // 7)] * 3,
        *[lambda: person.say("both", pick % 5)] * 2,
        lambda: person.close_session(("both", f"{person.name}s0")[pick % 2], pick),
        *[lambda: person.remember(pick)] * 3,
        *[lambda: person.edit(pick, pick // 11)] * 5,
        lambda: person.revise(pick),
        lambda: person.supersede(pick),
        lambda: person.forget(pick),
        lambda: person.restore(pick),
        *[lambda: person.archive(pick)] * 2,
        *[lambda: person.rename(pick)] * 2,
        lambda: person.delete(pick),
        lambda: person.add_in_another_case(pick),
        person.commit_by_hand,
        person.stash,
        lambda: person.pull_by_hand(is_rebase=False),
        lambda: person.pull_by_hand(is_rebase=True),
        lambda: person.die(("commit", "synchronise")[pick % 2], 1 + pick % 120),
        lambda: world.cut(person),
        person.expect_symmetry,
    )
    deeds[what % len(deeds)]()


def embedder() -> EmbeddingModels:
    """One model for all machines of all examples."""
    if SyncMachine.models is None:
        SyncMachine.models = EmbeddingModels(Path(tempfile.mkdtemp()))
    return SyncMachine.models


TestSync = SyncMachine.TestCase
# each step is a git of its own or many: shrinking would take hours, and a seed can be run again
TestSync.settings = settings(
    max_examples=4,
    stateful_step_count=20,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(int(os.environ.get("KEEPLORE_SEEDS", "4"))))
def test_machines_that_do_anything_for_a_minute_lose_nothing(seed: int) -> None:
    dice = random.Random(seed)
    count = dice.randint(2, 8)
    world = World(count, embedder(), [dice.randint(-40, 40) for _ in range(count)])
    until = time.monotonic() + 60
    while time.monotonic() < until:
        act(world, dice.randrange(count), dice.randrange(1000), dice.randrange(10_000))
        if dice.random() < 0.3:
            world.people[dice.randrange(count)].try_to_sync()
    try:
        world.check()
    finally:
        world.close()
