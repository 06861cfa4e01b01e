"""What the person made their own of the agent's words, and by what kind of agreement."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from keeplore.capture.distill.choices.choice import Choice


class AgreedKind(StrEnum):
    PICK = "pick"  # one option of several
    OTHER_PICK = "other pick"  # another one than before
    PROPOSAL = "proposal"  # the one that waited
    AMENDED = "amended"  # likewise, with what shall be otherwise
    NEW_VALUE = "new value"  # another number than was proposed or decided
    NAMED = "named"  # what a message takes by its name
    OFFER = "offer"  # what the agent would do next
    ANSWERED_OFFER = "answered offer"  # likewise, the text with the person's answer


@dataclass(frozen=True, slots=True)
class Agreed:
    """What the person made their own of the agent's words."""

    text: str
    kind: AgreedKind
    choice: Choice | None = None  # that a pick was made of
    said: str = (
        ""  # the sentence that changed it, or took it where that was not the first
    )

    @property
    def line(self) -> str:
        """An option behind the question that it answers; anything else by itself."""
        return self.choice.line(self.text) if self.choice else self.text

    @property
    def is_offer(self) -> bool:
        return self.kind in {AgreedKind.OFFER, AgreedKind.ANSWERED_OFFER}
