"""What holds for all who write into the spool: Spool.add, client.sh and client.py."""

from __future__ import annotations

import ast
import contextlib
import os
import resource
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from keeplore import __version__
from keeplore.config.places import Places
from keeplore_hooks.second_places import loss_markers
from keeplore_hooks.spool import Spool

CLIENT = Path(__file__).resolve().parents[2] / "plugin" / "keeplore" / "client"
AT_ONCE = 200
# what the shell client runs, where nothing limits its patience and where something does
COREUTILS = (
    ("cat", "date", "mkdir", "mv", "rm", "sync"),
    ("date", "dd", "mkdir", "mv", "rm", "sync", "timeout"),
)
Kept = Callable[[], list[tuple[str, str, bytes]]]


def limit_files_to_64_kb() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


def link(names: Iterable[str], folder: Path) -> None:
    for name in names:
        (folder / name).symlink_to(shutil.which(name) or "")


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    "payload",
    [
        b'{"prompt": "hi"}',
        b"",
        b"\n\n",
        b"no line end",
        b"\x00\xff\xfe'\"$(id)`id`\\\r\n\x00",
        bytes(range(256)) * 9000,
    ],
    ids=["JSON", "empty", "line ends", "no line end", "hostile bytes", "2 MB"],
)
def test_the_payload_is_kept_byte_for_byte(
    writer: Any, kept: Kept, payload: bytes
) -> None:
    writer.put(payload, "claude-code", "Stop")
    assert kept() == [("claude-code", "Stop", payload)]


def test_fifty_megabytes_are_kept(writer: Any, spool: Spool) -> None:
    writer.put(b"0123456789abcdef" * (50 * 65536))
    (entry,) = spool.pending()
    assert entry.path.stat().st_size == 50 * 2**20
    assert entry.read() == b"0123456789abcdef" * (50 * 65536)


def test_what_all_write_comes_in_the_order_in_which_it_was_written(
    all_writers: Any, kept: Kept
) -> None:
    for number in range(9):
        all_writers[number % 3].put(host=f"host{number}")
    assert [host for host, _, _ in kept()] == [f"host{number}" for number in range(9)]


def test_files_are_private_whatever_the_umask(
    writer: Any, state: Path, spool: Spool
) -> None:
    writer.put(preexec_fn=lambda: os.umask(0))
    (entry,) = spool.pending()
    assert stat.S_IMODE(entry.path.stat().st_mode) == 0o600
    for directory in (
        state,
        spool.directory,
        spool.directory / "tmp",
        spool.directory / "new",
    ):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("host", "event", "expected"),
    [
        ("../../../etc", "a/b", ("etc", "ab")),
        ("-rf", "--help", ("-rf", "--help")),
        ("a b\nc", "$(touch x)`id`;*?[!]", ("abc", "touchxid")),
        ("", ".", ("unknown", "unknown")),
        ("hé", "日本", ("h", "unknown")),
        ("x" * 65, "/" * 100_000, ("unknown", "unknown")),
        ("x" * 64, "CON.Nul", ("x" * 64, "CONNul")),
    ],
)
def test_host_and_event_are_reduced_to_harmless_characters(
    writer: Any, kept: Kept, host: str, event: str, expected: tuple[str, str]
) -> None:
    writer.put(b"payload", host, event)
    assert kept() == [(*expected, b"payload")]


def test_a_client_without_arguments_still_keeps_the_payload(
    client: Any, kept: Kept
) -> None:
    subprocess.run(client.command, input=b"payload", check=True)
    assert kept() == [("unknown", "unknown", b"payload")]


def test_two_hundred_at_once_are_all_kept(all_writers: Any, kept: Kept) -> None:
    running = []
    for number in range(AT_ONCE):
        process = all_writers[number % 3].start("host", f"Event{number}")
        process.stdin.write(b"%d " % number * 1000)
        process.stdin.close()
        running.append(process)
    for process in running:
        with process:
            assert (
                process.stdout.read(),
                process.stderr.read(),
                process.wait(timeout=120),
            ) == (
                b"",
                b"",
                0,
            )
    expected = {
        ("host", f"Event{number}", b"%d " % number * 1000) for number in range(AT_ONCE)
    }
    assert sorted(kept()) == sorted(expected)


def test_a_payload_beyond_what_may_be_written_leaves_nothing(
    client: Any, kept: Kept
) -> None:
    client.put(b"x" * 1_000_000, preexec_fn=limit_files_to_64_kb)
    assert kept() == []
    client.put(b"small", preexec_fn=limit_files_to_64_kb)
    assert kept() == [("host", "Stop", b"small")]


