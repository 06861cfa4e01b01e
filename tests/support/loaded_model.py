"""A model of a process that is hashed and loaded once, wherever its files lie, and a run reads each
text with it once: that takes longer than most tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared_vectors import shared


def once(load: Callable[..., Any], *, threads: int | None = None) -> Callable[..., Any]:
    """``load(files, threads)``, asked once for files of one content.

    A child does not inherit its parent's threads, so it loads anew, but for a model with one
    thread, the one that asks.
    """
    loaded: dict[tuple[Any, ...], Any] = {}

    def runner(files: Any, wanted: int) -> Any:
        wanted = threads or wanted
        tokenizer = (files.directory / "tokenizer.json").read_bytes()
        model = (files.sha256, files.file, files.pooling, files.max_tokens, tokenizer)
        key = (model, wanted, os.getpid() if wanted > 1 else 0)
        if key not in loaded:
            loaded[key] = shared(load(files, wanted), model, wanted)
        return loaded[key]

    return runner


def hashed_once(hash_of: Callable[[Path], str]) -> Callable[[Path], str]:
    """``hash_of(file)``, asked once for each state of a file."""
    known: dict[tuple[Any, ...], str] = {}

    def hashed(file: Path) -> str:
        at = file.stat()
        state = (str(file.resolve()), at.st_size, at.st_mtime_ns, at.st_ino)
        if state not in known:
            known[state] = hash_of(file)
        return known[state]

    return hashed
