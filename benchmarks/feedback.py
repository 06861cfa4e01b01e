"""What counting use is worth: how often use is seen where there is none, and what it does to the
order of an answer.

    python benchmarks/feedback.py [--cases 3] [--work DIR]

By chance: in recorded sessions, which knew nothing of Keeplore, each answer is held against a
passage of another session, of the same project and of another one. Whatever counts as used there is
met by chance, or known to both.

In the order: each LoCoMo case is a workspace in which half of the questions are asked over 20
sessions, one every other day. The first three memories of each answer are told; of those that are
relevant half are seen to be of use, of the others one in fifty. Then the other half of the
questions is asked, with and without what was counted. Questions are about everything alike, or
mostly about a quarter of the memories, as in work that returns to the same things; and once use is
seen at random, in one in five of what was told. Without the data the script says so and ends.
"""

from __future__ import annotations

import argparse
import functools
import random
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from retrieval import figures
from retrieval_cases import Case, Query, cases, opened
from talks import DATA, exchanges, sessions

from keeplore.config.feedback_settings import FeedbackSettings
from keeplore.index import Embedder, Index, embedder_for
from keeplore.index.graph.feedback_weights import weight
from keeplore.memory.feedback_counters import UsageCounters
from keeplore.recall.answer import SearchTrace, recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.ranking.prior_odds import feedback_odds
from keeplore.recall.request import RecallRequest, SearchScope
from keeplore.store import Store
from keeplore.worker.usage.usage_terms import is_used, term_weights

SESSIONS, TOLD, DRAWS = 20, 3, 25
SEEN, MISTAKEN, AT_RANDOM = (
    0.5,
    0.02,
    0.2,
)  # how often use is seen: of what is relevant, of the rest, where nothing is
BEGIN = date(2026, 3, 1)
END = BEGIN + timedelta(days=2 * SESSIONS)
ANSWER_CHARS, PASSAGE_CHARS = (
    200,
    400,
)  # of answers that are looked at, and of a passage as a host is told it


@dataclass(frozen=True)
class Asked:
    gold: frozenset[str]
    odds: Mapping[str, float]  # memory → log-odds without feedback

    @functools.cached_property
    def plain(self) -> list[str]:
        return self.order({})

    def order(self, parts: Mapping[str, float]) -> list[str]:
        """Best first, with what feedback gives to some."""
        return sorted(
            self.odds, key=lambda id_: (-self.odds[id_] - parts.get(id_, 0.0), id_)
        )


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what counting use is worth.")
    parser.add_argument("--cases", type=int)
    parser.add_argument(
        "--work", type=Path, help="keep workspaces and indexes there for the next run"
    )
    options = parser.parse_args()
    try:
        by_chance()
        with tempfile.TemporaryDirectory() as scratch:
            work = options.work or Path(scratch)
            in_order(
                [*held(work, options.cases, embedder_for("packaged", work / "models"))]
            )
    except FileNotFoundError as e:
        print(
            f"skipped: there is no {e.filename}; set KEEPLORE_DATA to the folder that holds the "
            f"recorded data"
        )
    return 0


def by_chance() -> None:
    talks = {path: exchanges(path) for path in sessions()}
    passages = [
        (path, exchange.assistant[:PASSAGE_CHARS])
        for path, said in talks.items()
        for exchange in said
        if len(exchange.assistant) > ANSWER_CHARS
    ]
    counted: dict[str, list[bool]] = defaultdict(list)
    chance = random.Random(9)
    for path, talk in talks.items():
        said: set[str] = set()
        for exchange in talk:
            asked, answer = (
                term_weights(exchange.user).keys(),
                term_weights(exchange.assistant).keys(),
            )
            if len(exchange.assistant) > ANSWER_CHARS:
                before = said | asked
                for kind, told in drawn(path, passages, chance):
                    words = {
                        key: value
                        for key, value in term_weights(told).items()
                        if key not in before
                    }
                    counted[kind].append(is_used(words, answer - before))
            said |= asked | answer
    for kind, found in counted.items():
        print(
            f"used by chance, {kind:24}{statistics.mean(found):8.4f}  of {len(found)}"
        )


