"""``python holding.py FILE``: lease a job and keep it until this process is killed."""

import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from keeplore.jobs import JobQueue

if __name__ == "__main__":
    queue = JobQueue(Path(sys.argv[1]))
    assert queue.lease(("conversation",), datetime(2026, 3, 1, tzinfo=UTC))
    sys.stdout.write("leased\n")
    sys.stdout.flush()
    time.sleep(600)
