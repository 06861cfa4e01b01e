"""What a threshold on recall's score keeps and lets through, on the written workspace of the tests.

    python benchmarks/recall_thresholds.py

For each threshold: of the questions with an answer, those whose memory comes first and is kept, and
those that are answered with another one; of the unrelated questions, those that are answered at
all. With vectors and without.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from keeplore.index import Index, embedder_for
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import RecallRequest, SearchScope
from keeplore.recall.weights import WEIGHTS

REPOSITORY = Path(__file__).resolve().parent.parent
QUESTIONS = Path(__file__).with_name("recall_questions.yaml")
THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
NOW = datetime(
    2026, 5, 1, tzinfo=UTC
)  # the day after the last memory, so that ages do not change with the calendar
EVERYTHING = replace(WEIGHTS, nothing_below=0.0)


def main() -> int:
    written = tests_module()
    questions = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "workspace"
        store = written.repository(root)
        written.write(root, written.corpus())
        embedder = embedder_for("packaged", Path(scratch) / "models")
        index = Index(Path(scratch) / "index", store, embedder)
        index.refresh()
        index.embed_pending()
        for name, is_text_only in (("text and vectors", False), ("text alone", True)):

            def first(
                question: dict[str, Any], *, text_only: bool = is_text_only
            ) -> tuple[str, float]:
                here = SearchScope(question["from"])
                deps = RecallDeps(index, store, embedder, weights=EVERYTHING)
                request = RecallRequest(question["ask"], limit=1, text_only=text_only)
                hits = recall(deps, request, here, now=NOW).hits
                return (hits[0].title, hits[0].score) if hits else ("", 0.0)

            answered = [
                (*first(question), question["title"])
                for question in questions["answered"]
            ]
            unrelated = [first(question)[1] for question in questions["unrelated"]]
            print(
                f"{name}: {len(answered)} questions with an answer, {len(unrelated)} unrelated ones"
            )
            print(f"{'threshold':>9} {'right':>6} {'wrong':>6} {'unrelated':>9}")
            for at in THRESHOLDS:
                right = sum(
                    score >= at for title, score, wanted in answered if title == wanted
                )
                wrong = sum(
                    score >= at for title, score, wanted in answered if title != wanted
                )
                print(
                    f"{at:9.2f} {right:6} {wrong:6} {sum(score >= at for score in unrelated):9}"
                )
        index.close()
    return 0


def tests_module() -> Any:
    """The builders of tests/recall, which is no package."""
    spec = importlib.util.spec_from_file_location(
        "written", REPOSITORY / "tests" / "recall" / "conftest.py"
    )
    if spec is None or spec.loader is None:
        raise FileNotFoundError("tests/recall/conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
