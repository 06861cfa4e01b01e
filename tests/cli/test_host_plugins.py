"""A package of somebody else brings a host, how it is connected, and a source; another one is
broken, and stops nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore_hooks.spool import Spool

PLUGIN = """
import json
from pathlib import Path

from keeplore.connect.hook_events import HookEvent
from keeplore.connect.host_connection import Desired, HostConnection, HostLocation
from keeplore.connect.json_edit import JsonEntry
from keeplore.connect.resources import JsonEntries, OwnFile
from keeplore_hooks.contracts import HostPlugin, SourcePlugin
from keeplore_hooks.events import Origin, Turn
from keeplore_hooks.hosts import Ask, Cursor, Reading, Recorded
from keeplore_hooks.specs import hookimpl


class Acme:
    name, variable, folder, tells_end, context_bytes = "acme", "", ".acme", True, 8000

    def origin(self, event, payload):
        said = json.loads(payload)
        return Origin(self.name, said["session"], said["cwd"])

    def read(self, event, payload, cursor, at):
        said = json.loads(payload)
        origin = self.origin(event, payload)
        return Reading((Turn(said["id"], origin, at, said["user"], ("Noted.",)),), cursor)

    def ask(self, event, payload):
        return Ask("prompt", json.loads(payload)["user"])

    def reply(self, event, context):
        return json.dumps({"acme": context}).encode()

    def notice(self, event, text):
        return b""

    def read_transcript(self, path, cursor):
        said = json.loads(path.read_text())
        origin = Origin(self.name, path.stem, said["cwd"], transcript=str(path))
        turn = Turn(path.stem, origin, said["at"], said["user"], (said["reply"],), said["at"])
        return Reading((turn,), Cursor(1))

    def recorded(self, home, config_dir=""):
        for path in sorted((Path(config_dir or home) / self.folder / "log").glob("*.json")):
            said = json.loads(path.read_text())
            yield Recorded(path, path.stem, said["cwd"], said["at"], path.stat().st_size)


class Diary(Acme):
    name, folder = "diary", ".diary"


def files(place):
    hook = HookEvent("stop", is_asked=True)
    words = list(place.launcher.words("acme", hook))
    yield Desired(place.directory / "keeplore" / "note.txt", OwnFile.of(b"Keeplore listens.\\n"))
    entry = JsonEntry(("run",), words)
    yield Desired(place.directory / "acme.json", JsonEntries((entry,)))


@hookimpl
def keeplore_hosts():
    return [HostPlugin("acme", Acme, "https://acme.example/keeplore"), HostPlugin("codex", Acme)]


@hookimpl
def keeplore_sources():
    return [SourcePlugin("diary", Diary)]


@hookimpl
def keeplore_connections():
    location = HostLocation("Acme Agent", ".acme", ["acme"], "start it anew")
    return [HostConnection("acme", location, files)]
"""
BROKEN = """
from keeplore.connect.host_connection import HostConnection, HostLocation
from keeplore_hooks.contracts import HostPlugin, SourcePlugin
from keeplore_hooks.specs import hookimpl


class Bad:
    name, variable, folder, tells_end = "bad-log", "", ".bad", True

    def recorded(self, home, config_dir=""):
        raise RuntimeError("no log")


def fails(*_):
    raise RuntimeError("no files")


@hookimpl
def keeplore_hosts():
    raise RuntimeError("no hosts")


@hookimpl
def keeplore_sources():
    return [SourcePlugin("bad-log", Bad), SourcePlugin("never", fails)]


@hookimpl
def keeplore_connections():
    location = HostLocation("Bad", ".acme", [], "nothing")
    return [HostConnection("bad", location, fails, switched_off=fails)]
"""
TAKE = """
import os
from keeplore.config.places import Places
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import Intake
from keeplore_hooks.spool import Spool
places = Places.from_environment(os.environ)
(entry,) = Spool(places.spool).pending()
with Registry(places) as registry:
    print(Intake(registry).take(entry).turns)
    registry.commit_all("Take a turn")
