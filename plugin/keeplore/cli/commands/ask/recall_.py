"""``keeplore recall QUERY``."""

from __future__ import annotations

import contextlib
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import block, emit_json, note, plain, say
from keeplore.cli.parameters import json_option, limit_option
from keeplore.cli.writing import calling_agent, calling_agent_name, note_unread_events
from keeplore.config.places import Places
from keeplore.errors import IndexUnavailable, KeeploreError, ModelUnavailable
from keeplore.memory.names import short_id
from keeplore.recall.request import USUAL_LIMIT, RecallHit, RecallRequest
from keeplore.text.agent_scope import short_place
from keeplore.text.dates import minute_of, shown_day
from keeplore.text.fences import without_surrogates
from keeplore.text.turn_ids import shown_turn
from keeplore.worker.server.protocol import ask
from keeplore.worker.start import start
from keeplore_hooks.typed_json import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from keeplore.workspace.workspace import Workspace

WORKER_S = 3.0  # a warm worker answers in a few hundredths; one that is busy is given this long
FEW = 24  # missing vectors that a recall without a worker makes on its way, some 30 a second
_WORD = re.compile(r"[^\W_]")  # without one there is nothing to look for
WIDTH = 96
STATUS = {
    "nothing": "Nothing found: no memory here is surely about that. Try other words{or_wide}.",
    "empty": "No memory yet. `keeplore import --all` reads the sessions you already have.",
    "stale": "The index is behind the text and could not catch up. Run `keeplore doctor`.",
}
OR_WIDE = ", or --wide for the other projects and agents"
EXIT = {"found": 0, "nothing": 4, "empty": 5, "stale": 6}


