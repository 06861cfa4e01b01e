"""What refining needs of a workspace: plain values and functions, so that it can be done without
one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from keeplore.recall.request import SearchScope
from keeplore.refine.candidates import NoteSearch
from keeplore.store import Store
from keeplore.text.fences import sanitise, strip_fenced


@dataclass(frozen=True, slots=True)
class RefineDeps:
    """What refining works with. ``redact`` takes a text and its project; ``commit`` takes a message
    and raises RepositoryBusy where git is busy.

    ``own_machines`` are the ids that this machine has had; ``written`` is told of each new file.
    """

    store: Store
    search: NoteSearch
    machine: str
    own_machines: frozenset[str]
    now: Callable[[], str]
    redact: Callable[[str, str], str]
    is_document: Callable[[str], bool]
    commit: Callable[[str], object]
    here: Callable[[str, str], SearchScope]  # what is seen from a scope and project
    written: Callable[[str, str], None]
    has_user_scope: bool
    least_confidence: float
    least_lasting: float

    def sanitised(self, text: str, project: str) -> str:
        """What a model wrote, as it may be kept: no secret, nothing unseen, one way of writing each
        letter.
        """
        plain = unicodedata.normalize("NFC", strip_fenced(sanitise(text)))
        return self.redact(plain, project).strip()
