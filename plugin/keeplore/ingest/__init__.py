"""Documents: from a file or a page to text that can be kept. What it reads is hostile."""

from keeplore.ingest.document import Extracted
from keeplore.ingest.origin import Origin, origin_of
from keeplore.ingest.read import MAX_BYTES, SECONDS, extracted

__all__ = ("MAX_BYTES", "SECONDS", "Extracted", "Origin", "extracted", "origin_of")
