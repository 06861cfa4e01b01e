"""How long a worker lives: it leaves when idle, makes room for another program, and gives memory
back when it rests.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from keeplore.config.home_settings import home_settings
from keeplore.config.places import Places
from keeplore.worker.health import ProgramFile

if TYPE_CHECKING:
    from keeplore.worker.background import BackgroundTasks

IDLE_EXIT_S = 15 * 60.0
LEAST_IDLE_EXIT_S = 60.0  # that a person can set
REST_S = 5 * 60.0  # without work or questions, then the model's memory is given back
BUSY_STAY_S = 60.0  # where there is work; then it is looked again
SHORTEST_S = 0.05  # that is waited


def idle_exit_s(places: Places) -> float:
    """After how many seconds without anything to do the worker of this machine leaves."""
    return home_settings(places).worker.idle_minutes * 60.0


class Lifetime:
    """``wants_successor`` is true where this process should become a worker anew: its program has
    changed on the disk, a newer one is in use, or to give memory back. ``is_rested`` is true until
    somebody asks something, or something happens.
    """

    def __init__(self, idle_exit_s: float, rest_s: float, *, is_rested: bool) -> None:
        self.idle_exit_s = idle_exit_s
        self.rest_s = rest_s
        self.is_rested = is_rested
        self.is_superseded = False
        self.wants_successor = False
        self._program = ProgramFile()
        self._started_at = time.monotonic()
        self._active_at = self._started_at - (rest_s if is_rested else 0.0)

    @property
    def lived_s(self) -> float:
        return time.monotonic() - self._started_at

    def note_work(self) -> bool:
        """Count that somebody asked, or something happened. Returns whether the worker rested until
        now.
        """
        self._active_at = time.monotonic()
        was_rested, self.is_rested = self.is_rested, False
        return was_rested

    def allowed_wait_s(self, background: BackgroundTasks, *, is_awaited: bool) -> float:
        """How many seconds this worker may wait for something to do; 0.0 where it has to leave now.

        One that ``is_awaited`` does not leave for being idle, unless it was started to leave soon.
        """
        if background.sync.is_running or background.is_behind:
            return BUSY_STAY_S
        idle_s = time.monotonic() - self._active_at
        idle_left_s = self.idle_exit_s - idle_s
        is_outdated = self.is_superseded or self._program.has_changed
        if idle_left_s < 0 and not is_outdated:
            is_kept = is_awaited and self.idle_exit_s >= LEAST_IDLE_EXIT_S
            return BUSY_STAY_S if is_kept else 0.0
        model_left_s = math.inf
        if background.model.is_loaded:
            model_left_s = self.rest_s - min(idle_s, self.lived_s)
        # unloading a model would leave 100 MB of libraries and gaps behind, which a new process
        # has not
        if is_outdated or model_left_s <= 0:
            self.wants_successor = True
            return 0.0
        return max(min(model_left_s, idle_left_s), SHORTEST_S)
