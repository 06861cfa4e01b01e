"""Redaction measured: MB/s on one core, false hits a MB of coding talk, recall on planted secrets.

    python benchmarks/redaction.py [TRANSCRIPTS]

TRANSCRIPTS is a folder of recorded sessions (``$KEEPLORE_DATA/transcripts`` where it is left out);
only what user and assistant said is read. Without one, speed is measured on the planted texts and
false hits are not.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from planted import Planted, is_covered, planted
from planted_blind import blind

from keeplore.redact.rules import find, redact, rules

VALUES = 10  # random values of each kind
BLIND_VALUES = 3
SEED = 11
SHOWN = 40


def said(folder: Path) -> Iterator[str]:
    """Every text of a user or an assistant in the sessions below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".md":
            yield path.read_text(errors="replace")
        elif path.suffix == ".jsonl":
            for line in path.open(errors="replace"):
                yield from _texts(_json(line))
        elif path.suffix == ".json" and path.name != "index.json":
            messages = _json(path.read_text(errors="replace")).get("messages", ())
            for message in messages:
                yield from _texts(message)


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _texts(entry: dict[str, Any]) -> Iterator[str]:
    message = next(
        (
            entry[key]
            for key in ("message", "payload")
            if isinstance(entry.get(key), dict)
        ),
        entry,
    )
    content = message.get("content")
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and str(block.get("type")).endswith("text"):
            yield str(block.get("text", ""))


def _recall(what: str, items: list[Planted]) -> None:
    missed = Counter(
        item.kind for item in items if not is_covered(item, redact(item.text))
    )
    kinds = len({item.kind for item in items})
    print(
        f"recall {1 - missed.total() / len(items):.4f} of {len(items)} planted secrets, {kinds} "
        f"{what}"
    )
    for kind, times in missed.most_common():
        print(f"  missed {kind}: {times}")


def main() -> None:
    data = os.environ.get("KEEPLORE_DATA")
    folder = (
        Path(sys.argv[1])
        if len(sys.argv) > 1
        else Path(data, "transcripts")
        if data
        else None
    )
    started = time.perf_counter()
    count = len(rules())
    print(f"{count} rules ready in {(time.perf_counter() - started) * 1000:.0f} ms")

    items = list(planted(VALUES, SEED))
    _recall("kinds that the rules were made with", items)
    _recall("forms written before the rules were read", list(blind(BLIND_VALUES)))

    texts = list(said(folder)) if folder else [item.text for item in items]
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    size = sum(map(len, encoded)) / 1e6
    started = time.process_time()
    hits = [(text, hit) for text in encoded for hit in find(text)]
    seconds = time.process_time() - started
    print(f"{size / seconds:.1f} MB/s over {size:.2f} MB in {len(texts)} texts")
    if folder:
        print(
            f"{len(hits) / size:.2f} hits/MB ({len(hits)}); look at each: is it a secret?"
        )
        for text, hit in hits[:SHOWN]:
            around = text[max(0, hit.start - 40) : hit.end + 10].decode(
                "utf-8", "replace"
            )
            print(f"  {hit.kind}: {around!r:.160}")


if __name__ == "__main__":
    main()
