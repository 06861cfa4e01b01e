"""Notes without a model: what a person orders or states for good, and the host's own summaries."""
