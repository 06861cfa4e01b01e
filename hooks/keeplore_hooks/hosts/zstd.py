"""Records that a host has packed with zstd, as files that can be read from any place.

Python has no zstd before 3.14, and this package has no dependencies: the program of that name
unpacks.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.jsonl import open_regular

SUFFIX = ".zst"
LIMIT = 2 << 30  # bytes unpacked; rollouts of 1 GB are known
_PROGRAM = "zstd"
_PATIENCE_S = 120.0
# bytes; what is longer is unpacked into a file that nobody else can open
_IN_MEMORY = 8 << 20


def open_record(path: Path, limit: int = LIMIT) -> BinaryIO:
    """A record that is packed or not, for reading. Raises OSError."""
    return _open_unpacked(path, limit) if path.suffix == SUFFIX else open_regular(path)


def open_head(path: Path, length: int) -> BinaryIO:
    """The first ``length`` bytes of a record, or more of them. Raises OSError."""
    return (
        _open_unpacked(path, length, is_head=True)
        if path.suffix == SUFFIX
        else open_regular(path)
    )


def _open_unpacked(
    path: Path,
    limit: int,
    *,
    is_head: bool = False,
) -> BinaryIO:
    """The unpacked bytes, up to the limit or a little more. Raises OSError."""
    program = shutil.which(_PROGRAM)
    if program is None:
        raise OSError(
            f"it is packed with zstd; install the program {_PROGRAM}, then run `keeplore import "
            f"codex` again"
        )
    # the file is its input, so that no name of a file can be taken for an option
    with open_regular(path) as source, contextlib.ExitStack() as undo:
        target = undo.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))
        with _decompressor([program, "-dcq"], source) as process:
            length = _copy(process, target, limit)
            if length > limit:
                process.kill()
            is_damaged = process.wait() != 0 and length <= limit
        if not is_head and length > limit:
            raise OSError(f"it has more than {limit} bytes")
        if not is_head and is_damaged:
            raise OSError("it is damaged, or not packed with zstd")
        undo.pop_all()  # the caller closes it
    target.seek(0)
    return target  # type: ignore[return-value]  # it has all methods of a binary file


@contextlib.contextmanager
def _decompressor(
    command: list[str], source: BinaryIO
) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        command,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        timer = threading.Timer(_PATIENCE_S, process.kill)
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()


def _copy(
    process: subprocess.Popen[bytes],
    target: tempfile.SpooledTemporaryFile[bytes],
    limit: int,
) -> int:
    """Take what the process writes, up to ``limit`` bytes; the length, one more where there is
    more.
    """
    length = 0
    with process.stdout as output:  # type: ignore[union-attr]  # it is a pipe
        while length <= limit and (
            part := output.read(min(jsonl.BUFFER, limit + 1 - length))
        ):
            length += len(part)
            target.write(part)
    return length
