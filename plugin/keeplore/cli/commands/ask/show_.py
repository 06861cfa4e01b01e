"""``keeplore show REF``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import (
    attributes_of,
    block,
    emit_json,
    markdown,
    near,
    plain,
    say,
    say_labelled,
    table,
)
from keeplore.cli.parameters import json_option, pass_registry, reference
from keeplore.memory import Conversation
from keeplore.memory.conversation_body import shown_turns
from keeplore.memory.names import short_id
from keeplore.text.dates import day_of, minute_of
from keeplore.text.folding import SHOWN_OF_DOCUMENT, fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keeplore.memory.conversation_body import Exchange
    from keeplore.workspace.reading.details import MemoryDetails
    from keeplore.workspace.reading.related_memories import RelatedMemory
    from keeplore.workspace.registry import FoundMemory, Registry

FIRST_LINE = 100  # characters of an exchange in the list of them
SHOWN_FILES = 4
MOST_HOPS = 3  # as the index walks; said here, so that --help loads no index


@click.command(short_help="Show one memory, and where it comes from.")
@reference()
@click.option(
    "--full",
    is_flag=True,
    help="Show the exchanges of a conversation too, and all that is left out for its length.",
)
@click.option(
    "--exchange",
    "--turn",
    "exchange",
    metavar="TURN",
    help="Show one exchange word for word: its number, or the turn it is from; of a note, where it "
    "was said.",
)
@click.option(
    "--raw",
    is_flag=True,
    help="Print the file byte for byte, whoever wrote it; on a terminal without control "
    "characters.",
)
@click.option(
    "--related",
    "hops",
    metavar="HOPS",
    type=click.IntRange(1, MOST_HOPS),
    is_flag=False,
    flag_value=1,
    help=f"List what refines, contradicts or relates to it, over 1 to {MOST_HOPS} links; 1 if no "
    f"number is given.",
)
@click.option(
    "--path",
    "is_path",
    is_flag=True,
    help="Print the path of the file and nothing else.",
)
@json_option
@pass_registry
def show_command(
    registry: Registry,
    *,
    reference: str,
    hops: int | None,
    full: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Show the memory REF: an id, four or more digits of one, or a path in the workspace.

    The exchanges of a conversation are only listed; --full and --exchange show them.

    \b
    keeplore show 1f0c9a2e
    keeplore show 1f0c9a2e --exchange 3
    keeplore show 1f0c9a2e --turn 5e551011
    $EDITOR "$(keeplore show --path 1f0c9a2e)"
    """
    raw, is_path, exchange = (chosen[name] for name in ("raw", "is_path", "exchange"))
    is_read = full or exchange is not None
    if sum((is_read, raw, is_path, as_json)) > 1:
        raise click.UsageError(
            "--raw, --path and --json exclude one another, --full and --exchange"
        )
    if hops and (raw or is_path or exchange is not None):
        raise click.UsageError("--related goes with --full and --json")
    found = registry.find(reference, Path.cwd())
    file = found.workspace.root / found.row.path
    if is_path:
        click.echo(str(file))  # a program opens it: not a character may be missing
    elif raw:
        _print_raw(file)
    elif as_json:
        _print_json(found, hops)
    elif exchange is not None:
        _show_exchange(found, exchange, is_full=full)
    else:
        _show(found, hops, is_full=full)


def _print_raw(file: Path) -> None:
    """Print the file byte for byte; a terminal gets its text without control characters."""
    if sys.stdout.isatty():
        click.echo(block(file.read_text("utf-8", "replace")), nl=False)
    else:
        click.echo(file.read_bytes(), nl=False)


def _print_json(found: FoundMemory, hops: int | None) -> None:
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.reading.details import details_of
    from keeplore.workspace.reading.related_memories import neighbours_of

    data = _as_json(details_of(found))
    if hops:
        data["related"] = [
            asdict(neighbour) for neighbour in neighbours_of(found, hops)
        ]
    emit_json(data)


def _show_exchange(found: FoundMemory, wanted: str, *, is_full: bool) -> None:
    """Show one exchange word for word; without ``is_full``, pastes are cut to beginning and end,
    and the agent's remarks on its next step are only counted.
    """
    # heavy, as above
    from keeplore.worker.usage.view_log import note_looked_at
    from keeplore.workspace.reading.receipts_source import exchange_of
    from keeplore.workspace.reading.spoken_exchange import is_shortened, spoken_messages

    exchange = exchange_of(found, wanted)
    note_looked_at(found)
    say(f"{minute_of(plain(exchange.at))}, turn {exchange.id}", dim=True)
    if is_full and (transcript := _transcript(found)):
        say(f"transcript: {transcript}", dim=True)
    said = spoken_messages(exchange, is_full=is_full)
    markdown("\n\n".join(f"**{who}**\n\n{words}" for who, words in said))
    if not is_full and is_shortened(exchange):
        say("--full shows what was left out", dim=True)


