"""What a worker tells of itself: what went wrong lately, its memory, and a program replaced."""

import importlib
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import keeplore
from keeplore.worker import health
from keeplore.worker.health import FaultLog, ProgramFile, memory_mb

LOG = logging.getLogger("keeplore.some.part")


def test_the_latest_five_faults_are_told_on_one_line_each_the_newest_last():
    counted = []
    with FaultLog() as faults:
        faults.on_fault = lambda: counted.append(True)
        LOG.info("nothing is wrong")
        for number in range(6):
            LOG.warning("fault %d\n  of six", number)
    LOG.error("after the worker has left")
    assert [told.partition(" ")[2] for told in faults.latest()] == [
        f"fault {number} of six" for number in range(1, 6)
    ]
    assert len(counted) == 6


def test_a_fault_is_told_with_its_time_and_what_was_raised():
    with FaultLog() as faults:
        record = LOG.makeRecord(LOG.name, logging.ERROR, "", 0, "it failed", (), None)
        record.created = 1_700_000_000.0
        LOG.handle(record)
        try:
            raise ValueError("no number")
        except ValueError:
            LOG.exception("indexing failed")
        LOG.error("x" * 500)
    told = faults.latest()
    assert told[0] == "2023-11-14T22:13:20Z it failed"
    assert told[1].endswith("Z indexing failed: ValueError('no number')")
    assert len(told[2]) == 300


def test_what_any_module_logs_is_a_fault_of_ours_and_names_the_module():
    top = Path(keeplore.__path__[0])
    files = [one for one in top.rglob("*.py") if "\nLOG = logging." in one.read_text()]
    paths = [one.relative_to(top.parent).with_suffix("") for one in files]
    names = [".".join(path.parts) for path in paths]
    assert [importlib.import_module(name).LOG.name for name in names] == names
    assert "keeplore.worker.scheduler" in names


def test_a_program_that_is_replaced_or_removed_is_noticed(monkeypatch, tmp_path):
    file = tmp_path / "__init__.py"
    file.write_text("old")
    monkeypatch.setattr(keeplore, "__file__", str(file))
    program = ProgramFile()
    assert not program.has_changed
    file.write_text("newer")
    assert program.has_changed
    program = ProgramFile()
    file.unlink()
    assert program.has_changed


def test_memory_is_told_in_megabytes():
    """More than the interpreter's own, less than the most that this process ever had."""
    assert 10 < memory_mb() < 100_000


@pytest.mark.parametrize(
    ("statm", "platform", "told"),
    [
        ("900000 51200 7000 1 0 8 0\n", "linux", 51200 * os.sysconf("SC_PAGE_SIZE")),
        ("", "linux", 300_000 * 1024),
        ("900000 unreadable\n", "linux", 300_000 * 1024),
        (None, "linux", 300_000 * 1024),
        (None, "darwin", 500 << 20),
    ],
)
def test_where_the_system_does_not_say_it_is_the_most_that_ever_was(
    monkeypatch, tmp_path, statm, platform, told
):
    file = tmp_path / "statm"
    if statm is not None:
        file.write_text(statm)
    most = 500 << 20 if platform == "darwin" else 300_000  # bytes there, KB elsewhere
    usage = SimpleNamespace(ru_maxrss=most)
    monkeypatch.setattr(health, "Path", lambda _: file)
    monkeypatch.setattr(health.resource, "getrusage", lambda _: usage)
    monkeypatch.setattr(sys, "platform", platform)
    assert memory_mb() == told >> 20
