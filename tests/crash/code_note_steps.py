"""``python code_note_steps.py CODE``: kill the writing of a note that is kept with the code.

For each changing step of each deed (a new note, another version, a move to the archive, a
forgetting) a forked child does the deed on a copy of the code and of the person's workspace beside
it, and ends itself right before that step. Writes a line for every copy: its directory, the deed,
the step, the child's end.
"""

import itertools
import sys
from pathlib import Path

from code_note_deeds import DEEDS, opened
from strike import strike_each


def main(base: str) -> None:
    for name, deed in DEEDS.items():
        strike_each(Path(base), name, itertools.count(1), opened, deed)


if __name__ == "__main__":
    main(*sys.argv[1:])
