"""One document from stdin to text on stdout, for ``confined``."""

from keeplore.ingest.sandbox import serve

serve()
