"""Forgetting from a person's side: a talk or a note with all its versions, on this machine and on
the next.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.errors import Forgotten, IndexUnavailable, NotFound
from keeplore.memory import Memory, new_meta, parse
from keeplore.memory.note import NoteDraft
from keeplore.recall.request import RecallRequest
from keeplore.workspace import Registry
from keeplore.workspace.importing.session_import import import_sessions, worth_reading
from keeplore.workspace.lifecycle.setup import clone_workspace, initialise
from keeplore.workspace.lifecycle.sync_workspace import synchronise
from keeplore.workspace.reading.deleted_memories import (
    deleted_memories,
    find_forgotten,
)
from keeplore.workspace.writing.forget import (
    forget,
    forget_many,
    purge,
    purge_plan,
    quoting_notes,
    restore,
)
from keeplore_hooks.events import Command, Origin, Turn
from keeplore_hooks.installed import host_named
from keeplore_hooks.spool import Spool

SECRET = "the door opens with " + "tangerine-" + "7713"


def turn(number: int, user: str, reply: str, cwd: Path, **more) -> Turn:
    origin = Origin("claude-code", "session-1", str(cwd))
    return Turn(
        f"turn-{number}",
        origin,
        f"2026-02-09T14:{number:02d}:00Z",
        user,
        (reply,),
        **more,
    )


def command(number: int, cwd: Path) -> Command:
    return Command(
        f"c{number}",
        Origin("claude-code", "session-1", str(cwd)),
        f"2026-02-09T14:{number:02d}:30Z",
        "go",
    )


def talks(root: Path) -> dict[str, str]:
    """Id → text of every conversation."""
    found = [path.read_text() for path in root.glob("**/memory/conversations/**/*.md")]
    return {parse(text).id: text for text in found}


def holding(*folders: Path, words: str = SECRET) -> list[Path]:
    found = [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    ]
    return [path for path in found if words.encode() in path.read_bytes()]


def record(session: str, cwd: Path, exchanges: list[tuple[str, str]]) -> None:
    lines = []
    for number, (key, user) in enumerate(exchanges):
        at = f"2026-02-09T14:{number:02d}:00.000Z"
        common = {
            "isSidechain": False,
            "userType": "external",
            "cwd": str(cwd),
            "sessionId": session,
            "version": "2.1.0",
        }
        said = {"role": "user", "content": user}
        lines.append(
            {**common, "type": "user", "uuid": key, "timestamp": at, "message": said}
        )
        answer = {
            "id": f"m-{key}",
            "role": "assistant",
            "content": [{"type": "text", "text": "Noted."}],
            "stop_reason": "end_turn",
        }
        lines.append(
            {
                **common,
                "type": "assistant",
                "uuid": f"a-{key}",
                "timestamp": at,
                "message": answer,
            }
        )
    folder = Path.home() / ".claude" / "projects" / "ledgerly"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines)
    )


def run_import(places: Places) -> dict[str, str]:
    host = host_named("claude-code")
    with Registry(places) as registry:
        import_sessions(
            registry,
            host,
            worth_reading(host.recorded(Path.home(), ""), None),
            lambda *_: None,
        )
    return talks(Path.home() / "memory")


@pytest.mark.parametrize("how", [forget, purge])
def test_an_import_does_not_bring_back_what_was_forgotten(places, project, how):
    record(
        "one",
        project,
        [("u1", f"Is it so that {SECRET}?"), ("u2", "And water the plants")],
    )
    record("two", project, [("u3", "Another talk, about the index")])
    assert len(run_import(places)) == 2
    with Registry(places) as registry:
        (gone,) = [
            memory_id
            for memory_id, text in talks(Path.home() / "memory").items()
            if SECRET in text
        ]
        how(registry.named("memory"), gone)
    left = talks(Path.home() / "memory")
    assert len(left) == 1 and gone not in left
    assert run_import(places) == left
    for directory in (places.state, places.cache):
        shutil.rmtree(directory)
    initialise(places, Path.home() / "memory")
    assert run_import(places) == left
    record(
        "one",
        project,
        [
            ("u1", f"Is it so that {SECRET}?"),
            ("u2", "And water the plants"),
            ("u9", "New words"),
        ],
    )
    after = run_import(places)
    assert len(after) == 2 and not [
        text for text in after.values() if SECRET in text or "plants" in text
    ]
    assert [text for text in after.values() if "New words" in text]


def test_an_open_conversation_that_was_forgotten_is_dropped_and_the_talk_goes_on_in_another(
    workspace, project
):
    workspace.emit(turn(1, "The first subject", "Yes.", project, is_complete=False))
    (gone,) = talks(workspace.root)
    forgot = forget(workspace, gone)
    assert forgot.ids == (gone,) and forgot.is_committed
    workspace.emit(turn(1, "The first subject", "Yes. And more of it.", project))
    assert talks(workspace.root) == {}
    workspace.emit(turn(2, "The second subject", "Fine.", project))
    (text,) = talks(workspace.root).values()
    assert "second subject" in text and "first subject" not in text


def test_an_open_conversation_that_another_process_forgets_meanwhile_is_not_written_again(
    places, project
):
    with Registry(places) as one, Registry(places) as two:
        here, there = one.named("memory"), two.named("memory")
        here.emit(turn(1, "The first subject", "Yes.", project))
        (gone,) = talks(here.root)
        with here.recorder.capturing():
            here.plugins.emit(turn(2, "More of the first subject", "Yes.", project))
            there.store.forget(gone, "attic", "2026-03-01T10:00:00Z")
        assert talks(here.root) == {}
        here.emit(turn(3, "The third subject", "Yes.", project))
        (text,) = talks(here.root).values()
        assert "third subject" in text


def test_what_was_said_late_in_a_turn_stays_forgotten_with_its_conversation(
    workspace, project
):
    first = turn(1, "Build the index", "I begin.", project, is_complete=False)
    workspace.emit(first)
    workspace.emit(command(1, project))
    workspace.emit(
        replace(first, replies=("I begin.", "It is built."), is_complete=True)
    )
    workspace.emit(command(2, project))
    (late,) = [
        memory_id
        for memory_id, text in talks(workspace.root).items()
        if "It is built." in text
    ]
    forget(workspace, late)
    workspace.emit(
        replace(first, replies=("I begin.", "It is built."), is_complete=True)
    )
    assert not [
        text for text in talks(workspace.root).values() if "It is built." in text
    ]


def test_an_order_in_a_forgotten_talk_makes_no_note_when_it_is_read_again(
    workspace, project
):
    ordered = turn(
        1, "Remember that the gate stays shut.", "I will.", project, is_complete=False
    )
    workspace.emit(ordered)
    forget(workspace, *talks(workspace.root))
    workspace.emit(replace(ordered, is_complete=True))
    assert list(workspace.store.scan()) == []


def test_all_versions_of_a_note_go_and_come_back_together(workspace):
    first = workspace.notes.write(
        NoteDraft("Deploy on Fridays.", scope="workspace")
    ).memory
    second = workspace.notes.revise(first.id, body="# Deploy on Thursdays.\n").memory
    other = workspace.notes.write(
        NoteDraft("The cat is called Mia.", scope="workspace")
    ).memory
    forgot = forget(workspace, second.id)
    assert forgot.ids == (second.id, first.id)
    forget(workspace, other.id)
    listed = {one.tombstone.id: one.version for one in deleted_memories(workspace)}
    assert listed == {second.id: 2, other.id: 1}
    assert (
        list(workspace.store.scan()) == []
        and workspace.index.memories(forgot.ids) == {}
    )
    assert forget(workspace, second.id).ids == (second.id, first.id)
    with pytest.raises(Forgotten):
        workspace.store.add(first)
    restored = restore(workspace, first.id)
    assert set(restored.ids) == {first.id, second.id} and restored.is_committed
    assert workspace.index.memories([first.id])[first.id].superseded_by == second.id
    assert workspace.store.is_forgotten(other.id)
    with pytest.raises(NotFound):
        restore(workspace, first.id)


def test_a_beginning_that_two_forgotten_memories_share_names_both(registry, workspace):
    ids = [f"mem_abcd{number}234-0000-4000-8000-000000000000" for number in range(2)]
    for id_ in ids:
        meta = new_meta(
            id=id_, kind="note", title=id_, scope="workspace", category="gotchas"
        )
        workspace.store.save(Memory(meta, f"# {id_}\n"))
    forget_many(workspace, ids, "Forget both")
    with pytest.raises(NotFound) as refused:
        find_forgotten(registry, "abcd", workspace.root)
    assert (refused.value.message, refused.value.remedy) == (
        f"'abcd' may mean {ids[0]}, {ids[1]}",
        "Give more digits",
    )
    found = find_forgotten(registry, " ABCD1", workspace.root)
    assert found == (workspace, ids[1])
    with pytest.raises(NotFound) as refused:
        find_forgotten(registry, "abcd1x", workspace.root)
    assert (refused.value.message, refused.value.remedy) == (
        "'abcd1x' is not forgotten",
        "`keeplore restore --list` shows what is",
    )


def test_while_git_is_busy_it_is_forgotten_on_disk_and_committed_later(workspace):
    note = workspace.notes.write(
        NoteDraft("Deploy on Fridays.", scope="workspace")
    ).memory
    (workspace.root / ".git" / "MERGE_HEAD").write_text(f"{workspace.store.head()}\n")
    assert not forget(workspace, note.id).is_committed
    assert workspace.store.find(note.id) is None
    (workspace.root / ".git" / "MERGE_HEAD").unlink()
    workspace.commit()
    assert restore(workspace, note.id).is_committed


def test_notes_that_quote_a_conversation_are_named_and_stay(workspace, project):
    workspace.emit(turn(1, "We always deploy on Thursdays.", "Yes.", project))
    (talk,) = talks(workspace.root)
    source = {"host": "claude-code", "session": "session-1", "turns": ["turn-1"]}
    note = workspace.notes.write(
        NoteDraft("Deploy on Thursdays.", project="ledgerly", source=source)
    ).memory
    elsewhere = {**source, "turns": ["turn-7"]}
    workspace.notes.write(
        NoteDraft("The cat is called Mia.", project="ledgerly", source=elsewhere)
    )
    assert [row.id for row in quoting_notes(workspace, talk)] == [note.id]
    assert [row.id for row in forget(workspace, talk).quoting] == [note.id]
    assert workspace.store.find(note.id)


@pytest.mark.parametrize("is_forgotten_first", [False, True])
def test_a_purge_leaves_nothing_on_this_machine(
    places, workspace, project, is_forgotten_first
):
    spool = Spool(places.spool)
    payload = json.dumps({"session_id": "session-1", "prompt": SECRET}).encode()
    for _ in range(3):
        spool.add("claude-code", "UserPromptSubmit", payload)
    spool.claim(spool.pending()[0])
    spool.quarantine(spool.claim(spool.pending()[0]), "no reason")
    spool.add("claude-code", "Stop", json.dumps({"session_id": "session-2"}).encode())
    workspace.emit(replace(command(0, project), args=SECRET))
    workspace.emit(turn(1, f"Is it so that {SECRET}?", "Noted.", project))
    workspace.emit(
        turn(
            2, "How large does the index get?", "Small.", replace_cwd(project, "other")
        )
    )
    workspace.index.refresh()
    workspace.index.embed_pending()
    workspace.commit()
    (gone,) = [
        memory_id for memory_id, text in talks(workspace.root).items() if SECRET in text
    ]
    (places.state / "worker.log").write_text(f"WARNING: {gone}: {SECRET}\n")
    (places.state / "worker.log.1").write_text("nothing of the sort\n")
    folder = (workspace.root / workspace.store.find(gone)).parent
    (folder / f".2026-02-09-x-{gone[4:12]}.md.77-0a1b2c3d.tmp").write_text(SECRET)
    if is_forgotten_first:
        forget(workspace, gone)
    plan = purge_plan(workspace, gone)
    assert plan.ids == (gone,) and plan.commits and SECRET not in repr(plan)
    assert holding(places.state) and holding(places.cache)
    assert purge(workspace, gone).ids == (gone,)
    workspace.index.close()
    assert holding(places.state, places.cache, workspace.root) == []
    assert holding(places.state, places.cache, workspace.root, words="tangerine") == []
    assert spool.counts() == {"new": 1, "claimed": 0, "dead": 0}
    assert (places.state / "worker.log").read_text() == "" and (
        places.state / "worker.log.1"
    ).read_text()
    assert len(talks(workspace.root)) == 1
    assert workspace.recall(
        RecallRequest("how large does the index get", project, text_only=True)
    ).hits
    assert purge(workspace, gone).commits == 0
    with pytest.raises(NotFound):
        restore(workspace, gone)


def replace_cwd(project: Path, name: str) -> Path:
    folder = project.parent / name
    folder.mkdir(exist_ok=True)
    return folder


def test_a_sync_clears_the_other_machine_too(places, tmp_path, git, project):
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), cwd=tmp_path)
    elsewhere = Places(tmp_path / "state", tmp_path / "cache")
    with Registry(places) as registry:
        workspace = registry.named("memory")
        git("remote", "add", "origin", str(remote), cwd=workspace.root)
        workspace.emit(turn(1, f"Is it so that {SECRET}?", "Noted.", project))
        synchronise(workspace)
        clone_workspace(elsewhere, str(remote), tmp_path / "second")
        with Registry(elsewhere) as second:
            other = second.named("second")
            other.index.refresh()
            Spool(elsewhere.spool).add(
                "claude-code", "Stop", b'{"session_id": "session-1"}'
            )
            assert holding(elsewhere.cache)
            (gone,) = talks(workspace.root)
            purge(workspace, gone)
            assert synchronise(workspace).purged == (gone,)
            assert synchronise(other).purged == (gone,)
            other.index.close()
            assert (
                holding(
                    elsewhere.state,
                    elsewhere.cache,
                    other.root,
                    places.state,
                    places.cache,
                )
                == []
            )
            assert Spool(elsewhere.spool).counts()["new"] == 0


def test_what_another_machine_purged_is_erased_but_for_an_index_that_cannot_be_used(
    places: Places, tmp_path: Path, git: Callable[..., str], project: Path
) -> None:
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), cwd=tmp_path)
    elsewhere = Places(tmp_path / "state", tmp_path / "cache")
    with Registry(places) as registry, Registry(elsewhere) as second:
        workspace = registry.named("memory")
        git("remote", "add", "origin", str(remote), cwd=workspace.root)
        workspace.emit(turn(1, f"Is it so that {SECRET}?", "Noted.", project))
        synchronise(workspace)
        clone_workspace(elsewhere, str(remote), tmp_path / "second")
        other = second.named("second")
        brief = elsewhere.state / "briefs" / "one.json"
        brief.parent.mkdir()
        brief.write_text(SECRET)
        (gone,) = talks(workspace.root)
        purge(workspace, gone)
        synchronise(workspace)
        shutil.rmtree(other.index.directory)
        other.index.directory.write_text("in the way")
        with pytest.raises(IndexUnavailable, match="is no folder"):
            synchronise(other)
        assert holding(elsewhere.state, other.root) == []
