"""Text → vectors by a model on this machine: the packaged one, a local directory, or a fetched one.

Making an embedder costs nothing; the model is looked at when its fingerprint is asked for and
loaded at the first ``embed``. The query path never downloads: a name of fastembed's list must have
been fetched before. We run the other models ourselves: importing fastembed takes 0.4 s and 40 MB of
a process that waits beside people's work.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keeplore.errors import ModelUnavailable
from keeplore.index.embedding.model_files import (
    NO_REPORTS,
    PACKAGED,
    ModelFiles,
    fetched_model,
    in_directory,
    packaged_model,
    text_embedding,
)
from keeplore.index.embedding.prefixes import prefixes_of
from keeplore.index.embedding.similarity_floor import floor_of
from keeplore.text.fences import without_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

LONG = 500  # characters; from here on a text leaves memory behind that is worth giving back
MAX_THREADS = 2  # more of them would be felt by whoever works at the machine


class LocalEmbedder:
    """A model that is run from local files: by us, or by fastembed where it is one of its list."""

    def __init__(self, model: str, cache: Path, *, fetch: bool) -> None:
        self.model = model
        self._cache = cache
        self._fetch = fetch
        self._prefixes = prefixes_of(model)
        self._loading = threading.Lock()
        # several at once are no faster, and each takes memory
        self._embedding = threading.Lock()
        self._vector: Callable[[str], Any] | None = None

    @cached_property
    def _files(self) -> ModelFiles:
        if self.model == PACKAGED:
            return packaged_model(self._cache)
        directory = Path(self.model).expanduser()
        if directory.is_absolute() or self.model.startswith("."):
            return in_directory(directory, self._cache)
        return fetched_model(self.model, self._cache, fetch=self._fetch)

    @property
    def fingerprint(self) -> str:
        found = self._files
        return f"{found.id}:{found.sha256}:{found.max_tokens}{self._prefixes.mark}"

    @property
    def dim(self) -> int:
        return self._files.dim

    @cached_property
    def floor(self) -> float:
        return floor_of(self._files, self._cache, self)

    @property
    def is_loaded(self) -> bool:
        return self._vector is not None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(self._prefixes.passage, texts)

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(self._prefixes.question, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np  # here, because it costs 40 ms and most commands embed nothing

        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        clean = [without_surrogates(f"{prefix}{text}") for text in texts]
        vector = self._vector_function()
        found = []
        for text in clean:
            with self._embedding:
                found.append(vector(text))
        if sum(map(len, clean)) > LONG:
            give_back()
        return _normalised(np.asarray(found, dtype=np.float32))

    def _vector_function(self) -> Callable[[str], Any]:
        with self._loading:
            if self._vector is None:
                self._vector = self._load()
        return self._vector

    def _load(self) -> Callable[[str], Any]:
        """Text → its vector, not normalised."""
        threads = min(MAX_THREADS, os.cpu_count() or 1)
        try:
            vector: Callable[[str], Any]
            if self._files.pooling:
                vector = OnnxRunner(self._files, threads).vector
            else:
                vector = _fastembed_vector(self._files, self._cache, threads)
        except Exception as e:  # onnxruntime and tokenizers raise classes of their own
            raise ModelUnavailable(
                f"the embedding model {self.model!r} cannot be loaded: {e}",
                "Choose another with `embedding: {model: packaged}` in keeplore.yaml, or reinstall "
                "keeplore",
            ) from e
        give_back()
        return vector


def _fastembed_vector(
    files: ModelFiles, cache: Path, threads: int
) -> Callable[[str], Any]:
    """The vector function of a model from fastembed's list."""
    model = text_embedding()(
        files.id,
        specific_model_path=str(files.directory),
        cache_dir=str(cache),
        threads=threads,
        enable_cpu_mem_arena=False,  # as in OnnxRunner
    )
    return lambda text: next(iter(model.embed([text])))


def _normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors with length 1; one that is 0 stays so."""
    import numpy as np  # here, as above

    normalised: NDArray[np.float32] = vectors / np.maximum(
        np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny
    )
    return normalised


def give_back() -> None:
    """Return to the system what was needed for a moment; of loading a model glibc would keep some
    60 MB.
    """
    import ctypes  # here, because whoever loads no model needs none

    # not Linux, or another C library
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _session(file: Path, threads: int) -> InferenceSession:
    import onnxruntime as ort  # here, as above

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    # it would keep for good what the longest text needed, some 45 MB
    options.enable_cpu_mem_arena = False
    # threads that wait for work in a loop take the machine from whoever works at it
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(file, options, ["CPUExecutionProvider"])


class OnnxRunner:
    """Text → vector, pooled as the model wants it and not normalised. Loads the model; whatever the
    runtime raises.
    """

    def __init__(self, files: ModelFiles, threads: int) -> None:
        os.environ[NO_REPORTS] = "1"
        # here, because whoever embeds nothing needs none of it
        from tokenizers import Tokenizer

        self._session = _session(files.directory / files.file, threads)
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._is_cls = files.pooling == "CLS"
        self._tokenizer = Tokenizer.from_file(str(files.directory / "tokenizer.json"))
        side = (self._tokenizer.truncation or {}).get("direction", "right")
        self._tokenizer.enable_truncation(files.max_tokens, direction=side)
        self._tokenizer.no_padding()

    def vector(self, text: str) -> NDArray[np.float32]:
        import numpy as np  # here, because it costs 40 ms and most commands embed nothing

        read = self._tokenizer.encode(text)
        rows = {
            "input_ids": read.ids,
            "attention_mask": read.attention_mask,
            "token_type_ids": read.type_ids,
        }
        given = {
            name: np.array([row], np.int64)
            for name, row in rows.items()
            if name in self._inputs
        }
        output: Any = self._session.run(None, given)[0][0]
        if output.ndim > 1:  # a vector for each word
            output = (
                output[0] if self._is_cls else output.mean(axis=0, dtype=np.float64)
            )
        vector: NDArray[np.float32] = output.astype(np.float32)
        return vector
