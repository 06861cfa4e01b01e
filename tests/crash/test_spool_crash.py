"""Writers and workers are struck at every step, and at random moments: nothing accepted is lost,
nothing is torn.
"""

from __future__ import annotations

import contextlib
import os
import random
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keeplore_hooks.spool import LEFTOVER_S, Spool

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parents[1] / "plugin" / "keeplore" / "client"
FAILPOINTS = runpy.run_path(str(HERE / "failpoints.py"))
PAYLOAD: bytes = FAILPOINTS["PAYLOAD"]
POINTS_MAX = 200
WRITERS_KILLED = 40
SHELL_STEPS = ("date", "cat", "sync", "mv", "sync")


class Striker:
    """A process whose forks run ``steps`` and are struck, each in a directory and at a point of its
    own.
    """

    def __init__(self, fault: str, *steps: str) -> None:
        self.fault = fault
        command = [sys.executable, str(HERE / "failpoints.py"), "each", fault, *steps]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Striker:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0

    def strike(self, place: Path, point: int) -> list[str]:
        """What was finished with the state in ``place``, "end" last if all."""
        place.mkdir(exist_ok=True)
        (place / "payload").write_bytes(PAYLOAD)
        (place / "said").unlink(missing_ok=True)
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{point} {place}\n")
        self.process.stdin.flush()
        status = int(self.process.stdout.readline())
        assert (place / "printed").read_bytes() == b""
        if self.fault == "kill":
            assert status in (0, -signal.SIGKILL)
        return (place / "said").read_text().split("\n")[:-1]


def places(state: Path) -> list[str]:
    """Where the payload lies, whole; there may be nothing else outside tmp."""
    found = []
    for box in ("new", "claimed", "dead"):
        for path in sorted((state / "spool" / box).glob("*")):
            if not path.name.endswith((".reason", ".tmp")):
                assert path.read_bytes() == PAYLOAD, f"{path} is torn"
                found.append(box)
    return found


def sweep(state: Path) -> list[str]:
    """What is left in tmp when the next worker has started, an hour later."""
    for path in (state / "spool" / "tmp").glob("*"):
        os.utime(path, (time.time() - LEFTOVER_S - 1,) * 2)
    Spool(state / "spool").recover()
    return [path.name for path in (state / "spool" / "tmp").glob("*")]


def test_a_writer_that_is_killed_before_any_call_leaves_a_whole_entry_or_none(
    tmp_path: Path,
) -> None:
    with Striker("kill", "add") as striker:
        for point in range(1, POINTS_MAX):
            state = tmp_path / str(point) / "state"
            finished = striker.strike(state.parent, point)
            assert places(state) in ([["new"]] if finished else [[], ["new"]])
            assert sweep(state) == []
            if "end" in finished:
                break
        else:
            raise AssertionError("the writer never finished")
    # directories, the file, its sync, the rename, the sync of the directory
    assert point > 8


def test_the_python_client_killed_before_any_call_leaves_a_whole_entry_or_none(
    tmp_path: Path,
) -> None:
    outcomes = []
    with Striker("kill", str(CLIENT / "client.py")) as striker:
        for point in range(1, 32):  # far more calls than it makes
            state = tmp_path / str(point) / "state"
            striker.strike(state.parent, point)
            outcomes.append(places(state))
            assert sweep(state) == []
    assert [] in outcomes
    assert outcomes[-1] == ["new"]
    assert outcomes == sorted(outcomes)  # once accepted it stays


@pytest.mark.parametrize(
    "writer", ["add", str(CLIENT / "client.py")], ids=["Spool.add", "client.py"]
)
def test_a_disk_that_fills_at_any_call_leaves_no_half_entry(
    tmp_path: Path, writer: str
) -> None:
    outcomes = []
    with Striker("full", writer) as striker:
        for point in range(1, 31):
            state = tmp_path / str(point) / "state"
            finished = striker.strike(state.parent, point)
            outcomes.append(places(state))
            if "end" in finished:
                assert places(state) == ["new"]
            leftovers = list((state / "spool" / "tmp").glob("*"))
            assert leftovers == []
    assert [] in outcomes
    assert outcomes[-1] == ["new"]


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        (("add", "retry", "acknowledge"), []),
        (("add", "retry", "quarantine"), ["dead"]),
        (("add", "retry", "retry", "retry"), ["dead"]),
        (("add", "claim", "recover", "claim", "recover", "acknowledge"), []),
    ],
    ids=" ".join,
)
def test_a_worker_killed_at_any_call_neither_loses_nor_doubles_an_entry(
    tmp_path: Path, steps: tuple[str, ...], last: list[str]
) -> None:
    with Striker("kill", *steps) as striker:
        for point in range(1, POINTS_MAX):
            state = tmp_path / str(point) / "state"
            finished = striker.strike(state.parent, point)
            found = places(state)
            if "end" in finished:
                assert found == last
                return
            if "add" not in finished:
                assert len(found) <= 1
            elif steps[len(finished)] == "acknowledge":
                assert found in (["new"], ["claimed"], [])
            else:
                assert len(found) == 1
            Spool(state / "spool").recover()
            assert len(places(state)) == len(found)
            assert "claimed" not in places(state)
    raise AssertionError("the worker never finished")


