"""``python code_note_steps.py CODE``: kill the writing of a note that is kept with the code.

For each changing step of each deed (a new note, another version, a move to the archive, a
forgetting) a forked child does the deed on a copy of the code and of the person's workspace beside
it, and ends itself right before that step. Writes a line for every copy: its directory, the deed,
the step, the child's end.
"""

import itertools
import os
import shutil
import sys
from pathlib import Path

from code_note_deeds import DEEDS, opened
from strike import strike_at


def main(base: str) -> None:
    for name, deed in DEEDS.items():
        for point in itertools.count(1):
            copy = Path(base).with_name(f"{name}-{point}")
            shutil.copytree(base, copy, symlinks=True)
            child = os.fork()
            if child == 0:
                store = opened(copy)
                strike_at(point)
                deed(store)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            sys.stdout.write(f"{copy} {name} {point} {status}\n")
            sys.stdout.flush()
            if status == 0:
                break


if __name__ == "__main__":
    main(*sys.argv[1:])
