"""Text → vectors by a server that speaks OpenAI's ``/embeddings``: Ollama, llama.cpp, vLLM, a
hosted one.

A server may be down, slow, or run another model tomorrow under the same name. So a question waits
for seconds at most and is asked once; what failed is not tried again for a while; and a text whose
vector is known goes with every batch: vectors of two models never come together. Who may be asked
at all is not decided here, see ``config.accepted``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.config.consent import is_loopback, server_of
from keeplore.errors import ConfigError, ModelUnavailable
from keeplore.index.embedding.embedding_http import (
    EmbeddingClient,
    ServerBusy,
    ServerMisconfigured,
    TextsRefused,
)
from keeplore.index.embedding.model_files import read_json
from keeplore.index.embedding.prefixes import prefixes_of
from keeplore.index.embedding.similarity_floor import UNRELATED, floor_between
from keeplore.text.fences import without_surrogates
from keeplore_hooks import durable
from keeplore_hooks.typed_json import MALFORMED, decoded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OLLAMA = "http://127.0.0.1:11434/v1"
OPENAI = "https://api.openai.com/v1"
PREFIXES = {"ollama:": OLLAMA, "openai:": OPENAI}
# texts in one request; a server that computes on a CPU takes seconds for them
BATCH = 32
QUESTION_S, BATCH_S = 3.0, 120.0  # for one text, and for many
TRIES = 3  # at a batch; a question is tried once
PAUSE_S = (5.0, 300.0)  # after a failure: first and longest
# cosine of one text's vectors by one model; what goes along with it moves them by some thousandths
SAME = 0.99
SHORTENED = 4  # times that a text which a server refuses is cut in half
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")


@dataclass(frozen=True, slots=True)
class ServerModel:
    """A model of a server, whose address is written as ``server_of`` does."""

    server: str
    model: str

    @property
    def key_variable(self) -> str:
        """The variable of the environment that holds the key; OpenAI's goes to OpenAI alone."""
        return (
            "OPENAI_API_KEY"
            if self.server == server_of(OPENAI)
            else "KEEPLORE_EMBEDDING_KEY"
        )

    @property
    def is_private(self) -> bool:
        """Whether text stays on this machine: Ollama passes on what is for a model whose name ends
        with ``cloud``.
        """
        return self.server == server_of(OLLAMA) and not self.model.endswith("cloud")


def address_of(name: str) -> ServerModel | None:
    """The server that ``ollama:MODEL``, ``openai:MODEL`` or ``http(s)://HOST/PATH#MODEL`` names;
    None for other names.

    Raises ModelUnavailable for an address that is none.
    """
    prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), "")
    if prefix:
        url, model = PREFIXES[prefix], name.removeprefix(prefix)
    elif re.match(r"https?:", name, re.IGNORECASE):
        url, _, model = name.partition("#")
    else:
        return None
    example = (
        "Write `ollama:nomic-embed-text`, `openai:text-embedding-3-small` or "
        "`http://HOST:PORT/v1#MODEL`"
    )
    if not _MODEL.fullmatch(model):
        raise ModelUnavailable(
            "embedding.model in keeplore.yaml names no model of that server", example
        )
    try:
        return ServerModel(server_of(url), model)
    except ConfigError as e:
        raise ModelUnavailable(
            f"embedding.model in keeplore.yaml: {e.message}", example
        ) from e


@dataclass(frozen=True, slots=True)
class ServerModelState:
    """What a server's model was when it was asked first; ``mark`` tells it from another one under
    its name.
    """

    mark: str
    dim: int
    floor: float
    probe: tuple[float, ...]  # the vector of UNRELATED[0], L2-normalised


class _QuietPeriod:
    """After a failure a server is left alone, longer each time."""

    def __init__(self) -> None:
        self.reason = ""  # of the last one
        self.pause_s = PAUSE_S[0]
        self._until = 0.0

    @property
    def is_on(self) -> bool:
        """Whether the server is not to be asked yet."""
        return time.monotonic() < self._until

    def begin(self, reason: str, *, is_lasting: bool) -> None:
        self.reason = reason
        self._until = time.monotonic() + (PAUSE_S[1] if is_lasting else self.pause_s)
        self.pause_s = min(self.pause_s * 2, PAUSE_S[1])


