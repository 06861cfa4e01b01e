"""Notes that are joined or doubted, preferences that are offered wider, and what leaves by itself."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from keeplore.index import MemoryFilter, ScopeFilter
from keeplore.memory import new_id
from keeplore.memory.note import NoteDraft
from keeplore.recall.brief import brief
from keeplore.recall.render import ContextBlock, TextBudget
from keeplore.worker.tasks.base import NEVER
from keeplore.worker.tasks.tidy_task import TidyTask
from keeplore.workspace import Registry
from keeplore.workspace.tidying.digest_maker import row_filter
from keeplore.workspace.tidying.retention import idle_moves
from keeplore.workspace.tidying.tidy_plan import (
    ALLOWED,
    UNTIDIED,
    _taken_back,
    tidy,
    tidy_plan,
    undo,
)
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.proposals import held_proposals

NPM = "Let's use npm for the shop."
PNPM = "We use pnpm instead of npm for the shop."
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def note(
    workspace: Workspace, text: str, project: str = "shop", **fields: object
) -> str:
    draft = NoteDraft(text, project=project, created_at="2026-02-01T10:00:00Z")
    return workspace.notes.write(replace(draft, **fields)).memory.id


def heads(workspace: Workspace) -> dict[str, tuple[str, int]]:
    """Title → trust and number of changes of each current note."""
    workspace.index.refresh()
    rows = workspace.index.listed(MemoryFilter(kind="note"))
    return {row.title: (row.trust, row.changes) for row in rows}


def test_notes_that_say_the_same_become_one_chain_with_the_most_trusted_words(
    workspace: Workspace, git
) -> None:
    mine = note(workspace, "Prices are kept as integers of cents in the database.")
    echo = "Prices are kept as integers of cents in our database"
    note(workspace, echo, trust="assistant")
    note(workspace, echo, project="website")
    note(workspace, "The gateway listens on port 8443.")
    note(workspace, "The gateway listens on port 8444.")
    workspace.commit()
    before = {path: path.read_bytes() for path in workspace.root.rglob("*.md")}
    (step,) = tidy(workspace)
    assert step.deed == "join" and step.memories[0].supersedes == mine
    joined = heads(workspace)
    assert joined["Prices are kept as integers of cents in the database."] == (
        "user",
        2,
    )
    assert len(joined) == 4 and tidy(workspace) == []
    undo(workspace)
    assert {path: path.read_bytes() for path in workspace.root.rglob("*.md")} == before
    assert tidy(workspace) == [] and len(heads(workspace)) == 4


def test_notes_of_two_numbered_things_stay_apart_and_are_not_told_as_alike(
    workspace: Workspace,
) -> None:
    texts = (
        "eu-10 runs Postgres 14.",
        "eu-12 runs Postgres 16.",
        "eu-14 has no Redis.",
    )
    outcomes = [
        workspace.notes.write(NoteDraft(text, project="shop")) for text in texts
    ]
    assert [done.similar for done in outcomes] == [(), (), ()]
    workspace.commit()
    assert tidy(workspace) == [] and len(heads(workspace)) == 3
    other = workspace.notes.write(NoteDraft("We deploy to eu-10.", project="shop"))
    moved = workspace.notes.write(NoteDraft("We deploy to eu-12.", project="shop"))
    assert [one.row.id for one in moved.similar] == [other.memory.id]


def test_a_note_that_a_later_talk_contradicts_waits_for_a_person_with_both_receipts(
    workspace: Workspace, talk
) -> None:
    old = note(workspace, NPM, id=new_id("npm"))
    said = talk(9, PNPM)
    (step,) = tidy(workspace)
    assert (step.deed, step.detail) == ("doubt", f"later: {PNPM}")
    (held,) = held_proposals(workspace, ScopeFilter())
    assert held.target and held.target.id == old
    assert (held.conversation.id, held.statement) == (said.id, PNPM)
    assert held.entry == {
        "at": held.entry["at"],
        "event": "refine",
        # the same in each version of Keeplore: what was rejected is not asked again
        "id": "mem_27cce5fc-250c-50f1-b4ef-23e45947ce80",
        "proposal": "UPDATE",
        "outcome": "review",
        "gate": "contradiction",
        "detail": "said later",
        "reason": "tidy",
        "target": old,
        "statement": PNPM,
        "confidence": 1.0,
        "trust": "user",
        "scope": "project",
        "project": "shop",
        "category": "architectural-decisions",
        "conversation": said.id,
        "turn": "turn-2-9",
        "span": PNPM,
        "speaker": "user",
    }
    assert tidy(workspace) == []
    undo(workspace)
    assert [*held_proposals(workspace, ScopeFilter())] == [] == tidy(workspace)


@pytest.mark.parametrize("is_wide", [False, True])
def test_a_preference_of_several_projects_is_offered_for_all_unless_it_is_theirs_already(
    workspace: Workspace, talk, is_wide: bool
) -> None:
    wish = "I want tests before the code, always."
    for project in ("shop", "website"):
        said = talk(3 if project == "shop" else 4, wish, project=project)
        quoted = said.source["turns"][0]
        text = f"{wish}\n\n> “{wish}” — user, turn {quoted}"
        note(
            workspace,
            text,
            project,
            id=new_id(project),
            category="coding-preferences",
            source={"turns": [quoted], "from": said.id},
        )
    if is_wide:
        note(workspace, wish, "", id=new_id("all"), category="coding-preferences")
        assert tidy(workspace) == []
        return
    steps = tidy(workspace)
    assert [(step.deed, step.detail) for step in steps] == [
        ("raise", "said in shop, website")
    ]
    (held,) = held_proposals(workspace, ScopeFilter())
    assert (held.action, held.place) == ("ADD", ("user", ""))
    assert held.entry == {
        "at": held.entry["at"],
        "event": "refine",
        "id": "mem_44cf91fa-e6fc-5491-a0b5-abb2cc5aa5d6",
        "proposal": "ADD",
        "outcome": "review",
        "gate": "rule",
        "detail": "said in shop, website",
        "reason": "tidy",
        "statement": wish,
        "confidence": 1.0,
        "trust": "user",
        "scope": "user",
        "project": "",
        "category": "coding-preferences",
        "conversation": new_id("Talk 2-3"),
        "turn": "turn-2-3",
        "span": wish,
        "speaker": "user",
    }


def test_what_is_old_unused_and_unlinked_leaves_and_the_rest_stays(
    workspace: Workspace, talk
) -> None:
    gone = talk(3, "We ship on Mondays.")
    talk(4, "We bill on Fridays.", month=1, open_question="Who signs the bills?")
    named = talk(5, "We close at six.", month=3)
    talk(6, "We open at nine.", month=10, links=(named.id,))
    note(workspace, "The gateway listens on port 8443.", category="infrastructure")
    workspace.index.refresh()
    moves = idle_moves(workspace, row_filter(workspace), 180, NOW)
    assert [move.id for move in moves] == [gone.id]
    used = workspace.root / "feedback" / f"{workspace.machine}.json"
    used.parent.mkdir(exist_ok=True)
    line = f'"{gone.id}": {{"used": 1, "last": "2026-10-01"}}'
    used.write_text(f'{{"schema": 1, "memories": {{\n{line}\n}}}}\n')
    workspace.index.refresh()
    assert idle_moves(workspace, row_filter(workspace), 180, NOW) == []


def test_nothing_leaves_by_itself_until_the_workspace_says_so(
    workspace: Workspace, talk
) -> None:
    talk(3, "We ship on Mondays.", month=1)
    assert [*tidy_plan(workspace)] == []
    settings = workspace.root / "keeplore.yaml"
    text = settings.read_text()
    settings.write_text(text.replace("archive_after_days: 0", "archive_after_days: 30"))
    with Registry(workspace.places) as registry:
        opened = registry.named("memory")
        (path,) = opened.root.rglob("*talk-1-3*.md")
        (step,) = tidy(opened)
        assert (step.deed, step.title) == ("archive", "archive 1 memory")
        assert not path.exists() and tidy(opened) == []
        undo(opened)
        assert path.exists() and tidy(opened) == []


def test_a_brief_tells_what_a_digest_stands_for_as_one_line(
    workspace: Workspace, talk, tmp_path
) -> None:
    words = [f"We ship part {part} on Mondays." for part in "abc"]
    talks = [talk(day, decided).id for day, decided in enumerate(words, 3)]
    found = ["Redis drops its keys.", "Mail is late.", "The login needs cookies."]
    notes = [
        note(workspace, text, category="gotchas", source={"from": id_})
        for text, id_ in zip(found, talks, strict=True)
    ]
    other = note(workspace, "Prices have no cents.", category="gotchas")
    (workspace.root / "projects" / "shop" / "project.json").write_text(
        '{"schema": 1, "name": "shop", "path": "~/code/shop"}'
    )
    before, _ = told(workspace)
    tidy(workspace)
    after, ids = told(workspace)
    assert set(ids) == {*talks, *notes, other}
    (line,) = (line for line in after.splitlines() if words[0] in line)
    assert line.startswith("- 2026-02-05 · “") and "(user; " in line
    assert all(f"“{said}”" in line for said in words)
    assert len(after) < len(before)
    digest = line.rpartition("; ")[2]
    noted = [line for line in after.splitlines() if "gotchas" in line]
    alone = f"“Prices have no cents.” (user; {other[4:12]})"
    [joined] = [line for line in noted if not line.endswith(alone)]
    assert len(noted) == 2 and joined.endswith(f" (user; {digest}")
    assert all(f" · “{text}”" in joined for text in found)


def told(workspace: Workspace) -> ContextBlock:
    workspace.index.refresh()
    directory = Path.home() / "code" / "shop"
    directory.mkdir(parents=True, exist_ok=True)
    with Registry(workspace.places) as registry:
        views = registry.views(directory)
        room = TextBudget(3000, 60_000)
        return brief(views, session="s", source="startup", room=room)


def test_the_worker_tidies_once_a_day_where_it_may_and_nobody_works(
    workspace: Workspace, talk
) -> None:
    talk(3, NPM)
    talk(9, PNPM)
    changed: list[bool] = []
    with Registry(workspace.places) as registry:
        registry.named("memory")
        task = TidyTask(registry, lambda: True, lambda: changed.append(True))
        assert task.run(0.0) == NEVER and not task.is_running
    settings = workspace.root / "keeplore.yaml"
    text = settings.read_text()
    settings.write_text(text.replace("nightly: false", "nightly: true"))
    with Registry(workspace.places) as registry:
        registry.named("memory")
        busy = TidyTask(registry, lambda: False, lambda: changed.append(True))
        assert busy.run(0.0) < NEVER and not busy.is_running
        task = TidyTask(registry, lambda: True, lambda: changed.append(True))
        task.run(0.0)
        while task.is_running:
            time.sleep(0.01)
        assert changed == [True] and [*workspace.root.rglob("digests/*.md")]
        assert task.run(0.0) == NEVER


def test_what_was_taken_back_and_not_allowed_since_is_known_from_the_log() -> None:
    lines = [
        {"event": UNTIDIED, "ids": ["c"], "at": "2026-01-04"},
        {"event": UNTIDIED, "ids": ["a", "b"], "at": "2026-01-01"},
        {"event": "refined", "ids": ["a"], "at": "2026-01-02"},
        {"event": UNTIDIED, "ids": ["d"], "at": "2026-01-02"},
        {"event": ALLOWED, "ids": ["d"], "at": "2026-01-03"},
        {"event": UNTIDIED, "ids": ["a", "b"], "at": "2026-01-05"},
        {"event": ALLOWED},  # of a program that we do not know
    ]
    log = SimpleNamespace(store=SimpleNamespace(records=lambda: lines))
    assert _taken_back(log) == [["c"], ["a", "b"]]
