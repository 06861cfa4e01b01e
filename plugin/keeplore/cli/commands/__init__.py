"""One module a command, named after it; ``keeplore.cli.main`` loads the one that is asked for."""