class ServerEmbedder:
    """Thread-safe. ``fingerprint``, ``dim`` and ``floor`` ask no server: they are known once
    ``prepare`` has.
    """

    batch = BATCH
    is_remote = True

    def __init__(self, model: str, address: ServerModel, cache: Path) -> None:
        self.model = model
        self._address = address
        name = f"{address.model}@{address.server}"
        self._id = f"server/{name}"
        self._prefixes = prefixes_of(address.model)
        note = hashlib.sha256(f"{name}{self._prefixes.mark}".encode()).hexdigest()[:16]
        self._note = cache / f"server-{note}.json"
        self._wire = EmbeddingClient(
            f"{address.server}/embeddings", is_direct=is_loopback(address.server)
        )
        self._asking = threading.Lock()  # while the server is asked which model it runs
        self._mutex = threading.Lock()
        self._now: ServerModelState | None = None
        self._gone = ""  # the mark of a model that the server does not run any more
        self._is_checked = False  # in this process, that it is still the same model
        self._quiet = _QuietPeriod()

    @property
    def fingerprint(self) -> str:
        """Which vectors can be compared: those of this server, model and prefixes. Raises
        ModelUnavailable until the server has answered once on this machine.
        """
        return f"{self._id}:{self._known_model().mark}:0{self._prefixes.mark}"

    @property
    def dim(self) -> int:
        return self._known_model().dim

    @property
    def floor(self) -> float:
        return self._known_model().floor

    @property
    def is_loaded(self) -> bool:
        """Whether the server answered when it was asked last."""
        return self._is_checked and not self._quiet.is_on

    def prepare(self, timeout_s: float = BATCH_S) -> None:
        """Ask the server which model it runs, unless that is known. Raises ModelUnavailable."""
        if self._now is not None or self._stored_model() is not None:
            return
        if not self._asking.acquire(timeout=timeout_s):
            raise self._unavailable("is just being asked which model it runs")
        try:
            if self._stored_model() is None:
                self._now = self._described(timeout_s)
        except TextsRefused as e:
            raise self._failed(e) from e
        finally:
            self._asking.release()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of passages. One text is something that a person waits for; several are a
        batch, which is tried again.
        """
        return self._vectors([f"{self._prefixes.passage}{text}" for text in texts])

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._vectors([f"{self._prefixes.question}{text}" for text in texts])

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np  # here, because it costs 40 ms and most commands embed nothing

        timeout_s = QUESTION_S if len(texts) == 1 else BATCH_S
        self.prepare(timeout_s)
        known = self._known_model()
        if not texts:
            return np.zeros((0, known.dim), dtype=np.float32)
        # an empty one is refused by some
        clean = [without_surrogates(text) or " " for text in texts]
        parts = [clean[start : start + BATCH] for start in range(0, len(clean), BATCH)]
        return np.concatenate(
            [self._vectors_of(part, known, timeout_s) for part in parts]
        )

    def _known_model(self) -> ServerModelState:
        with self._mutex:
            self._now = self._now or self._stored_model()
            if self._now is None:
                raise self._unavailable(
                    self._quiet.reason or "has not been asked yet on this machine"
                )
            return self._now

    def _stored_model(self) -> ServerModelState | None:
        """What an earlier process was told."""
        try:
            known = decoded(ServerModelState, read_json(self._note))
        except (OSError, *MALFORMED):
            return None
        return (
            known
            if known.mark != self._gone and len(known.probe) == known.dim > 0
            else None
        )

    def _described(self, timeout_s: float) -> ServerModelState:
        # sent as they stand, whatever the model wants before them: the first is compared with later
        # ones alone
        vectors = self._request_vectors(UNRELATED, timeout_s)
        kept, probe = self._stored_model(), vectors[0]
        if kept is None or not _is_same(kept, probe):  # else another process was faster
            mark = hashlib.sha256(probe.tobytes()).hexdigest()[:16]
            floor = self._floor(vectors, timeout_s)
            kept = ServerModelState(mark, len(probe), floor, tuple(probe.tolist()))
            self._store_model(kept)
        self._is_checked = True
        return kept

    def _store_model(self, state: ServerModelState) -> None:
        """Write down which model answers, for other processes and later ones."""
        note = {"model": self._id, **asdict(state)}
        self._note.parent.mkdir(parents=True, exist_ok=True)
        durable.write(self._note, json.dumps(note).encode())

    def _floor(self, vectors: NDArray[np.float32], timeout_s: float) -> float:
        """How near unrelated texts are as question and passage; ``vectors`` are those of the texts
        without a prefix.
        """
        if not self._prefixes.mark:
            return floor_between(vectors, vectors)
        return floor_between(
            *(
                self._request_vectors(
                    [f"{prefix}{text}" for text in UNRELATED], timeout_s
                )
                for prefix in (self._prefixes.question, self._prefixes.passage)
            )
        )

    def _vectors_of(
        self, texts: list[str], known: ServerModelState, timeout_s: float
    ) -> NDArray[np.float32]:
        """The vectors of texts; one that the server cannot take is cut until it can."""
        import numpy as np  # here, as above

        try:
            return self._checked_vectors(texts, known, timeout_s)
        except TextsRefused as e:
            reason = e
        if len(texts) == 1:
            return self._vector_of_shortened(texts[0], known, timeout_s)
        try:
            self._checked_vectors([UNRELATED[1]], known, timeout_s)
        except TextsRefused:  # it was not for these texts: it takes none at all
            raise self._failed(reason) from reason
        half = len(texts) // 2
        return np.concatenate(
            [
                self._vectors_of(part, known, timeout_s)
                for part in (texts[:half], texts[half:])
            ]
        )

    def _vector_of_shortened(
        self, text: str, known: ServerModelState, timeout_s: float
    ) -> NDArray[np.float32]:
        """The vector of a text that is too long for the server: of its beginning, halved until it
        is taken.
        """
        for _ in range(SHORTENED):
            text = text[: len(text) // 2] or " "
            try:
                return self._checked_vectors([text], known, timeout_s)
            except TextsRefused as e:
                reason = e
        raise self._failed(reason) from reason

    def _checked_vectors(
        self, texts: list[str], known: ServerModelState, timeout_s: float
    ) -> NDArray[np.float32]:
        """Vectors by the model that is known; with several texts, and once for a single one, that
        is made sure of.
        """
        is_checked = self._is_checked and len(texts) == 1
        vectors = self._request_vectors(
            texts if is_checked else [UNRELATED[0], *texts], timeout_s
        )
        if vectors.shape[1] != known.dim or not (
            is_checked or _is_same(known, vectors[0])
        ):
            with self._mutex:
                self._now, self._gone, self._is_checked = None, known.mark, False
            raise self._unavailable(
                "runs another model than before, so all vectors are made anew"
            )
        self._is_checked = True
        return vectors if is_checked else vectors[1:]

    def _request_vectors(
        self, texts: Sequence[str], timeout_s: float
    ) -> NDArray[np.float32]:
        """Ask the server for the vectors of texts. Raises ModelUnavailable, and TextsRefused where
        it may be for the texts.
        """
        if self._quiet.is_on:
            raise self._unavailable(self._quiet.reason)
        body = {"model": self._address.model, "input": list(texts)}
        try:
            vectors = self._wire.vectors(
                body, self._key(), timeout_s, 1 if timeout_s == QUESTION_S else TRIES
            )
        except (ServerBusy, ServerMisconfigured) as e:
            raise self._failed(e) from e
        self._quiet.pause_s = PAUSE_S[0]
        return vectors

    def _failed(self, error: Exception) -> ModelUnavailable:
        """Leave the server alone for a while: prompts and captures must not wait for it one after
        the other.
        """
        self._quiet.begin(str(error), is_lasting=isinstance(error, ServerMisconfigured))
        return self._unavailable(str(error))

    def _unavailable(self, why: str) -> ModelUnavailable:
        """The error of this server, with what a person can do."""
        variable = self._address.key_variable
        return ModelUnavailable(
            f"the embedding server {self._address.server} {why}",
            f"See that it runs {self._address.model}; where it wants a key, set {variable}",
        )

    def _key(self) -> str:
        """Never in clear over a network; read when needed, as the libraries of such servers do."""
        if not (
            self._address.server.startswith("https:")
            or is_loopback(self._address.server)
        ):
            return ""
        key = os.environ.get(self._address.key_variable, "").strip()
        # the client's own error would repeat it
        if not (key.isascii() and key.isprintable()):
            raise self._unavailable(
                f"was not asked: what {self._address.key_variable} holds is no key"
            )
        return key


def _is_same(known: ServerModelState, probe: NDArray[np.float32]) -> bool:
    """Whether the vector of the probe is still the one by which the model is known."""
    return (
        len(probe) == known.dim
        and sum(a * b for a, b in zip(known.probe, probe.tolist(), strict=True)) > SAME
    )