@click.command(short_help="Ask what was said and decided.")
@click.argument("query", nargs=-1, required=True)
@limit_option(USUAL_LIMIT, "How many memories at most.", least=1, most=50)
@click.option(
    "--wide",
    is_flag=True,
    help="Also look in the workspace's other projects and agents.",
)
@click.option(
    "--exchanges",
    "by_exchange",
    is_flag=True,
    help="Every exchange that answers, not one of each memory.",
)
@click.option(
    "--text",
    "text_only",
    is_flag=True,
    help="Match words only; does not load the embedding model.",
)
@click.option(
    "--agent", metavar="NAME", help="As this agent of the project: its own memory too."
)
@click.option(
    "--in",
    "within",
    metavar="REF",
    default="",
    help="Only what one memory says, and more of it: an id, or digits of one.",
)
@json_option
@click.pass_obj
def recall_command(
    places: Places,
    /,
    query: tuple[str, ...],
    *,
    agent: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Print the memories that answer QUERY, best first: those of this directory's project, then
    what it inherits; of all projects where it belongs to none.

    \b
    keeplore recall "why did we drop Redis"
    keeplore recall --in 1f0c9a2e "what about the sweep"
    keeplore recall --json retry limit | jq '.hits[0].path'

    Exit status: 0 found, 2 nothing was asked, 4 nothing found, 5 no memory yet, 6 the index is
    behind the text and could not catch up.
    """
    whose = agent or calling_agent_name(places)
    session = calling_agent().session
    request = RecallRequest(_question(query), agent=whose, session=session, **asked)
    answer = _answer(places, request)
    # a script starts nothing behind its back
    started = sys.stderr.isatty() and _start_worker(places, answer)
    if "error" in answer:
        raise KeeploreError(answer["error"]["message"], answer["error"]["remedy"])
    note_unread_events(places)
    if as_json:
        emit_json(answer)
    else:
        _show(answer, is_wide=request.wide)
    if started:
        note(
            "a worker was started, which reads the rest and makes the vectors; it leaves when it "
            "is done"
        )
    sys.exit(EXIT[answer["status"]])


def _question(words: tuple[str, ...]) -> str:
    """What is asked, as text that UTF-8 has. Raises UsageError where it has no words."""
    text = " ".join(words)
    if not _WORD.search(text):
        raise click.UsageError("nothing was asked: QUERY has no words")
    return without_surrogates(text)


def _answer(places: Places, request: RecallRequest) -> dict[str, Any]:
    answer = ask(places.state, "recall", request.to_json(), timeout_s=WORKER_S)
    return answer or _without_worker(places, request)


def _without_worker(places: Places, request: RecallRequest) -> dict[str, Any]:
    """The answer as a worker would give it; where only few vectors are missing, they are made."""
    # half a second of imports that a warm worker has behind it
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        answer = registry.recall(request)
        searched = (
            registry.for_directory(request.cwd),
            registry.code_memory(request.cwd),
        )
        if not request.text_only:
            completed = [_add_missing_vectors(one) for one in searched if one]
            if any(completed):
                answer = registry.recall(request)
        return answer.to_json()


def _add_missing_vectors(workspace: Workspace) -> bool:
    """Make the missing vectors where they are few, which takes a second at most, so that what was
    just written is found. Returns whether it did.
    """
    stamp = workspace.index.state()
    if not 0 < stamp.passages - stamp.vectors <= FEW:
        return False
    # without a model text search serves, and the answer says so; a server may take longer than a
    # person waits
    with contextlib.suppress(IndexUnavailable, ModelUnavailable):
        if workspace.embedder.is_remote or workspace.index.is_remote:
            return False
        workspace.index.embed_pending()
        return True
    return False


def _start_worker(places: Places, answer: dict[str, Any]) -> bool:
    """Start a worker where text or vectors are missing that a recall does not make; returns whether
    one was started.
    """
    stamp = answer.get("stamp")
    is_behind = answer.get("status") == "stale"
    if stamp:
        lacks_vectors = stamp["model"] and stamp["passages"] - stamp["vectors"] > FEW
        is_behind = is_behind or lacks_vectors or not stamp["updated_at"]
    if not is_behind or ask(places.state, "status", timeout_s=WORKER_S) is not None:
        return False
    return start(places.state) is not None


def _show(answer: dict[str, Any], *, is_wide: bool) -> None:
    """Show the hits; notes go to stderr."""
    hits = decoded(list[RecallHit], answer["hits"])
    for number, place in enumerate(answer["by_time"], 1):
        _show_hit(number, hits[place])
    status, notes = answer["status"], answer["notes"]
    if not hits:
        say(STATUS[status].format(or_wide="" if is_wide else OR_WIDE))
    if status == "empty":  # how it was searched is of no interest then
        return
    for text in notes:
        note(text)
    if answer["legs"] == ["text"] and not notes:
        note("searched by text alone, as asked")


def _show_hit(number: int, hit: RecallHit) -> None:
    """Title, date, scope, score, the best passage and the command that shows more."""
    say(f"{number}. {hit.title}", bold=True)
    say(f"   {' · '.join(_facts(hit))}", dim=True)
    _show_words(hit)
    turn = f" --turn {shown_turn(hit.turn)}" if hit.turn else ""
    say(f"   keeplore show {short_id(hit.memory_id)}{turn}", fg="cyan")
    say()


def _facts(hit: RecallHit) -> list[str]:
    where = short_place(hit.scope, hit.project)
    what = hit.category or hit.kind
    # here, because an answer without a hit needs none of it
    from keeplore.recall.render import since_then

    said_at = minute_of(hit.at) or shown_day(hit.changed_at)
    score = [f"{hit.score:.2f}"] if hit.score else []
    facts = [said_at, where, *score, what]
    if hit.trust == "foreign":
        facts.append("from another person's machine")
    if hit.changes:
        facts.append(f"changed {hit.changes}×")
    if hit.replaced_by:
        facts.append(f"replaced since by {short_id(plain(hit.replaced_by))}")
    if since := since_then(hit.files_changed, hit.files_gone):
        facts.append(since)
    return facts


def _show_words(hit: RecallHit) -> None:
    """Show the passage, where the title does not say it already."""
    # here, as above
    from keeplore.recall.render import later_line, lines_by_turn, marked_lines

    if hit.times:
        for place, lines in lines_by_turn(hit):
            _print_filled(f"{place}:")
            _print_lines(lines, "     ")
    elif plain(hit.passage) != plain(hit.title):
        _print_lines(marked_lines(hit))
    if hit.later:
        _print_filled(later_line(hit.later))


def _print_lines(marked: Iterable[tuple[str, str]], indent: str = "   ") -> None:
    for line, mark in marked:
        _print_filled(f"{block(line)} ({mark})" if mark else block(line), indent)


def _print_filled(text: str, indent: str = "   ") -> None:
    """Print a statement or paragraph, its further lines indented so that the next one
    stands out.
    """
    click.echo(
        textwrap.fill(
            text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  "
        )
    )
