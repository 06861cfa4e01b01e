"""An hnswlib graph over the vectors of one model, and its file, which is trusted only when its checksum is right.

hnswlib truncates its file in place without syncing, reports no error on a full disk, and loads flipped bytes or another
dimension without complaint, sometimes with a crash. So it is
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

M = 16  # links a node; with EF_BUILD 200: recall@10 .993 at EF 50 and 100,000 vectors, 32–99 s of CPU to build
EF_BUILD = 200
EF = 100  # candidates looked at for a query
GROWTH = 1.3  # room made at once, because resizing copies everything
MAX_SIDECAR = 32 * 1024 * 1024  # bytes; it lists the removed ids, for hnswlib does not tell them

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]


def is_available() -> bool:
    """Whether hnswlib could be compiled for this Python; exact search serves where it could not."""
    try:
        import hnswlib  # noqa: F401  # here, because the package must work without it
    except ImportError:
        return False
    return True


class Graph:
    """Vectors by passage id; not safe to use from two threads at once."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.unsaved = 0  # changes since the file was written or read
        self._live: set[int] = set()
        self._dead: set[int] = set()
        self._room = 1024
        self._index = self._new()
        self._index.init_index(max_elements=self._room, M=M, ef_construction=EF_BUILD, random_seed=7)
        self._index.set_ef(EF)

    @property
    def ids(self) -> Ids:
        return np.fromiter(sorted(self._live), np.int64, len(self._live))

    @property
    def is_worn(self) -> bool:
        """True when so much was removed that searching wades through it: build a new one."""
        return len(self._dead) > len(self._live)

    def add(self, ids: Ids, vectors: Floats) -> None:
        used = len(self._live) + len(self._dead)
        if used + len(ids) > self._room:
            self._room = int((used + len(ids)) * GROWTH)
            self._index.resize_index(self._room)
        if len(ids):
            self._index.add_items(vectors, ids)
            self._live.update(ids.tolist())
            self.unsaved += len(ids)

    def remove(self, ids: Ids) -> None:
        for id_ in ids.tolist():
            self._index.mark_deleted(id_)
        self._live.difference_update(ids.tolist())
        self._dead.update(ids.tolist())
        self.unsaved += len(ids)

    def scores(self, ids: Ids, vector: Floats) -> Floats:
        """The exact cosine of each of these with the vector."""
        if not len(ids):
            return np.zeros(0, np.float32)
        product: Floats = np.asarray(self._index.get_items(ids, return_type="numpy"), np.float32) @ vector
        return product

    def nearest(self, vector: Floats, allowed: Ids | None, limit: int) -> tuple[Ids, Floats] | None:
        """Ids and cosines, nearest first; None where the graph cannot find ``limit`` of them (ask for scores then)."""
        wanted = None if allowed is None else set(allowed.tolist())
        accept = None if wanted is None else wanted.__contains__
        try:
            labels, distances = self._index.knn_query(vector[None, :], k=limit, num_threads=1, filter=accept)
        except RuntimeError:  # fewer than ``limit`` were reached
            return None
        return labels[0].astype(np.int64), (1 - distances[0]).astype(np.float32)

    def save(self, file: Path, key: dict[str, str]) -> None:
        """Replace the file and its sidecar, in this order. Raises OSError, also where hnswlib noticed nothing."""
        aside = file.with_name(f".{file.name}.{os.getpid()}.tmp")
        try:
            self._index.save_index(str(aside))
            expected = self._index.index_file_size()
            with aside.open("rb") as written:
                os.fsync(written.fileno())
                size, sha256 = os.fstat(written.fileno()).st_size, hashlib.file_digest(written, "sha256").hexdigest()
            if size != expected:
                raise OSError(f"{aside} has {size} bytes instead of {expected}: is the disk full?")
            aside.replace(file)
        finally:
            aside.unlink(missing_ok=True)
        dead = sorted(self._dead)
        note = {**key, "dim": self.dim, "count": len(self._live), "dead": dead, "size": size, "sha256": sha256}
        durable.write(_sidecar(file), json.dumps(note).encode())
        self.unsaved = 0

    @classmethod
    def load(cls, file: Path, key: dict[str, str], dim: int) -> Graph | None:
        """The graph in the file; None unless the sidecar names this database, model and exactly these bytes."""
        try:
            note = _note(file)
            if damage(file, key, dim):
                return None
            return cls._loaded(file, dim, int(note["count"]), set(note["dead"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
            return None

    @classmethod
    def _loaded(cls, file: Path, dim: int, count: int, dead: set[int]) -> Graph | None:
        graph = cls(dim)
        graph._room = int((count + len(dead)) * GROWTH) + 1024
        graph._index = graph._new()
        graph._index.load_index(str(file), max_elements=graph._room)
        graph._index.set_ef(EF)
        graph._live, graph._dead = set(graph._index.get_ids_list()) - dead, dead
        return graph if len(graph._live) == count else None

    def _new(self) -> Any:
        import hnswlib  # here, because the package must work without it

        return hnswlib.Index(space="ip", dim=self.dim)


def damage(file: Path, key: dict[str, str], dim: int) -> str:
    """Why a graph's file is not used, "" where it is sound or there is none."""
    if not file.exists():
        return ""
    try:
        note = _note(file)
        with file.open("rb") as opened:
            size, sha256 = os.fstat(opened.fileno()).st_size, hashlib.file_digest(opened, "sha256").hexdigest()
    except (OSError, ValueError) as e:
        return f"{file.name} cannot be read: {e}"
    if not isinstance(note, dict) or any(note.get(name) != value for name, value in {**key, "dim": dim}.items()):
        return f"{file.name} was made of another index or model"
    return "" if (note.get("size"), note.get("sha256")) == (size, sha256) else f"{file.name} has changed on the disk"


def remove(file: Path) -> None:
    """Remove a graph's file; it is made anew from the vectors."""
    for path in (file, _sidecar(file)):
        path.unlink(missing_ok=True)


def _note(file: Path) -> Any:
    with _sidecar(file).open("rb") as opened:
        return json.loads(opened.read(MAX_SIDECAR))


def _sidecar(file: Path) -> Path:
    return file.with_name(file.name + ".json")
