"""One document from stdin to text on stdout, for ``extracted_in_sandbox``."""

from keeplore.ingest.sandbox import serve

serve()
