"""What a person does to the file of a conversation that is still going on stays, whatever is said
next.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore.workspace import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin, Session, Turn

ORIGIN = Origin("claude-code", "session-1")


def said(number: int, *replies: str, origin: Origin = ORIGIN) -> Turn:
    replies = replies or (f"We chose index {number}, because it is small.",)
    at, user = (
        f"2026-02-09T14:{number:02d}:00Z",
        f"Let's use index {number} for the vectors.",
    )
    return Turn(f"turn-{number}", origin, at, user, replies)


def the_file(workspace: Workspace) -> Path:
    [path] = workspace.root.glob("**/memory/**/conversations/**/*.md")
    return path


def edit(workspace: Workspace, change: Callable[[str], str]) -> None:
    path = the_file(workspace)
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))


def ids(path: Path) -> list[str]:
    return [
        exchange.id
        for exchange in Conversation.from_markdown(
            parse(path.read_text()).body
        ).exchanges
    ]


def without_exchange(text: str, number: int) -> str:
    return re.sub(
        rf"<!-- keeplore:turn turn-{number} .*?(?=<!-- keeplore:turn |\Z)",
        "",
        text,
        flags=re.DOTALL,
    )


EDITS: dict[str, tuple[Callable[[str], str], Callable[[str], bool]]] = {
    "line": (
        lambda t: t.replace("\n## Exchanges\n", "\nSeen by hand.\n\n## Exchanges\n"),
        lambda t: "\nSeen by hand.\n" in t,
    ),
    "part": (
        lambda t: t.replace(
            "\n## Exchanges\n", "\n## My view\n\n- mine\n\n## Exchanges\n"
        ),
        lambda t: "## My view\n\n- mine\n" in t,
    ),
    "title": (
        lambda t: re.sub(r"^title: .*$", "title: Mine", t, flags=re.MULTILINE),
        lambda t: "\ntitle: Mine\n" in t,
    ),
    "heading": (
        lambda t: re.sub(r"^# .*$", "# Mine too", t, flags=re.MULTILINE),
        lambda t: "\n# Mine too\n" in t,
    ),
    "new key": (
        lambda t: t.replace("\ntrust:", "\nticket: K-1\ntrust:"),
        lambda t: "\nticket: K-1\n" in t,
    ),
    "key": (
        lambda t: t.replace("trust: assistant", "trust: document"),
        lambda t: "trust: document" in t,
    ),
    "words": (
        lambda t: t.replace("chose index 1,", "chose INDEX one,"),
        lambda t: "chose INDEX one," in t,
    ),
    "removed": (
        lambda t: without_exchange(t, 2),
        lambda t: "keeplore:turn turn-2 " not in t,
    ),
    "quotation": (
        lambda t: re.sub(
            r"^- (.*, turn turn-\d+)$", r"- By hand: \1", t, count=1, flags=re.MULTILINE
        ),
        lambda t: "\n- By hand: " in t,
    ),
}


def test_each_kind_of_edit_stays_while_the_talk_goes_on_and_after_it_is_closed(
    workspace: Workspace,
) -> None:
    for number in (1, 2, 3):
        workspace.emit(said(number))
    for change, _ in EDITS.values():
        edit(workspace, change)
    for number in (4, 5):
        workspace.emit(said(number))
    workspace.emit(said(2))  # a host that tells its record once more
    workspace.emit(Session("s-1", ORIGIN, "2026-02-09T14:30:00Z", "ended"))
    path = the_file(workspace)
    text = path.read_text()
    assert [name for name, (_, stays) in EDITS.items() if not stays(text)] == []
    assert ids(path) == ["turn-1", "turn-3", "turn-4", "turn-5"]
    assert not parse(text).is_open and "mine" in path.name


def test_the_session_goes_on_to_make_what_nobody_edited(workspace: Workspace) -> None:
    workspace.emit(said(1))
    edit(
        workspace,
        lambda text: text.replace(
            "\n## Exchanges\n", "\nSeen by hand.\n\n## Exchanges\n"
        ),
    )
    before = parse(the_file(workspace).read_text())
    workspace.emit(
        replace(
            said(2, "Let us go with SQLite, since it needs no server."),
            user="And the database?",
        )
    )
    after = parse(the_file(workspace).read_text())
    assert after.updated_at > before.updated_at and after.turns == ("turn-1", "turn-2")
    assert (
        "14:01–14:02" in after.body.replace("2026-02-09 ", "")
        and "Seen by hand." in after.body
    )
    assert after.body.partition("## Exchanges")[0].count("index 1 for") <= 2


def test_a_turn_that_grows_keeps_what_was_edited_in_it(workspace: Workspace) -> None:
    workspace.emit(
        replace(said(1, "We chose index 1, because it is small."), is_complete=False)
    )
    edit(workspace, lambda text: text.replace("it is small", "it is tiny"))
    workspace.emit(
        said(1, "We chose index 1, because it is small.", "And it is quick.")
    )
    [exchange] = Conversation.from_markdown(
        parse(the_file(workspace).read_text()).body
    ).exchanges
    assert exchange.replies == (
        "We chose index 1, because it is tiny.",
        "And it is quick.",
    )


def test_where_both_changed_the_same_words_both_texts_stay(
    workspace: Workspace,
) -> None:
    workspace.emit(replace(said(1, "We chose index 1."), is_complete=False))
    edit(workspace, lambda text: text.replace("We chose index 1.", "We chose none."))
    workspace.emit(said(1, "We chose index 1. And we keep it."))
    texts = [
        path.read_text()
        for path in workspace.root.glob("**/memory/**/conversations/**/*.md")
    ]
    [mine] = [text for text in texts if "We chose none." in text]
    [theirs] = [text for text in texts if "We chose index 1. And we keep it." in text]
    assert parse(mine).is_open and not parse(theirs).is_open
    assert ("contradicts", parse(mine).id) in parse(theirs).links
    workspace.emit(said(2))
    assert len(list(workspace.root.glob("**/memory/**/conversations/**/*.md"))) == 2


def test_an_editor_that_saves_an_older_state_takes_no_exchange_away(
    workspace: Workspace,
) -> None:
    workspace.emit(said(1))
    older = the_file(workspace).read_text()
    for number in (2, 3, 4):
        workspace.emit(said(number))
    the_file(workspace).write_text(
        older.replace("\n## Exchanges\n", "\nSeen by hand.\n\n## Exchanges\n")
    )
    workspace.emit(said(5))
    path = the_file(workspace)
    assert ids(path) == [f"turn-{number}" for number in (1, 2, 3, 4, 5)]
    assert "Seen by hand." in path.read_text()


def test_a_name_and_a_folder_that_a_person_chose_stay(workspace: Workspace) -> None:
    workspace.emit(said(1))
    place = workspace.root / "memory" / "talks" / "About indexes.md"
    place.parent.mkdir()
    the_file(workspace).rename(place)
    workspace.emit(said(2))
    assert ids(place) == ["turn-1", "turn-2"]
    assert list(workspace.root.glob("**/memory/**/conversations/**/*.md")) == []


def test_greetings_to_which_a_person_wrote_something_are_kept(
    workspace: Workspace,
) -> None:
    workspace.emit(replace(said(1, "Hi."), user="ok"))
    edit(
        workspace,
        lambda text: text.replace(
            "\n## Exchanges\n", "\nSeen by hand.\n\n## Exchanges\n"
        ),
    )
    workspace.emit(Session("s-1", ORIGIN, "2026-02-09T14:30:00Z", "ended"))
    text = the_file(workspace).read_text()
    assert "Seen by hand." in text and not parse(text).is_open


STEPS = st.lists(
    st.sampled_from([*EDITS, "turn", "turn", "turn", "again", "restart", "lost state"]),
    max_size=10,
)


@given(steps=STEPS)
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_whatever_the_order_of_turns_edits_and_restarts_every_edit_and_every_turn_is_there(
    steps: list[str], places: Places
) -> None:
    """Each example is a session of its own; "lost state" is a kill between the writing of the state
    and of the file.
    """
    with Registry(places) as registry:
        workspace = registry.named("memory")
        for path in workspace.root.glob("**/memory/**/conversations/**/*.md"):
            path.unlink()
        session = os.urandom(4).hex()
        origin = Origin("claude-code", session)

        def turn(number: int) -> Turn:
            return replace(said(number, origin=origin), id=f"turn-{number}")

        count = 3
        for number in (1, 2, 3):
            workspace.emit(turn(number))
        done: set[str] = set()
        for step in steps:
            if step == "turn":
                count += 1
                workspace.emit(turn(count))
            elif step == "again":
                workspace.emit(turn(count))
            elif step == "restart":
                workspace.recorder.capture.forget_open()
                workspace.sessions.forget_loaded()
            elif step == "lost state":
                before = the_file(workspace).read_text()
                count += 1
                workspace.emit(turn(count))
                the_file(workspace).unlink()
                (
                    workspace.root / "memory/conversations/2026/02/2026-02-09-back.md"
                ).write_text(before)
            elif step not in done:
                text = the_file(workspace).read_text()
                the_file(workspace).write_text(EDITS[step][0](text))
                done.add(step)
        count += 1
        workspace.emit(turn(count))
        path = the_file(workspace)
        text = path.read_text()
        assert [step for step in done if not EDITS[step][1](text)] == []
        gone = {"turn-2"} if "removed" in done else set()
        assert ids(path) == [
            f"turn-{n}" for n in range(1, count + 1) if f"turn-{n}" not in gone
        ]
        assert parse(text).problems == ()
