"""Work that waits on this machine until somebody does it."""

from keeplore.jobs.queue import DEAD, LEASED, WAITING, Count, Job, Queue

__all__ = ("DEAD", "LEASED", "WAITING", "Count", "Job", "Queue")
