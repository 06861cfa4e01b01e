"""A parser in a process of its own, with little memory and a clock: what kills or hangs it costs
that one document.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress

from keeplore.errors import SourceRefused
from keeplore.ingest.document_body import Extracted

# bytes of address space; the largest page within the cap took 0.6 GB
MEMORY = 1_500_000_000
REASON_CHARS = 200
_HARD = "Save it as text, or give a part of it"


def extracted_in_sandbox(
    kind: str, data: bytes, content_type: str, seconds: float
) -> Extracted:
    """What the reader of this kind makes of it. Raises SourceRefused, also where it takes too long
    or too much.
    """
    head = json.dumps({"kind": kind, "content_type": content_type, "seconds": seconds})
    done = _run(f"{head}\n".encode() + data, seconds)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        raise SourceRefused(_last_words(done), _HARD) from None
    if "problem" in said:
        raise SourceRefused(said["problem"], said["remedy"])
    return Extracted(said["title"], said["text"])


def _run(given: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    """A process of its own that reads what it is given. Raises SourceRefused where it takes too
    long.
    """
    # neither the directory nor variables of the environment can put another module in the place of
    # ours
    command = (sys.executable, "-E", "-P", "-B", "-m", "keeplore.ingest")
    try:
        return subprocess.run(
            command, check=False, input=given, capture_output=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise SourceRefused(
            f"reading it takes longer than {seconds:.0f} s", _HARD
        ) from None


def _last_words(process: subprocess.CompletedProcess[bytes]) -> str:
    """What a reader that gave no answer wrote last."""
    lines = process.stderr.decode("utf-8", "replace").strip()
    last = lines.rpartition("\n")[2][:REASON_CHARS]
    return f"its reader gave up (exit status {process.returncode}) {last}".rstrip()


def serve() -> None:
    """Read one document from stdin, and write its text to stdout: what the process does."""
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    head = json.loads(stdin.readline())
    _limit(int(head["seconds"]) + 1)
    # here: what it loads is within the limits too
    from keeplore.ingest.markup import READERS

    try:
        found = READERS[head["kind"]](stdin.read(), head["content_type"])
        said = {"title": found.title, "text": found.text}
    except SourceRefused as e:
        said = {"problem": e.message, "remedy": e.remedy}
    except (MemoryError, RecursionError):
        said = {"problem": "reading it takes too much memory", "remedy": _HARD}
    stdout.write(json.dumps(said).encode())  # escapes keep lone surrogates whole


def _limit(seconds: int) -> None:
    with suppress(ImportError):
        import resource  # here, because Windows has none

        limits = (
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_AS, MEMORY),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        )
        for which, most in limits:
            with suppress(ValueError, OSError):  # macOS knows them and refuses some
                resource.setrlimit(which, (most, most))
