"""What was decided in one session and decided anew in a later one, from raw payloads."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from live_session import play

from keeplore.config.places import Places
from keeplore.memory import Conversation, Exchange, Quote
from keeplore.recall.brief import brief
from keeplore.recall.prompt_context import asked_context
from keeplore.recall.render import TextBudget
from keeplore.recall.request import Answer, LaterStatement, RecallHit, RecallRequest
from keeplore.recall.since.later_statements import ReplacementLookup
from keeplore.workspace import Registry
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.reading.details import detail_lines, details_of

OPTIONS = """Three ways for the job queue:

1. Redis with RQ: a second system to run.
2. Postgres with SKIP LOCKED: nothing new to run, rows are locked while they are worked on.
3. An in-memory queue: jobs are lost when the process ends.
"""
FIRST = (
    ("We need a job queue for the invoices. Which one do we take?", OPTIONS),
    (
        "Let's go with option 2, we run Postgres anyway.",
        "The queue is in Postgres now.",
    ),
    (
        "Thanks. Let's round all prices in the cart to cents.",
        "Prices are rounded in cart.py.",
    ),
)
REVERSED = "We move the queue to Redis after all, because polling Postgres keeps its disk busy."
SECOND = (
    (
        "The database is slow since Monday. What keeps it busy?",
        "Polling for jobs does.",
    ),
    (REVERSED, "The queue is in Redis now, with RQ."),
)
# a question, what was said, and which turn says what holds in the place of which
IN_ONE_TALK = {
    "an order that another one reverses": (
        "where does the job queue run",
        (
            ("Let's use Redis for the job queue.", "The job queue is in Redis now."),
            ("Round all prices to cents.", "Rounded in cart.py."),
            (
                "We move the job queue to Postgres after all, because Redis loses jobs.",
                "Moved.",
            ),
        ),
        {"s-u0": "s-u2", "s-u1": None, "s-u2": None},
    ),
    "a state that is no longer wanted": (
        "how are sessions stored",
        (
            ("Store sessions in cookies.", "Sessions are in cookies."),
            ("Write a test for the login.", "Written."),
            ("Sessions are no longer stored in cookies, store them in Redis.", "Done."),
        ),
        {"s-u0": "s-u2", "s-u1": None, "s-u2": None},
    ),
    "two reversals": (
        "where does the job queue run",
        (
            ("Let's use Redis for the job queue.", "The job queue is in Redis now."),
            ("We move the job queue to Postgres after all.", "Moved."),
            ("Round all prices to cents.", "Rounded in cart.py."),
            ("Actually, move the job queue to Kafka.", "Moved again."),
        ),
        {"s-u0": "s-u3", "s-u1": "s-u3", "s-u2": None, "s-u3": None},
    ),
    "a cause that the person denies": (
        "why do uploads fail in staging",
        (
            (
                "Why do uploads fail in staging?",
                "The uploads fail because the cache in staging is full.",
            ),
            (
                "No, the cache is switched off in staging.",
                "Then it is the proxy: its body limit is 1 MB.",
            ),
            ("Raise the limit to 20 MB.", "Raised."),
        ),
        {"s-u0": "s-u1", "s-u1": None, "s-u2": None},
    ),
    "something else with the same words": (
        "where does the job queue run",
        (
            ("Let's use Redis for the job queue.", "The job queue is in Redis now."),
            ("Add a test for the job queue.", "Added."),
            ("Use pnpm instead of npm for the shop.", "Done."),
        ),
        {"s-u0": None, "s-u1": None, "s-u2": None},
    ),
}
ROOM = TextBudget(4000, 20_000)
QUESTION = "which job queue do we use for invoices"


class Told:
    """What is told of two sessions, the later one of which may have been read first."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.cwd = Path.home() / "code" / "ledgerly"
        self.answer: Answer = registry.recall(RecallRequest(QUESTION, self.cwd))
        new = self.hit("second").memory_id
        at = "2026-02-09T14:20:06Z"
        self.later = LaterStatement(REVERSED, new, "second-u1", at)
        self.line = f"later: “{REVERSED}” (2026-02-09, {new[4:12]} turn second-u1)"

    def hit(self, session: str) -> RecallHit:
        [hit] = [
            h
            for h in self.answer.hits
            if h.session == session and h.kind == "conversation"
        ]
        return hit


