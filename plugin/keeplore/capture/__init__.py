"""Host events → conversations: observe, redact, segment, distil, write; and notes of what was stated for good."""

from keeplore.capture.candidates import category_of
from keeplore.capture.notes import NoteSteps, NoteTaker
from keeplore.capture.plugin import Capture, Place, Steps
from keeplore.capture.redact import Redactor
from keeplore.capture.segment import Segmenter
from keeplore.capture.sessions import Sessions

__all__ = [
    "Capture",
    "NoteSteps",
    "NoteTaker",
    "Place",
    "Redactor",
    "Segmenter",
    "Sessions",
    "Steps",
    "category_of",
]
