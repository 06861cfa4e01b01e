"""Connecting from the command line: what is shown, asked, refused, told by doctor, and undone by
uninstalling.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.cli.connect_dialog import surroundings
from keeplore.cli.doctor import DoctorFinding, DoctorOptions, examine
from keeplore.config.places import Places
from keeplore.connect.assets import client_files
from keeplore.connect.connection_record import ConnectionRecord
from keeplore.workspace.recording.cursors import Cursors, SessionProgress
from keeplore_hooks.events import Origin
from keeplore_hooks.spool import Spool

Run = Callable[..., subprocess.CompletedProcess[str]]
MINE = '{"version": 1, "hooks": {"stop": [{"command": "./mine"}]}}\n'


@pytest.fixture
def cursor(home: Path) -> Path:
    """A file of the person's, in Cursor's directory."""
    path = home / ".cursor" / "hooks.json"
    path.parent.mkdir()
    path.write_text(MINE)
    return path


@pytest.fixture
def places(home: Path) -> Places:
    return Places.from_environment(os.environ)


def told(places: Places, host: str) -> list[DoctorFinding]:
    found = examine(places, DoctorOptions(surroundings(places)))
    return [finding for finding in found if finding.part == f"host {host}"]


def test_a_person_is_shown_what_changes_and_asked(
    memory: Path, cursor: Path, at_terminal
) -> None:
    status, seen = at_terminal("connect", "cursor", typed="n\n")
    assert (
        status == 130 and "Make these changes?" in seen and cursor.read_text() == MINE
    )
    assert "changed" in seen and "~/.cursor/hooks.json" in seen.replace(
        str(memory.parent), "~"
    )
    assert "client.sh cursor stop" in seen and "+++" in seen
    status, seen = at_terminal("connect", "cursor", typed="y\n")
    assert status == 0 and "Cursor: connected. Next: restart it" in seen
    assert (
        "./mine" in cursor.read_text() and "client.sh cursor stop" in cursor.read_text()
    )
    status, seen = at_terminal("disconnect", typed="y\n")
    assert status == 0 and "Cursor: disconnected" in seen and cursor.read_text() == MINE


def test_nobody_to_ask_means_no(memory: Path, cursor: Path, run: Run) -> None:
    done = run("connect", "cursor")
    assert (
        done.returncode == 1 and "--yes" in done.stderr and cursor.read_text() == MINE
    )
    assert run("connect", "cursor", "--yes").returncode == 0
    connected = cursor.read_text()
    done = run("disconnect", "cursor")
    assert (
        done.returncode == 1
        and "--yes" in done.stderr
        and cursor.read_text() == connected
    )


def test_connecting_again_has_nothing_to_ask(
    memory: Path, cursor: Path, run: Run
) -> None:
    assert run("connect", "cursor", "--yes").returncode == 0
    done = run("connect", "cursor")
    assert (done.returncode, done.stdout) == (0, "Cursor: connected already.\n")
    assert run("connect", "cursor", "--dry-run").stdout == ""


def test_before_there_is_a_workspace_the_next_step_is_named(
    cursor: Path, run: Run
) -> None:
    done = run("connect", "cursor", "--yes")
    assert done.returncode == 0 and "keeplore init" in done.stderr


def test_init_names_connecting_as_the_next_step(run: Run) -> None:
    assert "keeplore connect" in run("init", "memory").stdout


def test_a_host_that_cannot_be_connected_whole_is_an_error_that_says_what_to_do(
    memory: Path, cursor: Path, run: Run
) -> None:
    cursor.write_text("{")
    done = run("connect", "cursor", "--yes")
    assert (
        done.returncode == 1 and "no JSON" in done.stderr and "→ Mend it" in done.stderr
    )
    assert "connected in part" in done.stdout
    assert cursor.read_text() == "{" and (cursor.parent / "mcp.json").exists()


def test_a_name_of_a_file_cannot_speak_to_the_terminal(
    memory: Path, home: Path, run: Run
) -> None:
    folder = home / "odd\x1b[2J\u202e"
    folder.mkdir()
    done = run("connect", "codex", "--dry-run", CODEX_HOME=str(folder))
    assert (
        "odd" in done.stdout
        and "\x1b" not in done.stdout
        and "\u202e" not in done.stdout
    )


def test_doctor_tells_of_each_host(
    memory: Path, cursor: Path, places: Places, run: Run
) -> None:
    (finding,) = told(places, "cursor")
    assert (finding.level, finding.remedy) == ("note", "`keeplore connect cursor`")
    assert run("connect", "cursor", "codex", "--yes").returncode == 0
    levels = {
        finding.message.split(":")[0].split(",")[0]: finding
        for finding in told(places, "codex")
    }
    assert (
        "/hooks" in levels["connected"].remedy and "trust" in levels["connected"].remedy
    )
    Spool(places.spool).add("cursor", "stop", b"{}")
    assert {finding.level for finding in told(places, "cursor")} == {"ok"}
    assert any(
        "its last event came at 20" in finding.message
        for finding in told(places, "cursor")
    )


def test_a_host_of_which_sessions_were_only_imported_is_not_heard_of(
    memory: Path, cursor: Path, places: Places
) -> None:
    Cursors(places.sessions).save(
        SessionProgress(Origin("cursor", "s-1"), heard_at="2026-02-09T14:03:11Z")
    )
    (finding,) = told(places, "cursor")
    assert finding.remedy == "`keeplore connect cursor`"


def test_doctor_tells_what_is_missing_changed_or_old(
    memory: Path, cursor: Path, places: Places, run: Run
) -> None:
    assert run("connect", "cursor", "--yes").returncode == 0
    text = cursor.read_text()
    cursor.write_text(text.replace('"timeout": 5', '"timeout": 6'))
    assert any(f.level == "note" and "changed by hand" in f.message and str(cursor) in f.message
               for f in told(places, "cursor"))  # fmt: skip
    cursor.write_text(MINE)
    (missing,) = [
        finding for finding in told(places, "cursor") if finding.level == "wrong"
    ]
    assert (
        str(cursor) in missing.message and "keeplore connect cursor" in missing.remedy
    )
    cursor.write_text(text)
    client = places.state / "client" / "client.py"
    client.write_text("old")
    fixed = run("doctor", "--fix")
    assert (
        "wrote client.py" in fixed.stdout
        and client.read_bytes() == client_files()["client.py"]
    )


def test_doctor_tells_of_an_entry_that_came_from_two_sides(
    memory: Path, home: Path, places: Places, run: Run
) -> None:
    (home / ".claude").mkdir(exist_ok=True)
    assert run("connect", "claude-code", "--yes").returncode == 0
    (home / ".claude/settings.json").write_text(
        '{"enabledPlugins": {"keeplore@keeplore": true}}'
    )
    assert any(
        "connected twice" in finding.message for finding in told(places, "claude-code")
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (".claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        (
            ".claude/settings.json",
            '{"enabledPlugins": {"keeplore@skills-dir": false}}',
            "keeplore@skills-dir",
        ),
        (".codex/config.toml", "[features]\nhooks = false\n", "[features]"),
    ],
)
def test_doctor_tells_what_keeps_a_host_from_running_our_entries(
    memory: Path,
    home: Path,
    places: Places,
    run: Run,
    name: str,
    content: str,
    words: str,
) -> None:
    host = "codex" if "codex" in name else "claude-code"
    (home / name).parent.mkdir(exist_ok=True)
    (home / name).write_text(content)
    assert run("connect", host, "--yes").returncode == 0
    assert any(
        "runs none" in finding.message and words in finding.message
        for finding in told(places, host)
    )


def test_our_own_plugin_that_claude_code_lists_is_no_second_one(
    memory: Path, home: Path, places: Places, run: Run
):
    (home / ".claude/settings.json").write_text(
        '{"enabledPlugins": {"keeplore@skills-dir": true}}'
    )
    assert run("connect", "claude-code", "--yes").returncode == 0
    assert not any(
        "twice" in finding.message for finding in told(places, "claude-code")
    )


def test_claude_codes_notes_can_be_kept_in_the_workspace(
    memory: Path, home: Path, run: Run
) -> None:
    settings = home / ".claude/settings.json"
    settings.write_text("{}")
    done = run("connect", "claude-code", "--yes", "--auto-memory")
    place = memory / "user/memory/claude-code"
    assert done.returncode == 0 and json.loads(settings.read_text()) == {
        "autoMemoryDirectory": str(place)
    }
    assert "all projects" in done.stderr
    done = run(
        "connect", "claude-code", "--yes", "--auto-memory", str(home / "elsewhere")
    )
    assert done.returncode == 1 and str(memory / "user" / "memory") in done.stderr
    assert run("connect", "cursor", "--auto-memory", str(place)).returncode == 2
    assert run("disconnect", "--yes").returncode == 0 and settings.read_text() == "{}"


def test_uninstalling_disconnects(
    memory: Path, cursor: Path, home: Path, places: Places, run: Run
) -> None:
    (home / ".codex").mkdir()
    assert run("connect", "cursor", "codex", "--yes").returncode == 0
    done = run("uninstall", "--yes")
    assert (
        done.returncode == 0
        and "entries go from these:" in done.stdout
        and str(cursor) in done.stdout
    )
    assert cursor.read_text() == MINE and not [*(home / ".codex").iterdir()]
    assert not places.state.exists() and not (home / ".agents").exists()


def test_uninstalling_stops_where_entries_cannot_be_taken_out(
    memory: Path, cursor: Path, places: Places, run: Run
):
    assert run("connect", "cursor", "--yes").returncode == 0
    whole = cursor.read_text()
    cursor.write_text(whole[:-3])
    done = run("uninstall", "--yes")
    assert (
        done.returncode == 1 and str(cursor) in done.stderr and "again" in done.stderr
    )
    assert [*ConnectionRecord.load(places.state).files] == [str(cursor)]
    cursor.write_text(whole)
    assert run("uninstall", "--yes").returncode == 0 and cursor.read_text() == MINE


def test_the_clients_copy_is_renewed_only_where_hosts_use_one(
    places: Places, home: Path
) -> None:
    code = (
        "import sys; from pathlib import Path; from keeplore.connect.client_copy import "
        "refresh_clients as r; "
    )
    code += "print(r(Path(sys.argv[1])))"
    command = (sys.executable, "-c", code, str(places.state))
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        == "()\n"
    )
    assert not (places.state / "client").exists()
    (places.state / "client").mkdir(parents=True)
    assert (
        "client.sh"
        in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    assert {
        path.name: path.read_bytes() for path in (places.state / "client").iterdir()
    } == client_files()
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        == "()\n"
    )


def test_an_entry_before_edits_comes_and_goes_with_the_setting(
    memory: Path, home: Path, run: Run
) -> None:
    (home / ".codex").mkdir()
    settings, hooks = memory / "keeplore.yaml", home / ".codex" / "hooks.json"
    assert run("connect", "codex", "--yes").returncode == 0
    without = hooks.read_text()
    settings.write_text(
        settings.read_text().replace("before_edit: false", "before_edit: true")
    )
    assert run("connect", "codex", "--yes").returncode == 0
    assert "PreToolUse" in hooks.read_text()
    settings.write_text(
        settings.read_text().replace("before_edit: true", "before_edit: false")
    )
    assert run("connect", "codex", "--yes").returncode == 0
    assert hooks.read_text() == without


def test_doctor_says_of_a_host_that_is_connected_in_part_what_is_missing(
    memory: Path, home: Path, places: Places, run: Run
) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text("{} // mine\n")
    assert run("connect", "codex", "--yes").returncode == 1
    assert [finding.level for finding in told(places, "codex")].count("wrong") == 1
    [found] = [finding for finding in told(places, "codex") if finding.level == "wrong"]
    assert "hooks.json" in found.message and found.remedy
    assert not any("all intact" in finding.message for finding in told(places, "codex"))


def test_what_opencode_installs_is_told_before_and_what_stays_afterwards(
    memory: Path, home: Path, run: Run
) -> None:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    for arguments in (["--dry-run"], ["--yes"]):
        assert "installs 63 MB" in run("connect", "opencode", *arguments).stderr
    assert "63 MB" not in run("connect", "opencode", "--yes").stderr
    (folder / "node_modules").mkdir()
    (folder / "package.json").write_text("{}")
    said = run("disconnect", "--yes").stderr
    words = "node_modules, package.json in "
    assert words in said and "stay: remove them by hand" in " ".join(said.split())
    assert (folder / "package.json").exists()


def test_what_codex_noted_about_our_entries_is_named_when_they_go(
    memory: Path, home: Path, run: Run
) -> None:
    folder = home / ".codex"
    folder.mkdir()
    assert run("connect", "codex", "--yes").returncode == 0
    config = folder / "config.toml"
    key = f"{folder / 'hooks.json'}:stop:0:0"
    config.write_text(
        config.read_text() + f'\n[hooks.state."{key}"]\ntrusted_hash = "sha256:1"\n'
    )
    said = run("disconnect", "--yes").stderr
    assert f'[hooks.state."{key}"]' in said and "(1 in all)" in " ".join(said.split())
    assert "trusted_hash" in config.read_text()


@pytest.mark.parametrize(
    ("version", "level", "words"),
    [
        ("99.1.0", "note", "99.1.0 is here; the newest version that was tried is"),
        ("0.30.1", "ok", "0.30.1 is here, tried up to"),
    ],
)
def test_a_version_that_was_never_tried_is_told(
    memory: Path,
    home: Path,
    places: Places,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    level: str,
    words: str,
) -> None:
    package = home / "lib" / "node_modules" / "@google" / "gemini-cli"
    (package / "bundle").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"version": version}))
    program = package / "bundle" / "gemini.js"
    program.touch(0o755)
    (home / "bin").mkdir()
    (home / "bin" / "gemini").symlink_to(program)
    (home / ".gemini").mkdir()
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert run("connect", "gemini-cli", "--yes").returncode == 0
    (found,) = [one for one in told(places, "gemini-cli") if version in one.message]
    assert found.level == level and words in found.message


def test_sessions_that_grow_without_an_event_are_told(
    memory: Path, home: Path, places: Places, run: Run
) -> None:
    chats = home / ".gemini" / "tmp" / "kasha" / "chats"
    chats.mkdir(parents=True)
    assert run("connect", "gemini-cli", "--yes").returncode == 0
    record = chats / "session-2026-02-09T14-00-0a0b0c0d.jsonl"
    lines = [{"sessionId": "0a0b0c0d", "kind": "main"}, {"id": "1", "type": "user"}]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = "its sessions grow"
    assert [one for one in told(places, "gemini-cli") if words in one.message] == []
    later = (places.state / "connections.json").stat().st_mtime + 7200
    os.utime(record, (later, later))
    (found,) = [one for one in told(places, "gemini-cli") if words in one.message]
    assert found.level == "note" and "start it anew" in found.remedy