def _show(found: FoundMemory, hops: int | None, *, is_full: bool) -> None:
    # heavy, as above
    from keeplore.worker.usage.view_log import note_looked_at
    from keeplore.workspace.reading.details import details_of
    from keeplore.workspace.reading.related_memories import neighbours_of

    details = details_of(found)
    related = neighbours_of(found, hops) if hops else []
    note_looked_at(found)
    _show_facts(details, is_full=is_full)
    if hops:
        _show_related(related)
    _show_body(found.memory.kind, found.memory.body, is_full=is_full)


def _transcript(found: FoundMemory) -> str:
    # heavy, as above
    from keeplore.workspace.reading.receipts_source import transcript_of

    transcript = transcript_of(found.workspace.places, found.memory)
    return near(Path(transcript)) if transcript else ""


def _show_facts(details: MemoryDetails, *, is_full: bool) -> None:
    # heavy, as above
    from keeplore.workspace.reading.details import detail_lines

    found = details.found
    facts = [
        *detail_lines(details),
        ("since then", _freshness(found)),
        ("transcript", _transcript(found) if is_full else ""),
        ("file", near(found.workspace.root / found.row.path)),
    ]
    say(found.row.title, bold=True)
    say_labelled([(label, value) for label, value in facts if value], dim=True)
    say()


def _show_related(related: Sequence[RelatedMemory]) -> None:
    rows = []
    for memory in related:
        said = (
            memory.said
            if memory.hops == 1
            else f"{short_id(memory.near)} {memory.said}"
        )
        rows.append((said, short_id(memory.id), day_of(memory.at), memory.title))
    if rows:
        table(("related", "id", "date", "title"), rows, wide=("title",))
    else:
        say("nothing refines, contradicts or relates to it", dim=True)
    say()


def _freshness(found: FoundMemory) -> str:
    """Which of the files that the memory is about have changed since; "" where nothing is known of
    any.
    """
    # heavy, as above
    from keeplore.workspace.freshness import changed_since

    since = changed_since(found.workspace, found.memory, Path.cwd())
    if since is None:
        return ""
    other = (*since.changed, *since.gone)
    counted = f"{len(other) or 'none'} of {len(since.files)} files changed after this was written"
    gone = f", {len(since.gone)} gone" if since.gone else ""
    return f"{counted}{gone}{_file_names(other)}"


def _file_names(files: Sequence[str]) -> str:
    named = f": {', '.join(files[:SHOWN_FILES])}" if files else ""
    return f"{named}, …" if len(files) > SHOWN_FILES else named


def _show_body(kind: str, body: str, *, is_full: bool) -> None:
    talk = Conversation.from_markdown(body) if kind == "conversation" else None
    if is_full:
        markdown(body)
        return
    if talk is None or not talk.exchanges:
        shown = fold(body, SHOWN_OF_DOCUMENT) if kind == "document" else body
        markdown(shown)
        if shown != body:
            say("--full shows what was left out", dim=True)
        return
    # heavy, as above
    from keeplore.workspace.reading.overview import overview

    markdown(overview(talk.head))
    say()
    _list_exchanges(talk.exchanges)
    say()
    say("--exchange NUMBER shows one, --full all of them", dim=True)


def _list_exchanges(exchanges: Sequence[Exchange]) -> None:
    turns = shown_turns(exchanges)
    rows = [
        (number, minute_of(exchange.at), turns[exchange.id], _first_line(exchange.user))
        for number, exchange in enumerate(exchanges, 1)
    ]
    table(("exchange", "when", "turn", "asked"), rows, wide=("asked",))


def _first_line(text: str) -> str:
    line = plain(text[: 10 * FIRST_LINE])
    return line if len(line) <= FIRST_LINE else f"{line[:FIRST_LINE]}…"


def _as_json(details: MemoryDetails) -> dict[str, Any]:
    found = details.found
    row, memory = found.row, found.memory
    links = [
        attributes_of(link, "relationship", "id", "title", "is_from_here")
        for link in details.links
    ]
    again = [
        {"at": entry.get("at", ""), "source": entry.get("source", {})}
        for entry in details.again
    ]
    return {
        "id": row.id,
        "title": row.title,
        "workspace": found.workspace.name,
        "path": str(found.workspace.root / row.path),
        "is_archived": row.is_archived,
        "trust": found.workspace.machine_trust.trust_of(memory),
        "version": memory.version,
        "versions": details.versions,
        "superseded_by": row.superseded_by,
        "front_matter": dict(memory.meta),
        "problems": list(memory.problems),
        "body": memory.body,
        "links": links,
        "disputed_with": [other.id for other in details.disputed_with],
        "again": again,
    }
