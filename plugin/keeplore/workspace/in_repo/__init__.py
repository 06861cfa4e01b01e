"""Memory that a project keeps in its own code repository, below ``.keeplore/``."""