def drawn(
    path: Path, passages: Sequence[tuple[Path, str]], chance: random.Random
) -> Iterator[tuple[str, str]]:
    """A passage of another session of the same project, and one of another project."""
    project = path.relative_to(DATA).parts[:2]
    for kind, is_same in (("of the same project", True), ("of another project", False)):
        some = [
            text
            for other, text in passages
            if other != path
            and (other.relative_to(DATA).parts[:2] == project) is is_same
        ]
        if some:
            yield kind, chance.choice(some)


def held(work: Path, limit: int | None, embedder: Embedder) -> Iterator[list[Asked]]:
    """The questions of each case, with what recall says without feedback."""
    for case in cases("locomo", limit):
        index, store = opened(case, work / "locomo" / case.name, embedder)
        yield [
            one
            for query in case.queries
            if query.gold_sessions
            for one in asked(case, index, store, query, embedder)
        ]
        index.close()


def asked(
    case: Case, index: Index, store: Store, query: Query, embedder: Embedder
) -> Iterator[Asked]:
    looks: list[SearchTrace] = []
    recall(
        RecallDeps(index, store, embedder=embedder),
        RecallRequest(query.text, limit=1, at_once=True),
        SearchScope(),
        now=query.at or case.last,
        watch=looks.append,
    )
    if looks:
        yield Asked(
            query.gold_sessions,
            {entry.memory: entry.odds for entry in looks[-1].ranked},
        )


def in_order(every: Sequence[Sequence[Asked]]) -> None:
    print(
        f"{sum(map(len, every))} questions, means of {DRAWS} draws: nDCG@10, recall@1, and the "
        f"change of both"
    )
    for demand in ("everything alike", "a quarter again and again"):
        for seen in ("use as it is", "use at random"):
            draws = [simulated(every, demand, seen, seed) for seed in range(DRAWS)]
            off, on = (
                [statistics.mean(draw[side][n] for draw in draws) for n in (0, 1)]
                for side in (0, 1)
            )
            print(
                f"{demand:27}{seen:15}{off[0]:7.3f}{off[1]:7.3f}"
                f"{on[0] - off[0]:+9.4f}{on[1] - off[1]:+9.4f}"
                f"   worst draw {min(draw[1][0] - draw[0][0] for draw in draws):+.4f}"
            )


def simulated(
    cases_asked: Sequence[Sequence[Asked]], demand: str, seen: str, seed: int
) -> list[list[float]]:
    """nDCG@10 and recall@1, without and with feedback."""
    off, on = [], []
    for number, every in enumerate(cases_asked):
        chance = random.Random(f"{number} {seed}")
        ids = sorted({id_ for one in every for id_ in one.odds})
        wanted = set(chance.sample(ids, max(1, len(ids) // 4)))
        some = [
            one
            for one in every
            if demand == "everything alike"
            or one.gold & wanted
            or chance.random() < 0.2
        ]
        chance.shuffle(some)
        parts = counted(some[: len(some) // 2], seen, chance)
        for one in some[len(some) // 2 :]:
            off.append(figures(one.plain, one.gold))
            on.append(figures(one.order(parts), one.gold))
    return [
        [statistics.mean(row[n] for row in rows) for n in (5, 0)] for rows in (off, on)
    ]


def counted(
    questions: Sequence[Asked], seen: str, chance: random.Random
) -> dict[str, float]:
    """What 20 sessions come to in the score."""
    tallies: dict[str, UsageCounters] = defaultdict(UsageCounters)
    each = max(1, len(questions) // SESSIONS)
    for number in range(SESSIONS):
        day = (BEGIN + timedelta(days=2 * number)).isoformat()
        told: dict[str, bool] = {}
        for one in questions[number * each : (number + 1) * each]:
            for id_ in one.plain[:TOLD]:
                rate = (
                    AT_RANDOM
                    if seen == "use at random"
                    else SEEN
                    if id_ in one.gold
                    else MISTAKEN
                )
                told[id_] = told.get(id_, False) or chance.random() < rate
        for id_, is_use in told.items():
            tallies[id_] = (
                tallies[id_].with_use(day) if is_use else tallies[id_].with_idle(day)
            )
    return {
        id_: feedback_odds(weight(tally, END, FeedbackSettings()))
        for id_, tally in tallies.items()
    }


if __name__ == "__main__":
    sys.exit(main())