@pytest.fixture
def told(request: pytest.FixtureRequest):
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    first, second = itertools.count(0), itertools.count(1200)
    plays = [("first", first, FIRST), ("second", second, SECOND)]
    is_backwards = getattr(request, "param", False)
    for one in reversed(plays) if is_backwards else plays:
        play(*one)
    with Registry(places) as registry:
        yield Told(registry)


def lines_of(text: str, word: str) -> list[str]:
    return [line for line in text.splitlines() if word in line]


@pytest.mark.parametrize("told", [False, True], ids=["", "backwards"], indirect=True)
def test_the_new_one_comes_first_and_the_old_one_says_what_came_later(
    told: Told,
) -> None:
    hits = [hit for hit in told.answer.hits if hit.kind == "conversation"]
    assert [(hit.session, hit.later) for hit in hits] == [
        ("second", None),
        ("first", told.later),
    ]
    text, _ = asked_context(told.answer, room=ROOM)
    [line] = lines_of(text, "Job queue for the invoices")
    assert line.endswith(f" — {told.line}")


def test_a_brief_says_it_of_the_old_decision_alone(told: Told) -> None:
    views = told.registry.views(told.cwd)
    text, _ = brief(views, session="", source="startup", room=ROOM)
    [old] = lines_of(text, "Postgres with SKIP LOCKED")
    assert old.endswith(f" — {told.line}")
    for other in (*lines_of(text, "round all prices"), *lines_of(text, "· “We move")):
        assert "later:" not in other
    assert len(lines_of(text, "later:")) == 1


def test_a_pick_is_of_the_matter_of_the_message_before_it(told: Told) -> None:
    request = RecallRequest("let's go with option 2", told.cwd, by_exchange=True)
    hits = told.registry.recall(request).hits
    found = {hit.turn: hit.later for hit in hits if hit.session == "first"}
    later = {"first-u0": told.later, "first-u1": told.later, "first-u2": None}
    assert found == {turn: later[turn] for turn in found}
    assert "first-u1" in found


def test_a_memory_that_is_shown_says_it(told: Told) -> None:
    old, new = (told.hit(session) for session in ("first", "second"))
    details = details_of(told.registry.find(old.memory_id, told.cwd))
    said = [line for label, line in detail_lines(details) if label == "later"]
    assert said == [f"{REVERSED} (2026-02-09, {new.memory_id[4:12]})"]
    details = details_of(told.registry.find(new.memory_id, told.cwd))
    assert [label for label, _ in detail_lines(details) if label == "later"] == []


def test_what_is_not_believed_here_puts_an_end_to_nothing(told: Told) -> None:
    workspace = told.registry.for_directory(told.cwd)
    old = told.hit("first")
    row = told.registry.find(old.memory_id, told.cwd).row

    def later(trust: str) -> LaterStatement | None:
        replacements = ReplacementLookup(
            workspace.index, workspace.store.load, lambda _: trust, lambda _: True
        )
        memory = workspace.store.load(row.path)
        talk = Conversation.from_markdown(memory.body)
        return replacements.of(row, talk, old.passage, old.turn)

    expected = {"user": told.later, "assistant": told.later, "foreign": None}
    assert {trust: later(trust) for trust in expected} == expected


def test_an_index_made_anew_tells_the_same_and_is_sound(told: Told) -> None:
    workspace = told.registry.for_directory(told.cwd)
    assert list(workspace.index.flaws()) == []
    shutil.rmtree(workspace.index.directory)
    request = RecallRequest(QUESTION, told.cwd)
    assert told.registry.recall(request).hits == told.answer.hits


