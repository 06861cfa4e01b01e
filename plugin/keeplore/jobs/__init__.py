"""Work that waits on this machine until somebody does it."""

from keeplore.jobs.queue import Job, JobCount, JobQueue, JobState, counts_in

__all__ = ("Job", "JobCount", "JobQueue", "JobState", "counts_in")
