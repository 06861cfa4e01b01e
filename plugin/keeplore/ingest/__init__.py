"""Documents: from a file or a page to text that can be kept. What it reads is hostile."""

from keeplore.ingest.document_body import Extracted
from keeplore.ingest.reader import extracted
from keeplore.ingest.source_address import SourceAddress, origin_of

__all__ = ("Extracted", "SourceAddress", "extracted", "origin_of")
