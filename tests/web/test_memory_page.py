"""What a memory's page is given of the conversation that its words come from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_workspace import moment

from keeplore.config.places import Places
from keeplore.memory import Conversation, Memory, new_id, new_meta
from keeplore.web.doctor_findings import Health
from keeplore.web.page_context import PageContext
from keeplore.web.pages.memory_page import memory_values
from keeplore.web.templating import spoken_moment
from keeplore.workspace.registry import Registry


@pytest.fixture
def context(sample: Path, home: Path) -> Iterator[PageContext]:
    with Registry(Places(home / "state", home / "cache")) as registry:
        yield PageContext(registry, sample, Health(list), csrf="t0ken")


def turn_of(talk: int) -> str:
    return str(new_id("turn", str(talk), "1"))[4:]


def head_of_note(context: PageContext, *turns: str) -> str:
    """What the page of a note that quotes these turns says, and that no exchange stands there."""
    quoted = "\n\n".join(f"> “Yes.” — user, turn {turn[:8]}" for turn in turns)
    workspace = context.workspace
    meta = new_meta(
        id=new_id("note", *turns),
        kind="note",
        title="Both",
        created_at=moment(1),
        scope="workspace",
        trust="user",
        source={"turns": list(turns), "machine": workspace.machine},
    )
    workspace.store.save(Memory(meta, f"# Both\n\n{quoted}\n"))
    workspace.index.refresh()
    values = memory_values(context, context.registry.find(meta["id"], context.cwd))
    assert values["exchanges"] == []
    return str(values["head"])


@pytest.mark.parametrize(("said_in", "other"), [(0, 1), (1, 0)])
def test_the_receipts_of_a_note_lead_to_where_its_first_turn_was_said(
    context: PageContext, said_in: int, other: int
) -> None:
    first, second = turn_of(said_in), turn_of(other)
    talk = new_id("talk", str(said_in))
    body = context.registry.find(talk, context.cwd).memory.body
    when = spoken_moment(Conversation.from_markdown(body).exchanges[1].at)
    assert head_of_note(context, first, second) == (
        "<blockquote>\n<p>“Yes.” "
        f'<a class="receipt" href="/m/{talk[4:12]}#turn-{first[:8]}">user, {when}</a></p>\n'
        f"</blockquote>\n<blockquote>\n<p>“Yes.” — user, turn {second[:8]}</p>\n"
        "</blockquote>\n"
    )


def test_the_receipts_of_a_note_whose_words_are_not_here_lead_nowhere(
    context: PageContext,
) -> None:
    assert head_of_note(context, "f" * 32) == (
        "<blockquote>\n<p>“Yes.” — user, turn ffffffff</p>\n</blockquote>\n"
    )
