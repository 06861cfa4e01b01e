"""Why a question finds a memory, or does not: recall itself is watched, so that nothing is told
that did not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from keeplore.index import MemoryRow
from keeplore.recall.passage_features import bonuses
from keeplore.recall.question import stems_of
from keeplore.recall.rank import Evidence, Ranked, Standing
from keeplore.recall.request import INHERITED, OWN, SIBLING, Answer
from keeplore.recall.search import NO_WORD, Look
from keeplore.recall.verify import SAME
from keeplore.recall.weights import WEIGHTS, Weights

PLACES = 50  # of an answer that are looked through
_PLACE = {
    OWN: "of this project",
    INHERITED: "inherited by this project",
    SIBLING: "of another project",
}

Ask = Callable[..., Answer]  # recall for one question: takes limit, wide, weights, watch


@dataclass(frozen=True, slots=True)
class Part:
    """What one thing gave to the score or took from it, in log-odds."""

    name: str  # one of rank.PARTS
    odds: float
    because: str


@dataclass(frozen=True, slots=True)
class Why:
    """``parts`` add up to ``odds``; there are none where no search found the memory."""

    memory_id: str  # of the newest version, which stands for all
    title: str
    is_found: bool
    place: int  # among the hits, from 1; 0 where it is not among them
    verdict: str = ""
    threshold: float = WEIGHTS.nothing_below  # below which nothing is shown, 0..1
    score: float = 0.0  # 0..1
    odds: float = 0.0
    passage: str = ""  # the words that counted
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()  # of the answer


def why(
    ask: Ask,
    row: MemoryRow,
    head: MemoryRow,
    text: str,
    *,
    wide: bool = False,
    weights: Weights = WEIGHTS,
) -> Why:
    """``head`` is the newest version of ``row``, itself where it is that, and ``text`` what it
    says.

    Where the question does not find it, it is asked again without the threshold, and then in all
    projects.
    """
    looks: list[Look] = []
    answer = ask(limit=PLACES, wide=wide, weights=weights, watch=looks.append)
    place = next((at for at, hit in enumerate(answer.hits, 1) if hit.memory_id == head.id), 0)
    replaced = "" if row.id == head.id else f"{head.id} replaced it and stands for it: "
    told = Why(
        head.id, head.title, bool(place), place, replaced, weights.nothing_below, notes=answer.notes
    )
    if not looks:
        score = answer.hits[place - 1].score if place else 0.0
        return replace(_because(told, _without_a_look(answer, place)), score=score)
    if entry := _entry(looks[-1], head.id):
        verdict = f"found in place {place}" if place else _passed_over(looks[-1], entry, weights)
        return _explained(_because(told, verdict), looks[-1], entry, weights)
    for is_wide in dict.fromkeys((wide, True)):
        ask(limit=1, wide=is_wide, weights=replace(weights, nothing_below=0.0), watch=looks.append)
        entry = _entry(looks[-1], head.id)
        if entry and is_wide == wide:
            return _explained(
                _because(told, _passed_over(looks[-1], entry, weights)), looks[-1], entry, weights
            )
        if entry and entry.distance == SIBLING:
            verdict = (
                f"not looked for: it is of the project {head.project}, which is asked where "
                f"little is found here"
            )
            return _explained(_because(told, verdict), looks[-1], entry, weights)
    return _because(told, _unfound(looks[-1], head, text, weights))


def _because(told: Why, verdict: str) -> Why:
    return replace(told, verdict=told.verdict + verdict)


def _entry(look: Look, memory_id: str) -> Ranked | None:
    """The best entry of a memory, after what says the same was moved."""
    return next((r for r in (*look.ordered, *look.ranked) if r.memory == memory_id), None)


def _passed_over(look: Look, entry: Ranked, w: Weights) -> str:
    if entry.score < w.nothing_below:
        return f"not shown: below the threshold of {w.nothing_below:.2f}"
    reason = dict(look.left).get(entry.memory)
    if reason is None:
        return f"not shown: more than {PLACES} memories are better"
    if reason == SAME:
        return "not shown: a better hit of the same place says the same"
    return "not shown: its file is gone, or says something else since it was indexed"


def _unfound(look: Look, head: MemoryRow, text: str, w: Weights) -> str:
    share = look.sight.question.coverage(stems_of(f"{head.title}\n{text}"))
    words = (
        f"{share:.0%} of the question's words are in it, where others match better"
        if share
        else "no word in common"
    )
    meaning = (
        ""
        if look.sight.vector is None
        else f", and not among the {w.candidates} passages nearest in meaning"
    )
    return f"not found: {words}{meaning}"


def _without_a_look(answer: Answer, place: int) -> str:
    if NO_WORD in answer.notes:
        return f"not found: {NO_WORD}"
    said = "the question names only a time"
    return (
        f"found in place {place}: {said}"
        if place
        else f"not found: {said}, and the answer is full without it"
    )


def _explained(told: Why, look: Look, entry: Ranked, w: Weights) -> Why:
    because = dict(_reasons(look, entry, w))
    parts = tuple(Part(name, value, because.get(name, "")) for name, value in entry.parts)
    row = look.found.passages.get(entry.by) if entry.by is not None else None
    said = row.said if row else ""
    older = (
        f", by the words of its earlier version {row.memory_id}"
        if row and row.memory_id != entry.memory
        else ""
    )
    return replace(
        told,
        verdict=f"{told.verdict}{older}",
        score=entry.score,
        odds=entry.odds,
        passage=said,
        parts=parts,
    )


def _reasons(look: Look, entry: Ranked, w: Weights) -> Iterator[tuple[str, str]]:
    e = next(e for e in look.found.evidence if e.passage == entry.by)
    standing = look.standings[entry.memory]
    yield from _searched(look, e)
    yield "doubt", "where every passage begins"
    row = look.found.passages.get(e.passage)
    if row and e.bonus:
        said = bonuses(row, look.sight.question, w)
        named = e.bonus - sum(said.values())
        told = [f"{label} {value:+.2f}" for label, value in said.items() if value]
        told += [f"said at a time that the question names {named:+.2f}"] if round(named, 6) else []
        yield "words", ", ".join(told)
    yield "exchange", "what else of its exchange speaks for it"
    yield "memory", f"how well its best passages answer, of {e.passages}"
    yield "current", "of statements about as close to the question the newest comes first"
    yield "echo", "it asks the same and does not answer"
    yield "outdated", "its newest version may not be shown here"
    yield "repeated", "beside another one that says nearly the same"
    yield from _standing(look, entry.memory, standing)


def _searched(look: Look, e: Evidence) -> Iterator[tuple[str, str]]:
    found, sight = look.found.evidence, look.sight
    best = max((o.text for o in found if o.text is not None), default=0.0)
    covered = max((o.coverage for o in found if o.text is not None), default=0.0)
    if e.text is None:
        yield "text", "the search by words did not give it"
    else:
        yield (
            "text",
            (
                f"BM25 {e.text:.3g}, the best has {best:.3g}; it covers {covered:.0%} of the "
                f"question's words"
            ),
        )
    if sight.floor is None:
        yield "vectors", "searched by text alone"
    elif e.cosine is None:
        lowest = min((o.cosine for o in found if o.cosine is not None), default=0.0)
        yield (
            "vectors",
            (
                f"not among the nearest in meaning, so counted as the last of these: cosine "
                f"{lowest:.2f}"
            ),
        )
    else:
        yield (
            "vectors",
            f"cosine {e.cosine:.2f}; unrelated texts have {sight.floor:.2f} with this model",
        )


def _standing(look: Look, memory: str, standing: Standing) -> Iterator[tuple[str, str]]:
    yield "place", _PLACE[standing.distance]
    yield "passing", "not marked as permanent"
    yield "age", f"{standing.age_days:.0f} days"
    yield "archive", "archived"
    about = look.boost.get(memory)
    if about:
        named = [f"mentions {', '.join(about.named)}"] if about.named else []
        yield "graph", "; ".join([*named, *about.related])
    yield "feedback", f"weight {standing.feedback:.2f}"
