"""Every command as a person and a program meet it: help, output, exit status, and what an error
says to do next.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from new_workspace import lay_down
from ready import keeplore

from keeplore.cli.main import COMMANDS
from keeplore.config.places import Places
from keeplore.worker.server.socket_server import SocketServer
from keeplore.workspace import Registry
from keeplore_hooks.events import Origin, Turn
from keeplore_hooks.spool import Spool

GOLDEN = Path(__file__).parents[1] / "golden" / "help"
HELP = [
    (),
    *((name,) for name in COMMANDS),
    *(("worker", name) for name in ("status", "stop", "logs", "run")),
    *(("workspaces", name) for name in ("list", "home", "remove", "rename")),
    *(("config", name) for name in ("list", "get", "set", "unset")),
    *(("machines", name) for name in ("list", "accept", "refuse")),
]
# each command in a process of its own, which has loaded nothing of another but what most need, and
# which ends without taking all of that apart
SAY_HELP = """
import gc, json, os, sys
import keeplore.workspace
from keeplore.cli.main import main

gc.disable()
for command in json.loads(sys.argv[1]):
    if os.fork() == 0:
        sys.argv[1:] = [*command, "--help"]
        try:
            main()
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code or 0)
    _, status = os.wait()
    assert status == 0, command
    print(end="\\0", flush=True)
