"""Redaction measured: planted secrets that are wholly covered, false hits a MB of ordinary text,
MB/s on one core, and what hostile text costs.

    python benchmarks/redaction.py [TRANSCRIPTS] [--missed]

TRANSCRIPTS is a folder of recorded sessions (``$KEEPLORE_DATA/transcripts`` where it is left out);
only what user and assistant said is read. ``--missed`` names what was missed of the held-out forms
and shows each hit in ordinary text.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ordinary import ordinary
from planted import Planted, is_covered, planted
from planted_blind import blind
from planted_wild import (
    Leak,
    developed_with,
    held_out,
    left_over,
    of_sessions,
    of_tools,
)

from keeplore.redact.rules import find, redact, rules

VALUES = 10  # random values of each kind
BLIND_VALUES = 3
SEED = 11
SAMPLE = 6_000_000  # bytes of each source of ordinary text
HOSTILE = ("password ", "password: ", "| password |", '"a" + ', "token\n", "\\u001b[1m")


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
    inner = (entry.get(key) for key in ("message", "payload"))
    message = next((value for value in inner if isinstance(value, dict)), entry)
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
    _report(what, len(items), len({item.kind for item in items}), missed)


def _whole(what: str, leaks: Iterable[Leak], *, is_named: bool) -> None:
    missed: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for leak in leaks:
        kinds[leak.kind] += 1
        missed[leak.kind] += left_over(leak, redact(leak.text)) is not None
    _report(what, kinds.total(), len(kinds), +missed if is_named else None, missed)


def _report(
    what: str,
    count: int,
    kinds: int,
    named: Counter[str] | None,
    missed: Counter[str] | None = None,
) -> None:
    total = (missed or named or Counter()).total()
    print(f"{1 - total / count:.4f} of {count} planted secrets, {kinds} {what}")
    for kind, times in (named or Counter()).most_common():
        print(f"  missed {kind}: {times}")


def _false_hits(source: str, texts: Iterable[str], *, is_shown: bool) -> None:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    size = sum(map(len, encoded)) / 1e6
    started = time.process_time()
    hits = [(text, hit) for text in encoded for hit in find(text)]
    seconds = time.process_time() - started
    print(
        f"{source}: {len(hits)} hits in {size:.2f} MB, {len(hits) / size:.2f} a MB, "
        f"{size / seconds:.1f} MB/s"
    )
    for text, hit in hits if is_shown else ():
        around = text[max(0, hit.start - 40) : hit.end + 10]
        print(f"  {hit.kind}: {around.decode('utf-8', 'replace')!r:.160}")


def _hostile() -> None:
    """Seconds for a text, and for one of four times its length."""
    for piece in HOSTILE:
        times = []
        for size in (250_000, 1_000_000):
            started = time.process_time()
            redact(piece * (size // len(piece)))
            times.append(time.process_time() - started)
        ratio = times[1] / times[0]
        print(f"1 MB of {piece!r}: {times[1]:.1f} s, {ratio:.1f} times 250 kB")


def main() -> None:
    arguments = [one for one in sys.argv[1:] if one != "--missed"]
    is_shown = "--missed" in sys.argv
    data = os.environ.get("KEEPLORE_DATA")
    transcripts = Path(data, "transcripts") if data else None
    folder = Path(arguments[0]) if arguments else transcripts
    started = time.perf_counter()
    count = len(rules())
    print(f"{count} rules ready in {(time.perf_counter() - started) * 1000:.0f} ms")

    _recall("kinds that the rules were made with", list(planted(VALUES, SEED)))
    _recall("earlier forms", list(blind(BLIND_VALUES)))
    _whole("forms developed with, whole", developed_with(VALUES, SEED), is_named=True)
    _whole("forms of tools, whole", of_tools(BLIND_VALUES, SEED), is_named=is_shown)
    _whole("forms of sessions, whole", of_sessions(2, SEED), is_named=is_shown)
    _whole("forms held out, whole", held_out(VALUES, SEED), is_named=is_shown)

    for source, files in ordinary(SAMPLE, SEED).items():
        _false_hits(source, (text for _, text in files), is_shown=is_shown)
    if folder:
        _false_hits("recorded sessions", said(folder), is_shown=is_shown)
    _hostile()


if __name__ == "__main__":
    main()
