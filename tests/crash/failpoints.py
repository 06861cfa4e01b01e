"""``python failpoints.py POINT FAULT STEP …``: run steps on a spool and strike at the POINTth call into the system.

FAULT is ``kill`` (SIGKILL before the call), ``full`` (the call raises ENOSPC) or ``trace`` (every call is written down,
none is struck). Prints, on stderr, every finished step, then ``end`` where no fault was met. A step is a word of
``STEPS``, or the path of a client.
"""

import errno
import os
import runpy
import signal
import sys
from pathlib import Path

from keeplore_hooks.spool import Spool

CALLS = ("open", "write", "fsync", "close", "rename", "replace", "unlink", "mkdir")
PAYLOAD = bytes(range(256)) * 64
STEPS = {
    "add": lambda spool: spool.add("host", "Stop", PAYLOAD),
    "claim": lambda spool: spool.claim(spool.pending()[0]),
    "retry": lambda spool: spool.retry(spool.claim(spool.pending()[0])),
    "quarantine": lambda spool: spool.quarantine(spool.claim(spool.pending()[0]), "no reason"),
    "acknowledge": lambda spool: spool.acknowledge(spool.claim(spool.pending()[0])),
    "recover": lambda spool: spool.recover(),
}


def say(text: str, write=os.write) -> None:
    write(2, text.encode() + b"\n")


def arm(point: int, fault: str) -> None:
    made = 0
    opened = {}

    def guarded(name, call):
        def guard(*arguments, **options):
            nonlocal made
            made += 1
            if made == point and fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if made == point and fault == "full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            result = call(*arguments, **options)
            if name == "open":
                opened[result] = str(arguments[0])
            if fault == "trace":
                say(" ".join([name, *(opened.get(argument, str(argument)) for argument in arguments)]))
            return result

        return guard

    for name in CALLS:
        setattr(os, name, guarded(name, getattr(os, name)))


def run_client(path: str) -> None:
    sys.argv = [path, "host", "Stop"]
    runpy.run_path(path, run_name="__main__")


def main(point: str, fault: str, *steps: str) -> None:
    spool = Spool(Path(os.environ["KEEPLORE_STATE_DIR"]) / "spool")
    arm(int(point), fault)
    for step in steps:
        if step in STEPS:
            STEPS[step](spool)
        else:
            run_client(step)
        say(step)
    say("end")


if __name__ == "__main__":
    main(*sys.argv[1:])