@pytest.mark.parametrize(
    "room", [0, 100_000], ids=["no room at all", "room for a part"]
)
def test_a_full_disk_leaves_nothing_and_the_next_event_is_kept_again(
    client: Any, small_disk: Path, room: int
) -> None:
    spool = Spool(small_disk / "state" / "spool")
    spool.add("host", "Earlier", b"earlier")
    with (
        contextlib.suppress(OSError),
        (small_disk / "filling").open("wb", buffering=0) as file,
    ):
        while file.write(b"x" * 4096):
            pass
    os.truncate(
        small_disk / "filling", max((small_disk / "filling").stat().st_size - room, 0)
    )
    client.put(b"x" * 300_000)
    assert list((spool.directory / "tmp").iterdir()) == []
    assert [entry.read() for entry in spool.pending()] == [b"earlier"]
    (small_disk / "filling").unlink()
    client.put(b"after")
    assert [entry.read() for entry in spool.pending()] == [b"earlier", b"after"]


def test_a_read_only_disk_does_not_stop_the_host(client: Any, small_disk: Path) -> None:
    spool = Spool(small_disk / "state" / "spool")
    spool.add("host", "Earlier", b"earlier")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    client.put()
    assert [entry.read() for entry in spool.pending()] == [b"earlier"]


@pytest.mark.parametrize("place", ["", "spool", "spool/new", "spool/tmp"])
def test_a_file_in_place_of_a_directory_does_not_stop_the_host(
    client: Any, state: Path, place: str
) -> None:
    (state / place).parent.mkdir(parents=True, exist_ok=True)
    (state / place).write_text("in the way")
    client.put(b"x" * 200_000)
    assert (state / place).read_text() == "in the way"
    assert [path for path in state.rglob("*.host.*") if path.is_file()] == []


def test_a_closed_stdin_brings_nothing(client: Any, kept: Kept) -> None:
    client.put(None, stdin=None, preexec_fn=lambda: os.close(0))
    assert kept() == []


def test_closed_streams_do_not_stop_the_host(
    client: Any, kept: Kept, tmp_path: Path
) -> None:
    (tmp_path / "payload").write_bytes(b"payload")
    with (tmp_path / "payload").open("rb") as payload:
        client.put(
            None,
            stdin=payload,
            stdout=None,
            stderr=None,
            preexec_fn=lambda: os.closerange(1, 3),
        )
    assert kept() == [("host", "Stop", b"payload")]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("client.sh", {"PATIENCE=20": "PATIENCE=1"}),
        ("contact.py", {"PATIENCE_S = 5.0": "PATIENCE_S = 0.5"}),
    ],
)
@pytest.mark.parametrize("payload", [b"all that the host has to say", b""])
def test_a_stdin_that_is_never_closed_ends_the_patience(
    changed_client: Any, kept: Kept, name: str, change: dict[str, str], payload: bytes
) -> None:
    if name == "client.sh" and not shutil.which("timeout"):
        pytest.skip(
            "timeout is not installed: there client.sh waits until the host closes the pipe or "
            "ends it"
        )
    with changed_client(name, change).start("host", "Stop") as process:
        process.stdin.write(payload)
        process.stdin.flush()
        assert process.wait(timeout=60) == 0
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    assert kept() == ([("host", "Stop", payload)] if payload else [])


