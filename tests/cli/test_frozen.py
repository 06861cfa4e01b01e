"""A frozen workspace: everything can be asked, and nothing is written, by whatever way."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from file_hashes import digests
from hasty_worker import hurry
from live_session import Live
from ready import Done

from keeplore.cli.main import COMMANDS
from keeplore.config.places import Places
from keeplore.worker.loop import Worker
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import Intake
from keeplore_hooks.spool import Spool

Run = Callable[..., Done]
# they serve what others do here, write elsewhere, or take away what is installed
UNTRIED = {"clone", "completion", "disconnect", "mcp", "open", "uninstall"}
ASKING = (
    ("brief",),
    ("recall", "Redis"),
    ("why", "{id}", "--query", "Redis"),
    ("graph",),
    ("list",),
    ("show", "{id}"),
    ("history", "{id}"),
    ("entity", "list"),
    ("review",),
    ("restore", "--list"),
    ("archive",),
    ("stats",),
    ("export",),
    ("audit",),
    ("cost",),
    ("lint",),
    ("exclude", "--list"),
    ("pause", "--for", "1m"),
    ("pause", "--end"),
    ("whoami",),
    ("projects",),
    ("machines",),
    ("workspaces",),
    ("config",),
    ("config", "set", "--machine", "context.related", "1"),
    ("embedding",),
    ("embedding", "use", "packaged"),  # it is already
    ("engine",),
    ("import", "--all", "--yes"),
    ("init", "{root}"),
    ("doctor",),
    ("doctor", "--fix"),
    ("doctor", "--deep"),
    ("worker", "status"),
    ("emit", "--host", "robot"),
    ("upgrade",),
    ("remember",),  # nothing was said in this session
)
WRITING = (
    ("remember", "We ship on Friday"),
    ("remember", "--scope", "user", "I like tea"),
    ("remember", "--replaces", "{id}", "No Redis"),
    ("ingest", "{document}"),
    ("edit", "{id}", "--title", "Another"),
    ("pin", "{id}"),
    ("unpin", "{id}"),
    ("entity", "add", "ledger"),
    ("forget", "{id}", "--yes"),
    ("forget", "{id}", "--purge", "--yes"),
    ("restore", "{gone}"),
    ("archive", "--larger-than", "1kB", "--apply"),
    ("refine",),
    ("sync",),
    ("lint", "--install"),
    ("tidy",),
    ("exclude", "--workspace", "{code}"),
    ("include", "--workspace", "{code}"),
    ("projects", "add", "{other}"),
    ("config", "set", "context.related", "2"),
    ("config", "unset", "context.related"),
    ("connect", "claude-code", "--auto-memory", "--yes"),
)


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch.setattr)


def test_every_command_is_tried() -> None:
    assert {words[0] for words in (*ASKING, *WRITING)} | UNTRIED == set(COMMANDS)


@pytest.fixture
def frozen(memory: Path, shop: Path, run: Run, git: Callable[..., str]) -> Path:
    git("init", "--quiet", "--bare", "remote.git", cwd=memory.parent)
    git("remote", "add", "origin", memory.parent / "remote.git", cwd=memory)
    for text in ("No Redis, it loses sessions", "Old rule about tabs"):
        assert run("remember", text, cwd=shop).returncode == 0
    fact = f"Tea is served at four{' and more of it' * 90}"
    done = run("remember", "--category", "user-facts", fact, cwd=shop)
    assert done.returncode == 0
    ids = known(run, shop)
    assert run("forget", ids["Old rule about tabs"], "--yes", cwd=shop).returncode == 0
    assert run("config", "set", "context.related", "1", cwd=shop).returncode == 0
    assert run("config", "set", "llm.provider", "openai", cwd=shop).returncode == 0
    return memory


def known(run: Run, cwd: Path) -> dict[str, str]:
    listed = json.loads(run("list", "--json", "--limit", "0", cwd=cwd).stdout)
    return {one["title"]: one["id"] for one in listed}


def _leave_in_a_merge(code: Path, git: Callable[..., str]) -> None:
    """A note that two branches changed, with the marks that git leaves without our driver."""
    git("config", "--remove-section", "merge.keeplore", cwd=code)
    (note,) = (code / ".keeplore" / "memory").rglob("*.md")
    git("add", ".", cwd=code)
    git("commit", "--quiet", "--message", "Notes", cwd=code)
    git("branch", "other", cwd=code)
    text = note.read_text()
    for branch, field in (("", "permanent: true"), ("other", "confidence: 0.5")):
        git("checkout", "--quiet", *filter(None, [branch]), cwd=code)
        note.write_text(text.replace("version: 1", f"version: 1\n{field}", 1))
        git("commit", "--quiet", "--all", "--message", "Change", cwd=code)
    merge = ("git", "merge", "--quiet", "-")
    done = subprocess.run(merge, cwd=code, capture_output=True, check=False)
    assert done.returncode and "<<<<<<<" in note.read_text()


def test_no_command_and_no_worker_writes_into_it(
    frozen: Path, shop: Path, home: Path, run: Run
) -> None:
    ids = known(run, shop)
    gone = next((frozen / "forgotten").glob("*.json")).stem
    document = home / "page.md"
    document.write_text("# A page\n\nRedis keeps sessions in memory.\n")
    places = {"id": ids["No Redis, it loses sessions"], "gone": gone}
    (home / "code" / "other").mkdir()
    places |= {"other": str(home / "code" / "other")}
    places |= {"document": str(document), "code": str(shop), "root": str(frozen)}
    live = Live("s-1", itertools.count())
    live.user("u-1", "We take Postgres for the queue, because Redis loses jobs.")
    live.say("a-1", "Agreed: Postgres.", "u-1")
    live.hear(
        "UserPromptSubmit", prompt="We take Postgres for the queue"
    )  # is open now
    assert run("config", "set", "frozen", "true", cwd=shop).returncode == 0
    before = digests(frozen)
    live.user("u-2", "Always use tabs.", "a-1")
    live.say("a-2", "I will remember that.", "u-2")
    for event in ("UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"):
        live.hear(event, prompt="Always use tabs.", reason="exit", trigger="auto")
    with Registry(Places.from_environment(os.environ)) as registry:
        assert Intake(registry).sweep() == ()
    assert digests(frozen) == before
    for command in ASKING:
        done = run(*(word.format(**places) for word in command), cwd=shop)
        assert done.returncode in {0, 1, 4}, (command, done.stderr)
        assert "Traceback" not in done.stderr
        assert digests(frozen) == before, command
    for command in WRITING:
        done = run(*(word.format(**places) for word in command), cwd=shop)
        assert (done.returncode, "is frozen" in done.stderr) == (1, True), (
            command,
            done.stdout,
            done.stderr,
        )
        assert "keeplore config set frozen false" in done.stderr, command
        assert digests(frozen) == before, command
    spool = Spool(Places.from_environment(os.environ).spool)
    spool.add(
        "claude-code",
        "UserPromptSubmit",
        json.dumps(
            {
                "session_id": "s-2",
                "cwd": str(shop),
                "hook_event_name": "UserPromptSubmit",
                "prompt": "Remember that we never deploy on Friday.",
            }
        ).encode(),
    )
    assert Worker(Places.from_environment(os.environ), idle_exit_s=0.0).run()
    assert spool.counts()["new"] == spool.counts()["dead"] == 0
    assert digests(frozen) == before


@pytest.mark.parametrize("words", [(), ("--machine",)], ids=["workspace", "machine"])
def test_when_it_thaws_memory_goes_on(
    frozen: Path, shop: Path, run: Run, words: tuple[str, ...]
) -> None:
    assert run("config", "set", *words, "frozen", "true", cwd=shop).returncode == 0
    assert run("remember", "We ship on Friday", cwd=shop).returncode == 1
    assert "is frozen" in run("whoami", cwd=shop).stdout
    assert "it is frozen" in run("doctor", cwd=shop).stdout
    assert run("config", "set", *words, "frozen", "false", cwd=shop).returncode == 0
    assert run("remember", "We ship on Friday", cwd=shop).returncode == 0
    assert "We ship on Friday" in known(run, shop)


def test_notes_with_the_code_are_not_written_either(
    frozen: Path, shop: Path, run: Run, git: Callable[..., str]
) -> None:
    other = shop.parent / "site"
    for code in (shop, other):
        code.mkdir(exist_ok=True)
        git("init", "--quiet", cwd=code)
        (code / "app.py").write_text("print()\n")
        git("add", "app.py", cwd=code)
        git("commit", "--quiet", "--message", "Begin", cwd=code)
    assert run("projects", "add", str(other), cwd=other).returncode == 0
    assert run("projects", "in-repo", "--yes", cwd=shop).returncode == 0
    notes = ("The gateway waits 30 s", "Staging has one database")
    for text in notes:
        assert run("remember", text, cwd=shop).returncode == 0
    ids = known(run, shop)
    gone, left = (ids[text] for text in notes)
    assert run("forget", gone, "--yes", cwd=shop).returncode == 0
    assert run("config", "set", "frozen", "true", cwd=shop).returncode == 0
    places = (frozen, shop / ".keeplore", other)
    before = [*map(digests, places)]
    for words in (
        ("remember", "The ledger waits 20 s"),
        ("remember", "--replaces", left, "Staging has two databases"),
        ("edit", left, "--title", "Another"),
        ("pin", left),
        ("forget", left, "--yes"),
        ("forget", left, "--yes", "--purge"),
        ("archive", "--larger-than", "1B", "--apply"),
        ("restore", gone),
    ):
        done = run(*words, cwd=shop)
        assert (done.returncode, "is frozen" in done.stderr) == (1, True), words
        assert [*map(digests, places)] == before, words
    done = run("projects", "in-repo", "--yes", cwd=other)
    assert (done.returncode, "is frozen" in done.stderr) == (1, True), done.stderr
    _leave_in_a_merge(shop, git)
    before = [*map(digests, places)]
    assert "is frozen" in run("doctor", "--fix", cwd=shop).stdout
    for words in (("recall", "Redis"), ("list",), ("projects", "in-repo")):
        assert run(*words, cwd=shop).returncode == 0, words
    live = Live("s-9", itertools.count())
    live.cwd = shop
    for event in ("UserPromptSubmit", "Stop", "SessionEnd"):
        live.hear(event, prompt="Remember that we never deploy on Friday.")
    assert Worker(Places.from_environment(os.environ), idle_exit_s=0.0).run()
    assert [*map(digests, places)] == before
