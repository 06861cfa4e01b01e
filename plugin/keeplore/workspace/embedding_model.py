"""The embedding model of a workspace: what its settings name, and whether this machine's person
lets it be used.

Settings come with every pull. ``packaged``, a directory of this machine and a model that was
fetched here give nothing away; a server gets the text, and a model file that was pulled is read by
a library in C: both are asked for first.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from keeplore.config.consent import Consents, ConsentUse, is_loopback
from keeplore.config.places import expanded
from keeplore.errors import KeeploreError, ModelUnavailable
from keeplore.index import EmbeddingModels
from keeplore.index.embedding.model_files import PACKAGED
from keeplore.index.embedding.server_embedder import address_of

USE = "keeplore embedding use"


@dataclass(frozen=True, slots=True)
class ConsentQuestion:
    """What a person has to accept: ``subject`` is how that is kept, ``risk`` one sentence."""

    subject: str
    risk: str


def full_name(model: str, root: Path) -> str:
    """The name, that of a directory with its whole path; one that begins with ``.`` lies in the
    workspace.
    """
    if model.startswith("."):
        return os.path.normpath(root / model)
    return expanded(model)


def consent_question(name: str, root: Path) -> ConsentQuestion | None:
    """What has to be accepted before a model, given by its full name, is used. Raises
    ModelUnavailable.
    """
    address = address_of(name)
    if address is not None:
        if address.is_private:
            return None
        clear = address.server.startswith("http:") and not is_loopback(address.server)
        manner = ", readable for whoever is on the way" if clear else ""
        return ConsentQuestion(
            f"{address.server}#{address.model}",
            f"the text of this workspace's memories, and what is asked here, goes to "
            f"{address.server}{manner}",
        )
    if Path(name).is_absolute() and _is_within(Path(name), root):
        return ConsentQuestion(
            name,
            f"the model's files in {name} came with the workspace, from whoever may push to it",
        )
    return None


def check_consent(name: str, root: Path, state: Path) -> None:
    """Raise ModelUnavailable where this machine's person has not accepted the model."""
    asked = consent_question(name, root)
    if asked is not None and not Consents(state).has(
        root, ConsentUse.EMBEDDING, asked.subject
    ):
        raise ModelUnavailable(
            f"the embedding model of this workspace is not accepted on this machine: {asked.risk}",
            f"`{USE}` accepts it; `{USE} {PACKAGED}` takes the one that comes with Keeplore",
        )


def capture_model(name: str) -> str:
    """The model by which talks are cut into topics: never a server's, which would be asked at every
    turn.
    """
    with contextlib.suppress(KeeploreError):
        if address_of(name) is None:
            return name
    return PACKAGED


def fetch(models: EmbeddingModels, name: str) -> None:
    """Bring a model of fastembed's list to this machine; nothing where the name is of another kind.

    Raises ModelUnavailable.
    """
    if name != PACKAGED and not Path(name).is_absolute() and address_of(name) is None:
        models.fetch(name)


def _is_within(path: Path, root: Path) -> bool:
    """Whether a path lies below a root, also where links on either side lead there."""
    places = (path, path.resolve())
    return any(
        place.is_relative_to(top) for place in places for top in (root, root.resolve())
    )
