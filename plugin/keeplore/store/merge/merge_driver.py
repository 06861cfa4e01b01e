"""``python -P -m keeplore.store.merge.merge_driver [--base] BASE OURS THEIRS PATH``: git's merge of
one file of memory, our way.

`gitattributes(5)` tells how git calls a merge driver. It is written into a repository's own
configuration and makes conflicts in a person's `git pull` rare; where it is missing or fails, what
git leaves is healed later. With ``--base`` git merges what two crosswise merges came from, which is
no file of anybody's: nothing is written beside it then.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from keeplore.config.project_file import NAME
from keeplore.errors import KeeploreError
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import code_path
from keeplore.store import checkout_lock, files
from keeplore.store.git.git_command import MERGE_DRIVER, run
from keeplore.store.git.libgit_backend import put_settings
from keeplore.store.merge.merge_plan import merge_versions
from keeplore.store.paths import check_moved
from keeplore.store.repository_state import directories

BASE_DRIVER = f"{MERGE_DRIVER}-base"
CONFLICT = 1  # the status by which git leaves the path unmerged


def install(root: Path) -> None:
    """Tell a repository's git how to merge memory; ``.gitattributes`` names the paths. Raises
    RepositoryError.
    """
    # -P, because git runs it in the workspace, and what somebody calls keeplore there must not be
    # imported
    command = f"{shlex.quote(sys.executable)} -P -m keeplore.store.merge.merge_driver"
    wanted = {
        f"{BASE_DRIVER}.name": "memory of Keeplore, for a merge base",
        f"{BASE_DRIVER}.driver": f"{command} --base %O %A %B %P",
        f"{MERGE_DRIVER}.name": "memory of Keeplore",
        f"{MERGE_DRIVER}.recursive": BASE_DRIVER.removeprefix("merge."),
        f"{MERGE_DRIVER}.driver": f"{command} %O %A %B %P",
    }
    put_settings(directories(root).common, wanted)


def uninstall(root: Path) -> bool:
    """Remove the driver; returns whether it was there. Raises RepositoryError where there is no
    repository.
    """
    run(root, "config --local --remove-section", BASE_DRIVER)
    return run(root, "config --local --remove-section", MERGE_DRIVER).code == 0


def main(arguments: list[str]) -> int:
    """Merge into the file OURS, in the top folder of the working tree; what cannot be joined is
    written beside it. PATH may lie in a code repository's own folder of memory.
    """
    try:
        is_base = arguments[:1] == ["--base"]
        base, ours, theirs, path = arguments[is_base:]
        folder = f"{NAME}/" if path.startswith(f"{NAME}/") else ""
        path = path.removeprefix(folder)
        check_moved(path)
        texts = [Path(place).read_bytes() for place in (base, ours, theirs)]
        if max(map(len, texts)) > MAX_FILE:
            return CONFLICT
        # git gives an empty file where both sides added the path
        data, extra = merge_versions(path, texts[0] or None, texts[1], texts[2])
        if not is_base:
            with checkout_lock.held_already():  # by the git that runs this
                for place, text in extra.items():
                    own = f"{folder}{code_path(place)}" if folder else place
                    files.write(Path.cwd(), own, text)
        Path(ours).write_bytes(data)
    except (KeeploreError, OSError, ValueError):
        return CONFLICT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
