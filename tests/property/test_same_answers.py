"""Machines with the same files give the same answers, in whatever order the files came to them: the
numbers in an index are each machine's own.
"""

from __future__ import annotations

import random
import shutil
from datetime import timedelta

import pytest
from tests.property.people import Person, World, git
from tests.property.test_sync_machine import embedder

from keeplore.memory import parse, relative_path
from keeplore.memory.merge.memory_merge import contradicting
from keeplore.recall.request import RecallRequest

QUESTIONS = (
    "question about session",
    "answer of both",
    "about both question 3",
    "what is the rule",
    "shared rule holds",
)


def answers(person: Person) -> list[list[tuple[str, float, str]]]:
    """What is told for each question: id, score and words of each hit, in this order."""
    person.workspace.index.refresh()
    asked = (
        RecallRequest(text, person.root, text_only=True, limit=20) for text in QUESTIONS
    )
    return [
        [(hit.memory_id, hit.score, hit.passage) for hit in answer.hits]
        for answer in map(person.workspace.recall, asked)
    ]


def talk(person: Person, dice: random.Random) -> None:
    """Conversations and notes in much the same words, and copies that contradict them."""
    for number in range(30):
        if dice.random() < 0.7:
            session = dice.choice(("both", "as0", "bs1"))
            person.say(session, dice.randrange(12))
        else:
            person.remember(dice.randrange(9))
        if number % 12 == 11:
            person.close_session("both", number)
    for file in list(person.workspace.store.scan()):
        text = (person.root / file.path).read_text()
        changed = f"{text}\nOther line\n"
        if dice.random() < 0.6 and (copy := contradicting(text, changed)):
            (person.root / relative_path(parse(copy))).write_text(copy)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_in_which_files_came_changes_no_answer(seed: int) -> None:
    dice = random.Random(seed)
    world = World(1, embedder(), [0])
    try:
        first = world.people[0]
        talk(first, dice)
        world.folder.joinpath("mm").mkdir()
        git(world.folder, "clone", "-q", str(first.root), "mm/workspace")
        paths = [file.path for file in first.workspace.store.scan()]
        other = Person(world, "mm", timedelta())
        world.people.append(other)
        for path in dice.sample(sorted(paths), len(paths)):
            place = other.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(first.root / path, place)
            other.workspace.index.refresh()
        expected = answers(first)
        assert all(expected)
        assert answers(other) == expected
        # an index made anew, in the order in which the files lie on the disk
        other.workspace.close()
        shutil.rmtree(other.places.cache)
        world.people[1] = Person(world, "mm", timedelta())
        assert answers(world.people[1]) == expected
    finally:
        world.close()
