"""In which code repositories the person has said that memory may be kept: ``in-repo.json`` in the
state directory.

What a clone brings cannot say it: a file in it would else have a person's notes written to where
its authors see them, and their words told to agents.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from keeplore_hooks import durable

FILE = "in-repo.json"
SCHEMA = 1
MAX_FILE = 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class CodeConsent:
    """``main`` is the top of the main work tree; ``first_commit`` tells another repository at that
    place, "" where it was not known.
    """

    main: str
    first_commit: str = ""


class CodeConsents:
    """Read anew each time, so that a worker sees at once what a command has written."""

    def __init__(self, state: Path) -> None:
        self.file = state / FILE

    def all(self) -> list[CodeConsent]:
        """What cannot be read accepts nothing."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            with self.file.open("rb") as file:
                entries = json.loads(file.read(MAX_FILE))["repositories"]
            return [
                CodeConsent(str(e["main"]), str(e["first_commit"])) for e in entries
            ]
        return []

    def of(self, main: Path) -> CodeConsent | None:
        """What the person said about a repository; None where they said nothing."""
        return next(
            (consent for consent in self.all() if consent.main == str(main)), None
        )

    def accept(self, main: Path, first_commit: str) -> None:
        """Write down that memory may be kept in this repository. Raises OSError."""
        new = CodeConsent(str(main), first_commit)
        self._save(
            [*(consent for consent in self.all() if consent.main != new.main), new]
        )

    def withdraw(self, main: Path) -> bool:
        """Take a consent back; returns whether there was one. Raises OSError."""
        before = self.all()
        left = [consent for consent in before if consent.main != str(main)]
        if left != before:
            self._save(left)
        return left != before

    def _save(self, consents: list[CodeConsent]) -> None:
        data = {
            "schema": SCHEMA,
            "repositories": [asdict(consent) for consent in consents],
        }
        durable.make_private(self.file.parent)
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        durable.write(self.file, text.encode())
