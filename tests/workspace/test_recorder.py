"""Turns become conversation files, once each, whatever is repeated, interrupted or lost on
the way.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path

from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore.text.fences import fence
from keeplore.workspace import Registry
from keeplore.workspace.importing.session_import import import_sessions, worth_reading
from keeplore_hooks.events import (
    Command,
    Compaction,
    Origin,
    Question,
    Session,
    Turn,
    Work,
)
from keeplore_hooks.installed import host_named


def turn(
    number: int,
    user: str,
    reply: str = "",
    *,
    cwd: Path,
    minute: int | None = None,
    **more,
) -> Turn:
    at = f"2026-02-09T14:{number if minute is None else minute:02d}:00Z"
    origin = Origin("claude-code", "session-1", str(cwd))
    return Turn(f"turn-{number}", origin, at, user, (reply,) if reply else (), **more)


def files(root: Path) -> dict[str, str]:
    return {
        path.name: path.read_text()
        for path in sorted(root.glob("**/memory/conversations/**/*.md"))
    }


def exchanges(root: Path) -> list[str]:
    bodies = [parse(text).body for text in files(root).values()]
    return [
        exchange.id
        for body in bodies
        for exchange in Conversation.from_markdown(body).exchanges
    ]


def test_a_turn_is_on_disk_when_it_was_emitted_and_the_same_turn_changes_nothing(
    workspace, project
):
    said = turn(
        1,
        "Let's use hnswlib for the vectors.",
        "Agreed, because it needs no server.",
        cwd=project,
    )
    workspace.emit(said)
    before = files(workspace.root)
    (text,) = before.values()
    memory = parse(text)
    assert memory.is_open and memory.problems == ()
    assert (memory.scope, memory.project, memory.turns) == (
        "project",
        "ledgerly",
        ("turn-1",),
    )
    assert (
        "Let's use hnswlib for the vectors." in text
        and "because it needs no server" in text
    )
    workspace.emit(said)
    assert files(workspace.root) == before


def test_a_turn_that_grows_replaces_itself(workspace, project):
    first = turn(1, "Which index?", "I will look.", cwd=project, is_complete=False)
    workspace.emit(first)
    workspace.emit(
        replace(first, replies=("I will look.", "Take hnswlib."), is_complete=True)
    )
    (text,) = files(workspace.root).values()
    assert text.count("I will look.") == text.count("Take hnswlib.") == 1


def test_another_process_goes_on_with_the_open_conversation(places, project):
    for number in (1, 2, 3):
        with Registry(places) as registry:
            registry.named("memory").emit(
                turn(number, f"Question {number} about the index", "Yes.", cwd=project)
            )
    assert len(files(Path.home() / "memory")) == 1
    assert exchanges(Path.home() / "memory") == ["turn-1", "turn-2", "turn-3"]


def test_a_closed_conversation_is_never_written_again(workspace, project):
    workspace.emit(turn(1, "First subject: the index", "Yes.", cwd=project))
    workspace.emit(
        Command(
            "c1",
            Origin("claude-code", "session-1", str(project)),
            "2026-02-09T14:01:30Z",
            "deploy",
            "eu",
        )
    )
    workspace.emit(turn(2, "Second subject: the deployment", "Done.", cwd=project))
    (closed,) = (
        (name, text)
        for name, text in files(workspace.root).items()
        if "status: open" not in text
    )
    workspace.emit(
        turn(
            1,
            "First subject: the index",
            "Another reading of the same words.",
            cwd=project,
        )
    )
    after = files(workspace.root)
    assert after[closed[0]] == closed[1] and "First subject" in closed[1]
    assert len(after) == 2 and any(
        "began with /deploy eu" in text for text in after.values()
    )


def test_what_an_agent_says_after_its_conversation_was_closed_is_kept_in_the_next(
    workspace, project
):
    origin = Origin("claude-code", "session-1", str(project))
    first = turn(1, "Build the index", "I begin.", cwd=project, is_complete=False)
    workspace.emit(first)
    workspace.emit(Session("s1", origin, "2026-02-09T14:01:30Z", "ended"))
    workspace.emit(replace(first, replies=("I begin.", "It is built.")))
    workspace.emit(
        replace(
            first, replies=("I begin.", "It is built.", "And tested."), is_complete=True
        )
    )
    assert exchanges(workspace.root) == ["turn-1", "turn-1~1"] or exchanges(
        workspace.root
    ) == [
        "turn-1~1",
        "turn-1",
    ]
    bodies = [parse(text).body for text in files(workspace.root).values()]
    told = [
        reply
        for body in bodies
        for exchange in Conversation.from_markdown(body).exchanges
        for reply in exchange.replies
    ]
    assert sorted(told) == ["And tested.", "I begin.", "It is built."]


def test_housekeeping_commands_and_repeated_ones_are_no_boundary(workspace, project):
    origin = Origin("claude-code", "session-1", str(project))
    workspace.emit(turn(1, "The index, please", "Yes.", cwd=project))
    workspace.emit(Command("c1", origin, "2026-02-09T14:01:30Z", "model", "opus"))
    workspace.emit(turn(2, "And its size?", "Small.", cwd=project))
    assert len(files(workspace.root)) == 1


def test_a_prompt_that_waits_is_replaced_by_its_turn(workspace, project):
    prompt = turn(1, "Why is it slow?", cwd=project)
    workspace.emit(
        replace(prompt, id="prompt:p1", is_provisional=True, is_complete=False)
    )
    assert exchanges(workspace.root) == ["prompt:p1"]
    workspace.emit(turn(1, "Why is it slow?", "No index.", cwd=project))
    assert exchanges(workspace.root) == ["turn-1"]
    workspace.emit(
        replace(prompt, id="prompt:p1", is_provisional=True, is_complete=False)
    )
    assert exchanges(workspace.root) == ["turn-1", "prompt:p1"] or exchanges(
        workspace.root
    ) == ["turn-1"]


def test_the_same_words_typed_twice_are_two_prompts(workspace, project):
    for number in (1, 2):
        workspace.emit(
            replace(
                turn(number, "continue", "ok", cwd=project),
                id=f"prompt:{number}",
                is_provisional=True,
            )
        )
    assert exchanges(workspace.root) == ["prompt:1", "prompt:2"]


def test_a_session_that_moves_to_another_project_begins_another_file(
    workspace, project
):
    other = Path.home() / "code" / "website"
    other.mkdir()
    workspace.emit(turn(1, "The index of the ledger", "Yes.", cwd=project))
    workspace.emit(turn(2, "Now the footer of the website", "Yes.", cwd=other))
    folders = {
        path.relative_to(workspace.root).parts[1]
        for path in workspace.root.glob("projects/*/memory/**/*.md")
    }
    assert folders == {"ledgerly", "website"}


def test_a_question_with_its_answer_stands_in_its_place(workspace, project):
    origin = Origin("claude-code", "session-1", str(project))
    asked = Question(
        "q1",
        origin,
        "2026-02-09T14:01:00Z",
        "Which database?",
        "Postgres",
        ("Postgres", "SQLite"),
    )
    workspace.emit(asked)
    workspace.emit(
        replace(
            turn(1, "Choose with me", cwd=project),
            replies=("Let me ask.", asked, "Then Postgres."),
        )
    )
    (text,) = files(workspace.root).values()
    assert (
        text.index("Let me ask.")
        < text.index("**Asked:** Which database?")
        < text.index("**Answer:** Postgres")
    )
    assert "Which database? → Postgres" in text


def test_secrets_and_injected_memory_never_reach_the_workspace(workspace, project):
    password = "-".join(("s3cr", "et9", "Pass7"))
    block = fence("old memory", "x1y2z3x1y2z3")
    work = Work(
        commands=(f"psql postgresql://app:{password}@db.example/app",),
        files=(f"{project}/app/db.py",),
    )
    workspace.emit(
        turn(
            1,
            f"{block}\nThe password is {password}.",
            f"postgres://u:{password}@h/d",
            cwd=project,
            work=work,
        )
    )
    everything = b"".join(
        path.read_bytes() for path in workspace.root.rglob("*") if path.is_file()
    )
    assert password.encode() not in everything
    (text,) = files(workspace.root).values()
    assert "old memory" not in text and "- file: `app/db.py`" in text


def test_what_nobody_said_makes_no_memory(workspace, project):
    workspace.emit(turn(1, "<system-reminder>be nice</system-reminder>", cwd=project))
    workspace.emit(
        Compaction(
            "k",
            Origin("claude-code", "session-1", str(project)),
            "2026-02-09T14:00:00Z",
            "before",
        )
    )
    assert files(workspace.root) == {}


def test_the_end_of_a_session_without_a_record_closes_its_conversation(
    workspace, project
):
    origin = Origin("my-agent", "s", str(project))
    workspace.emit(
        replace(turn(1, "Use tabs here, always.", "Noted.", cwd=project), origin=origin)
    )
    workspace.emit(Session("e", origin, "2026-02-09T14:10:00Z", "ended"))
    (text,) = files(workspace.root).values()
    assert not parse(text).is_open


def record(
    folder: Path, session: str, cwd: Path, prompts: list[tuple[str, str]]
) -> None:
    """A minimal transcript of Claude Code: prompts with their ids, each answered."""
    lines = []
    for number, (key, prompt) in enumerate(prompts):
        common = {
            "sessionId": session,
            "cwd": str(cwd),
            "version": "2.1.200",
            "isSidechain": False,
        }
        at = f"2026-02-09T14:{number:02d}:00.000Z"
        lines.append(
            {
                **common,
                "type": "user",
                "uuid": key,
                "timestamp": at,
                "message": {"role": "user", "content": prompt},
            }
        )
        answer = {
            "role": "assistant",
            "id": f"m-{key}",
            "model": "m",
            "content": [{"type": "text", "text": f"Answer {key}."}],
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
            worth_reading(host.recorded(Path.home()), None),
            lambda *_: None,
        )
    return files(Path.home() / "memory")


def test_importing_twice_changes_nothing_even_when_state_and_cache_are_lost(
    places, project
):
    folder = Path.home() / ".claude" / "projects" / "ledgerly"
    record(
        folder,
        "one",
        project,
        [("u1", "Use hnswlib for the index"), ("u2", "And how large does it get?")],
    )
    first = run_import(places)
    assert len(first) == 1 and not parse(next(iter(first.values()))).is_open
    assert run_import(places) == first
    shutil.rmtree(places.sessions)
    shutil.rmtree(places.state / "capture")
    assert run_import(places) == first
    shutil.rmtree(places.cache)
    shutil.rmtree(places.sessions)
    assert run_import(places) == first


def test_a_fork_that_repeats_another_session_adds_only_what_is_new(places, project):
    folder = Path.home() / ".claude" / "projects" / "ledgerly"
    record(
        folder,
        "one",
        project,
        [("u1", "Use hnswlib for the index"), ("u2", "And how large does it get?")],
    )
    run_import(places)
    shared = [
        ("u1", "Use hnswlib for the index"),
        ("u2", "And how large does it get?"),
        ("u3", "Which ef then?"),
    ]
    record(folder, "two", project, shared)
    run_import(places)
    assert sorted(exchanges(Path.home() / "memory")) == ["u1", "u2", "u3"]


def test_an_import_is_taken_up_where_it_was_interrupted(places, project):
    folder = Path.home() / ".claude" / "projects" / "ledgerly"
    record(folder, "one", project, [("u1", "Use hnswlib for the index")])
    run_import(places)
    record(
        folder,
        "one",
        project,
        [("u1", "Use hnswlib for the index"), ("u2", "And how large does it get?")],
    )
    run_import(places)
    assert sorted(exchanges(Path.home() / "memory")) == ["u1", "u2"]


def test_a_workspace_that_captures_nothing_is_left_alone(places, project):
    settings = Path.home() / "memory" / "keeplore.yaml"
    settings.write_text("schema: 1\ncapture: {enabled: false}\n")
    record(
        Path.home() / ".claude" / "projects" / "x", "one", project, [("u1", "Anything")]
    )
    assert run_import(places) == {}


def test_a_subject_that_comes_back_continues_by_a_link_and_the_closed_file_stays(
    workspace, project
):
    origin = Origin("claude-code", "session-1", str(project))
    workspace.emit(
        turn(
            1,
            "The worker queue loses jobs when redis restarts",
            "Keep the jobs in postgres.",
            cwd=project,
        )
    )
    workspace.emit(Command("c1", origin, "2026-02-09T14:02:00Z", "deploy"))
    workspace.emit(
        turn(3, "Restyle the invoice header", "It uses the brand palette.", cwd=project)
    )
    workspace.emit(Command("c2", origin, "2026-02-09T14:04:00Z", "deploy"))
    workspace.emit(
        turn(
            50,
            "The queue again: redis restarts lose jobs",
            "Move the jobs to postgres.",
            cwd=project,
        )
    )
    before = files(workspace.root)
    workspace.emit(Session("s1", origin, "2026-02-09T14:55:00Z", "ended"))
    after = files(workspace.root)
    first, second, third = (
        next(parse(text) for text in after.values() if f"turn {name} " in text)
        for name in ("turn-1", "turn-3", "turn-50")
    )
    changed = [name for name in before if after[name] != before[name]]
    assert [parse(after[name]).id for name in changed] == [third.id]
    assert first.links == (("relates-to", second.id),)
    assert second.links == (("relates-to", first.id), ("relates-to", third.id))
    assert third.links == (("relates-to", second.id), ("relates-to", first.id))
    assert f"- {first.title} ({first.id}, relates-to)\n" in third.body
    assert f"- Earlier in this session ({second.id}, relates-to)\n" in third.body
    assert f"- Later in this session ({second.id}, relates-to)\n" in first.body
    assert not any(memory.problems for memory in (first, second, third))


def test_the_same_subject_in_another_project_is_another_one(workspace, project, git):
    other = project.with_name("billing")
    other.mkdir()
    git("init", "-q", cwd=other)
    question = "The worker queue loses jobs when redis restarts"
    workspace.emit(turn(1, question, "Keep the jobs in postgres.", cwd=project))
    ended = Origin("claude-code", "session-1", str(project))
    workspace.emit(Session("s1", ended, "2026-02-09T14:02:00Z", "ended"))
    said = turn(50, question, "Keep the jobs in postgres.", cwd=other)
    workspace.emit(replace(said, origin=replace(said.origin, session="session-2")))
    ended = Origin("claude-code", "session-2", str(other))
    workspace.emit(Session("s2", ended, "2026-02-09T14:55:00Z", "ended"))
    kept = sorted(map(parse, files(workspace.root).values()), key=lambda one: one.turns)
    assert [(one.project, one.turns, one.links) for one in kept] == [
        ("ledgerly", ("turn-1",), ()),
        ("billing", ("turn-50",), ()),
    ]


def test_a_session_that_goes_on_after_a_crash_names_the_part_before(
    places, project
) -> None:
    origin = Origin("claude-code", "session-1", str(project))
    with Registry(places) as registry:
        workspace = registry.named("memory")
        workspace.emit(turn(1, "Build the index of the words", "Built.", cwd=project))
        state = workspace.sessions.get(origin)
        open_id = state.open_id
        workspace.emit(Session("s1", origin, "2026-02-09T14:01:30Z", "ended"))
        # as it was when the file was closed and the session's state not yet written
        state.open_id, state.before = open_id, ""
        workspace.sessions.save(state)
    with Registry(places) as registry:
        workspace = registry.named("memory")
        workspace.emit(turn(2, "And its size?", "Small.", cwd=project))
        (second,) = (
            parse(text)
            for text in files(workspace.root).values()
            if "turn turn-2 " in text
        )
    assert second.links == (("relates-to", open_id),)


def test_a_command_on_the_work_in_hand_goes_on_with_it(workspace, project):
    origin = Origin("claude-code", "session-1", str(project))
    workspace.emit(turn(1, "Build the index of the words", "Built.", cwd=project))
    for number, name in enumerate(("review", "compact", "team:execute-plan"), 2):
        workspace.emit(Command(f"c{number}", origin, "2026-02-09T14:02:00Z", name))
        workspace.emit(turn(number, f"Look at part {number}", "Fine.", cwd=project))
    assert len(files(workspace.root)) == 1


def test_a_conversation_names_the_earlier_one_of_its_pull_request(workspace, project):
    links = ("https://github.com/acme/ledgerly/pull/17",)
    for number, words in enumerate(("Round VAT once a rate", "Answer the reviewer")):
        origin = Origin("claude-code", f"session-{number}", str(project))
        at = f"2026-02-09T1{number}:00:00Z"
        workspace.emit(
            Turn(f"t{number}", origin, at, words, ("Done.",), work=Work(links=links))
        )
        workspace.emit(Session(f"s{number}", origin, at, "ended"))
    first, second = (
        next(parse(t) for t in files(workspace.root).values() if f"turn {name} " in t)
        for name in ("t0", "t1")
    )
    assert (first.links, second.links) == ((), (("refines", first.id),))