"""


def distribution(site: Path, name: str, points: dict[str, str], code: str) -> None:
    """An installed package, as an installer leaves it."""
    module = name.replace("-", "_")
    (site / f"{module}.py").write_text(code)
    facts = site / f"{module}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    )
    entries = "".join(f"{point} = {target}\n" for point, target in points.items())
    (facts / "entry_points.txt").write_text(f"[keeplore]\n{entries}")


@pytest.fixture
def run(
    memory: Path, tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python where both packages are installed."""
    site = tmp_path / "site"
    site.mkdir()
    distribution(site, "acme-keeplore", {"acme": "acme_keeplore"}, PLUGIN)
    points = {"broken": "broken_keeplore", "gone": "nowhere"}
    distribution(site, "broken-keeplore", points, BROKEN)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "100"}
        command = (sys.executable, *words)
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, cwd=memory.parent
        )

    return run


def keeplore(run: Callable[..., subprocess.CompletedProcess[str]], *words: str) -> str:
    done = run("-m", "keeplore.cli", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def said(root: Path) -> set[tuple[str, str]]:
    memories = [parse(path.read_text()) for path in root.rglob("conversations/**/*.md")]
    return {
        (memory.source["host"], exchange.user)
        for memory in memories
        for exchange in Conversation.from_markdown(memory.body).exchanges
    }


def test_a_package_brings_a_host_and_a_broken_one_stops_nothing(
    run: Callable[..., subprocess.CompletedProcess[str]],
    memory: Path,
    shop: Path,
    home: Path,
) -> None:
    told = {
        "cwd": str(shop),
        "at": "2026-02-09T14:00:00Z",
        "reply": "Because it lost jobs.",
    }
    for folder, user in (
        (".acme", "Why did Redis go?"),
        (".diary", "Why is Postgres here?"),
    ):
        log = home / folder / "log" / "s-1.json"
        log.parent.mkdir(parents=True)
        log.write_text(json.dumps({**told, "user": user}))
    (home / ".diary" / "log" / "s-1.json").rename(home / ".diary" / "log" / "s-2.json")
    (home / ".acme" / "acme.json").write_text('{"theme": "dark"}\n')
    imported = keeplore(run, "import", "acme") + keeplore(
        run, "import", "diary", "--from", str(home)
    )
    assert "acme: " in imported and "diary: " in imported
    places = Places.from_environment(os.environ)
    payload = {
        "session": "s-3",
        "cwd": str(shop),
        "id": "t",
        "user": "And the retries?",
    }
    Spool(places.spool).add("acme", "stop", json.dumps(payload).encode())
    assert run("-c", TAKE).stdout == "1\n"
    assert said(memory) == {
        ("acme", "Why did Redis go?"),
        ("diary", "Why is Postgres here?"),
        ("acme", "And the retries?"),
    }
    connected = run("-m", "keeplore.cli", "connect", "--yes")
    assert connected.returncode == 1  # "bad" is found by its folder
    assert "what connects bad fails: RuntimeError('no files')" in connected.stderr
    assert "Acme Agent: connected. Next: start it anew." in connected.stdout
    settings = json.loads((home / ".acme" / "acme.json").read_text())
    assert settings["theme"] == "dark" and settings["run"][-2:] == ["acme", "stop"]
    findings = json.loads(run("-m", "keeplore.cli", "doctor", "--json").stdout)
    messages = [one["message"] for one in findings if one["part"] == "plugins"]
    expected = [
        "acme brings the host acme: https://acme.example/keeplore",
        "acme brings the source diary",
        "broken failed at keeplore_hosts: RuntimeError('no hosts')",
        "acme failed at host: codex is taken by Keeplore",
        "gone failed when it was loaded: ModuleNotFoundError(\"No module named 'nowhere'\")",
    ]
    assert [one for one in expected if one not in messages] == []
    keeplore(run, "disconnect", "acme", "--yes")
    assert (home / ".acme" / "acme.json").read_text() == '{"theme": "dark"}\n'
    assert not (home / ".acme" / "keeplore").exists()
