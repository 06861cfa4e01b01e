import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.recall.ranking.diversity import diverse
from keeplore.recall.ranking.fuse import agreeing_passages, least_odds, odds
from keeplore.recall.ranking.model import Evidence, Ranked, Standing
from keeplore.recall.ranking.prior_odds import prior_odds
from keeplore.recall.ranking.rank import PARTS, rank
from keeplore.recall.request import INHERITED, OWN, SIBLING
from keeplore.recall.weights import WEIGHTS

FLOOR = 0.23
IDS = ["a", "b", "c", "d"]

evidence = st.lists(
    st.builds(
        Evidence,
        passage=st.integers(0, 50),
        memory=st.sampled_from(IDS),
        text=st.none() | st.floats(0, 40),
        cosine=st.none() | st.floats(-1, 1),
        coverage=st.floats(0, 1),
        is_echo=st.booleans(),
        bonus=st.floats(-2, 3),
        turn=st.sampled_from(["", "one", "two"]),
        passages=st.integers(1, 4),
        close=st.sampled_from([0.0, 0.5, 0.6]),
    ),
    max_size=12,
    unique_by=lambda e: e.passage,
)
standing = st.builds(
    Standing,
    distance=st.sampled_from([OWN, INHERITED, SIBLING]),
    age_days=st.floats(0, 5000),
    is_permanent=st.booleans(),
    is_archived=st.booleans(),
    head=st.sampled_from(["", "c", "d", "elsewhere"]),
    graph=st.floats(0, 1),
    feedback=st.floats(0, 10),
    whole=st.floats(-1, 1),
)
# the index names the newest version as head, so a head has none
newest = standing.map(lambda s: replace(s, head=""))
standings = st.fixed_dictionaries(
    {}, optional={"a": standing, "b": standing, "c": newest, "d": newest}
)
floors = st.none() | st.floats(0, 0.9)


def both(**changes: object) -> tuple[list[Evidence], dict[str, Standing]]:
    """Two memories with the same evidence; the second one differs in its standing."""
    found = [Evidence(1, "a", 5.0, 0.6, 1.0), Evidence(2, "b", 5.0, 0.6, 1.0)]
    plain = Standing(OWN, 10.0)
    return found, {"a": plain, "b": replace(plain, **changes)}


@pytest.mark.parametrize(
    "worse",
    [
        {"distance": INHERITED},
        {"distance": SIBLING},
        {"age_days": 400.0},
        {"is_archived": True},
        {"is_summary": True},
        {"head": "hidden"},
    ],
)
def test_of_two_equal_matches_the_nearer_newer_and_valid_one_comes_first(
    worse: dict[str, object],
) -> None:
    found, standings = both(**worse)
    assert [r.memory for r in rank(found, standings, FLOOR)] == ["a", "b"]


def test_of_two_equal_matches_the_memory_that_says_more_of_it_elsewhere_comes_first() -> (
    None
):
    found, known = both(whole=0.5)
    assert [entry.memory for entry in rank(found, known, FLOOR)] == ["b", "a"]


def test_the_newer_of_two_rules_comes_first_though_the_older_talk_says_more_of_it() -> (
    None
):
    found = [
        Evidence(1, "older", 6.0, 0.6, 1.0, at="2026-01-05", close=1.0),
        Evidence(2, "newer", 5.0, 0.5, 1.0, at="2026-02-05", close=1.0),
        Evidence(3, "other", 4.0, 0.4, 1.0, at="2026-03-05", close=0.2),
    ]
    known = {memory: Standing(OWN, whole=-0.4) for memory in ("newer", "other")}
    known["older"] = Standing(OWN, whole=0.4)
    ranked = rank(found, known, FLOOR, explain=True)
    assert [entry.memory for entry in ranked] == ["newer", "older", "other"]
    # the two exchange the odds that they have with the rest of their talks
    steps = [dict(entry.parts) for entry in ranked]
    assert steps[0]["current"] == pytest.approx(-steps[1]["current"])
    assert steps[0]["current"] > 0.0
    assert steps[2]["current"] == 0.0


def test_of_two_equal_matches_the_permanent_one_comes_first() -> None:
    found, standings = both(is_permanent=True)
    assert [r.memory for r in rank(found, standings, FLOOR)] == ["b", "a"]