def test_nothing_happens_where_keeplore_is_off(
    client: Any, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPLORE_OFF", "1")
    client.put()
    assert not state.exists()


@pytest.mark.parametrize(
    ("until", "is_kept"),
    [
        ("\n", False),
        ("99991231235959\n", False),
        ("20200101000000\n", True),
        ("nonsense\n", False),
        ("", False),
    ],
)
def test_nothing_is_kept_in_a_pause(
    client: Any, state: Path, kept: Kept, until: str, *, is_kept: bool
) -> None:
    state.mkdir(parents=True)
    (state / "paused").write_text(until)
    client.put()
    assert kept() == ([("host", "Stop", b"payload")] if is_kept else [])
    assert is_kept or [path.name for path in state.iterdir()] == ["paused"]


@pytest.mark.parametrize(
    "settings",
    [
        {"KEEPLORE_STATE_DIR": "{home}/elsewhere é"},
        {"KEEPLORE_STATE_DIR": "", "XDG_STATE_HOME": "{home}/xdg state"},
        {"KEEPLORE_STATE_DIR": "", "XDG_STATE_HOME": "relative/is/ignored"},
        {"KEEPLORE_STATE_DIR": "", "XDG_STATE_HOME": ""},
        {"KEEPLORE_STATE_DIR": "relative/to/here"},
    ],
)
def test_clients_and_program_agree_on_the_state_directory(
    client: Any,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    settings: dict[str, str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in settings.items():
        monkeypatch.setenv(name, value.format(home=home))
    client.put()
    (entry,) = Spool(Places.from_environment(os.environ).spool).pending()
    assert entry.read() == b"payload"


@pytest.mark.parametrize("programs", COREUTILS)
def test_the_shell_client_needs_coreutils_alone(
    spool: Spool,
    kept: Kept,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    programs: tuple[str, ...],
) -> None:
    link(programs, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    subprocess.run(
        ["/bin/sh", CLIENT / "client.sh", "host", "Stop"], input=b"payload", check=True
    )
    assert kept() == [("host", "Stop", b"payload")]


@pytest.mark.parametrize("unknown", ["N", "%N", ""])
def test_a_clock_of_whole_seconds_is_enough_for_the_shell_client(
    all_writers: Any,
    kept: Kept,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    unknown: str,
) -> None:
    program(tmp_path / "date", f"echo 20260209T140311Z.{unknown}")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for number in range(5):
        all_writers[0].put(event=f"Event{number}")
    # their second is long past when they are written, so they come last in it, in any order
    assert sorted(event for _, event, _ in kept()) == [
        f"Event{number}" for number in range(5)
    ]


@pytest.mark.parametrize(
    ("programs", "broken"), [(some, one) for some in COREUTILS for one in some]
)
def test_a_broken_command_does_not_stop_the_host(
    all_writers: Any,
    spool: Spool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    programs: tuple[str, ...],
    broken: str,
) -> None:
    link({"sh", *programs} - {broken}, tmp_path)
    program(tmp_path / broken, "echo noise; echo noise >&2; exit 9")
    monkeypatch.setenv("PATH", str(tmp_path))
    all_writers[0].put()
    # one clears up only, and `dd` has synced what it wrote
    is_spare = broken == "rm" or (broken == "sync" and "dd" in programs)
    assert len(spool.pending()) == is_spare


def test_a_host_that_hangs_up_does_not_upset_a_client(client: Any, kept: Kept) -> None:
    with client.start("host", "Stop", stderr=subprocess.PIPE) as process:
        process.stdout.close()
        process.stdin.write(b"payload")
        process.stdin.close()
        assert (process.wait(timeout=60), process.stderr.read()) == (0, b"")
    assert kept() == [("host", "Stop", b"payload")]


def test_an_interrupt_leaves_no_half_entry(client: Any, spool: Spool) -> None:
    with client.start("host", "Stop") as process:
        process.stdin.write(b"half")
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        process.wait(timeout=60)
        assert process.stdout.read() == b""
    assert all(entry.read() == b"half" for entry in spool.pending())


def test_the_python_client_imports_next_to_nothing() -> None:
    tree = ast.parse((CLIENT / "contact.py").read_text())
    imports = [
        node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    # the other is for whoever checks types
    assert [type(node) for node in imports].count(ast.ImportFrom) == 1
    assert {name.name for node in imports for name in node.names} == {
        "ModuleType",
        "_socket",
        "os",
        "select",
        "sys",
        "time",
    }


@pytest.mark.parametrize("name", [path.name for path in sorted(CLIENT.glob("*.py"))])
def test_the_python_client_runs_on_an_older_python(name: str) -> None:
    ast.parse((CLIENT / name).read_text(), feature_version=(3, 8))


def test_the_python_client_names_the_version_it_came_with() -> None:
    assert f'CLIENT = "{__version__}"\n' in (CLIENT / "contact.py").read_text()


def test_the_shell_client_can_be_run_by_its_path() -> None:
    assert os.access(CLIENT / "client.sh", os.X_OK)


def test_without_room_an_event_waits_in_a_second_place(
    client: Any, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.mkdir(parents=True)
    (state / "spool").write_text("no folder can be made here")
    aside = tmp_path / "runtime"
    aside.mkdir(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(aside))
    client.put(b"first")
    client.put(b"second")
    (state / "spool").unlink()
    spool = Spool(state / "spool")
    assert spool.pending() == []
    assert (spool.counts()["new"], len(spool.elsewhere())) == (2, 2)
    assert (spool.collect(), spool.collect()) == (2, 0)
    assert [entry.read() for entry in spool.pending()] == [b"first", b"second"]
    assert loss_markers(state) == []
    assert stat.S_IMODE(next(aside.iterdir()).stat().st_mode) == 0o700


@pytest.mark.parametrize("trap", ["open to others", "a link", "in an open folder"])
def test_a_place_that_others_may_change_is_not_used_and_the_loss_is_counted(
    client: Any, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    state.mkdir(parents=True)
    (state / "spool").write_text("no folder can be made here")
    aside, elsewhere = tmp_path / "runtime", tmp_path / "elsewhere"
    for folder in (aside, elsewhere):
        folder.mkdir(0o700)
    own = aside / f"keeplore-{os.geteuid()}"
    if trap == "open to others":
        own.mkdir()
        own.chmod(0o755)
    elif trap == "a link":
        own.symlink_to(elsewhere)
    else:
        aside.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(aside))
    monkeypatch.setenv("TMPDIR", str(aside))
    client.put(b"lost")
    assert [path.parent for path in loss_markers(state)] == [state]
    assert not [path for path in tmp_path.rglob("*") if path.name == "new"]
    (state / "spool").unlink()
    assert Spool(state / "spool").collect() == 0
