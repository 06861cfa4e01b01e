"""``python -m keeplore.worker``: how a host's client starts the worker."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os

from keeplore.config.places import Places
from keeplore.worker.worker import Worker

LOG_BYTES = 1_000_000
LOG_FILES = 3


def main() -> int:
    os.umask(0o077)
    with contextlib.suppress(OSError):
        os.setsid()  # where the client could not: a closing terminal must not end the worker
    places = Places.from_environment(os.environ)
    places.create()
    handler = logging.handlers.RotatingFileHandler(
        places.state / "worker.log", maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8"
    )
    logging.basicConfig(
        level=logging.INFO,
        handlers=[handler],
        format="%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s",
    )
    try:
        Worker(places).run()
    except Exception:
        logging.getLogger("keeplore").exception("the worker ended")
        return 3
    return 0


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    # a model that is still being loaded beside would abort the process while its modules are taken down
    os._exit(code)
