"""``python working.py FILE LOG``: do what a queue holds, and note each job once it is done."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from keeplore.jobs import JobQueue

if __name__ == "__main__":
    queue, log = JobQueue(Path(sys.argv[1])), Path(sys.argv[2])
    while (job := queue.lease(("conversation",), datetime.now(UTC))) is not None:
        assert queue.renew(job, datetime.now(UTC))
        with log.open("a") as file:
            file.write(f"{job.key}\n")
        assert queue.done(job)
