"""Statements of talks that were not sure enough are offered; what a person decides is kept."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from keeplore.cli.commands.write import review_
from keeplore.config.places import Places
from keeplore.index import MemoryFilter, ScopeFilter
from keeplore.memory import Conversation, Exchange, Memory, new_id, new_meta, parse
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.review import accept, reject, review_candidates

EVERYWHERE = ScopeFilter(())
SAID = "Let's use something simple for the queue."


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(tmp_path / "state", tmp_path / "cache")
    initialise(places, tmp_path / "memory")
    return places


@pytest.fixture
def workspace(places: Places, tmp_path: Path) -> Iterator[Workspace]:
    with Registry(places) as registry:
        workspace = registry.for_directory(tmp_path)
        workspace.store.save(talk_of("s1", "talk"))
        yield workspace


def talk_of(session: str, seed: str) -> Memory:
    talk = Conversation(
        "The queue", (Exchange("t1", "2026-03-01T10:00:00Z", SAID, ("Fine.",)),)
    )
    meta = new_meta(
        id=new_id(seed),
        kind="conversation",
        title="The queue",
        created_at="2026-03-01T10:00:00Z",
        scope="workspace",
        trust="assistant",
        source={"host": "claude-code", "session": session, "turns": ["t1"]},
    )
    return Memory(meta, talk.to_markdown())


def test_what_is_accepted_becomes_the_persons_note(workspace: Workspace) -> None:
    [offer] = review_candidates(workspace, EVERYWHERE)
    outcome = accept(workspace, offer)
    assert (outcome.memory.trust, outcome.memory.created_at) == (
        "user",
        "2026-03-01T10:00:00Z",
    )
    assert outcome.memory.body == f"# {SAID}\n"
    assert outcome.memory.source["turns"] == ["t1"]
    assert outcome.memory.source["from"] == new_id("talk")
    assert list(review_candidates(workspace, EVERYWHERE)) == []


def test_of_the_newest_conversations_or_those_since_a_day_alone(
    workspace: Workspace,
) -> None:
    later = talk_of("s2", "later").with_meta(
        created_at="2026-04-01T10:00:00Z", updated_at="2026-04-01T10:00:00Z"
    )
    body = later.body.replace("something simple", "Postgres").replace("t1", "t2")
    workspace.store.save(Memory(later.meta, body))

    def offered(**wish: Any) -> list[str]:
        found = review_candidates(workspace, EVERYWHERE, **wish)
        return [offer.draft.text for offer in found]

    both = ["Let's use Postgres for the queue.", SAID]
    assert offered() == offered(newest=2) == offered(since="2026-02-01") == both
    assert offered(newest=1) == offered(since="2026-03-15") == both[:1]
    assert offered(newest=0) == []


def test_what_is_put_into_other_words_is_not_offered_again(
    workspace: Workspace,
) -> None:
    [offer] = review_candidates(workspace, EVERYWHERE)
    outcome = accept(workspace, offer, "The queue is one table in Postgres.")
    assert outcome.memory.title == "The queue is one table in Postgres."
    assert list(review_candidates(workspace, EVERYWHERE)) == []


def test_what_is_rejected_or_forgotten_is_not_offered_again(
    workspace: Workspace, places: Places
) -> None:
    [offer] = review_candidates(workspace, EVERYWHERE)
    reject(workspace, "studio-1a2b", offer)
    assert list(review_candidates(workspace, EVERYWHERE)) == []
    workspace.index.refresh()
    assert workspace.index.listed(MemoryFilter(kind="note")) == []


def test_what_was_said_in_two_sessions_is_offered_once(workspace: Workspace) -> None:
    workspace.store.save(talk_of("s2", "other talk"))
    [offer] = review_candidates(workspace, EVERYWHERE)
    reject(workspace, "studio-1a2b", offer)
    assert list(review_candidates(workspace, EVERYWHERE)) == []


def test_piped_the_offers_are_listed_and_nothing_is_asked(
    workspace: Workspace,
    places: Places,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = CliRunner().invoke(review_.review_command, ["--all-projects"], obj=places)
    assert listed.output.split("\t")[4] == SAID
    [data] = json.loads(
        CliRunner().invoke(review_.review_command, ["--json"], obj=places).output
    )
    assert (data["quote"], data["speaker"], data["conversation"]) == (
        SAID,
        "user",
        new_id("talk"),
    )
    assert len(list(review_candidates(workspace, EVERYWHERE))) == 1


def test_only_talks_that_were_changed_since_then_are_looked_at(
    workspace: Workspace,
) -> None:
    assert list(review_candidates(workspace, EVERYWHERE, "2026-04")) == []


def test_a_person_keeps_edits_rejects_skips_and_stops(
    at_terminal: Callable[..., tuple[int, str]], memory: Path, tmp_path: Path
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text(
        "#!/bin/sh\ncase $1 in *.md) sed -i s/simple/plain/ $1;; *) exit 1;; esac\n"
    )
    editor.chmod(0o700)
    things = ("queue", "cache", "mail", "search", "files")
    with Registry(Places.from_environment(os.environ)) as registry:
        for number, thing in enumerate(things, 1):
            at, said = (
                f"2026-03-0{number}T10:00:00Z",
                f"Let's use something simple for the {thing}.",
            )
            talk = Conversation(
                f"The {thing}", (Exchange(f"t{number}", at, said, ("Fine.",)),)
            )
            meta = new_meta(
                id=new_id(thing),
                kind="conversation",
                title=f"The {thing}",
                created_at=at,
                scope="workspace",
                trust="assistant",
                source={
                    "host": "claude-code",
                    "session": "s1",
                    "turns": [f"t{number}"],
                },
            )
            registry.named("memory").store.save(Memory(meta, talk.to_markdown()))
    typed = "e\ny\nx\nn\ns\nq\n"
    told = {"NO_COLOR": "1", "VISUAL": str(editor)}
    status, seen = at_terminal("review", "--all-projects", typed=typed, **told)

    def offered(number: int, thing: str) -> str:
        said = f"Let's use something simple for the {thing}."
        return (
            f"{said}\n"
            f"  2026-03-0{number} · architectural-decisions · workspace · 0.57 sure\n"
            f"  user: “{said}”\n"
            f"  in The {thing}; `keeplore show {new_id(thing)[4:12]}`\n"
        )

    kept = {
        parse(path.read_text()).title: path.relative_to(memory)
        for path in (memory / "memory" / "decisions").iterdir()
    }
    edited, as_it_was = (
        kept.pop(f"Let's use something {one}.")
        for one in ("plain for the files", "simple for the search")
    )
    assert kept == {}
    question = "  Keep this? [y/e/n/s/q]: "
    meanings = (
        "y keep it, e edit it first, n never offer it again, s decide later, q stop"
    )
    assert (status, seen) == (
        0,
        (
            f"{typed}"
            f"{offered(5, 'files')}{question}  Kept: {edited}\n\n"
            f"{offered(4, 'search')}{question}  Kept: {as_it_was}\n\n"
            f"{offered(3, 'mail')}{question}  {meanings}\n{question}\n"
            f"{offered(2, 'cache')}{question}\n"
            f"{offered(1, 'queue')}{question}2 kept, 1 rejected.\n"
        ),
    )
    with Registry(Places.from_environment(os.environ)) as registry:
        left = list(review_candidates(registry.named("memory"), EVERYWHERE))
    assert [offer.draft.text for offer in left] == [
        "Let's use something simple for the cache.",
        "Let's use something simple for the queue.",
    ]
