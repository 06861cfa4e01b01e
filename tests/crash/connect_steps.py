"""``python connect_steps.py BASE NOW DEED STRIDE``: connect, update or disconnect hosts in a copy,
killed at its steps.

A child is killed with SIGKILL at its first call into the system that changes something, the next
one STRIDE calls later, and so on until one ends by itself. NOW is made anew from BASE each time,
since a manifest names places. After each death it is seen to that what stands there can be put
right, in both ways: connected again, and disconnected at once. Prints the last point, or the first
thing that is wrong.
"""

import os
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

from keeplore.connect import assets, hook_events
from keeplore.connect.apply import apply
from keeplore.connect.client_copy import launcher
from keeplore.connect.connect_plan import connect, disconnect, statuses
from keeplore.connect.connection_record import ConnectionRecord
from keeplore.connect.host_locations import Surroundings
from keeplore.connect.resources import ResourceStatus

HOSTS = (
    "codex",
    "cursor",
    "gemini-cli",
)  # between them every form in which something is put into a file
CALLS = ("open", "fsync", "rename", "replace", "unlink", "mkdir", "rmdir", "chmod")


def do_connect(place):
    state = place / "state"
    around = Surroundings(place / "home", state, {"PATH": os.defpath})
    runs = launcher(state, search_path=os.defpath, has_mcp=True, is_windows=False)
    apply(connect(HOSTS, around, ConnectionRecord.load(state), runs), state)


def do_update(place):
    """A later release: other limits, an event less, other texts."""
    table, files = hook_events.EVENTS, assets.host_files
    hook_events.EVENTS = {
        host: tuple(replace(one, timeout_s=9) for one in several[1:])
        for host, several in table.items()
    }
    assets.host_files = lambda host, *_: {
        name: data + b" " for name, data in files(host).items()
    }
    try:
        do_connect(place)
    finally:
        hook_events.EVENTS, assets.host_files = table, files


def do_disconnect(place):
    apply(disconnect(HOSTS, ConnectionRecord.load(place / "state")), place / "state")


DEEDS = {"connect": do_connect, "update": do_update, "disconnect": do_disconnect}


def two_of(files):
    """Two files of each host are as good as all, and much quicker."""
    return lambda host, *more: dict(
        sorted(files(host, *more).items(), key=lambda item: "extension" not in item[0])[
            :2
        ]
    )


def arm(point):
    made = 0
    flags = os.O_CREAT | os.O_WRONLY | os.O_RDWR

    def guarded(name, call):
        def guard(*arguments, **options):
            nonlocal made
            made += name != "open" or bool(arguments[1] & flags)
            if made == point:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return guard

    for name in CALLS:
        setattr(os, name, guarded(name, getattr(os, name)))


def tree(root):
    return {
        str(path.relative_to(root)): (
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in root.rglob("*")
    }


def killed(base, now, deed, point):
    """Returns whether the child died at that point."""
    shutil.rmtree(now, ignore_errors=True)
    shutil.copytree(base, now, symlinks=True)
    child = os.fork()
    if child == 0:
        arm(point)
        DEEDS[deed](now)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def expect_put_right(now, before, *, is_connected_first):
    if is_connected_first:
        do_connect(now)
        states = {state for _, state in statuses(ConnectionRecord.load(now / "state"))}
        assert states == {ResourceStatus.INTACT}, states
        assert not list(now.rglob("*.tmp"))
    do_disconnect(now)
    after = tree(now / "home")
    assert after == before, {
        path
        for path in after.keys() | before.keys()
        if after.get(path) != before.get(path)
    }


def main(base, now, deed, stride):
    base, now = Path(base), Path(now)
    assets.host_files = two_of(assets.host_files)
    before = tree(base / "home")
    # the manifest of what is connected in BASE must name the places of NOW
    ready = base.with_name("ready")
    if deed == "connect":
        shutil.copytree(base, ready, symlinks=True)
    else:
        shutil.copytree(base, now, symlinks=True)
        do_connect(now)
        now.rename(ready)
    point = 1
    while killed(ready, now, deed, point):
        expect_put_right(now, before, is_connected_first=False)
        killed(ready, now, deed, point)
        expect_put_right(now, before, is_connected_first=True)
        point += int(stride)
    sys.stdout.write(str(point))


if __name__ == "__main__":
    main(*sys.argv[1:])
