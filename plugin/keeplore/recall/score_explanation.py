"""Why a question finds a memory, or does not: recall itself is watched, so that nothing is told
that did not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from keeplore.index import MemoryRow
from keeplore.recall.answer import NO_WORD, SearchTrace, Watch
from keeplore.recall.question import stems_of
from keeplore.recall.ranking.model import Evidence, Ranked
from keeplore.recall.ranking.passage_features import feature_bonuses
from keeplore.recall.request import INHERITED, OWN, SIBLING, Answer, RecallRequest
from keeplore.recall.verify import LeftOut
from keeplore.recall.weights import WEIGHTS, Weights

PLACES = 50  # of an answer that are looked through
LEAST = 0.005  # log-odds: a part below that is not shown to a person
ECHO = "it asks the same and does not answer"
_PLACE = {
    OWN: "of this project",
    INHERITED: "inherited by this project",
    SIBLING: "of another project or agent",
}

_LEFT_OUT = {
    None: f"not shown: more than {PLACES} memories are better",
    LeftOut.SAME: "not shown: a better hit of the same place says the same",
    LeftOut.CHANGED: (
        "not shown: its file is gone, or says something else since it was indexed"
    ),
}


class RecallFunction(Protocol):
    """Recall for one question."""

    def __call__(
        self, request: RecallRequest, *, weights: Weights, watch: Watch
    ) -> Answer: ...


@dataclass(frozen=True, slots=True)
class ScorePart:
    """What one thing gave to the score or took from it, in log-odds."""

    name: str  # one of fuse.PARTS
    odds: float
    because: str


@dataclass(frozen=True, slots=True)
class ScoreExplanation:
    """``parts`` add up to ``odds``; there are none where no search found the memory."""

    memory_id: str  # of the newest version, which stands for all
    title: str
    is_found: bool
    place: int  # among the hits, from 1; 0 where it is not among them
    verdict: str
    threshold: float = WEIGHTS.hidden_below  # below which it is not shown, 0..1
    best_from: float = WEIGHTS.nothing_below  # the same of the best memory
    score: float = 0.0  # 0..1
    odds: float = 0.0
    passage: str = ""  # the words that counted
    parts: tuple[ScorePart, ...] = ()
    notes: tuple[str, ...] = ()  # of the answer

    @property
    def shown_parts(self) -> list[ScorePart]:
        """Those that are worth a person's look."""
        return [part for part in self.parts if abs(part.odds) >= LEAST]


def explain_score(
    ask: RecallFunction,
    request: RecallRequest,
    row: MemoryRow,
    head: MemoryRow,
    text: str,
    weights: Weights = WEIGHTS,
) -> ScoreExplanation:
    """``head`` is the newest version of ``row``, itself where it is that, and ``text`` what it
    says.

    Where the question does not find it, it is asked again without the threshold, and then in all
    projects.
    """
    traces: list[SearchTrace] = []
    answer = ask(replace(request, limit=PLACES), weights=weights, watch=traces.append)
    place = next(
        (at for at, hit in enumerate(answer.hits, 1) if hit.memory_id == head.id), 0
    )
    explanation = ScoreExplanation(
        head.id,
        head.title,
        is_found=bool(place),
        place=place,
        verdict=""
        if row.id == head.id
        else f"{head.id} replaced it and stands for it: ",
        threshold=weights.hidden_below,
        best_from=weights.nothing_below,
        notes=answer.notes,
    )
    if not traces:
        score = answer.hits[place - 1].score if place else 0.0
        return replace(
            _with_verdict(explanation, _verdict_without_search(answer, place)),
            score=score,
        )
    if entry := _entry(traces[-1], head.id):
        found = f"found in place {place}"
        verdict = found if place else _reason_left_out(traces[-1], entry, weights)
        return _explained(explanation, verdict, traces[-1], entry, weights)
    return _asked_again(ask, request, head, text, explanation, weights)


def _asked_again(
    ask: RecallFunction,
    request: RecallRequest,
    head: MemoryRow,
    text: str,
    explanation: ScoreExplanation,
    weights: Weights,
) -> ScoreExplanation:
    """The question again without the threshold, and then in all projects."""
    traces: list[SearchTrace] = []
    for is_wide in dict.fromkeys((request.wide, True)):
        everything = replace(
            weights, nothing_below=0.0, unread_below=0.0, hidden_below=0.0
        )
        wider = replace(request, limit=1, wide=is_wide)
        ask(wider, weights=everything, watch=traces.append)
        entry = _entry(traces[-1], head.id)
        if entry and is_wide == request.wide:
            verdict = _reason_left_out(traces[-1], entry, weights)
            return _explained(explanation, verdict, traces[-1], entry, weights)
        if entry and entry.distance == SIBLING:
            return _explained(
                explanation, _verdict_elsewhere(head), traces[-1], entry, weights
            )
    return _with_verdict(explanation, _verdict_unfound(traces[-1], head, text, weights))


def _verdict_elsewhere(head: MemoryRow) -> str:
    project = head.project
    return (
        f"not looked for: it is of the project {project}, which is asked where little is found "
        f"here"
    )


def _with_verdict(explanation: ScoreExplanation, verdict: str) -> ScoreExplanation:
    return replace(explanation, verdict=explanation.verdict + verdict)


