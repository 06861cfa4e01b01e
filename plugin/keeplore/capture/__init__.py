"""Host events → conversations: observe, redact, segment, distil, write."""

from keeplore.capture.plugin import Capture, Place, Steps
from keeplore.capture.redact import Redactor
from keeplore.capture.segment import Segmenter
from keeplore.capture.sessions import Sessions

__all__ = ["Capture", "Place", "Redactor", "Segmenter", "Sessions", "Steps"]
