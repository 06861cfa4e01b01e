"""What doctor says of a machine in each of its states, as it is written down.

To write it anew: WRITE_GOLDEN=1 pytest -n0 tests/cli -k doctor_of_machine, then read the difference.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from written_down import written_lines

from keeplore.cli.doctor import check_machine, check_plugins
from keeplore.cli.doctor.finding import DoctorFinding
from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.text.dates import now
from keeplore.worker.single_instance import only_one
from keeplore.workspace.plugin_failures import note_failure
from keeplore.workspace.recording.cursors import Cursors, SessionProgress
from keeplore_hooks.events import Origin
from keeplore_hooks.second_places import DROPPED
from keeplore_hooks.spool import Spool

LONG_AGO = "2026-01-01T10:00:00Z"
# what is another in each run, and what stands in its place
SIGNS = (
    (re.compile(r"\b(?!2026-01)\d{4}-\d\d-\d\d(?:[T ][\d:.]+Z?)?"), "NOW"),
    (re.compile(r"(?<=spool/)\S+?(?=[ ,`']|\Z)"), "FILE"),
    (re.compile(r"\S*/bin/python[\d.]*"), "PYTHON"),
    (re.compile(r"(?<=rm -r ).*(?=`)"), "FILES"),
)


@pytest.fixture
def places(home: Path) -> Places:
    found = Places.from_environment(os.environ)
    for folder in (found.state, found.cache, found.sessions):
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    return found


def told(title: str, found: Iterable[DoctorFinding], places: Places) -> Iterator[str]:
    """A line of each finding, and of what mending it says."""
    yield f"# {title}"
    for one in list(found):
        mended = f" ⇒ {one.fix()}" if one.fix else ""
        text = f"{one.level} {one.part}: {one.message} → {one.remedy}{mended}"
        text = text.replace(str(places.state), "STATE").replace(
            str(Path.home()), "HOME"
        )
        for pattern, sign in SIGNS:
            text = pattern.sub(sign, text)
        yield text


def spool_states(places: Places) -> Iterator[str]:
    spool = Spool(places.spool)

    def look(title: str, *, is_running: bool = False) -> Iterator[str]:
        found = check_machine._spool(places, is_running=is_running)
        return told(title, found, places)

    yield from look("an empty spool")
    for number in range(check_machine.BACKLOG):
        spool.add("codex", "Stop", b"%d" % number)
    yield from look("as many events as may wait")
    spool.add("codex", "Stop", b"more")
    yield from look("one more", is_running=True)
    entries = spool.pending()
    assert all(spool.claim(entry) for entry in entries)
    yield from look("all are being read", is_running=True)
    yield from look("the worker that read them is gone")
    for number, entry in enumerate(spool.pending()):
        taken = spool.claim(entry)
        assert taken
        if number < 4:
            spool.quarantine(taken, ("no JSON", "no JSON", "too long", "odd")[number])
        else:
            spool.acknowledge(taken)
    yield from look("some could not be read")
    (places.spool / "dead" / "letter.txt").write_text("dear Ann")
    yield from look("a file of somebody else's")
    for number in range(2):
        (places.state / f"{DROPPED}{number}").touch()
        yield from look("events were lost")
    left = places.spool / "tmp" / "half"
    left.write_text("{")
    long_ago = time.time() - 1_000_000
    os.utime(left, (long_ago, long_ago))
    yield from look("a client was killed")
    yield from look("all is mended")


def worker_states(places: Places) -> Iterator[str]:
    for title, more in (
        ("a worker", {}),
        ("a newer one", {"version": "999.0"}),
        ("an older one", {"version": "0.0.1"}),
        ("one that cannot watch", {"unwatched": "too many watches"}),
        ("an old fault", {"faults": [f"{LONG_AGO} it broke"]}),
        ("faults", {"faults": [f"{now()} it broke", f"{now()} it broke again"]}),
    ):
        status = {"version": check_machine.__version__, "pid": 7, **more}
        found = check_machine._worker(places, status)
        for line in told(title, found, places):
            yield line.replace(check_machine.__version__, "VERSION")
    yield from told("no worker", check_machine._no_worker(places), places)
    with only_one(places.state):
        (places.state / "worker.pid").write_text("77\n")
        yield from told("a stuck one", check_machine._no_worker(places), places)
        (places.state / "worker.pid").unlink()
        yield from told("a nameless one", check_machine._no_worker(places), places)
    yield from told("no crash", check_machine._crash(places), places)
    (places.state / "crash.log").write_text("Traceback")
    yield from told("a crash", check_machine._crash(places), places)


def machine_states(places: Places, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    yield from told("nothing yet", check_machine._identity(places), places)
    yield from told("no Python yet", check_machine._python(places), places)
    machine = Machine.load(places)
    machine.save(places)
    for name in ("", machine.name, "elsewhere"):
        monkeypatch.setattr(check_machine, "host_name", lambda name=name: name)
        for line in told("its name", check_machine._identity(places), places):
            yield line.replace(machine.id, "ID").replace(machine.name, "NAME")
    for said in ("git version 2.30.0", "git version 2.29.9", "git version 3.1"):
        answer = SimpleNamespace(text=said)
        monkeypatch.setattr(check_machine, "run", lambda *_, answer=answer: answer)
        yield from told(said, [check_machine._git(places)], places)
    monkeypatch.setattr(check_machine, "is_available", lambda: False)
    found = [
        one for one in check_machine._surroundings(places) if one.part == "vectors"
    ]
    yield from told("no hnswlib", found, places)
    places.state.chmod(0o755)
    yield from told("open to others", check_machine._rights(places), places)
    yield from told("closed to others", check_machine._rights(places), places)
    yield from told("no Python", check_machine._python(places), places)
    yield from told("this Python", check_machine._python(places), places)


def session_states(places: Places) -> Iterator[str]:
    cursors = Cursors(places.sessions)
    for host, at, count in (
        ("codex", LONG_AGO, 1),
        ("cursor", now(), 1),
        ("gemini-cli", now(), 2),
    ):
        for number in range(count):
            origin = Origin(host, f"s-{number}", "/code")
            cursors.save(
                SessionProgress(origin, problem="line 3 is odd", problem_at=at)
            )
    yield from told("sessions", check_machine._hosts(places), places)


def plugin_states(places: Places) -> Iterator[str]:
    yield from told("no plugin", check_plugins.findings(places), places)
    for plugin, point in (
        ("a", ""),
        ("b", "keeplore_redact"),
        ("c", "keeplore_capture"),
    ):
        note_failure(places.state, plugin, point, ValueError("secret"))
    yield from told("plugins failed", check_plugins.findings(places), places)


def test_doctor_of_machine(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [
        *spool_states(places),
        *worker_states(places),
        *session_states(places),
        *plugin_states(places),
        *machine_states(places, monkeypatch),
    ]
    assert seen == written_lines("cli/machine.txt", seen)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder away")
def test_a_folder_of_another_user_is_not_to_be_opened_with_chmod(
    tmp_path: Path,
) -> None:
    assert check_machine._way_to_write(tmp_path) == f"`chmod u+rwx {tmp_path}`"
    os.chown(tmp_path, 1, 1)
    assert check_machine._way_to_write(tmp_path) == (
        "It belongs to daemon: where it is to be yours, "
        f'`sudo chown -R "$USER" {tmp_path}`'
    )
    os.chown(tmp_path, 60123, 60123)
    assert "It belongs to user 60123: " in check_machine._way_to_write(tmp_path)


def test_a_file_that_was_set_aside_is_removed_with_its_reason(tmp_path: Path) -> None:
    letter = tmp_path / "dear Ann.txt"
    assert check_machine._removing(letter) == f"`rm -r '{letter}'`"
    reason = tmp_path / "dear Ann.txt.reason"
    reason.write_text("no event")
    assert check_machine._removing(letter) == f"`rm -r '{letter}' '{reason}'`"
