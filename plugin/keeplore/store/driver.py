"""``python -P -m keeplore.store.driver BASE OURS THEIRS PATH``: git's merge of one file of memory, done our way.

`gitattributes(5)` tells how git calls a merge driver. It is written into a repository's own configuration and makes
conflicts in a person's `git pull` rare; where it is missing or fails, what git leaves is healed later.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from keeplore.errors import KeeploreError
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store import files
from keeplore.store.git import output, run
from keeplore.store.paths import check_moved
from keeplore.store.plan import merged

SECTION = "merge.keeplore"
CONFLICT = 1  # the status by which git leaves the path unmerged


def install(root: Path) -> None:
    """Tell a repository's git how to merge memory; ``.gitattributes`` names the paths. Raises RepositoryError."""
    # -P, because git runs it in the workspace, and what somebody calls keeplore there must not be imported
    command = f"{shlex.quote(sys.executable)} -P -m keeplore.store.driver %O %A %B %P"
    for key, value in (("name", "memory of Keeplore"), ("driver", command)):
        if run(root, "config", "--local", f"{SECTION}.{key}").text != value:
            output(root, "config", "--local", f"{SECTION}.{key}", value)


def uninstall(root: Path) -> bool:
    """Take it out again; whether it was there. Raises RepositoryError where there is no repository."""
    return run(root, "config", "--local", "--remove-section", SECTION).code == 0


def main(arguments: list[str]) -> int:
    """Merge into the file OURS, in the top folder of the working tree; what cannot be joined is written beside it."""
    try:
        base, ours, theirs, path = arguments
        check_moved(path)
        texts = [Path(place).read_bytes() for place in (base, ours, theirs)]
        if max(map(len, texts)) > MAX_FILE:
            return CONFLICT
        # git gives an empty file where both sides added the path
        data, beside = merged(path, texts[0] or None, texts[1], texts[2])
        for place, text in beside.items():
            files.write(Path.cwd(), place, text)
        Path(ours).write_bytes(data)
    except (KeeploreError, OSError, ValueError):
        return CONFLICT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
