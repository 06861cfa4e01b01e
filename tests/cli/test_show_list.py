"""``show``, ``list``, ``history``, ``pin`` and completion: what a person, a pipe and a program get,
from any memory.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory import (
    AgentQuestion,
    Conversation,
    Exchange,
    Memory,
    new_id,
    new_meta,
)
from keeplore.memory.note import NoteDraft
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

Run = Callable[..., subprocess.CompletedProcess[str]]
Terminal = Callable[..., tuple[int, str]]
# a terminal would be renamed, cleared, written backwards; rich would colour; a link would be opened
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\u2066 [red]x[/red] [bold] :smile: \r\n\x00"
COMMANDING = re.compile(
    "\x1b(?!\\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


@pytest.fixture
def write(memory: Path) -> Callable[..., Memory]:
    """Write a note as the workspace does."""

    def write(text: str, **fields: object) -> Memory:
        with _workspace() as workspace:
            return workspace.notes.write(NoteDraft(text, **fields)).memory  # type: ignore[arg-type]

    return write


def _workspace() -> Workspace:
    return Registry(Places.from_environment(os.environ)).named("memory")


def save(**fields: object) -> Memory:
    """Put a memory of any kind into the workspace."""
    body = str(fields.pop("body", "# t\n"))
    meta = {
        "id": new_id(),
        "kind": "note",
        "title": "t",
        "created_at": "2026-02-09T14:03:11Z",
        "scope": "workspace",
    }
    memory = Memory(new_meta(**{**meta, **fields}), body)
    with _workspace() as workspace:
        workspace.store.save(memory)
    return memory


def conversation(asked: str = "Which port does staging use?") -> Memory:
    exchanges = (
        Exchange(
            "turn-one-1",
            "2026-02-09T14:03:11Z",
            asked,
            ("5433, see `compose.yaml`.",),
        ),
        Exchange(
            "turn-two-2",
            "2026-02-09T14:05:00Z",
            "Then move it.\nTo 5434.",
            ("Done.", AgentQuestion("Commit?", "Yes", ("Yes",))),
        ),
    )
    talk = Conversation("Which port", exchanges, session_context="ports")
    return save(
        kind="conversation",
        title="Which port",
        body=talk.to_markdown(),
        source={"host": "codex"},
    )


def test_showing_a_memory_is_noted_as_use_of_it_and_printing_it_for_programs_is_not(
    run: Run, write: Callable[..., Memory]
) -> None:
    note, opened = (
        write("Use pnpm, never npm."),
        Places.from_environment(os.environ).state / "opened",
    )
    assert (
        run("show", "--json", note.id).returncode
        == run("show", "--path", note.id).returncode
        == 0
    )
    assert not opened.exists()
    assert run("show", note.id).returncode == 0
    assert [path.name.partition(".")[2] for path in opened.iterdir()] == [note.id]


def test_a_note_is_shown_with_all_that_is_known_of_it(
    run: Run, write: Callable[..., Memory]
) -> None:
    first = write(
        "Use pnpm, never npm.",
        category="coding-preferences",
        permanent=True,
        confidence=0.9,
        source={
            "host": "claude-code",
            "session": "s-1",
            "branch": "main",
            "turns": ["t1", "t2"],
        },
    )
    second = write(
        "Lock files are committed",
        related=({"id": first.id, "relationship": "refines"},),
    )
    done = run("show", first.id[4:10])
    assert (done.returncode, done.stderr) == (0, "")
    for part in (
        first.id, "note, coding-preferences, permanent", "workspace scope, workspace memory",
        "user, confidence 0.9", "claude-code, remember, session s-1, branch main",
        "2 turns", f"{second.id[4:12]} Lock files are committed", ("refines "
                                                                  "this:"), "  memory/memory/preferences/",
        "# Use pnpm, never npm.",
    ):  # fmt: skip
        assert part in done.stdout
    assert "refines:" in run("show", second.id).stdout
    told = json.loads(run("show", "--json", first.id).stdout)
    assert told["front_matter"]["category"] == "coding-preferences" and told[
        "body"
    ].startswith("# Use pnpm")
    assert [(link["id"], link["is_from_here"]) for link in told["links"]] == [
        (second.id, False)
    ]
    assert (told["version"], told["versions"], told["superseded_by"]) == (1, 1, "")


def test_what_is_two_links_away_is_told_with_what_lies_between(
    run: Run, write: Callable[..., Memory]
) -> None:
    far = write("Use npm")
    near = write("Use pnpm", related=({"id": far.id, "relationship": "contradicts"},))
    shown = write("Use pnpm 9", related=({"id": near.id, "relationship": "refines"},))
    lines = run("show", shown.id, "--related", "2").stdout.splitlines()
    assert [line.split("\t")[:2] for line in lines if "\t" in line] == [
        ["refines", near.id[4:12]],
        [f"{near.id[4:12]} contradicts", far.id[4:12]],
    ]


def test_a_link_to_what_is_not_here_is_said_to_lead_nowhere(
    run: Run, memory: Path
) -> None:
    gone = new_id()
    shown = save(related=[{"id": gone, "relationship": "contradicts"}])
    assert f"{gone}, which is not here" in run("show", shown.id).stdout


def test_an_old_version_is_shown_as_one(run: Run, write: Callable[..., Memory]) -> None:
    old = write("Timeout is 30 s")
    with _workspace() as workspace:
        new = workspace.notes.revise(
            old.id, body="# Timeout is 60 s\n", title="Timeout is 60 s"
        ).memory
    assert (
        f"1 of 2; this is an old one, {new.id} replaced it"
        in run("show", old.id).stdout
    )
    assert "2 of 2" in run("show", new.id).stdout


def test_the_file_and_its_path_can_be_had_as_they_are(run: Run, memory: Path) -> None:
    shown = save(title="x y z", body="# x y z\n\n\x1b[31mred\x1b[0m\n")
    path = run("show", "--path", shown.id).stdout.removesuffix("\n")
    assert Path(path).is_absolute()
    assert run("show", "--raw", shown.id).stdout == Path(path).read_text()
    assert run("show", path).stdout == run("show", shown.id).stdout


def test_what_excludes_one_another_is_wrong_usage_and_an_unknown_name_says_what_to_do(
    run: Run, memory: Path
) -> None:
    assert run("show", "--raw", "--full", "1f0c9a2e").returncode == 2
    assert run("show").returncode == 2
    unknown = run("show", "Why did we drop it")
    assert (
        unknown.returncode == 1
        and "keeplore recall 'Why did we drop it'" in unknown.stderr
    )


@pytest.mark.parametrize("digits", ["3f", "mem_3f2", "3F2"])
def test_too_few_digits_of_an_id_are_said_to_be_too_few(
    run: Run, memory: Path, digits: str
) -> None:
    done = run("show", digits)
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        (
            f"keeplore: there is no memory '{digits}'\n"
            "  → An id needs at least 4 of its digits; `keeplore list` prints them\n"
        ),
    )


def test_a_conversation_is_folded_on_a_terminal_alone(
    run: Run, at_terminal: Terminal, memory: Path
) -> None:
    talk = conversation()
    _, folded = at_terminal("show", talk.id)
    assert (
        "compose.yaml" not in folded
        and "Which port does staging use?" in folded
        and "--exchange NUMBER" in folded
    )
    assert "Then move it. To 5434." in folded and "2026-02-09 14:05" in folded
    _, full = at_terminal("show", "--full", talk.id)
    assert "compose.yaml" in full and "--exchange NUMBER" not in full
    assert "compose.yaml" not in run("show", talk.id).stdout
    assert "compose.yaml" in run("show", "--full", talk.id).stdout


@pytest.mark.parametrize("wanted", ["2", "turn-two", "turn-two-2"])
def test_one_exchange_can_be_shown(run: Run, memory: Path, wanted: str) -> None:
    done = run("show", conversation().id, "--exchange", wanted)
    assert done.stdout.startswith("2026-02-09 14:05, turn turn-two-2\n")
    assert (
        "To 5434." in done.stdout and "Commit?" in done.stdout and "Yes" in done.stdout
    )
    assert "compose.yaml" not in done.stdout


def test_of_a_pasted_log_one_exchange_shows_beginning_and_end(
    run: Run, memory: Path
) -> None:
    log = "\n".join(f"2026-02-09 14:03:{i:02} INFO step {i}" for i in range(50))
    talk = conversation(f"Why does it stop?\n\n{log}")
    short = run("show", talk.id, "--exchange", "1").stdout
    assert "INFO step 0\n" in short and "INFO step 49\n" in short
    assert "INFO step 20\n" not in short and "lines left out" in short
    assert short.endswith("--full shows what was left out\n")
    full = run("show", talk.id, "--exchange", "1", "--full").stdout
    assert log in full and "left out" not in full


def test_a_document_is_shown_without_the_middle_of_its_code(
    run: Run, memory: Path
) -> None:
    code = "\n".join(f"port_{n} = {n}" for n in range(40))
    body = f"# Ports\n\nEach service has one:\n\n```\n{code}\n```\n\nStaging has two.\n"
    document = save(kind="document", body=body)
    short = run("show", document.id).stdout
    assert short.endswith(
        "```\nport_0 = 0\nport_1 = 1\nport_2 = 2\n[36 lines left out]\nport_39 = 39\n```\n\n"
        "Staging has two.\n--full shows what was left out\n"
    )
    assert run("show", document.id, "--full").stdout.endswith(body)


@pytest.mark.parametrize("wanted", ["3", "0", "turn", "", "²"])
def test_an_exchange_that_is_not_there_is_said_not_to_be(
    run: Run, memory: Path, wanted: str
) -> None:
    done = run("show", conversation().id, "--exchange", wanted)
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        (
            f"keeplore: {wanted!r} is none of its 2 exchanges\n"
            "  → Give a number from 1 to 2, or a turn's id or how that begins\n"
        ),
    )


def test_a_hostile_memory_reaches_no_terminal(
    at_terminal: Terminal, run: Run, memory: Path
) -> None:
    link = "[press me](javascript:alert(1)) <https://evil.invalid>\n"
    shown = save(
        title=f"t{HOSTILE}",
        category=HOSTILE,
        trigger=HOSTILE,
        body=f"# t{HOSTILE}\n\n{HOSTILE}\n\n{link}{'x' * 1_000_000}\n",
        source={
            "host": HOSTILE,
            "session": HOSTILE,
            "machine": HOSTILE,
            "turns": [HOSTILE],
        },
        related=[{"id": new_id(), "relationship": HOSTILE}],
    )
    for command, least in (
        (("show", shown.id), 1_000_000),
        (("show", "--raw", shown.id), 1_000_000),
        (("list",), 1),
        (("history", shown.id), 1),
    ):
        status, seen = at_terminal(*command)
        assert status == 0 and not COMMANDING.search(seen.replace("\n", "")), command
        assert "[red]x[/red]" in seen.replace("\n", "")
        assert seen.count("x") >= least, command
    piped = run("list").stdout
    assert (
        piped.count("\n") == 1
        and piped.count("\t") == 4
        and not COMMANDING.search(piped.replace("\t", ""))
    )
    assert json.loads(run("list", "--json").stdout)[0]["title"].startswith("t")


def test_a_hostile_memory_is_recalled_as_text(
    at_terminal: Terminal, memory: Path
) -> None:
    save(
        title=f"aubergine{HOSTILE}",
        category=HOSTILE,
        body=f"# aubergine\n\nThe aubergine {HOSTILE} is ripe.\n",
    )
    status, seen = at_terminal("recall", "--text", "aubergine")
    assert (
        status == 0
        and "[red]x[/red]" in seen
        and not COMMANDING.search(seen.replace("\n", ""))
    )


def test_a_link_in_a_memory_is_no_link_on_a_terminal(
    at_terminal: Terminal, memory: Path
) -> None:
    shown = save(body="# t\n\n[press me](https://evil.invalid) and **bold**\n")
    _, seen = at_terminal("show", shown.id)
    assert "press me" in seen and "\x1b]8" not in seen and "**bold**" not in seen


def test_a_list_has_the_newest_version_of_what_is_seen_from_here(
    run: Run, write: Callable[..., Memory], shop: Path
) -> None:
    assert run("remember", "Of the shop", cwd=shop).returncode == 0
    old = write("Of the workspace", category="gotchas")
    with _workspace() as workspace:
        workspace.notes.revise(old.id, permanent=True)
    write("Of another", project="ledger")
    write("Of me", scope="user")
    here = run("list", cwd=shop).stdout.splitlines()
    assert sorted(line.split("\t")[3] for line in here) == [
        "Of me",
        "Of the shop",
        "Of the workspace",
    ]
    [gotcha] = [line for line in here if "gotchas" in line]
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d\tgotchas\tworkspace\tOf the workspace\t[0-9a-f]{8}", gotcha
    )
    assert run("list", "--all-projects", cwd=shop).stdout.count("\n") == 4
    assert run("list", "--all-versions", cwd=shop).stdout.count("\n") == 4
    assert run("list", "--project", "shop").stdout.count("\n") == 1
    assert run("list", "--permanent", cwd=shop).stdout.count("\n") == 1
    assert run("list", "--scope", "user", cwd=shop).stdout.split("\t")[3] == "Of me"


@pytest.mark.parametrize(
    ("arguments", "titles"),
    [
        (("--kind", "conversation"), ["Which port"]),
        (("--category", "security"), ["new"]),
        (("--since", "2026-02-01"), ["Which port", "new"]),
        (("--before", "2026-02-01"), ["old"]),
        (("--archived",), ["aside"]),
        (("--limit", "1"), ["Which port"]),
    ],
    ids=" ".join,
)
def test_a_list_can_be_narrowed(
    run: Run, memory: Path, arguments: tuple[str, ...], titles: list[str]
) -> None:
    conversation()
    save(
        title="new",
        created_at="2026-02-08T00:00:00Z",
        updated_at="2026-02-08T00:00:00Z",
        category="security",
    )
    save(
        title="old",
        created_at="2025-01-01T00:00:00Z",
        updated_at="2025-01-01T00:00:00Z",
    )
    aside = save(title="aside")
    with _workspace() as workspace:
        path, _ = workspace.store.get(aside.id)
        workspace.store.move(path, path.replace("memory/", "memory/archive/", 1))
    found = json.loads(run("list", "--json", *arguments).stdout)
    assert [row["title"] for row in found] == titles
    assert all(Path(row["path"]).is_file() for row in found)


def test_a_list_that_is_cut_or_empty_says_so_beside_the_result(
    run: Run, write: Callable[..., Memory]
) -> None:
    empty = run("list")
    assert (empty.returncode, empty.stdout) == (
        0,
        "",
    ) and "keeplore import --all" in empty.stderr
    for number in range(3):
        write(f"Fact number {number} of all")
    assert run("list", "--limit", "2").stderr == "note: 2 of 3; --limit 0 for all\n"
    assert run("list", "--limit", "0").stderr == ""
    none = run("list", "--category", "security")
    assert (none.returncode, none.stdout) == (0, "")
    assert none.stderr == "note: no memory fits what was asked for\n"
    write("A fact of the ledger", project="ledger")
    told = run("list")
    assert "\tledger\t" in told.stdout and "all projects" in told.stderr


def test_a_table_has_headings_on_a_terminal_and_colours_where_they_are_wanted(
    at_terminal: Terminal, write: Callable[..., Memory]
) -> None:
    write("Use pnpm")
    _, seen = at_terminal("list")
    assert "title" in seen and "Use pnpm" in seen and "\x1b[1m" in seen
    shown = write("Another one")
    for command in (("list",), ("show", shown.id), ("history", shown.id)):
        _, seen = at_terminal(*command, NO_COLOR="1")
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]", seen), command


def test_a_history_tells_what_changed_from_version_to_version(
    run: Run, write: Callable[..., Memory]
) -> None:
    first = write(
        "Timeouts of the gateway.\n\nThey are 30 s, as the proxy has it.",
        category="infrastructure",
    )
    with _workspace() as workspace:
        body = first.body.replace("30 s", "60 s")
        second = workspace.notes.revise(first.id, body=body).memory
        workspace.notes.revise(first.id, category="gotchas", permanent=True)
    told = run("history", second.id).stdout
    one, two, three = re.split(r"^version \d  ", told, flags=re.MULTILINE)[1:]
    assert one.startswith(first.id[4:12]) and "Timeouts of the gateway." in one
    assert (
        "They are [-30-]{+60+} s, as the proxy has it." in two and "(newest)" not in two
    )
    assert (
        "category: infrastructure → gotchas" in three
        and "permanent: none → yes" in three
        and "(newest)" in three
    )
    data = json.loads(run("history", "--json", first.id).stdout)
    assert [version["is_head"] for version in data] == [False, False, True]
    assert {"sign": "-", "text": "30"} in data[1]["text"]


def test_a_fork_is_marked_in_the_history_and_the_next_pin_joins_it(
    run: Run, write: Callable[..., Memory]
) -> None:
    first = write("Timeout is 30 s")
    ends = [
        save(
            title=f"Timeout is {s} s",
            supersedes=first.id,
            version=2,
            created_at=f"2027-01-0{s // 30}T00:00:00Z",
        )
        for s in (60, 90)
    ]
    told = run("history", first.id).stdout
    assert "(fork)" in told and "(newest, fork)" in told
    numbers = re.findall(r"^version (\d+)  (\w+)", told, flags=re.MULTILINE)
    assert numbers == [("1", first.id[4:12]), *(("2", end.id[4:12]) for end in ends)]
    assert run("pin", ends[0].id).returncode == 0
    assert "(fork)" not in run("history", first.id).stdout


def test_pinning_is_a_version_and_can_be_taken_back(
    run: Run, write: Callable[..., Memory], memory: Path
) -> None:
    first, second = write("Use pnpm"), write("Prices in cents")
    done = run("pin", first.id[4:12], second.id[4:12])
    assert done.returncode == 0 and done.stdout.count("Now permanent: ") == 2
    assert run("list", "--permanent").stdout.count("\n") == 2
    assert "It was permanent before" in run("pin", first.id).stdout
    assert "Now not permanent" in run("unpin", first.id).stdout
    assert run("list", "--permanent").stdout.split("\t")[3] == "Prices in cents"
    wrong = run("pin", second.id, "deadbeef")
    assert wrong.returncode == 1 and wrong.stdout == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(run: Run, shell: str) -> None:
    done = run("completion", shell)
    assert done.returncode == 0 and "_KEEPLORE_COMPLETE" in done.stdout
    assert run("completion", "tcsh").returncode == 2


def test_an_id_completes_from_its_digits_and_from_words_of_the_title(
    run: Run, write: Callable[..., Memory]
) -> None:
    shown = write("Use pnpm, never 100% npm")
    old = write("Timeout is 30 s")
    with _workspace() as workspace:
        workspace.notes.revise(
            old.id, body="# Timeout is 60 s\n", title="Timeout is 60 s"
        )
        workspace.index.refresh()  # as the next command or the worker does

    def completed(typed: str) -> list[str]:
        words = {
            "COMP_WORDS": f"keeplore show {typed}",
            "COMP_CWORD": "2",
            "_KEEPLORE_COMPLETE": "bash_complete",
        }
        return run(**words).stdout.split()

    digits = shown.id[4:12]
    for typed in (digits[:5], f"mem_{digits[:5]}", "pnpm", "100%"):
        assert completed(typed) == [f"plain,{digits}"], typed
    assert completed(old.id[4:10]) == [f"plain,{old.id[4:12]}"]
    assert (
        old.id[4:12] not in str(completed("Timeout")) and len(completed("Timeout")) == 1
    )
    for typed in ("_", "nothing-like-it"):
        assert completed(typed) == []


def test_completion_fails_silently(run: Run, home: Path) -> None:
    words = {
        "COMP_WORDS": "keeplore show x",
        "COMP_CWORD": "2",
        "_KEEPLORE_COMPLETE": "bash_complete",
    }
    broken = home / "broken"
    broken.mkdir()
    (broken / "machine.json").write_text("no JSON")
    done = run(**words, KEEPLORE_STATE_DIR=str(broken))
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_two_that_name_each_other_are_told_once(memory: Path, run: Run) -> None:
    first, second = new_id("first"), new_id("second")
    for own, other in ((first, second), (second, first)):
        link = {"id": other, "relationship": "relates-to"}
        save(id=own, title="Queue", body="# Queue\n", related=[link])
    shown = run("show", first).stdout
    assert [line for line in shown.splitlines() if "relates-to" in line] == [
        f"relates-to: {second[4:12]} Queue"
    ]


def test_a_file_that_states_no_date_is_listed_as_one(memory: Path, run: Run) -> None:
    (memory / "memory").mkdir(exist_ok=True)
    (memory / "memory" / "tea.md").write_text("# Tea is served at four\n")
    (line,) = run("list", cwd=memory).stdout.splitlines()
    *cells, _ = line.split("\t")
    assert cells == ["no date", "note", "workspace", "Tea is served at four"]
    facts = run("recall", "tea", "--text", cwd=memory).stdout.splitlines()[1]
    assert facts.startswith("   no date · workspace · ")
