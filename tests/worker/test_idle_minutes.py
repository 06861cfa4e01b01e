from __future__ import annotations

import os
from pathlib import Path

from keeplore.config.places import Places
from keeplore.config.setting_layers import MACHINE_FILE, set_own, set_shared
from keeplore.worker.lifetime import IDLE_EXIT_S, idle_exit_s
from keeplore.workspace.lifecycle.setup import initialise


def test_how_long_the_worker_stays_is_set_for_a_workspace_or_a_machine(
    home: Path,
) -> None:
    places = Places.from_environment(os.environ)
    assert idle_exit_s(places) == IDLE_EXIT_S == 900.0
    root = initialise(places, home / "memory").root
    set_shared(root, places.state, "worker.idle_minutes", 20)
    assert idle_exit_s(places) == 1200.0
    set_own(places.state, root, "worker.idle_minutes", 2)
    assert idle_exit_s(places) == 120.0
    (places.state / MACHINE_FILE).write_text("worker: {idle_minutes: 0}\n")
    assert idle_exit_s(places) == IDLE_EXIT_S
