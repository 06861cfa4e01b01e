"""``python failpoints.py POINT FAULT STEP …``: run steps on a spool and strike at the POINTth call
into the system.

FAULT is ``kill`` (SIGKILL before the call), ``full`` (the call raises ENOSPC) or ``trace`` (every
call is written down, none is struck). Prints, on stderr, every finished step, then ``end`` where no
fault was met. A step is a word of ``STEPS``, or the path of a client. With ``each`` for the point
it does so for many points, each in a fork.
"""

import errno
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path

from keeplore_hooks.spool import Spool

CALLS = ("open", "write", "fsync", "close", "rename", "replace", "unlink", "mkdir")
PAYLOAD = bytes(range(256)) * 64
STEPS = {
    "add": lambda spool: spool.add("host", "Stop", PAYLOAD),
    "claim": lambda spool: spool.claim(spool.pending()[0]),
    "retry": lambda spool: spool.retry(spool.claim(spool.pending()[0])),
    "quarantine": lambda spool: spool.quarantine(
        spool.claim(spool.pending()[0]), "no reason"
    ),
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
                say(
                    " ".join(
                        [
                            name,
                            *(
                                opened.get(argument, str(argument))
                                for argument in arguments
                            ),
                        ]
                    )
                )
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


def strike_each(fault: str, *steps: str) -> None:
    """For each line of stdin, POINT and a directory, a fork does as above in it, and its end is
    printed.

    The directory has ``said``, ``printed`` and ``payload`` for its streams, and is to have the
    state.
    """
    for line in sys.stdin:
        point, _, place = line.rstrip("\n").partition(" ")
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            for number, name in enumerate(("payload", "printed", "said")):
                os.dup2(os.open(f"{place}/{name}", os.O_RDWR | os.O_CREAT), number)
            sys.stdin = os.fdopen(0, closefd=False)
            os.environ["KEEPLORE_STATE_DIR"] = f"{place}/state"
            os._exit(ended(point, fault, *steps))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def ended(*arguments: str) -> int:
    try:
        main(*arguments)
    except SystemExit as e:
        return int(e.code or 0)
    except BaseException:  # noqa: BLE001  # told as Python tells it
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    strike_each(*sys.argv[2:]) if sys.argv[1] == "each" else main(*sys.argv[1:])
