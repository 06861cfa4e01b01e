"""Something of another kind stands where Keeplore has a file or a folder: the message names it and
says to move it away.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from waiting import until
from worker_end import end_worker

from keeplore.config.places import Places


def words(text: str) -> str:
    return " ".join(text.split())


def note_of(root: Path, title: str) -> Path:
    [path] = root.rglob(f"*-{title}-*.md")
    return path


def test_a_file_in_place_of_the_cache_stops_no_note_and_no_doctor(
    memory: Path, shop: Path, run: Callable[..., Any]
) -> None:
    cache = Places.from_environment(os.environ).cache
    shutil.rmtree(cache)
    cache.write_text("theirs\n")
    done = run("remember", "Tea is served at four", cwd=shop)
    assert (done.returncode, done.stderr) == (0, "")
    assert note_of(memory, "tea-is-served-at-four").is_file()
    said = (
        f"the search index in {cache}/index/memory cannot be used: {cache} is no folder "
        "→ Move it away"
    )
    asked = run("recall", "tea", cwd=shop)
    assert (asked.returncode, words(asked.stderr)) == (1, f"keeplore: {said}")
    doctor = run("doctor", cwd=shop)
    assert f"!! workspace memory: {said} " in words(doctor.stdout)
    assert "permissions" not in doctor.stdout
    assert cache.read_text() == "theirs\n"
    cache.unlink()
    assert "Tea is served at four" in run("recall", "tea", cwd=shop).stdout


@pytest.mark.parametrize(
    ("make", "kind"), [(os.mkdir, "a folder"), (os.mkfifo, "not a regular file")]
)
def test_what_stands_in_place_of_an_entry_of_a_project_is_named(
    memory: Path,
    shop: Path,
    run: Callable[..., Any],
    make: Callable[[Path], None],
    kind: str,
) -> None:
    entry = memory / "projects" / "shop" / "project.json"
    entry.parent.mkdir(parents=True)
    make(entry)
    done = run("remember", "Tea is served at four", cwd=shop)
    said = f"projects/shop/project.json is {kind} → Move it out of the memory folders"
    assert (done.returncode, words(done.stderr)) == (1, f"keeplore: {said}")


def test_doctor_tells_of_a_folder_in_place_of_an_entry(
    memory: Path, shop: Path, run: Callable[..., Any]
) -> None:
    (memory / "projects" / "shop" / "project.json").mkdir(parents=True)
    done = run("doctor", cwd=shop)
    assert (
        "!! workspace memory file: projects/shop/project.json is a folder: the sessions of that "
        "project wait → Move it out of the memory folders "
    ) in words(done.stdout)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_settings_that_are_no_file_are_to_be_moved_away(
    memory: Path, shop: Path, run: Callable[..., Any], make: Callable[[Path], None]
) -> None:
    settings = memory / "keeplore.yaml"
    settings.unlink()
    make(settings)
    done = run("list", cwd=shop)
    said = (
        f"{memory} is no workspace: its keeplore.yaml is no file "
        "→ Move it away; take yours from git, or run `keeplore init DIR`"
    )
    assert (done.returncode, words(done.stderr)) == (1, f"keeplore: {said}")


def test_a_memory_is_not_archived_or_restored_into_the_place_of_a_folder(
    memory: Path, shop: Path, run: Callable[..., Any]
) -> None:
    text_and_kind = ("Tea is served at four", "--category", "patterns")
    run("remember", "--scope", "workspace", *text_and_kind, cwd=shop)
    note = note_of(memory, "tea-is-served-at-four")
    text, digits = note.read_bytes(), note.stem[-8:]
    place = note.relative_to(memory).as_posix()
    archived = place.replace("memory/", "memory/archive/", 1)
    (memory / archived).mkdir(parents=True)
    done = run("archive", "--larger-than", "1B", "--apply", cwd=shop)
    said = f"{archived} is a folder. Move it out of the memory folders"
    assert said in words(done.stdout + done.stderr)
    assert done.returncode == 1
    assert note.read_bytes() == text
    assert run("forget", "--yes", digits, cwd=shop).returncode == 0
    note.mkdir()
    refused = run("restore", digits, cwd=shop)
    said = (
        f"keeplore: something else is at {place} "
        "→ Move it away, then run `keeplore restore` again"
    )
    assert (refused.returncode, words(refused.stderr)) == (1, said)
    note.rmdir()
    assert run("restore", digits, cwd=shop).returncode == 0
    assert note.read_bytes() == text


def test_a_folder_in_place_of_a_file_of_the_state_is_named_in_words(
    memory: Path, shop: Path, run: Callable[..., Any]
) -> None:
    state = Places.from_environment(os.environ).state
    way = "Something is in the way of that path: move it away, and run it again"
    key = state / "redaction.key"
    key.unlink(missing_ok=True)
    key.mkdir()
    doctor = words(run("doctor", cwd=shop).stdout)
    assert f"!! workspace memory: {key}: Is a directory → {way}" in doctor
    key.rmdir()
    known = state / "machine.json"
    kept = known.read_bytes()
    known.unlink()
    known.mkdir()
    asked = run("list", cwd=shop)
    assert asked.stderr.startswith(
        f"keeplore: {known} cannot be read: Is a directory\n"
    )
    known.rmdir()
    known.write_bytes(kept)
    line = json.dumps({"event": "turn", "session": "s-1", "user": "Tea?"})
    (state / "format").unlink()
    (state / "format").mkdir()
    done = run("emit", "--host", "mine", cwd=shop, stdin=line)
    assert done.stdout, done.stderr
    [answer] = done.stdout.splitlines()
    said = f"it cannot be kept: {state / 'format'}: Is a directory; emit it again"
    assert json.loads(answer)["error"] == said


def test_what_is_in_the_way_of_a_session_is_a_finding_with_a_worker_and_without(
    memory: Path, shop: Path, run: Callable[..., Any]
) -> None:
    places = Places.from_environment(os.environ)

    def tell(words: str) -> None:
        line = {"event": "turn", "session": "s-1", "user": words, "replies": ["Done."]}
        answer = run("emit", "--host", "mine", cwd=shop, stdin=json.dumps(line)).stdout
        assert json.loads(answer)["ok"]

    try:
        tell("Which tea is served?")
        until(lambda: [*places.state.glob("capture/*/*.json")], "it is taken")
        [session] = places.state.glob("capture/*/*.json")
        session.unlink()
        session.mkdir()
        tell("And when is it served?")
        what = f" cannot be written: {session}: Is a directory"
        until(lambda: what in run("worker", "status").stdout, "the worker says so")
        doctor = run("doctor", cwd=shop)
        told = words(doctor.stdout)
        assert "!! spool: " in told and f"{what} → Move away what is in" in told
        assert (doctor.returncode, doctor.stdout.count("Is a directory")) == (1, 1)
    finally:
        end_worker(places.state)
    doctor = run("doctor", cwd=shop)
    said = f"!! spool: {session} is no file, so nothing more of its session can be"
    assert doctor.returncode == 1 and said in words(doctor.stdout)
    done = run("worker", "run")
    assert done.returncode == 1 and what in done.stderr
    session.rmdir()
    done = run("worker", "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert "when is it served" in "".join(p.read_text() for p in memory.rglob("*.md"))
    assert run("doctor", cwd=shop).returncode == 0