def played(
    earlier: Sequence[tuple[str, str]], later: Sequence[tuple[str, str]]
) -> tuple[Places, Path]:
    """The places and the directory of two talks, the one some time after the other."""
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    play("first", itertools.count(0), earlier)
    play("second", itertools.count(1200), later)
    return places, Path.home() / "code" / "ledgerly"


def test_what_goes_by_its_name_alone_ends_what_was_decided_in_an_earlier_talk() -> None:
    earlier = (
        (
            "We have to read the handwritten labels of old sheets. Which engine?",
            "I recommend Kraken for handwritten labels. Shall I set it up?",
        ),
        ("yes", "Kraken reads the handwritten labels now."),
    )
    later = (
        (
            "Why is the reading of handwritten labels that slow?",
            "Kraken takes 7 s for each label on this machine.",
        ),
        ("ok kraken goes, trocr on the lab machine", "Kraken is removed."),
    )
    places, cwd = played(earlier, later)
    with Registry(places) as registry:
        request = RecallRequest("which engine reads handwritten labels", cwd)
        answer = registry.recall(request)
    hits = [hit for hit in answer.hits if hit.kind == "conversation"]
    told = {hit.session: hit.later and hit.later.text for hit in hits}
    assert told == {"second": None, "first": later[1][0]}


def test_a_setting_that_a_reply_set_anew_is_told_with_its_new_figure() -> None:
    first = (
        ("How long do we hold a seat before somebody pays?", "Ten minutes is usual."),
        ("yes ten", "Holds are swept on insert, `HOLD_TTL = 10 min`."),
    )
    second = (
        (
            "People lose their seats while they look for their card.",
            "I see 40 of them.",
        ),
        ("give them twice that", "Done: `HOLD_TTL = 20 min`, and a test for it."),
    )
    places, cwd = played(first, second)
    with Registry(places) as registry:
        answer = registry.recall(RecallRequest("how long is a seat held", cwd))
    [hit] = [hit for hit in answer.hits if hit.session == "first"]
    assert hit.later
    assert "HOLD_TTL = 20 min" in hit.later.text


def test_a_rule_that_is_lifted_is_told_with_what_lifts_it() -> None:
    rule = "We never run migrations on Fridays from now on."
    lifted = "We have the shadow table now, so migrations on Fridays are fine now."
    earlier = (
        (
            f"The migration broke the weekend again. {rule}",
            "Noted, deploy.sh checks it.",
        ),
        ("And what about the index build?", "It takes 40 minutes."),
    )
    later = (
        (f"{lifted} Forget the old rule.", "The check is gone from deploy.sh."),
        ("Add the column with a default.", "Added."),
    )
    places, cwd = played(earlier, later)
    with Registry(places) as registry:
        answer = registry.recall(RecallRequest("may migrations run on Fridays", cwd))
        told, _ = brief(
            registry.views(cwd), session="next", source="startup", room=ROOM
        )
    ends = {(h.kind, h.session): h.later and h.later.text for h in answer.hits}
    assert ends == {
        ("conversation", "second"): None,
        ("conversation", "first"): lifted,
        ("note", "first"): lifted,
    }
    [note] = lines_of(told, rule)
    assert f"“{rule}” (user; " in note
    assert f") — later: “{lifted}” (2026-02-09, " in note
    [decided] = lines_of(told.replace(note, ""), lifted)
    assert decided.startswith("- 2026-02-09 · “")


