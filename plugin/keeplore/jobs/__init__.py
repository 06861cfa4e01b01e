"""Work that waits on this machine until somebody does it."""

from keeplore.jobs.queue import DEAD, LEASED, WAITING, Job, JobCount, JobQueue

__all__ = ("DEAD", "LEASED", "WAITING", "Job", "JobCount", "JobQueue")