@pytest.mark.parametrize(
    "writer", ["add", str(CLIENT / "client.py")], ids=["Spool.add", "client.py"]
)
def test_a_writer_syncs_before_it_renames_and_the_directory_after(
    tmp_path: Path, writer: str
) -> None:
    with Striker("trace", writer) as striker:
        striker.strike(tmp_path, 0)
        trace = [line.split() for line in striker.strike(tmp_path, 0)]
    spool = tmp_path / "state" / "spool"
    (newest,) = {path.name for path in (spool / "new").iterdir()} & {
        Path(t[-1]).name for t in trace
    }
    aside, place = (str(spool / box) for box in ("tmp", "new"))
    assert [step for step in trace if step[0] in ("fsync", "rename", "replace")] == [
        ["fsync", f"{aside}/{newest}"],
        [
            "replace" if writer == "add" else "rename",
            f"{aside}/{newest}",
            f"{place}/{newest}",
        ],
        ["fsync", place],
    ]


def shim(folder: Path, step: int, action: str) -> dict[str, str]:
    """An environment in which the ``step``th command of client.sh is struck, and every command is
    written down.
    """
    folder.mkdir()
    real = {name: shutil.which(name) for name in (*SHELL_STEPS, "mkdir", "rm")}
    for name, path in real.items():
        body = {
            "kill before": f'kill -9 $PPID; exit 1\nexec {path} "$@"',
            "kill after": f'{path} "$@"; kill -9 $PPID; exit 1',
            "fail": "head -c 1000; exit 1" if name == "cat" else "exit 1",
            "": "",
        }[action]
        script = f"""#!/bin/sh
echo "{name} $*" >>{folder}/log
case {name} in mkdir|rm) exec {path} "$@" ;; esac
echo >>{folder}/count
if [ "$(wc -l <{folder}/count)" -eq {step} ]; then
{body or ":"}
fi
exec {path} "$@"
"""
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    for name in ("wc", "head"):
        (folder / name).symlink_to(shutil.which(name) or "")
    return {"PATH": str(folder), "KEEPLORE_STATE_DIR": str(folder / "state")}


def run_shell(environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    command = ["/bin/sh", str(CLIENT / "client.sh"), "host", "Stop"]
    return subprocess.run(
        command, input=PAYLOAD, capture_output=True, env=environment, timeout=60
    )


def test_the_shell_client_syncs_before_it_renames_and_the_directory_after(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "shim"
    done = run_shell(shim(folder, 0, ""))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    spool = folder / "state" / "spool"
    (name,) = (path.name for path in (spool / "new").iterdir())
    for _ in range(1200):  # the last step is not waited for
        if len((folder / "log").read_text().splitlines()) == 6:
            break
        time.sleep(0.05)
    assert (folder / "log").read_text().splitlines() == [
        f"mkdir -p {spool}/new {spool}/tmp",
        "date -u +%Y%m%dT%H%M%SZ.%N",
        "cat ",
        f"sync {spool}/tmp/{name}",
        f"mv -f {spool}/tmp/{name} {spool}/new/{name}",
        f"sync {spool}/new",
    ]


@pytest.mark.parametrize(
    "step", [1, 2, 3, 4], ids=lambda step: f"{step}-{SHELL_STEPS[step - 1]}"
)
@pytest.mark.parametrize("action", ["kill before", "kill after", "fail"])
def test_the_shell_client_struck_at_any_command_leaves_a_whole_entry_or_none(
    tmp_path: Path, step: int, action: str
) -> None:
    folder = tmp_path / "shim"
    done = run_shell(shim(folder, step, action))
    assert (done.stdout, done.stderr) == (b"", b"")
    assert done.returncode == (0 if action == "fail" else -signal.SIGKILL)
    assert places(folder / "state") == ["new"] * ((step, action) == (4, "kill after"))
    if action == "fail":
        assert list((folder / "state" / "spool" / "tmp").glob("*")) == []
    assert sweep(folder / "state") == []


@pytest.mark.parametrize("name", ["client.sh", "client.py", "Spool.add"])
def test_writers_killed_at_random_moments_leave_whole_entries_only(
    tmp_path: Path, name: str
) -> None:
    chance = random.Random(name)
    command = {
        "client.sh": ["sh", str(CLIENT / "client.sh")],
        "client.py": [sys.executable, "-I", "-S", str(CLIENT / "client.py")],
        "Spool.add": [sys.executable, str(HERE / "failpoints.py"), "0", "kill"],
    }[name]
    arguments = ["add"] if name == "Spool.add" else ["host", "Stop"]
    environment = os.environ | {"KEEPLORE_STATE_DIR": str(tmp_path)}
    accepted = 0
    for _ in range(WRITERS_KILLED):
        with subprocess.Popen(
            [*command, *arguments],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        ) as writer:
            assert writer.stdin
            with contextlib.suppress(BrokenPipeError):
                writer.stdin.write(PAYLOAD)
                writer.stdin.close()
            time.sleep(chance.uniform(0, 0.1 if name == "Spool.add" else 0.03))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(writer.pid, signal.SIGKILL)
            accepted += writer.wait() == 0
    found = places(tmp_path)
    assert set(found) <= {"new"}
    assert accepted <= len(found) <= WRITERS_KILLED
    assert sweep(tmp_path) == []
