"""An hnswlib graph over the rows of one block, and its file, which is trusted only when its
checksum is right.

hnswlib truncates its file in place without syncing, reports no error on a full disk, and loads
flipped bytes or another dimension without complaint, sometimes with a crash. So it is
written aside, measured, synced, renamed and described by a sidecar.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keeplore_hooks import durable

# links a node; the curve that M, EF_BUILD and EF were chosen by stands in docs/benchmarks.md
M = 16
EF_BUILD = 200
# candidates looked at for a query; with 100 recall@10 is .989 of 30,000 vectors and falls as they
# grow
EF = 200
THREADS = 1  # a graph is made beside people's work
GROWTH = 1.3  # room made at once, because resizing copies everything
MAX_SIDECAR = 64 * 1024  # bytes

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]


def is_available() -> bool:
    """Whether hnswlib could be compiled for this Python; exact search serves where it could not."""
    try:
        import hnswlib  # noqa: F401  # here, because the package must work without it
    except ImportError:
        return False
    return True


class HnswGraph:
    """The vectors of a block's first ``count`` rows by row number; not safe to use from two threads
    at once.
    """

    def __init__(self, dim: int, room: int = 1024) -> None:
        self.dim = dim
        self.count = 0
        self.unsaved = 0  # rows added since the file was written or read
        self._room = room
        self._index = self._new_graph()
        self._index.init_index(
            max_elements=self._room, M=M, ef_construction=EF_BUILD, random_seed=7
        )
        self._index.set_ef(EF)

    def add(self, vectors: Floats) -> None:
        """Add the next rows of the block: float32, (n, dim), L2-normalised."""
        rows = np.arange(self.count, self.count + len(vectors))
        if self.count + len(rows) > self._room:
            self._room = int((self.count + len(rows)) * GROWTH)
            self._index.resize_index(self._room)
        if len(rows):
            self._index.add_items(vectors, rows, num_threads=THREADS)
            self.count += len(rows)
            self.unsaved += len(rows)

    def nearest(self, vector: Floats, limit: int) -> tuple[Ids, Floats]:
        """Rows and cosines, nearest first; nothing where ``limit`` of them cannot be reached."""
        try:
            labels, distances = self._index.knn_query(
                vector[None, :], k=min(limit, self.count), num_threads=1
            )
        except RuntimeError:  # fewer were reached
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        return labels[0].astype(np.int64), (1 - distances[0]).astype(np.float32)

    def save(self, file: Path, key: dict[str, str]) -> None:
        """Replace the file and its sidecar, in this order. Raises OSError, also where hnswlib
        noticed nothing.
        """
        aside = file.with_name(f".{file.name}.{os.getpid()}.tmp")
        try:
            content = self._read_sidecar(aside)
            aside.replace(file)
        finally:
            aside.unlink(missing_ok=True)
        note = {**key, "dim": self.dim, "count": self.count, **content}
        durable.write(_sidecar(file), json.dumps(note).encode())
        self.unsaved = 0

    def _read_sidecar(self, file: Path) -> dict[str, Any]:
        """What the sidecar says of a file that was written completely."""
        self._index.save_index(str(file))
        expected = self._index.index_file_size()
        content = _content(file, sync=True)
        if content["size"] != expected:
            raise OSError(
                f"{file} has {content['size']} bytes instead of {expected}: is the disk full?"
            )
        return content

    @classmethod
    def load(cls, file: Path, key: dict[str, str], dim: int) -> HnswGraph | None:
        """The graph in the file; None unless the sidecar names this database, model and exactly
        these bytes.
        """
        try:
            if damage(file, key, dim):
                return None
            count = int(_note(file)["count"])
            graph = cls(dim, 1)
            graph._room = int(count * GROWTH) + 1024
            graph._index = graph._new_graph()
            graph._index.load_index(str(file), max_elements=graph._room)
            graph._index.set_ef(EF)
            graph.count = int(graph._index.get_current_count())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
            return None
        return graph if graph.count == count else None

    def _new_graph(self) -> Any:
        import hnswlib  # here, because the package must work without it

        return hnswlib.Index(space="ip", dim=self.dim)


def damage(file: Path, key: dict[str, str], dim: int) -> str:
    """Why a graph's file is not used, "" where it is sound or there is none."""
    if not file.exists():
        return ""
    try:
        note, content = _note(file), _content(file)
    except (OSError, ValueError) as e:
        return f"{file.name} cannot be read: {e}"
    if not isinstance(note, dict) or not note.items() >= {**key, "dim": dim}.items():
        return f"{file.name} was made of another index or model"
    return (
        ""
        if note.items() >= content.items()
        else f"{file.name} has changed on the disk"
    )


def _content(file: Path, *, sync: bool = False) -> dict[str, object]:
    """Size and checksum; the file is on the disk where ``sync`` is set."""
    with file.open("rb") as opened:
        if sync:
            os.fsync(opened.fileno())
        return {
            "size": os.fstat(opened.fileno()).st_size,
            "sha256": hashlib.file_digest(opened, "sha256").hexdigest(),
        }


def _note(file: Path) -> Any:
    with _sidecar(file).open("rb") as opened:
        return json.loads(opened.read(MAX_SIDECAR))


def _sidecar(file: Path) -> Path:
    return file.with_name(file.name + ".json")