"""
SAID = "We keep the ledger append-only, because auditors ask for every state that ever was."


def refused(done: subprocess.CompletedProcess[str], message: str, remedy: str) -> None:
    """An expected error: two lines on stderr, what is wrong and what to do next."""
    assert (done.returncode, done.stdout) == (1, "")
    first, second = done.stderr.splitlines()
    assert first.startswith("keeplore: ") and message in first
    assert second.startswith("  → ") and remedy in second


@pytest.fixture
def places():
    return Places.from_environment(os.environ)


@pytest.fixture
def memory(places):
    lay_down(places, Path.home() / "memory")
    return Path.home() / "memory"


@pytest.fixture
def project(memory, places):
    """A project of which memory holds one decision."""
    folder = Path.home() / "code" / "ledgerly"
    folder.mkdir(parents=True)
    with Registry(places) as registry:
        origin = Origin("claude-code", "s-1", str(folder))
        registry.named("memory").emit(
            Turn("t-1", origin, "2026-02-09T14:00:00Z", "Append-only?", (SAID,))
        )
    return folder


def test_help_reads_as_written_down():
    """To write the texts anew: WRITE_GOLDEN=1 pytest tests/cli -k help, then read the
    difference.
    """
    done = subprocess.run(
        (sys.executable, "-c", SAY_HELP, json.dumps(HELP)),
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    texts = dict(zip(HELP, done.stdout.split("\0")[:-1], strict=True))
    files = {
        command: GOLDEN / f"{'-'.join(('keeplore', *command))}.txt" for command in HELP
    }
    if os.environ.get("WRITE_GOLDEN"):
        for command, text in texts.items():
            files[command].write_text(text)
    assert texts == {command: file.read_text() for command, file in files.items()}


@pytest.mark.parametrize("group", ["config", "entity", "projects", "worker"])
def test_what_a_group_of_commands_offers_fits_a_terminal(group):
    listed = keeplore(group, "--help", COLUMNS="80").stdout.partition("Commands:\n")[2]
    assert [line for line in listed.splitlines() if line.endswith("...")] == []
    assert len(listed.splitlines()) > 2


@pytest.mark.usefixtures("memory")
def test_of_many_alike_three_are_told_and_more_where_more_are_asked_for(project):
    for place in ("cellar", "attic", "garage", "shed", "loft"):
        text = f"The gauge of the {place} sends humidity to its own page there."
        assert keeplore("remember", text, cwd=project).returncode == 0
    question = "does the gauge send humidity"
    for most, told in ((), 3), (("-n", "6"), 5):
        found = keeplore("recall", question, *most, cwd=project).stdout
        hits = found.strip().split("\n\n")[:told]
        assert [
            hit.startswith(f"{n}. The gauge of") for n, hit in enumerate(hits, 1)
        ] == [True] * told
    assert (
        len(keeplore("recall", question, cwd=project).stdout.strip().split("\n\n")) == 3
    )


def test_recall_tells_found_from_nothing_from_empty_by_its_exit_status(memory, request):
    empty = keeplore("recall", "ledger")
    assert (empty.returncode, empty.stderr) == (5, "")
    assert "keeplore import --all" in empty.stdout
    project = request.getfixturevalue("project")
    found = keeplore("recall", "append-only", "ledger", cwd=project)
    assert (
        found.returncode == 0
        and "append-only" in found.stdout
        and "\n   keeplore show " in found.stdout
    )
    nothing = keeplore("recall", "Kubernetes ingress certificates", cwd=project)
    assert (nothing.returncode, nothing.stdout) == (
        4,
        (
            "Nothing found: no memory here is surely about that. Try other words, or --wide for the other "
            "projects and agents.\n"
        ),
    )
    wide = keeplore("recall", "--wide", "Kubernetes ingress certificates", cwd=project)
    assert (wide.returncode, wide.stdout) == (
        4,
        "Nothing found: no memory here is surely about that. Try other words.\n",
    )


def test_recall_says_that_the_index_is_stale_where_it_cannot_catch_up(project, places):
    (note,) = (Path.home() / "memory").glob("projects/**/*.md")
    assert keeplore("recall", "--text", "append-only", cwd=project).returncode == 0
    note.write_text(
        note.read_text()
        .replace("append-only", "immutable")
        .replace("ppend-only", "mmutable")
    )
    lock = places.cache / "index" / "memory" / "writer.lock"
    lock.unlink()
    lock.mkdir()  # so that nobody can write the index
    done = keeplore("recall", "--text", "append-only", cwd=project)
    assert done.returncode == 6
    assert "keeplore doctor" in done.stdout and "1 file behind" in done.stderr


def test_recall_gives_programs_json(project):
    answer = json.loads(
        keeplore("recall", "--json", "--text", "append-only ledger", cwd=project).stdout
    )
    assert (answer["status"], answer["legs"], answer["query"]) == (
        "found",
        ["text"],
        "append-only ledger",
    )
    (hit,) = answer["hits"]
    assert {
        "title",
        "changed_at",
        "scope",
        "project",
        "score",
        "passage",
        "path",
        "memory_id",
        "turn",
    } <= hit.keys()
    assert hit["turn"] == "t-1" and 0 < hit["score"] <= 1


def test_text_alone_is_said_to_be_text_alone(project):
    done = keeplore("recall", "--text", "append-only", cwd=project)
    assert done.stderr == "note: searched by text alone, as asked\n"
    assert keeplore("recall", "append-only", cwd=project).stderr == ""


@pytest.mark.parametrize(
    ("query", "status"),
    [
        (b"\xff\xfe", 2),
        (b"'\"; DROP TABLE (", 4),
        (b"*", 2),
        (b"-- ", 2),
        ("naïve Ω 記憶".encode(), 4),
    ],
)
def test_any_bytes_are_a_question_or_none(project, query, status):
    command = (
        sys.executable,
        "-m",
        "keeplore.cli",
        "recall",
        "--text",
        "--json",
        "--",
        query,
    )
    done = subprocess.run(
        command,
        cwd=project,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == status, done.stderr
    assert status == 2 or json.loads(done.stdout)["status"] == "nothing"


@pytest.mark.parametrize(
    "command",
    [
        ("recall", "x"),
        ("whoami",),
        ("projects",),
        ("sync",),
        ("remember", "x"),
        ("list",),
    ],
    ids=" ".join,
)
def test_without_a_workspace_every_command_says_how_to_get_one(command):
    refused(
        keeplore(*command),
        "no workspace is set up on this machine",
        "keeplore init DIR",
    )


def test_init_refuses_what_cannot_be_a_workspace_and_leaves_nothing(memory):
    (Path.home() / "notes").write_text("mine")
    refused(keeplore("init", "notes"), "is a file", "Name a directory")
    refused(keeplore("init", "bad\udcff"), "bad? is no text in UTF-8", "Choose another")
    refused(
        keeplore("init", "other", "--name", "memory"),
        "another workspace named 'memory'",
        "--name",
    )
    refused(
        keeplore("init", "other", "--name", "../../up"),
        "cannot be the name of a workspace",
        "--name",
    )
    assert not (Path.home() / "other").exists()
    again = keeplore("init", "memory")
    assert again.returncode == 0 and again.stdout.startswith(
        "Registered workspace 'memory'"
    )


def test_a_cloned_workspace_cannot_choose_a_name_that_is_a_path(memory, git):
    (memory / "keeplore.yaml").write_text("schema: 1\nname: ..\n")
    git("commit", "-qam", "A name", cwd=memory)
    refused(
        keeplore("clone", str(memory), "copy"),
        "cannot be the name of a workspace",
        "--name",
    )


def test_settings_that_are_not_valid_are_told_with_their_line_by_whoever_gets_them(
    memory, git
):
    copy = Path.home() / "copy"
    assert keeplore("clone", str(memory), "copy").returncode == 0
    (memory / "keeplore.yaml").write_text("schema: 1\ncontext: [\n")
    git("commit", "-qam", "Broken", cwd=memory)
    for done in (keeplore("sync", cwd=copy), keeplore("clone", str(memory), "third")):
        assert done.returncode == 1
        assert "keeplore.yaml is no YAML" in done.stderr
        assert "line 3, column 1\n  → Mend that line\n" in done.stderr
    (Path.home() / "third" / "keeplore.yaml").write_text("schema: 1\n")
    assert "third" in keeplore("workspaces").stdout


@pytest.mark.parametrize("is_committed", [True, False])
def test_settings_that_were_mended_elsewhere_come_with_a_sync(
    memory, git, is_committed
):
    copy = Path.home() / "copy"
    whole = (memory / "keeplore.yaml").read_text()
    assert keeplore("clone", str(memory), "copy").returncode == 0
    (copy / "keeplore.yaml").write_text("schema: 1\ncontext: [\n")
    if is_committed:
        git("commit", "-qam", "Broken", cwd=copy)
    git("-C", str(memory), "checkout", "-q", "--detach", cwd=memory)
    done = keeplore("sync", cwd=copy)
    assert (done.returncode, "line 3, column 1" in done.stderr) == (1, True)
    git("checkout", "-q", "main", cwd=memory)
    mended = whole.replace("wikilinks: false", "wikilinks: true")
    (memory / "keeplore.yaml").write_text(mended)
    (memory / "README.md").write_text("Mended\n")
    git("commit", "-qam", "Mended", cwd=memory)
    git("checkout", "-q", "--detach", cwd=memory)
    done = keeplore("sync", cwd=copy)
    assert (copy / "README.md").read_text() == "Mended\n"
    assert done.returncode == (0 if is_committed else 1)
    if is_committed:
        assert "wikilinks: true" in (copy / "keeplore.yaml").read_text()


def test_clone_of_what_is_no_workspace_says_so(git):
    refused(keeplore("clone", str(Path.home() / "nowhere.git"), "copy"), "nowhere", "")
    plain = Path.home() / "plain"
    plain.mkdir()
    git("init", "-q", cwd=plain)
    git("commit", "-q", "--allow-empty", "-m", "Nothing", cwd=plain)
    refused(
        keeplore("clone", str(plain), "copy"), "no Keeplore workspace", "keeplore init"
    )


def test_a_workspace_that_lost_its_settings_is_named(memory):
    (memory / "keeplore.yaml").unlink()
    back = f"`git -C {memory} checkout -- keeplore.yaml` brings it back"
    refused(keeplore("recall", "x"), f"{memory} is no workspace", back)


def test_a_setting_that_nobody_knows_is_named(memory):
    (memory / "keeplore.yaml").write_text("schema: 1\nsinc: {}\n")
    refused(keeplore("whoami"), "sinc", "Mend or remove that key")


def test_wrong_usage_says_what_would_be_right(memory):
    done = keeplore("import", "claude-code", "--since", "once")
    assert done.returncode == 2 and "2026-01-31" in done.stderr and "30d" in done.stderr
    assert "claude-code" in keeplore("import", "emacs").stderr
    assert keeplore("recal", "x").returncode == 2


def test_a_directory_that_is_gone_is_no_bug_of_ours(memory, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'cd "{gone}" && rmdir "{gone}" && exec "{sys.executable}" -m keeplore.cli whoami'
    done = subprocess.run(("sh", "-c", script), capture_output=True, text=True)
    refused(done, "no longer exists", "cd")


def test_a_state_directory_that_cannot_be_used_is_no_bug_of_ours(tmp_path):
    (tmp_path / "file").write_text("")
    done = keeplore("recall", "x", KEEPLORE_STATE_DIR=str(tmp_path / "file" / "state"))
    refused(done, str(tmp_path / "file"), "Something is in the way of that path")


def test_a_bug_of_ours_is_named_as_ours_and_written_down(places):
    # a command whose module was forgotten
    script = (
        "import keeplore.cli.main as m; m.SECTIONS['Start']['forgotten'] = ''; m.main()"
    )
    done = subprocess.run(
        (sys.executable, "-c", script, "forgotten"), capture_output=True, text=True
    )
    log = places.state / "crash.log"
    assert (
        done.returncode == 3
        and "an error of keeplore itself" in done.stderr
        and str(log) in done.stderr
    )
    text = log.read_text()
    assert (
        re.match(r"keeplore \d+\.\d+\.\d+, Python 3", text)
        and "ModuleNotFoundError" in text
        and "Traceback" in text
    )


def test_a_reader_that_has_seen_enough_hears_no_complaint(project):
    read, write = os.pipe()
    os.close(read)
    command = (sys.executable, "-m", "keeplore.cli", "recall", "--text", "append-only")
    done = subprocess.run(
        command, cwd=project, stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert (
        done.returncode == 1
        and "Traceback" not in done.stderr
        and "BrokenPipe" not in done.stderr
    )


@pytest.mark.parametrize(
    "command",
    [("recall", "append-only"), ("doctor",), ("whoami",), ("projects",)],
    ids=" ".join,
)
def test_nothing_is_coloured_that_no_person_looks_at(project, command):
    done = keeplore(*command, cwd=project, TERM="xterm-256color")
    assert done.stdout and "\x1b" not in done.stdout + done.stderr


def test_whoami_says_where_memory_goes_and_why(project):
    told = json.loads(keeplore("whoami", "--json", cwd=project).stdout)
    assert (told["workspace"], told["is_home"], told["project"], told["project_is_known"]) == (
        "memory", True, "ledgerly", True,
    )  # fmt: skip
    assert (
        told["scopes"] == ["project:ledgerly", "workspace", "user"]
        and "path" in told["project_by"]
    )
    text = keeplore("whoami", cwd=project).stdout
    assert (
        "project:   ledgerly (by path ~/code/ledgerly)" in text
        and "this machine only" in text
    )
    assert "project:   none: the home directory" in keeplore("whoami").stdout


def test_projects_are_listed_with_what_tells_them(memory, request):
    assert "no project yet" in keeplore("projects").stderr
    request.getfixturevalue("project")
    assert keeplore("projects").stdout.split() == ["ledgerly", "~/code/ledgerly"]
    (entry,) = json.loads(keeplore("projects", "--json").stdout)
    assert (entry["name"], entry["path"]) == ("ledgerly", "~/code/ledgerly")


def test_doctor_finds_all_well_on_a_machine_that_is(project):
    done = keeplore("doctor")
    assert done.returncode == 0 and "!!" not in done.stdout
    findings = json.loads(keeplore("doctor", "--json").stdout)
    assert all(
        finding.keys() == {"part", "level", "message", "remedy"} for finding in findings
    )


def test_doctor_lists_what_is_wrong_and_the_rest_is_well(project, places):
    bad = Path.home() / "memory" / "memory" / "decisions" / "2026-02-09-bad-00000000.md"
    bad.parent.mkdir(parents=True, exist_ok=True)
    bad.write_text("---\n- no mapping\n---\n")
    spool = Spool(places.spool)
    spool.add("claude-code", "Stop", b"no JSON")
    (entry,) = spool.pending()
    claimed = spool.claim(entry)
    spool.quarantine(claimed, "this is no payload")
    done = keeplore("doctor")
    assert done.returncode == 1
    wrong = [line for line in done.stdout.splitlines() if line.startswith("!!")]
    assert (
        len(wrong) == 2
        and "1 host events could not be read" in wrong[0]
        and bad.name in wrong[1]
    )
    assert str(places.spool / "dead") in done.stdout
    assert keeplore("recall", "append-only", cwd=project).returncode == 0


def test_init_says_what_it_made_and_what_comes_next():
    done = keeplore("init", "memory")
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        [
            f"Created workspace 'memory' in {Path.home() / 'memory'}",
            "It is this machine's home workspace.",
            "Next: `keeplore import --all` reads the sessions you already have,",
            "      `keeplore connect` lets the agents on this machine report to it, and ask it.",
        ],
    )


def test_doctor_examines_the_other_workspaces_where_one_is_gone(memory):
    assert keeplore("init", "team").returncode == 0
    shutil.rmtree(memory)
    done = keeplore("doctor")
    assert (
        done.returncode == 1
        and "!!  workspace memory: " in done.stdout
        and "ok  workspace team: " in done.stdout
    )


def test_sync_without_a_remote_says_how_to_add_one(memory):
    refused(keeplore("sync"), "no remote", "remote add origin URL")


def test_import_with_nothing_to_import_says_where_else_to_look(memory):
    done = keeplore("import", "claude-code")
    assert done.returncode == 0 and "--from" in done.stdout


def test_without_a_worker_that_is_what_is_said():
    status = keeplore("worker", "status")
    assert (status.returncode, status.stdout) == (
        4,
        "No worker runs. The next host event starts one.\n",
    )
    assert keeplore("worker", "status", "--json").stdout == "null\n"
    assert keeplore("worker", "stop").stdout == "No worker runs.\n"


@pytest.mark.parametrize(
    "told",
    [{"version": "0.0.1"}, {"version": "99.0.0", "pid": 7, "spool": {"waiting": 3}}],
)
def test_a_worker_of_another_version_says_what_it_knows(told):
    state = Places.from_environment(os.environ).state
    state.mkdir(parents=True, exist_ok=True)
    server = SocketServer(state, lambda *_: json.dumps(told).encode())
    try:
        done = keeplore("worker", "status")
    finally:
        server.close()
    assert done.returncode == 0 and done.stderr == ""
    assert f"worker {told['version']}, process {told.get('pid', '?')}" in done.stdout
    assert "It is of another version than this program" in done.stdout


def test_a_command_without_streams_does_its_work_as_with_those_that_are_null(
    home: Path,
) -> None:
    assert keeplore("init", "memory").returncode == 0
    command = shlex.join([sys.executable, "-m", "keeplore.cli"])
    lines = (
        f"{command} remember 'Tea is served' <&- >&- 2>&-",
        f"{command} list <&-",
        f"{command} forget --purge nosuch <&- 2>&-",
    )
    done = [
        subprocess.run(["sh", "-c", line], check=False, capture_output=True, text=True)
        for line in lines
    ]
    assert [one.returncode for one in done] == [0, 0, 1]
    assert "Tea is served" in done[1].stdout
    assert not [*home.rglob("crash.log")]