def test_what_is_taken_away_in_the_next_file_of_the_same_session_says_so() -> None:
    talk = (
        (
            "How do we show the recruitment to the steering committee?",
            "I could build a small dashboard or a report that is rendered each night.",
        ),
        (
            "A dashboard would please them. Try it, please.",
            "The dashboard is running on port 3838.",
        ),
        (
            "New topic: the import of lab values is slow. Why?",
            "It parses each file twice.",
        ),
        ("Parse each file once, then.", "Each file is parsed once."),
        (
            "And please take the dashboard down again.",
            "The dashboard has been taken down.",
        ),
    )
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    play("s", itertools.count(0), talk)
    cwd = Path.home() / "code" / "ledgerly"
    with Registry(places) as registry:
        request = RecallRequest("what does the steering committee get to see", cwd)
        answer = registry.recall(request)
    [first] = answer.hits
    assert "dashboard" in first.passage and first.later is not None
    assert (first.later.text, first.later.turn) == (talk[-1][0], "s-u4")
    assert first.later.memory_id != first.memory_id


@pytest.mark.parametrize("name", IN_ONE_TALK)
def test_what_was_changed_later_in_the_same_talk_says_so(name: str) -> None:
    question, talk, expected = IN_ONE_TALK[name]
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    play("s", itertools.count(0), talk)
    said = {f"s-u{number}": asked for number, (asked, _) in enumerate(talk)}
    cwd = Path.home() / "code" / "ledgerly"
    with Registry(places) as registry:
        answer = registry.recall(RecallRequest(question, cwd, by_exchange=True))
    hits = [hit for hit in answer.hits if hit.kind == "conversation"]
    assert {hit.turn: hit.later and hit.later.turn for hit in hits} == expected
    for hit in hits:
        if hit.later:
            end = f"{hit.later.at[:10]}, {hit.memory_id[4:12]} turn {hit.later.turn})"
            text, _ = asked_context(replace(answer, hits=(hit,)), room=ROOM)
            [line] = lines_of(text, "later:")
            assert line.endswith(f" — later: “{said[hit.later.turn]}” ({end}")


def quote(text: str, turn: str) -> Quote:
    return Quote(text, "user", turn)


# the answer of the next message, what is held as decided, and whether it takes back what it answers
NEXT_MESSAGES = (
    ("No, indent with spaces.", ("No, indent with spaces.",), True),
    ("Actually, spaces please.", ("Actually, spaces please.",), True),
    # both hold, and the one takes nothing back
    ("No, use pnpm, not npm.", ("Indent with tabs.", "No, use pnpm, not npm."), False),
    ("Round prices to cents.", ("Round prices to cents.",), False),
    ("No problem, go on.", ("No problem, go on.",), False),
    ("Actually, also add a test.", ("Actually, also add a test.",), False),
    ("No, that is wrong.", (), False),
    # of another matter
    (
        "Actually, move the queue to Kafka.",
        ("Actually, move the queue to Kafka.",),
        False,
    ),
)


def test_an_exchange_that_the_next_message_took_back_says_so(told: Told) -> None:
    workspace = told.registry.for_directory(told.cwd)
    row = told.registry.find(told.hit("first").memory_id, told.cwd).row
    trust = workspace.machine_trust.trust_of
    replacements = ReplacementLookup(
        workspace.index, workspace.store.load, trust, lambda _: True
    )

    def later(answer: str, decided: tuple[str, ...]) -> LaterStatement | None:
        said = ("Indent with tabs.", answer, "Go on.")
        exchanges = tuple(
            Exchange(f"t{n}", f"2026-02-09T10:0{n}:00Z", text, ("Done.",))
            for n, text in enumerate(said)
        )
        quotes = tuple(quote(text, f"t{said.index(text)}") for text in decided)
        talk = Conversation("Indenting", exchanges, decision=quotes)
        return replacements.of(row, talk, "User: Indent with tabs.", "t0")

    found = {answer: later(answer, decided) for answer, decided, _ in NEXT_MESSAGES}
    assert found == {
        answer: LaterStatement(answer, row.id, "t1", "2026-02-09T10:01:00Z")
        if is_taken_back
        else None
        for answer, _, is_taken_back in NEXT_MESSAGES
    }
