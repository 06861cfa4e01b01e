"""Host events → conversations: observe, redact, segment, distil, write; notes and summaries beside them."""

from keeplore.capture.candidates import category_of
from keeplore.capture.notes import NoteSteps, NoteTaker
from keeplore.capture.plugin import Capture, Place, Steps
from keeplore.capture.redact import Redactor
from keeplore.capture.returns import RECENT
from keeplore.capture.segment import Segmenter
from keeplore.capture.sessions import Sessions
from keeplore.capture.summaries import SummaryKeeper, SummarySteps
from keeplore.capture.titles import title_of

__all__ = [
    "RECENT",
    "Capture",
    "NoteSteps",
    "NoteTaker",
    "Place",
    "Redactor",
    "Segmenter",
    "Sessions",
    "Steps",
    "SummaryKeeper",
    "SummarySteps",
    "category_of",
    "title_of",
]