@pytest.mark.parametrize("distance", [OWN, INHERITED, SIBLING])
def test_a_clearly_better_match_wins_over_age_permanence_and_place(
    distance: int,
) -> None:
    found = [
        Evidence(1, "better", 10.0, 0.7, 1.0),
        Evidence(2, "worse", 6.0, 0.45, 0.6),
    ]
    standings = {
        "better": Standing(distance, 2000.0),
        "worse": Standing(OWN, 0.0, is_permanent=True),
    }
    assert rank(found, standings, FLOOR)[0].memory == "better"


def test_a_search_that_is_unsure_says_little() -> None:
    # the best text match has one of five words, so the paraphrase that only the vectors see comes
    # first
    found = [
        Evidence(1, "one word", 3.0, 0.2, 0.2),
        Evidence(2, "paraphrase", None, 0.55),
    ]
    ranked = rank(
        found, {"one word": Standing(OWN), "paraphrase": Standing(OWN)}, FLOOR
    )
    assert [r.memory for r in ranked] == ["paraphrase", "one word"]


def test_without_vectors_the_text_match_alone_decides() -> None:
    found = [Evidence(1, "a", 8.0, coverage=1.0), Evidence(2, "b", 4.0, coverage=0.5)]
    scores = {
        r.memory: r.score
        for r in rank(found, {"a": Standing(OWN), "b": Standing(OWN)}, None)
    }
    assert scores["a"] > 0.95 > 0.6 > scores["b"] > WEIGHTS.nothing_below


def test_a_memory_is_as_good_as_its_best_passage() -> None:
    found = [
        Evidence(1, "a", 1.0, 0.3, 1.0),
        Evidence(2, "a", 9.0, 0.7, 1.0),
        Evidence(3, "a", 2.0, 0.4, 1.0),
    ]
    assert [
        (r.memory, r.passage) for r in rank(found, {"a": Standing(OWN)}, FLOOR)
    ] == [("a", 2)]


def test_an_older_version_counts_for_its_head_and_is_not_shown() -> None:
    found = [Evidence(1, "old", 9.0, 0.8, 1.0), Evidence(2, "other", 5.0, 0.5, 1.0)]
    standings = {
        "old": Standing(OWN, head="new"),
        "new": Standing(OWN),
        "other": Standing(OWN),
    }
    ranked = rank(found, standings, FLOOR)
    assert [(r.memory, r.passage) for r in ranked] == [("new", None), ("other", 2)]


def test_a_head_that_matched_itself_shows_its_own_passage() -> None:
    found = [Evidence(1, "old", 9.0, 0.8, 1.0), Evidence(2, "new", 3.0, 0.4, 1.0)]
    standings = {"old": Standing(OWN, head="new"), "new": Standing(OWN)}
    assert [(r.memory, r.passage) for r in rank(found, standings, FLOOR)] == [
        ("new", 2)
    ]


def test_an_older_version_whose_head_may_not_be_shown_is_far_down() -> None:
    found = [Evidence(1, "old", 9.0, 0.8, 1.0), Evidence(2, "other", 8.0, 0.6, 1.0)]
    ranked = rank(
        found, {"old": Standing(OWN, head="hidden"), "other": Standing(OWN)}, FLOOR
    )
    assert [r.memory for r in ranked] == ["other", "old"]


def test_passages_of_memories_that_are_gone_are_left_out() -> None:
    assert rank([Evidence(1, "gone", 9.0, 0.8, 1.0)], {}, FLOOR) == []


def test_a_passage_that_says_the_same_again_is_lowered_and_others_are_not() -> None:
    ranked = [
        Ranked("a", 3.0, 1),
        Ranked("copy", 2.9, 2),
        Ranked("other", 2.0, 3),
        Ranked("head", 1.0, None),
    ]
    words = {
        1: frozenset(["one", "two", "three", "four", "five"]),
        3: frozenset({"six", "seven"}),
    }
    words[2] = words[1]
    assert [(r.memory, r.odds) for r in diverse(ranked, words)] == [
        ("a", 3.0),
        ("other", 2.0),
        ("copy", pytest.approx(2.9 - WEIGHTS.repeated)),
        ("head", 1.0),
    ]


