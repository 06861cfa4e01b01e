"""A model's floor: the cosine at or below which two texts have nothing to do with one another."""

from __future__ import annotations

import contextlib
import json
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.index.embedding.capabilities import embed_questions
from keeplore.index.embedding.model_files import ModelFiles, read_json
from keeplore_hooks import durable
from keeplore_hooks.contracts import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARE = 0.95  # of the cosines between unrelated texts that lie below the floor
# one sentence on each of many subjects: the cosine between two of them is what "unrelated" looks
# like for a model
UNRELATED = tuple(
    """
The login page rejects passwords with an umlaut.
We ship the release on Thursday after the tests are green.
Redis ran out of memory because the session keys never expire.
Use four spaces for indentation in every Python file.
The invoice PDF shows the wrong tax rate for Swiss customers.
Rebase your branch before you open a pull request.
The mobile app crashes when the camera permission is denied.
Our Kubernetes cluster needs two more nodes in Frankfurt.
The button should be blue and stand at the right edge.
Postgres chose a sequential scan although there is an index.
Write the error message so that a newcomer knows what to do.
The scraper is blocked by the shop after forty requests.
I prefer composition to inheritance in this code base.
The certificate of the staging server has expired.
Compress the textures, the game takes too long to load.
The parser cannot handle a comment at the end of a line.
Schedule the newsletter for Monday at nine.
A goroutine leaks whenever the client disconnects early.
The translation into Dutch lacks the plural forms.
Buy the bigger licence, we are twelve developers now.
The sensor reports a temperature of minus two hundred degrees.
Move the secrets from the repository into the vault.
The chart draws the bars in a random order.
Ask the lawyer whether we may store the IP addresses.
""".strip().splitlines()
)


def floor_of(files: ModelFiles, cache: Path, embedder: Embedder) -> float:
    """The model's floor: known, measured before, or measured now (a quarter of a second)."""
    if files.floor is not None:
        return files.floor
    note = (
        cache
        / f"floor-{files.sha256[:16]}-{embedder.fingerprint.rpartition(':')[2]}.json"
    )
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return float(read_json(note)["floor"])
    floor = measure_floor(embedder)
    with contextlib.suppress(OSError):
        durable.write(note, json.dumps({"floor": floor}).encode())
    return floor


def measure_floor(embedder: Embedder) -> float:
    """The 95th percentile of the cosine between questions and passages that have nothing to do with
    one another.
    """
    return floor_between(
        embed_questions(embedder, UNRELATED), embedder.embed(UNRELATED)
    )


def floor_between(
    questions: NDArray[np.float32], passages: NDArray[np.float32]
) -> float:
    """The floor that ``measure_floor`` gives, from vectors of unrelated texts, each embedded as a
    question and as a passage.
    """
    pairs = combinations(range(len(questions)), 2)
    cosines = sorted(float(questions[a] @ passages[b]) for a, b in pairs)
    return round(cosines[int(SHARE * len(cosines))], 3)
