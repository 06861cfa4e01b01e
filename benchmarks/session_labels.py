"""Write the labels of twenty more recorded sessions as those of the data are written, to train on.

    python benchmarks/session_labels.py [DIRECTORY]

``session_labels.jsonl`` has a session a line, in the form of the labels of the data, but that each
quotation is the number of its message, its place there and a hash: the words are those of the
recordings, which are not part of the repository (KEEPLORE_DATA, or ../shared/data). ``DIRECTORY``
gets ``labels/`` and ``messages/``; ``heads.py`` takes the former. Without it the quotations are
only looked for.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from talks import DATA, exchanges, text_hash

from keeplore.memory import AgentQuestion, Exchange

LABELS = Path(__file__).with_suffix(".jsonl")


def main(directory: Path) -> int:
    if not DATA.is_dir():
        print(f"no recordings in {DATA}: set KEEPLORE_DATA")
        return 0
    folders = directory / "labels", directory / "messages"
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    lost = 0
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        transcript = DATA / data.pop("transcript")
        said = [*messages(exchanges(transcript))]
        quoted, missing = with_quotations(data, {row["m"]: row["text"] for row in said})
        lost += missing
        texts = json.dumps(quoted, ensure_ascii=False, indent=1), _lines(said)
        for folder, text in zip(folders, texts, strict=True):
            suffix = ".json" if folder.name == "labels" else ".jsonl"
            file = folder / (data["session"] + suffix)
            file.write_text(text + "\n", encoding="utf-8")
    print(f"{directory}: {lost} quotations are not where they were")
    return int(lost > 0)


def messages(said: tuple[Exchange, ...]) -> Iterator[dict[str, Any]]:
    """What was said, a message a row, numbered from 1."""
    rows = (
        row for exchange in said for row in _of_exchange(exchange) if row[1].strip()
    )
    for number, (role, text) in enumerate(rows, 1):
        yield {"m": number, "role": role, "text": text}


def _of_exchange(exchange: Exchange) -> Iterator[tuple[str, str]]:
    yield "user", exchange.user
    for reply in exchange.replies:
        if isinstance(reply, AgentQuestion):
            yield "answer", f"{reply.question} -> {reply.answer}"
        else:
            yield "assistant", reply


def with_quotations(value: Any, texts: Mapping[int, str]) -> tuple[Any, int]:
    """Labels with the words of their quotations, and how many have changed since."""
    if isinstance(value, list):
        pairs = [with_quotations(one, texts) for one in value]
        return [one for one, _ in pairs], sum(lost for _, lost in pairs)
    if not isinstance(value, dict):
        return value, 0
    if "at" not in value:
        done = {name: with_quotations(one, texts) for name, one in value.items()}
        return {name: one for name, (one, _) in done.items()}, sum(
            lost for _, lost in done.values()
        )
    start, length = value["at"]
    quote = texts.get(value["m"], "")[start : start + length]
    known = text_hash(quote) == value["hash"]
    rest = {name: one for name, one in value.items() if name not in ("at", "hash")}
    return rest | {"quote": quote}, int(not known)


def _lines(rows: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as checked:
        sys.exit(main(Path(checked)))
