"""``keeplore show REF``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import block, emit_json, markdown, near, plain, say, table
from keeplore.cli.parameters import json_option, reference, short
from keeplore.config.places import Places
from keeplore.memory import AnsweredQuestion, Conversation, Exchange
from keeplore.memory.conversation_body import short_turns
from keeplore.text.dates import minute_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keeplore.workspace.reading.details import MemoryDetails
    from keeplore.workspace.reading.related_memories import RelatedMemory

FIRST_LINE = 100  # characters of an exchange in the list of them
SHOWN_FILES = 4
MOST_HOPS = 3  # as the index walks; said here, so that --help loads no index


@click.command(short_help="Show one memory, and where it comes from.")
@reference()
@click.option(
    "--full", is_flag=True, help="Show the exchanges of a conversation too, on a terminal as well."
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
    "--path", "is_path", is_flag=True, help="Print the path of the file and nothing else."
)
@json_option
@click.pass_obj
def show_command(
    places: Places,
    *,
    reference: str,
    full: bool,
    exchange: str | None,
    raw: bool,
    hops: int | None,
    is_path: bool,
    as_json: bool,
) -> None:
    """Show the memory REF: an id, four or more digits of one, or a path as it was printed.

    On a terminal a conversation is shown without its exchanges, which are listed; --full and
    --exchange show them.

    \b
    keeplore show 1f0c9a2e
    keeplore show 1f0c9a2e --exchange 3
    keeplore show 1f0c9a2e --turn 5e551011
    $EDITOR "$(keeplore show --path 1f0c9a2e)"
    """
    if sum((full, raw, is_path, as_json, exchange is not None)) > 1:
        raise click.UsageError("--full, --exchange, --raw, --path and --json exclude one another")
    if hops and (raw or is_path or exchange is not None):
        raise click.UsageError("--related goes with --full and --json")
    # heavy: git and the index are needed here, not for --help
    from keeplore.worker.usage.view_log import note_opened
    from keeplore.workspace.reading.details import details_of
    from keeplore.workspace.reading.receipts_source import exchange_of, transcript_of
    from keeplore.workspace.reading.related_memories import neighbours_of
    from keeplore.workspace.registry import Registry

    cwd = Path.cwd()
    with Registry(places) as registry:
        found = registry.find(reference, cwd)
        place = found.workspace.root / found.row.path
        if is_path:
            click.echo(str(place))  # a program opens it: not a character may be missing
            return
        if raw:
            text = (
                place.read_bytes()
                if not sys.stdout.isatty()
                else block(place.read_text("utf-8", "replace"))
            )
            click.echo(text, nl=False)
            return
        described = details_of(found)
        transcript = transcript_of(places, found.memory)
        wanted = exchange_of(found, exchange) if exchange is not None else None
        related = neighbours_of(found, hops) if hops else []
        if (
            found.workspace.settings.recall.feedback and not as_json
        ):  # programs walk over all of them
            note_opened(places.state, found.row.id)
    if as_json:
        emit_json(
            {
                **_as_json(described),
                **({"related": [asdict(one) for one in related]} if hops else {}),
            }
        )
    elif wanted is not None:
        _show_exchange(wanted, transcript)
    else:
        _show_facts(described, transcript, cwd)
        if hops:
            _show_related(related)
        _show_body(found.memory.kind, found.memory.body, is_folded=sys.stdout.isatty() and not full)


def _show_facts(described: MemoryDetails, transcript: str, cwd: Path) -> None:
    # heavy, see above
    from keeplore.workspace.reading.details import detail_lines

    row = described.found.row
    facts = [(label, plain(value)) for label, value in detail_lines(described) if value]
    if said := _freshness(described, cwd):
        facts.append(("since then", said))
    if transcript:
        facts.append(("transcript", near(Path(transcript))))
    facts.append(("file", near(described.found.workspace.root / row.path)))
    width = max(len(label) for label, _ in facts) + 1
    say(plain(row.title), bold=True)
    for label, value in facts:
        say(f"{label + ':':<{width}} {value}", dim=True)
    say()


def _show_related(related: Sequence[RelatedMemory]) -> None:
    rows = [
        (
            one.said if one.hops == 1 else f"{short(one.near)} {one.said}",
            short(one.id),
            one.date,
            one.title,
        )
        for one in related
    ]
    if rows:
        table(("related", "id", "date", "title"), rows, wide=("title",))
    else:
        say("nothing refines, contradicts or relates to it", dim=True)
    say()


def _freshness(described: MemoryDetails, cwd: Path) -> str:
    # heavy, see above
    from keeplore.workspace.reading.freshness import changed_since

    found = changed_since(described.found.workspace, described.found.memory, cwd)
    if found is None:
        return ""
    other = (*found.changed, *found.gone)
    counted = f"{len(other) or 'none'} of {len(found.files)} files changed after this was written"
    gone = f", {len(found.gone)} gone" if found.gone else ""
    named = f": {plain(', '.join(other[:SHOWN_FILES]))}" if other else ""
    return f"{counted}{gone}{named}{', …' if len(other) > SHOWN_FILES else ''}"


def _show_body(kind: str, body: str, *, is_folded: bool) -> None:
    talk = Conversation.from_markdown(body) if kind == "conversation" else None
    if talk is None or not talk.exchanges or not is_folded:
        markdown(body)
        return
    markdown(talk.head)
    say()
    short = short_turns(talk.exchanges)
    rows = [
        (number, minute_of(exchange.at), short[exchange.id], _first_line(exchange.user))
        for number, exchange in enumerate(talk.exchanges, 1)
    ]
    table(("exchange", "when", "turn", "asked"), rows, wide=("asked",))
    say()
    say("--exchange NUMBER shows one, --full all of them", dim=True)


def _first_line(text: str) -> str:
    line = plain(text[: 10 * FIRST_LINE])
    return line if len(line) <= FIRST_LINE else f"{line[:FIRST_LINE]}…"


def _show_exchange(exchange: Exchange, transcript: str) -> None:
    say(f"{minute_of(plain(exchange.at))}, turn {plain(exchange.id)}", dim=True)
    if transcript:
        say(f"transcript: {near(Path(transcript))}", dim=True)
    parts = ["**user**", exchange.user]
    for reply in exchange.replies:
        parts += _reply(reply)
    markdown("\n\n".join(parts))


def _reply(reply: str | AnsweredQuestion) -> list[str]:
    if isinstance(reply, str):
        return ["**assistant**", reply]
    return [
        "**assistant asked**",
        reply.question,
        "**user answered**",
        reply.answer or "(declined)",
    ]


def _as_json(described: MemoryDetails) -> dict[str, Any]:
    found = described.found
    return {
        "id": found.row.id,
        "title": found.row.title,
        "workspace": found.workspace.name,
        "path": str(found.workspace.root / found.row.path),
        "is_archived": found.row.is_archived,
        "trust": found.workspace.machine_trust.trust_of(found.memory),
        "version": found.memory.version,
        "versions": described.versions,
        "superseded_by": found.row.superseded_by,
        "front_matter": dict(found.memory.meta),
        "problems": list(found.memory.problems),
        "body": found.memory.body,
        "links": [
            {
                "relationship": link.relationship,
                "id": link.id,
                "title": link.title,
                "is_from_here": link.is_from_here,
            }
            for link in described.links
        ],
        "disputed_with": [other.id for other in described.disputed_with],
        "again": [
            {"at": entry.get("at", ""), "source": entry.get("source", {})}
            for entry in described.again
        ],
    }