def test_of_two_that_say_the_same_the_nearer_takes_the_better_place() -> None:
    ranked = [Ranked("all", 3.0, 1, INHERITED), Ranked("mine", 2.9, 2, OWN)]
    words = dict.fromkeys((1, 2), frozenset(["one", "two", "three"]))
    assert [(r.memory, r.odds) for r in diverse(ranked, words)] == [
        ("mine", 3.0),
        ("all", pytest.approx(2.9 - WEIGHTS.repeated)),
    ]


@given(evidence, standings, floors)
def test_scores_are_shares_and_come_in_order(
    found: list[Evidence], known: dict[str, Standing], floor: float | None
) -> None:
    ranked = rank(found, known, floor)
    assert all(0.0 <= r.score <= 1.0 for r in ranked)
    assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)
    assert len({r.memory for r in ranked}) == len(ranked)


@given(evidence, standings, floors, st.booleans())
def test_the_parts_of_a_score_add_up_to_it(
    found: list[Evidence],
    known: dict[str, Standing],
    floor: float | None,
    by_turn: bool,
) -> None:
    words = {e.passage: frozenset({"same"}) for e in found}
    plain = diverse(rank(found, known, floor, by_turn=by_turn), words)
    explained = diverse(rank(found, known, floor, by_turn=by_turn, explain=True), words)
    assert [replace(r, parts=()) for r in explained] == plain
    for entry in explained:
        assert {name for name, _ in entry.parts} <= set(PARTS)
        assert sum(value for _, value in entry.parts) == pytest.approx(
            entry.odds, abs=2e-6
        )


@given(evidence, standings, floors, st.randoms(use_true_random=False))
def test_the_order_of_the_evidence_changes_nothing(
    found: list[Evidence],
    known: dict[str, Standing],
    floor: float | None,
    random: object,
) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert rank(shuffled, known, floor) == rank(found, known, floor)


@given(evidence, standings, floors)
def test_no_older_version_is_shown_beside_or_above_its_head(
    found: list[Evidence], known: dict[str, Standing], floor: float | None
) -> None:
    for shown in rank(found, known, floor):
        assert known[shown.memory].head not in known


@given(evidence, st.floats(0, 0.9), st.integers(0, 11), st.floats(0.001, 5))
def test_a_better_match_never_makes_a_passage_less_likely(
    found: list[Evidence], floor: float, which: int, more: float
) -> None:
    if not found:
        return
    chosen = found[which % len(found)]
    better = [
        replace(e, cosine=min(1.0, e.cosine + more))
        if e is chosen and e.cosine is not None
        else e
        for e in found
    ]
    assert (
        odds(better, floor)[chosen.passage]
        >= odds(found, floor)[chosen.passage] - 1e-12
    )


@given(standing, st.floats(0, 5000))
def test_growing_older_never_helps(at: Standing, more: float) -> None:
    at = replace(at, graph=0.0, feedback=1.0, whole=0.0)
    older = replace(at, age_days=at.age_days + more)
    assert sum(prior_odds(older)) <= sum(prior_odds(at)) <= 0.0


@pytest.mark.parametrize("score", [0.2, 0.5, 0.95, 1.0])
def test_what_lies_below_the_least_odds_reaches_no_score(score: float) -> None:
    least = least_odds(score)
    assert Ranked("a", least - 1e-6, 1).score < score
    assert least_odds(0.0) == -math.inf
    if score < 1.0:
        assert Ranked("a", least + 2e-6, 1).score >= score


def test_what_may_be_told_unasked_agrees_in_rare_words_or_words_and_meaning() -> None:
    found = [
        Evidence(1, "a", text=20.0, cosine=0.1),  # rare words
        Evidence(2, "a", text=12.0, cosine=0.7),
        Evidence(3, "b", text=12.0, cosine=0.3),
        Evidence(4, "b", cosine=0.9),  # none in common
        Evidence(5, "b", text=12.0),
    ]
    assert {
        passages: sorted(agreeing_passages(found, passages, FLOOR))
        for passages in (10, 3000)
    } == {10: [1, 2, 3, 4, 5], 3000: [1, 2]}
    alone = [replace(e, cosine=None) for e in found]
    assert sorted(agreeing_passages(alone, 3000, None)) == [1, 2, 3, 5]
