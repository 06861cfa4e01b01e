"""The message history of a Python agent: what stays when it is pruned, and many threads at once."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.conversation import Message, MessageHistory, estimated_tokens

ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool"])
SAID = st.lists(st.tuples(ROLES, st.text(max_size=40)), max_size=30)
BUDGET = st.integers(min_value=-5, max_value=120)


def history_of(said: list[tuple[str, str]], count=estimated_tokens) -> MessageHistory:
    history = MessageHistory(count)
    for role, content in said:
        history.add(role, content)
    return history


def tokens(messages: list[Message], count=estimated_tokens) -> int:
    return sum(count(message.content) for message in messages)


def others(messages: list[Message]) -> list[Message]:
    return [message for message in messages if not message.is_system]


def system(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.is_system]


@given(said=SAID, budget=BUDGET)
def test_system_messages_stay_and_the_others_are_a_suffix(said, budget):
    history = history_of(said)
    before = history.get_all()
    dropped = history.prune(budget)
    after = history.get_all()
    assert system(after) == system(before)
    kept = others(after)
    assert kept == others(before)[len(others(before)) - len(kept) :]
    assert dropped == others(before)[: len(others(before)) - len(kept)]


@given(said=SAID, budget=BUDGET)
def test_the_order_stays(said, budget):
    history = MessageHistory()
    for number, (role, content) in enumerate(said):
        history.add(role, content, str(number))
    history.prune(budget)
    at = [int(message.at) for message in history.get_all()]
    assert at == sorted(at)


@given(said=SAID, budget=BUDGET)
def test_it_is_over_the_budget_only_where_system_messages_alone_are(said, budget):
    history = history_of(said)
    history.prune(budget)
    after = history.get_all()
    assert tokens(after) <= budget or (
        others(after) == [] and tokens(system(after)) > budget
    )


@given(said=SAID, budget=BUDGET)
def test_the_next_older_message_would_not_have_fitted(said, budget):
    history = history_of(said)
    dropped = history.prune(budget)
    if dropped:
        assert tokens([*history.get_all(), dropped[-1]]) > budget


@given(said=SAID, budget=BUDGET)
def test_pruning_twice_changes_nothing(said, budget):
    history = history_of(said)
    history.prune(budget)
    after = history.get_all()
    assert history.prune(budget) == []
    assert history.get_all() == after


@given(said=SAID, budget=st.integers(min_value=0, max_value=40))
def test_another_counter_is_used_for_every_message(said, budget):
    def words(content: str) -> int:
        return len(content.split())

    history = history_of(said, words)
    history.prune(budget)
    after = history.get_all()
    assert tokens(after, words) <= budget or others(after) == []


def test_a_large_message_hides_the_older_small_ones():
    history = history_of(
        [
            ("system", "Be brief."),
            ("user", "a"),
            ("assistant", "x" * 400),
            ("user", "b"),
        ]
    )
    dropped = history.prune(10)
    assert [message.content for message in history.get_all()] == ["Be brief.", "b"]
    assert [message.content for message in dropped] == ["a", "x" * 400]


@pytest.mark.parametrize(
    ("content", "expected"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 8, 2)],
)
def test_tokens_are_estimated_as_a_quarter_of_the_characters_rounded_up(
    content, expected
):
    assert estimated_tokens(content) == expected


def test_recent_messages_come_oldest_first():
    history = history_of(
        [("system", "s"), ("user", "1"), ("assistant", "2"), ("user", "3")]
    )
    assert [message.content for message in history.get_recent(2)] == ["2", "3"]
    assert [message.content for message in history.get_recent(9)] == [
        "s",
        "1",
        "2",
        "3",
    ]
    assert history.get_recent(0) == history.get_recent(-1) == []


def test_what_is_handed_out_is_a_copy():
    history = history_of([("user", "1"), ("assistant", "2")])
    for given_out in (history.get_all(), history.get_recent(1), history.prune(0)):
        given_out.clear()
    history.add("user", "3")
    history.get_all().append(Message("user", "forged"))
    assert [message.content for message in history.get_all()] == ["3"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        history.get_all()[0].content = "changed"


def test_clear_forgets_everything():
    history = history_of([("system", "s"), ("user", "1")])
    assert history.count() == 2
    history.clear()
    assert (history.count(), history.get_all()) == (0, [])


def test_nonsense_is_refused_and_leaves_no_trace():
    history = MessageHistory(lambda content: -1)
    with pytest.raises(ValueError, match="0 or more"):
        history.add("user", "1")
    with pytest.raises(ValueError, match="role"):
        MessageHistory().add("", "1")
    assert history.count() == 0


def test_a_content_of_blocks_is_refused_at_once():
    history = MessageHistory()
    with pytest.raises(TypeError, match="must be text, not list: join its blocks"):
        history.add("user", [{"type": "text", "text": "hello"}])
    assert history.count() == 0


def test_a_counter_may_use_the_history_itself():
    history: MessageHistory

    def counting(content: str) -> int:
        return len(content) + history.count() * 0

    history = MessageHistory(counting)
    history.add("user", "abc")
    assert history.count() == 1


def test_many_threads_lose_nothing_and_see_no_half_done_pruning():  # noqa: C901  # three kinds of thread
    history = MessageHistory()
    history.add("system", "rules")
    writers, each = 6, 200
    dropped: list[Message] = []
    faults: list[str] = []
    done = threading.Event()

    def write(number: int) -> None:
        for n in range(each):
            history.add("user", f"{number}:{n}")

    def prune() -> None:
        while not done.is_set():
            dropped.extend(history.prune(100))

    def read() -> None:
        while not done.is_set():
            seen = [message.content for message in history.get_all()]
            if seen[:1] != ["rules"] or len(set(seen)) != len(seen):
                faults.append("a reader saw a history that never was")

    threads = [threading.Thread(target=write, args=(n,)) for n in range(writers)]
    others_ = [threading.Thread(target=prune), threading.Thread(target=read)]
    for thread in (*threads, *others_):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    for thread in others_:
        thread.join()
    everything = [message.content for message in (*dropped, *others(history.get_all()))]
    assert sorted(everything) == sorted(
        f"{number}:{n}" for number in range(writers) for n in range(each)
    )
    for number in range(writers):
        own = [content for content in everything if content.startswith(f"{number}:")]
        assert own == [f"{number}:{n}" for n in range(each)]
    assert faults == []


def test_it_imports_nothing_heavy():
    heavy = [
        "numpy",
        "pygit2",
        "pydantic",
        "yaml",
        "click",
        "rich",
        "fastembed",
        "hnswlib",
        "pluggy",
        "sqlite3",
    ]
    code = (
        f"import sys, keeplore.conversation; print([name for name in {heavy} if name in "
        f"sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_messages_are_added_together_or_not_at_all():
    history = MessageHistory()
    added = history.add_multiple(
        [{"role": "user", "content": "Hello"}, Message("assistant", "Hi", "2026-02-09")]
    )
    assert added == history.get_all()
    assert added == [
        Message("user", "Hello"),
        Message("assistant", "Hi", "2026-02-09"),
    ]
    for wrong, error in (({"role": "user"}, KeyError), (Message("", "x"), ValueError)):
        with pytest.raises(error):
            history.add_multiple([{"role": "user", "content": "Bye"}, wrong])
    assert history.get_all() == added


def test_messages_are_found_by_role_and_by_their_words():
    history = MessageHistory()
    history.add("system", "Be short.")
    history.add("user", "Which cache: Redis or Postgres?")
    history.add("assistant", "Postgres.")
    history.add("user", "And a POSTGRES cache for sessions?")
    said = history.get_all()
    assert history.get_by_role("user") == [said[1], said[3]]
    assert history.get_by_role("tool") == []
    assert history.search("postgres cache") == [said[3], said[1]]
    assert history.search("postgres", limit=1) == [said[3]]
    assert history.search("  ") == history.search("queue") == []


def test_what_is_pruned_is_summed_up_in_its_place_and_again_the_next_time():
    history = MessageHistory(len)
    history.add("system", "short")
    for number in range(8):
        history.add("user", f"message {number}")
    given: list[list[str]] = []

    def summarise(dropped: list[Message]) -> str:
        given.append([message.content for message in dropped])
        return f"{len(dropped)} were said, and more than fits"

    assert history.prune(100, summarise) == []
    assert given == []
    dropped = history.prune(60, summarise)
    assert given == [[message.content for message in dropped]]
    assert given == [[f"message {number}" for number in range(4)]]
    assert [message.content for message in history.get_all()] == [
        "short",
        "4 were said, an",
        *(f"message {number}" for number in range(4, 8)),
    ]
    assert history.get_all()[1].role == "system"
    history.add("user", "message 8")
    history.prune(60, summarise)
    assert given[1] == ["4 were said, an", "message 4"]
    assert [message.content for message in history.get_all()][:3] == [
        "short",
        "2 were said, an",
        "message 5",
    ]


def test_a_summary_that_fails_drops_nothing_and_an_empty_one_leaves_no_message():
    history = history_of([("user", "one"), ("user", "two")], len)
    before = history.get_all()
    with pytest.raises(ZeroDivisionError):
        history.prune(4, lambda _: str(1 // 0))
    assert history.get_all() == before
    assert history.prune(4, lambda _: "") == before[:1]
    assert history.get_all() == before[1:]


@given(said=SAID, budget=BUDGET)
def test_with_its_summary_the_rest_fits(said, budget):
    history = history_of(said)
    history.prune(budget, lambda dropped: " ".join(one.content for one in dropped))
    after = history.get_all()
    fixed = [one for one in system(after) if (one.role, one.content) in said]
    assert others(after) == [] or tokens(after) <= max(budget, tokens(fixed))
