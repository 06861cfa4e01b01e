"""``keeplore edit``: with an editor, without one, when the text is broken, and when two machines
were faster.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory import Memory, new_id, new_meta
from keeplore.memory.note import NoteDraft
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

TALK = """# Queue

**Date**: 2026-02-09 14:03 UTC

## Decision

- Let's take Postgres. — user, turn t1

## Exchanges

<!-- keeplore:turn t1 2026-02-09T14:03:11Z 2026-02-09T14:03:11Z -->
### User · 14:03

Let's take Postgres.

<!-- keeplore:assistant -->
### Assistant

Done.
"""
Run = Callable[..., subprocess.CompletedProcess[str]]
Editor = Callable[[str], dict[str, str]]


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    """An editor that does to the file what a shell script says; ``$1`` is the file."""

    def editor(script: str) -> dict[str, str]:
        program = tmp_path / "editor.sh"
        program.write_text(f"#!/bin/sh\nset -e\n{script}\n")
        program.chmod(0o700)
        return {"VISUAL": str(program)}

    return editor


@pytest.fixture
def note(memory: Path) -> Memory:
    with _workspace() as workspace:
        draft = NoteDraft(
            "They are 30 s.",
            title="Timeouts of the gateway",
            category="infrastructure",
            trust="assistant",
        )
        return workspace.notes.write(draft).memory


def _workspace() -> Workspace:
    return Registry(Places.from_environment(os.environ)).named("memory")


def versions(memory_id: str) -> list[Memory]:
    with _workspace() as workspace:
        workspace.index.refresh()
        return [version.memory for version in workspace.notes.history(memory_id)]


def left_behind() -> list[Path]:
    """Texts that were not taken over."""
    return list((Places.from_environment(os.environ).state / "edits").glob("*"))


def test_what_is_saved_becomes_a_new_version(
    run: Run, editor: Editor, note: Memory, memory: Path, git: Callable[..., str]
) -> None:
    done = run(
        "edit",
        note.id[4:12],
        "-m",
        "Say it anew",
        **editor("sed -i 's/30 s/60 s/' \"$1\""),
    )
    assert (done.returncode, done.stderr) == (0, "")
    old, new = versions(note.id)
    assert old == note and "They are 60 s." in new.body
    assert (new.title, new.category, new.version, new.trust) == (
        note.title,
        "infrastructure",
        2,
        "user",
    )
    assert new.id in done.stdout and "keeplore history" in done.stdout
    assert git("log", "-1", "--format=%s", cwd=memory) == "Say it anew"
    assert git("status", "--porcelain", cwd=memory) == "" and left_behind() == []


def test_what_a_person_may_change_stands_in_the_editor_and_nobody_else_can_read_it(
    run: Run, editor: Editor, note: Memory, tmp_path: Path
) -> None:
    shown, mode = tmp_path / "shown", tmp_path / "mode"
    done = run(
        "edit", note.id, **editor(f'cat "$1" > {shown}; stat -c %a "$1" > {mode}')
    )
    assert done.returncode == 0 and done.stdout == "Nothing changed.\n"
    assert shown.read_text() == (
        f"---\ntitle: {note.title}\ncategory: infrastructure\npermanent: false\n---\n\n{note.body}"
    )
    assert mode.read_text() == "600\n"
    assert (
        stat.S_IMODE(
            (Places.from_environment(os.environ).state / "edits").stat().st_mode
        )
        == 0o700
    )
    assert len(versions(note.id)) == 1 and left_behind() == []


@pytest.mark.parametrize(
    "script",
    [': > "$1"', "printf '\\n \\n' > \"$1\"", 'touch "$1"'],
    ids=["empty", "blank", "same"],
)
def test_an_empty_or_unchanged_text_changes_nothing(
    run: Run, editor: Editor, note: Memory, script: str
) -> None:
    done = run("edit", note.id, **editor(script))
    assert (done.returncode, done.stdout) == (0, "Nothing changed.\n")
    assert len(versions(note.id)) == 1


def test_fields_are_changed_in_the_editor_too(
    run: Run, editor: Editor, note: Memory
) -> None:
    link = f"related:\\n- {{id: {new_id()}, relationship: refines}}"
    script = (
        f"sed -i -e 's/^category: .*/category: gotchas/' -e 's/^permanent: .*/permanent: "
        f'true\\n{link}/\' "$1"'
    )
    assert run("edit", note.id, **editor(script)).returncode == 0
    new = versions(note.id)[-1]
    assert (new.category, new.is_permanent, new.body) == ("gotchas", True, note.body)
    assert [link["relationship"] for link in new.meta["related"]] == ["refines"]


@pytest.mark.parametrize(
    "pattern",
    ["s/^title: .*/title: New name/", "s/^# .*/# New name/"],
    ids=["field", "heading"],
)
def test_title_and_heading_are_one(
    run: Run, editor: Editor, note: Memory, pattern: str
) -> None:
    assert run("edit", note.id, **editor(f"sed -i '{pattern}' \"$1\"")).returncode == 0
    new = versions(note.id)[-1]
    assert new.title == "New name" and new.body.startswith(
        "# New name\n\nThey are 30 s."
    )


@pytest.mark.parametrize(
    ("script", "said", "line"),
    [
        (
            "s/^category: .*/category: nonsense/",
            "`category: nonsense` is not one of",
            3,
        ),
        ("s/^title: .*/title: [broken/", "no YAML", 0),
        ("s/^permanent: .*/permanent: maybe/", "neither true nor false", 4),
        ("s/^permanent: .*/id: mem_x/", "`id` cannot be changed here", 4),
        ("/^---/d", "no front matter", 1),
        ("/^title/d", "`title` is missing", 1),
    ],
)
def test_a_broken_text_is_kept_and_the_line_is_shown(
    run: Run, editor: Editor, note: Memory, script: str, said: str, line: int
) -> None:
    done = run(
        "edit", note.id, **editor(f"sed -i -e 's/30 s/60 s/' -e '{script}' \"$1\"")
    )
    assert done.returncode == 1 and said in done.stderr and "  | " in done.stderr
    assert not line or f"line {line}: " in done.stderr
    [kept] = left_behind()
    assert str(kept) in done.stderr and "They are 60 s." in kept.read_text()
    assert len(versions(note.id)) == 1


def test_a_broken_text_can_be_mended_at_once(
    at_terminal: Callable[..., tuple[int, str]], editor: Editor, note: Memory
) -> None:
    script = (
        'grep -q nonsense "$1" && sed -i \'s/nonsense/gotchas/\' "$1" || sed -i '
        "'s/infrastructure/nonsense/' \"$1\""
    )
    status, seen = at_terminal("edit", note.id, typed="y\n", **editor(script))
    assert status == 0 and "Edit it again?" in seen
    assert versions(note.id)[-1].category == "gotchas" and left_behind() == []


def test_an_editor_that_fails_or_is_not_there_loses_nothing(
    run: Run, editor: Editor, note: Memory
) -> None:
    failed = run("edit", note.id, **editor("sed -i 's/30 s/60 s/' \"$1\"; exit 3"))
    assert failed.returncode == 1 and "code --wait" in failed.stderr
    [kept] = left_behind()
    assert str(kept) in failed.stderr and "60 s" in kept.read_text()
    assert run("edit", note.id, VISUAL="no-such-editor-here").returncode == 1
    unchanged = run("edit", note.id, VISUAL="false")
    assert unchanged.returncode == 1 and "your text is in" not in unchanged.stderr
    assert left_behind() == [kept]
    assert len(versions(note.id)) == 1


def test_without_a_terminal_no_editor_is_guessed(run: Run, note: Memory) -> None:
    done = run("edit", note.id, VISUAL="", EDITOR="")
    assert (
        done.returncode == 1
        and "no terminal" in done.stderr
        and "--title" in done.stderr
    )
    assert run("edit", note.id, VISUAL="", EDITOR="sed -i s/30/60/").returncode == 0
    assert versions(note.id)[-1].body.endswith("They are 60 s.\n")


def test_a_front_matter_that_is_gone_is_to_be_put_back(
    run: Run, editor: Editor, note: Memory
) -> None:
    done = run("edit", note.id, **editor("echo 'All is new.' > \"$1\""))
    assert (
        done.returncode == 1
        and "Put them back" in done.stderr
        and "memory folders" not in done.stderr
    )


def test_fields_alone_need_no_editor(run: Run, note: Memory) -> None:
    done = run(
        "edit", note.id, "--title", "Gateway", "--category", "gotchas", VISUAL="false"
    )
    assert done.returncode == 0
    new = versions(note.id)[-1]
    assert (new.title, new.category, new.body) == (
        "Gateway",
        "gotchas",
        "# Gateway\n\nThey are 30 s.\n",
    )
    assert new.trust == "assistant"  # what it says nobody has read anew
    assert run("edit", note.id, "--title", "Gateway").stdout.endswith(
        "Nothing changed.\n"
    )


def test_a_memory_moves_to_another_project_or_scope_as_a_version(
    run: Run, note: Memory, shop: Path
) -> None:
    assert run("remember", "Prices in cents", cwd=shop).returncode == 0
    assert (
        "projects/shop/memory/infrastructure/"
        in run("edit", note.id, "--project", "shop").stdout
    )
    assert run("list", "--project", "shop").stdout.count("\n") == 2
    assert run("edit", note.id, "--scope", "user").returncode == 0
    places = [(memory.scope, memory.project) for memory in versions(note.id)]
    assert places == [("workspace", ""), ("project", "shop"), ("user", "")]
    wrong = run("edit", note.id, "--project", "shpo")
    assert wrong.returncode == 1 and "Did you mean shop?" in wrong.stderr
    assert run("edit", note.id, "--project", "shop", "--scope", "user").returncode == 2


def test_a_memory_does_not_leave_its_workspace(
    run: Run, shop: Path, home: Path
) -> None:
    assert run("init", "work").returncode == 0
    run("remember", "Of work", cwd=home / "work")
    digits = run("list", cwd=home / "work").stdout.split("\t")[-1].strip()
    done = run("edit", digits, "--scope", "user")
    assert (
        done.returncode == 1
        and "keeplore remember" in done.stderr
        and "keeplore forget" in done.stderr
    )


def test_an_old_version_leads_to_the_newest(
    run: Run, editor: Editor, note: Memory
) -> None:
    run("edit", note.id, "--title", "Second")
    done = run("edit", note.id, **editor("sed -i 's/30 s/60 s/' \"$1\""))
    assert done.returncode == 0 and "is an old version" in done.stderr
    assert [memory.title for memory in versions(note.id)] == [
        note.title,
        "Second",
        "Second",
    ]


def test_an_old_version_of_a_conversation_names_the_newest_by_its_title(
    run: Run, memory: Path
) -> None:
    del memory
    meta = new_meta(
        id=new_id(),
        kind="conversation",
        title="Queue",
        created_at="2026-02-09T14:03:11Z",
        scope="workspace",
    )
    with _workspace() as workspace:
        workspace.store.save(Memory({**meta, "trust": "user"}, TALK))
    assert run("edit", str(meta["id"]), "--title", "Queue of jobs").returncode == 0
    (later,) = re.findall(
        "^later: +(.*)$", run("show", str(meta["id"])).stdout, re.MULTILINE
    )
    assert later.startswith("Queue of jobs (")


def test_the_other_end_of_a_fork_is_shown_and_joined(
    run: Run, editor: Editor, note: Memory, tmp_path: Path
) -> None:
    with _workspace() as workspace:
        for number, seconds in enumerate((60, 90), 1):
            meta = {
                **note.meta,
                "id": new_id(),
                "supersedes": note.id,
                "created_at": f"2027-01-0{number}T00:00:00Z",
            }
            workspace.store.save(
                Memory(new_meta(**meta), f"# {note.title}\n\nThey are {seconds} s.\n")
            )
    shown = tmp_path / "shown"
    unchanged = run("edit", note.id, **editor(f'cat "$1" > {shown}'))
    assert unchanged.stdout == "Nothing changed.\n"
    above, below = shown.read_text().split(">8")
    assert "90 s" in above and "60 s" not in above and "60 s" in below
    assert (
        run("edit", note.id, **editor("sed -i 's/90 s/75 s/' \"$1\"")).returncode == 0
    )
    new = versions(note.id)[-1]
    assert new.body.endswith("They are 75 s.\n") and ">8" not in new.body
    with _workspace() as workspace:
        workspace.index.refresh()
        assert [version.is_leaf for version in workspace.notes.history(note.id)] == [
            False,
            False,
            False,
            True,
        ]


def test_what_changed_meanwhile_is_not_replaced_unread(
    run: Run, editor: Editor, note: Memory
) -> None:
    other = f"{sys.executable} -m keeplore.cli edit {note.id} --title Faster >/dev/null"
    done = run("edit", note.id, **editor(f"{other}; sed -i 's/30 s/60 s/' \"$1\""))
    assert done.returncode == 1 and "changed meanwhile" in done.stderr
    [kept] = left_behind()
    assert "60 s" in kept.read_text() and str(kept) in done.stderr
    assert [memory.title for memory in versions(note.id)] == [note.title, "Faster"]


def test_a_conversation_that_is_still_written_is_left_alone(
    run: Run, memory: Path
) -> None:
    meta = new_meta(
        id=new_id(),
        kind="conversation",
        status="open",
        title="t",
        created_at="2026-02-09T14:03:11Z",
        scope="workspace",
    )
    with _workspace() as workspace:
        workspace.store.save(Memory(meta, "# t\n"))
    done = run("edit", str(meta["id"]), VISUAL="true")
    assert (
        done.returncode == 1
        and "still being written" in done.stderr
        and left_behind() == []
    )


def test_a_secret_that_is_typed_into_the_editor_does_not_reach_the_workspace(
    run: Run, editor: Editor, note: Memory, memory: Path
) -> None:
    secret = "ghp_" + "a1B2" * 9
    assert (
        run(
            "edit", note.id, **editor(f"echo 'The token is {secret}' >> \"$1\"")
        ).returncode
        == 0
    )
    assert "The token is" in versions(note.id)[-1].body
    assert not [path for path in memory.rglob("*.md") if secret in path.read_text()]


def test_a_secret_in_what_the_commit_says_stays_out_of_git(
    run: Run, note: Memory, memory: Path, git: Callable[..., str]
) -> None:
    secret = "ghp_" + "a1B2" * 9
    run("edit", note.id, "--title", "Second", "--message", f"Token {secret} is out")
    said = git("log", "-1", "--format=%s", cwd=memory)
    assert re.fullmatch(r"Token \[REDACTED:github-token:\w+\] is out", said.strip())


def test_a_crlf_editor_changes_nothing_by_itself(
    run: Run, editor: Editor, note: Memory
) -> None:
    assert (
        run("edit", note.id, **editor("sed -i 's/$/\\r/' \"$1\"")).stdout
        == "Nothing changed.\n"
    )
    assert (
        run(
            "edit", note.id, **editor("sed -i -e 's/30 s/60 s/' -e 's/$/\\r/' \"$1\"")
        ).returncode
        == 0
    )
    assert not re.search("\r", versions(note.id)[-1].body)
