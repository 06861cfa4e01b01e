"""What doctor says of a real host whose entries never run."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from host_lab import HOSTS, HostLab
from host_lab import day as said

from keeplore.connect.host_locations import LOCATIONS

HOURS_S = 2 * 3600
UNHEARD = "its sessions grow, the last one at"


@pytest.mark.soak  # two starts a host; tests/cli/test_host_drift.py holds what is said when
@pytest.mark.timeout(600)
@pytest.mark.parametrize("host", HOSTS)
def test_sessions_of_which_no_event_tells_are_told_until_one_does(
    host: str, laboratory: Callable[[str], HostLab]
) -> None:
    lab = laboratory(host)
    lab.connect()
    connected = lab.machine.state / "connections.json"
    before = connected.stat().st_mtime - HOURS_S
    os.utime(connected, (before, before))
    lab.machine.environment["KEEPLORE_OFF"] = "1"  # then the entries tell nothing
    lab.ask(said.DECISION)
    del lab.machine.environment["KEEPLORE_OFF"]
    told = doctor(lab)
    assert UNHEARD in told
    tried = LOCATIONS[host].tried
    assert f"{LOCATIONS[host].label} {tried} is here, tried up to {tried}" in told
    lab.ask(said.UNRELATED)
    lab.settle()
    assert UNHEARD not in doctor(lab)


def doctor(lab: HostLab) -> str:
    done = lab.machine.keeplore("doctor", check=False)
    return " ".join((done.stdout + done.stderr).decode().split())
