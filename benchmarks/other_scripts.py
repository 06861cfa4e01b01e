"""How well questions in Chinese, Japanese, Korean and Thai find what answers them.

    python benchmarks/other_scripts.py

The statements of a language, from all parts of other_scripts.yaml, are the notes of one workspace;
each question has one answer. Printed are the shares of questions whose answer comes first, and
among three: of recall, of recall by words alone, and of plain BM25 over pairs of letters (k1 = 1.2,
b = .75) on the same notes. Beside the questions as prompts: how many get something, and how many of
these get the answer first. Then how many of the unrelated questions are answered, or get something.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections import Counter
from pathlib import Path

import yaml

from keeplore.config.places import Places
from keeplore.memory import Memory, new_id, new_meta, relative_path, serialise
from keeplore.recall.prompt_context import for_prompt, is_worth_asking
from keeplore.recall.request import RecallRequest
from keeplore.recall.weights import PROMPT_HITS
from keeplore.text.unspaced import pairs, runs, without_runs
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

QUESTIONS = Path(__file__).with_name("other_scripts.yaml")
AT = "2026-02-03T04:05:06Z"
TOLD_FROM = 0.95  # the default


Said = dict[str, list[list[str]]]  # part → [statement, question]


def main() -> None:
    parts = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    unrelated = parts.pop("unrelated")
    print("| script | part | recall | words alone | BM25 | told, right |")
    print("|---|---|---|---|---|---|")
    for language in unrelated:
        said = {name: part[language] for name, part in parts.items()}
        _measure(language, said, unrelated[language])


def _measure(language: str, said: Said, unrelated: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="keeplore-scripts-") as folder:
        home = Path(folder)
        os.environ["HOME"] = str(home)
        places = Places.from_environment(os.environ)
        initialise(places, home / "memory")
        answers = _write(home / "memory", language, said)
        plain = PlainBm25([text for asked in said.values() for text, _ in asked])
        with Registry(places) as registry:
            workspace = registry.named("memory")
            workspace.commit("Fill")
            workspace.index.refresh()
            workspace.index.embed_pending()
            for name, asked in said.items():
                cells = " | ".join(_cells(workspace, plain, asked, answers))
                print(f"| {language} | {name} | {cells} |")
            answered, alone = (
                sum(bool(_ask(workspace, text, text_only=only)) for text in unrelated)
                for only in (False, True)
            )
            told = sum(bool(_told(workspace, text)) for text in unrelated)
            print(
                f"| {language} | {len(unrelated)} unrelated | {answered} | {alone} | | {told} |"
            )


def _cells(
    workspace: Workspace,
    plain: PlainBm25,
    asked: list[list[str]],
    answers: dict[str, str],
) -> list[str]:
    found = [
        _places(workspace, asked, answers, text_only=only) for only in (False, True)
    ]
    found.append([plain.place(*pair) for pair in asked])
    told = {question: _told(workspace, question) for _, question in asked}
    right = [ids[0] == answers[question] for question, ids in told.items() if ids]
    shares = [f"{_share(places, 1)} {_share(places, 3)}" for places in found]
    return [*shares, f"{len(right)}, {sum(right)}"]


def _share(places: list[int], most: int) -> str:
    return f"{sum(place < most for place in places) / len(places):.2f}"


class PlainBm25:
    """BM25 over words and, in scripts without spaces, pairs of letters."""

    def __init__(self, texts: list[str]) -> None:
        self._bags = {text: _tokens(text) for text in texts}
        self._having = Counter(token for bag in self._bags.values() for token in bag)
        self._usual = sum(map(Counter.total, self._bags.values())) / len(texts)

    def place(self, statement: str, question: str) -> int:
        """Where a statement stands among all for a question, from 0; 99 where nothing matches."""
        asked = _tokens(question)
        scores = {text: self._score(asked, bag) for text, bag in self._bags.items()}
        own = scores[statement]
        return sum(score > own for score in scores.values()) if own else 99

    def _score(self, asked: Counter[str], bag: Counter[str]) -> float:
        length = 1.2 * (0.25 + 0.75 * bag.total() / self._usual)
        return sum(
            math.log(
                1
                + (len(self._bags) - self._having[token] + 0.5)
                / (self._having[token] + 0.5)
            )
            * bag[token]
            * 2.2
            / (bag[token] + length)
            for token in asked
            if bag[token]
        )


def _tokens(text: str) -> Counter[str]:
    words = re.findall(r"[^\W_]+", without_runs(text).casefold())
    return Counter([*words, *(pair for run in runs(text) for pair in pairs(run))])


def _write(root: Path, language: str, said: Said) -> dict[str, str]:
    """The id of the note that answers each question."""
    answers = {}
    for part, asked in said.items():
        for number, (statement, question) in enumerate(asked):
            meta = new_meta(
                id=new_id("script", language, part, str(number)),
                kind="note",
                title=statement[:40],
                created_at=AT,
                updated_at=AT,
                scope="workspace",
                category="project-conventions",
                trust="user",
                trigger="remember",
            )
            memory = Memory(meta, f"# {statement[:40]}\n\n{statement}\n")
            file = root / relative_path(memory)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(serialise(memory), encoding="utf-8")
            answers[question] = memory.id
    return answers


def _places(
    workspace: Workspace,
    asked: list[list[str]],
    answers: dict[str, str],
    *,
    text_only: bool,
) -> list[int]:
    """Where each question's answer stands, from 0; 99 where it does not come."""
    found = []
    for _, question in asked:
        ids = _ask(workspace, question, text_only=text_only)
        answer = answers[question]
        found.append(ids.index(answer) if answer in ids else 99)
    return found


def _ask(workspace: Workspace, question: str, *, text_only: bool) -> list[str]:
    request = RecallRequest(question, limit=5, wide=True, text_only=text_only)
    return [hit.memory_id for hit in workspace.recall(request).hits]


def _told(workspace: Workspace, prompt: str) -> list[str]:
    """What is told unasked beside a prompt."""
    if not is_worth_asking(prompt):
        return []
    sure = for_prompt(TOLD_FROM, already=())
    request = RecallRequest(prompt, limit=PROMPT_HITS, wide=True, filter=sure)
    return [hit.memory_id for hit in workspace.recall(request).hits]


if __name__ == "__main__":
    main()