def _entry(trace: SearchTrace, memory_id: str) -> Ranked | None:
    """The best entry of a memory, after what says the same was moved."""
    return next(
        (r for r in (*trace.ordered, *trace.ranked) if r.memory == memory_id), None
    )


def _reason_left_out(trace: SearchTrace, entry: Ranked, w: Weights) -> str:
    if entry.score < w.hidden_below:
        return f"not shown: below the threshold of {w.hidden_below:.2f}"
    least = trace.query.silence(w)
    if trace.ranked[0].score < least:
        return f"not shown: the best score is below the threshold of {least:.2f}"
    return _LEFT_OUT[dict(trace.left).get(entry.memory)]


def _verdict_unfound(trace: SearchTrace, head: MemoryRow, text: str, w: Weights) -> str:
    share = trace.query.question.coverage(stems_of(f"{head.title}\n{text}"))
    verdict = "not found: no word in common"
    if share:
        verdict = (
            f"not found: {share:.0%} of the question's words are in it, where others match "
            f"better"
        )
    if trace.query.vector is None:
        return verdict
    return f"{verdict}, and not among the {w.candidates} passages nearest in meaning"


def _verdict_without_search(answer: Answer, place: int) -> str:
    if NO_WORD in answer.notes:
        return f"not found: {NO_WORD}"
    said = "the question names nothing, or only a time"
    if place:
        return f"found in place {place}: {said}"
    return f"not found: {said}, and the answer is full without it"


def _explained(
    explanation: ScoreExplanation,
    verdict: str,
    trace: SearchTrace,
    entry: Ranked,
    w: Weights,
) -> ScoreExplanation:
    reasons = dict(_reasons(trace, entry, w))
    parts = tuple(
        ScorePart(name, value, reasons.get(name, "")) for name, value in entry.parts
    )
    row = trace.results.passages.get(entry.by) if entry.by is not None else None
    if row and row.memory_id != entry.memory:
        verdict = f"{verdict}, by the words of its earlier version {row.memory_id}"
    return replace(
        _with_verdict(explanation, verdict),
        score=entry.score,
        odds=entry.odds,
        passage=row.said if row else "",
        parts=parts,
    )


def _reasons(
    trace: SearchTrace, entry: Ranked, w: Weights
) -> Iterator[tuple[str, str]]:
    """Part of a score → why it is what it is, in no order."""
    e = next(e for e in trace.results.evidence if e.passage == entry.by)
    yield "text", _text_reason(trace, e)
    yield "vectors", _vector_reason(trace, e)
    yield "doubt", "where every passage begins"
    yield "words", _words_reason(trace, e, w)
    yield "exchange", "what else of its exchange speaks for it"
    yield "memory", f"how well its best passages answer, of {e.passages}"
    yield (
        "current",
        "of statements about as close to the question the newest comes first",
    )
    yield "outdated", "its newest version may not be shown here"
    yield (
        "repeated",
        "beside a better one that says nearly the same, or is of the same memory",
    )
    standing = trace.standings[entry.memory]
    yield "place", _PLACE[standing.distance]
    yield "passing", "not marked as permanent"
    yield "age", f"{standing.age_days:.0f} days"
    yield "archive", "archived"
    yield "summary", "the host's summary of a talk, which is kept itself"
    yield "whole", "what its other passages say of the question, beside the likeliest's"
    yield "graph", _graph_reason(trace, entry.memory)
    yield "feedback", f"weight {standing.feedback:.2f}"


def _text_reason(trace: SearchTrace, e: Evidence) -> str:
    if e.is_echo:
        return ECHO
    if e.text is None:
        return "the search by words did not give it"
    others = (other for other in trace.results.evidence if not other.is_echo)
    found = [other for other in others if other.text is not None]
    best = max(other.text or 0.0 for other in found)
    covered = max(other.coverage for other in found)
    return (
        f"BM25 {e.text:.3g}, the best has {best:.3g}; it covers {covered:.0%} of the "
        f"question's words"
    )


def _vector_reason(trace: SearchTrace, e: Evidence) -> str:
    floor = trace.query.floor
    if floor is None:
        return "searched by text alone"
    if e.is_echo:
        return ECHO
    if e.cosine is not None:
        return (
            f"cosine {e.cosine:.2f}; unrelated texts have {floor:.2f} with this model"
        )
    cosines = (
        other.cosine for other in trace.results.evidence if other.cosine is not None
    )
    lowest = min(cosines, default=0.0)
    return f"not among the nearest in meaning, so counted as the last of these: cosine {lowest:.2f}"


def _words_reason(trace: SearchTrace, e: Evidence, w: Weights) -> str:
    row = trace.results.passages.get(e.passage)
    if not (row and e.bonus):
        return ""
    known = feature_bonuses(row, trace.query.question, w)
    reasons = [f"{name} {value:+.2f}" for name, value in known.items() if value]
    of_time = e.bonus - sum(known.values())
    if round(of_time, 6):
        reasons.append(f"said at a time that the question names {of_time:+.2f}")
    return ", ".join(reasons)


def _graph_reason(trace: SearchTrace, memory: str) -> str:
    about = trace.boost.get(memory)
    if not about:
        return ""
    named = [f"mentions {', '.join(about.named)}"] if about.named else []
    return "; ".join([*named, *about.related])
