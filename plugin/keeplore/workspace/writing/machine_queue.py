"""The queue of this machine, with the lease that its person has set."""

from __future__ import annotations

from datetime import timedelta

from keeplore.config.home_settings import home_settings
from keeplore.config.places import Places
from keeplore.jobs.queue import JobQueue


def machine_queue(places: Places) -> JobQueue:
    minutes = home_settings(places).worker.lease_minutes
    return JobQueue(places.jobs, lease=timedelta(minutes=minutes))
