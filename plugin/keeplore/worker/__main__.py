"""``python -m keeplore.worker``: how a host's client starts the worker."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import signal
import sys

from keeplore.config import installation
from keeplore.config.places import Places

LOG_BYTES = 1_000_000
LOG_FILES = 3
RESTED = "--rested"  # load no model until somebody asks


class RedactingFormatter(logging.Formatter):
    """Writes no secret: the words of an error may be anybody's, and a traceback holds them too."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        try:
            # here, because an installation that is broken has to be written down too
            from keeplore.redact import redact
        except ImportError:
            return text
        return redact(text)


def main() -> int:
    os.umask(0o077)
    # several threads for a product of a millisecond wait for one another in a loop
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with contextlib.suppress(OSError):
        os.setsid()  # where the client could not: a closing terminal must not end the worker
    places = Places.from_environment(os.environ)
    places.create()
    _open_log(places)
    try:
        # here, because an installation that is broken has to be written down too
        from keeplore.worker.lifetime import idle_exit_s
        from keeplore.worker.loop import Worker

        is_rested = RESTED in sys.argv
        worker = Worker(places, idle_exit_s=idle_exit_s(places), is_rested=is_rested)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: worker.stop())
        worker.run()
    except Exception:
        logging.getLogger("keeplore").exception("the worker ended")
        return 3
    if worker.wants_successor:
        _become_successor(places)
    return 0


def _open_log(places: Places) -> None:
    handler = logging.handlers.RotatingFileHandler(
        places.state / "worker.log",
        maxBytes=LOG_BYTES,
        backupCount=LOG_FILES,
        encoding="utf-8",
    )
    handler.setFormatter(
        RedactingFormatter(
            "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
        )
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def _become_successor(places: Places) -> None:
    """Go on as the worker of the registered installation, with the same process id and nothing in
    memory.
    """
    known = installation.registered(places.state)
    python = known.python if known and known.is_there else sys.executable
    logging.shutdown()
    os.execv(python, [python, "-m", "keeplore.worker", RESTED])  # noqa: S606  # our own interpreter


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    # a model that is still being loaded beside would abort the process while its modules are taken
    # down
    os._exit(code)
