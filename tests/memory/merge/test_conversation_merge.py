"""Two versions of one conversation: every exchange stays whole, whoever heard it."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from keeplore.memory import (
    Conversation,
    Exchange,
    Memory,
    new_id,
    new_meta,
    parse,
    serialise,
)
from keeplore.memory.conversation_body import Quote
from keeplore.memory.merge.memory_merge import merge_memory

ID = new_id("record", "test")
PATH = "memory/conversations/2026/02/2026-02-09-which-index-00000000.md"
numbers = st.lists(st.integers(1, 9), unique=True, max_size=5)


def exchange(number: int, reply: str = "") -> Exchange:
    at = f"2026-02-09T10:0{number}:00Z"
    return Exchange(
        f"turn-{number}",
        at,
        f"question {number}\n\n- more",
        (reply or f"```\nreply {number}\n```",),
    )


def conversation(
    exchanges: Iterable[Exchange], *, is_open: bool = True, **parts: object
) -> str:
    said = tuple(exchanges)
    made = Conversation("Which index", said, **parts)
    meta = new_meta(
        id=ID,
        kind="conversation",
        status="open" if is_open else None,
        title="Which index",
        created_at="2026-02-09T10:00:00Z",
        updated_at=max((item.at for item in said), default="2026-02-09T10:00:00Z"),
        version=1,
        scope="workspace",
        trust="assistant",
        source={"turns": [item.id for item in said]},
    )
    return serialise(Memory(meta, made.to_markdown()))


def both_ways(base: str | None, one: str, other: str) -> tuple[Memory, dict[str, str]]:
    merge = merge_memory(PATH, base, one, other)
    assert merge == merge_memory(PATH, base, other, one)
    return parse(merge.text), dict(merge.beside)


def said(memory: Memory) -> tuple[Exchange, ...]:
    return Conversation.from_markdown(memory.body).exchanges


@given(numbers, numbers, numbers, st.booleans())
def test_what_each_side_heard_stands_whole_and_in_the_order_of_time(
    before: list[int], one: list[int], other: list[int], has_base: bool
) -> None:
    sides = [sorted({*before, *more}) for more in (one, other)]
    base = conversation(map(exchange, sorted(before))) if has_base else None
    memory, beside = both_ways(
        base, *(conversation(map(exchange, side)) for side in sides)
    )
    expected = sorted({*before, *one, *other})
    assert said(memory) == tuple(map(exchange, expected))
    assert beside == {}
    assert sorted(memory.turns) == [f"turn-{number}" for number in expected]


@given(numbers, st.data())
def test_an_exchange_that_was_taken_out_stays_away_and_one_that_was_changed_stays(
    before: list[int], data: st.DataObject
) -> None:
    removed = data.draw(st.sets(st.sampled_from(before))) if before else set()
    changed = data.draw(st.sets(st.sampled_from(before))) if before else set()
    base = conversation(map(exchange, before))
    one = conversation(exchange(number) for number in before if number not in removed)
    other = conversation(
        exchange(number, "another reply" if number in changed else "")
        for number in before
    )
    memory, _ = both_ways(base, one, other)
    left = {int(item.id[-1]) for item in said(memory)}
    assert left == {
        number for number in before if number not in removed or number in changed
    }
    assert all(
        "another reply" in item.replies
        for item in said(memory)
        if int(item.id[-1]) in changed
    )


def test_of_an_exchange_that_one_side_heard_more_of_the_longer_stands() -> None:
    short = Exchange("turn-1", "2026-02-09T10:01:00Z", "Go on", ("First.",))
    long = Exchange(
        "turn-1",
        "2026-02-09T10:01:00Z",
        "Go on",
        ("First.", "Second."),
        "2026-02-09T10:05:00Z",
    )
    memory, beside = both_ways(None, conversation([short]), conversation([long]))
    assert said(memory) == (long,) and beside == {}


def test_what_was_the_last_word_becomes_a_step_where_more_was_heard() -> None:
    told = ("Let me look.", "It rounds twice.\n\nSee money.py.", "I mend it.", "Done.")
    short, long = (
        Exchange("turn-1", "2026-02-09T10:01:00Z", "Go on", told[:count])
        for count in (3, 4)
    )
    memory, beside = both_ways(None, conversation([short]), conversation([long]))
    assert said(memory) == (long,) and beside == {}
    base, more = conversation([short]), conversation([long])
    edited = base.replace("rounds twice", "rounds twice, by the way")
    memory, beside = both_ways(base, edited, more)
    assert beside == {} and [len(e.replies) for e in said(memory)] == [4]
    assert "by the way" in said(memory)[0].replies[1]


def test_the_same_words_in_the_form_of_before_are_the_same() -> None:
    mark = "<!-- keeplore:assistant -->\n### Assistant\n\n"
    now = Exchange("turn-1", "2026-02-09T10:01:00Z", "Go on", ("Look.", "Done."))
    text = conversation([now])
    head, found, _ = text.partition("<!-- keeplore:steps -->")
    before = f"{head}{mark}Look.\n\n{mark}Done.\n"
    assert found
    memory, beside = both_ways(None, text, before)
    assert said(memory) == (now,) and beside == {}


def test_two_answers_to_one_question_clash_and_both_stay() -> None:
    base, one, other = (
        conversation([exchange(1, reply)]) for reply in ("so", "thus", "otherwise")
    )
    memory, beside = both_ways(base, one, other)
    assert {
        said(memory)[0].replies,
        *(said(parse(text))[0].replies for text in beside.values()),
    } == {
        ("thus",),
        ("otherwise",),
    }


def test_the_quotations_of_both_and_one_date_stand_above() -> None:
    base = conversation(
        [exchange(1)], decision=(Quote("Take SQLite.", "user", "turn-1"),)
    )
    one, other = (
        conversation(
            [exchange(1), exchange(number)],
            decision=(
                Quote("Take SQLite.", "user", "turn-1"),
                Quote(text, "user", f"turn-{number}"),
            ),
            open_questions=(Quote(text, "user", f"turn-{number}"),),
        )
        for number, text in ((2, "And hnswlib."), (3, "In one file."))
    )
    memory, beside = both_ways(base, one, other)
    found = Conversation.from_markdown(memory.body)
    assert beside == {}
    assert {quote.text for quote in found.decision} == {
        "Take SQLite.",
        "And hnswlib.",
        "In one file.",
    }
    assert {quote.text for quote in found.open_questions} == {
        "And hnswlib.",
        "In one file.",
    }
    assert memory.body.count("**Date**") == 1 and "10:01–10:03 UTC" in memory.body
    assert found.to_markdown() == memory.body


def test_what_a_person_wrote_above_stays_and_a_title_of_each_clashes() -> None:
    base = conversation([exchange(1)])
    one = base.replace("# Which index", "# The index").replace(
        "## Exchanges", "My thoughts.\n\n## Exchanges"
    )
    other = base.replace("# Which index", "# An index")
    memory, beside = both_ways(base, one, other)
    everything = memory.body + "".join(beside.values())
    assert all(
        text in everything for text in ("# The index", "# An index", "My thoughts.")
    )


def test_a_mark_that_somebody_broke_is_merged_as_text() -> None:
    base = conversation([exchange(1), exchange(2)]).replace(
        "turn-2 2026", "turn-2\n2026"
    )
    one, other = (
        base.replace("reply 1", "answer 1"),
        base.replace("reply 2", "answer 2"),
    )
    memory, beside = both_ways(base, one, other)
    assert "answer 1" in memory.body and "answer 2" in memory.body and beside == {}
