"""``python -m keeplore.cli``: the same as ``keeplore``."""

from keeplore.cli.main import main

main()
