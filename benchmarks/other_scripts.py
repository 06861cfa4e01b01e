"""How well questions in Chinese, Japanese, Korean and Thai find what answers them.

    python benchmarks/other_scripts.py

Each language's statements (other_scripts.yaml) are the notes of a workspace of their own, together
with those of the others; each question has one answer. Printed is the share of questions whose
answer comes first, and among three, as things are and by words alone.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import yaml

from keeplore.config.places import Places
from keeplore.memory import Memory, new_id, new_meta, relative_path, serialise
from keeplore.recall.request import RecallRequest
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

QUESTIONS = Path(__file__).with_name("other_scripts.yaml")
AT = "2026-02-03T04:05:06Z"


def main() -> None:
    parts = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    for name, said in parts.items():
        print(f"\n{name}\n")
        _measure(said)


def _measure(said: dict[str, list[list[str]]]) -> None:
    with tempfile.TemporaryDirectory(prefix="keeplore-scripts-") as folder:
        home = Path(folder)
        os.environ["HOME"] = str(home)
        places = Places.from_environment(os.environ)
        initialise(places, home / "memory")
        answers = _write(home / "memory", said)
        with Registry(places) as registry:
            workspace = registry.named("memory")
            workspace.commit("Fill")
            workspace.index.refresh()
            workspace.index.embed_pending()
            print("| script | first | among three | words alone: first | among three |")
            print("|---|---|---|---|---|")
            for language, pairs in said.items():
                found = [
                    _places(workspace, pairs, answers, text_only=text_only)
                    for text_only in (False, True)
                ]
                shares = [
                    sum(place < most for place in places) / len(places)
                    for places in found
                    for most in (1, 3)
                ]
                print(f"| {language} | {' | '.join(f'{s:.2f}' for s in shares)} |")


def _write(root: Path, said: dict[str, list[list[str]]]) -> dict[str, str]:
    """The id of the note that answers each question."""
    answers = {}
    for language, pairs in said.items():
        for number, (statement, question) in enumerate(pairs):
            meta = new_meta(
                id=new_id("script", language, str(number)),
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
    pairs: list[list[str]],
    answers: dict[str, str],
    *,
    text_only: bool,
) -> list[int]:
    """Where each question's answer stands, from 0; 99 where it does not come."""
    found = []
    for _, question in pairs:
        request = RecallRequest(question, limit=5, wide=True, text_only=text_only)
        ids = [hit.memory_id for hit in workspace.recall(request).hits]
        answer = answers[question]
        found.append(ids.index(answer) if answer in ids else 99)
    return found


if __name__ == "__main__":
    main()
