"""What the parts of a conversation's head are taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.statements import Statement
from keeplore.capture.distill.decisions import Decision
from keeplore.memory import Exchange


@dataclass(frozen=True, slots=True)
class Source:
    model: ConversationModel
    said: Sequence[Statement]  # without answers to questions in form
    decided: Sequence[Decision]

    @property
    def exchanges(self) -> Sequence[Exchange]:
        return self.model.exchanges
