"""``keeplore recall QUERY``."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import emit_json, note
from keeplore.cli.parameters import json_option
from keeplore.cli.print_answer import show
from keeplore.config.places import Places
from keeplore.errors import IndexUnavailable, KeeploreError, ModelUnavailable
from keeplore.recall.request import RecallRequest
from keeplore.worker.server.protocol import ask
from keeplore.worker.start import start
from keeplore_hooks.spool import Spool

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace

WORKER_S = 3.0  # a warm worker answers in a few hundredths; one that is busy is given this long
FEW = 24  # missing vectors that a recall without a worker makes on its way, some 30 a second
_WORD = re.compile(r"[^\W_]")  # without one there is nothing to look for
EXIT = {"found": 0, "nothing": 4, "empty": 5, "stale": 6}


@click.command(short_help="Ask what was said and decided.")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-n",
    "--limit",
    default=5,
    show_default=True,
    type=click.IntRange(1, 50),
    help="How many memories.",
)
@click.option("--wide", is_flag=True, help="Also look in the workspace's other projects.")
@click.option(
    "--exchanges", is_flag=True, help="Every exchange that answers, not one of each memory."
)
@click.option(
    "--text", "text_only", is_flag=True, help="Match words only; does not load the embedding model."
)
@json_option
@click.pass_obj
def recall_command(
    places: Places,
    query: tuple[str, ...],
    limit: int,
    *,
    wide: bool,
    exchanges: bool,
    text_only: bool,
    as_json: bool,
) -> None:
    """Print the memories that answer QUERY, best first: those of this directory's project, then
    what it inherits.

    \b
    keeplore recall "why did we drop Redis"
    keeplore recall --json retry limit | jq '.hits[0].path'

    Exit status: 0 found, 2 nothing was asked, 4 nothing found, 5 no memory yet, 6 the index is
    behind the text and could not catch up.
    """
    if not _WORD.search(" ".join(query)):
        raise click.UsageError("nothing was asked: QUERY has no words")
    request = RecallRequest(
        " ".join(query).encode("utf-8", "replace").decode(),
        limit=limit,
        wide=wide,
        by_exchange=exchanges,
        text_only=text_only,
    )
    answer = ask(places.state, "recall", request.to_json(), timeout_s=WORKER_S) or _without_worker(
        places, request
    )
    told = (
        _started(places, answer) if sys.stderr.isatty() else ""
    )  # a script starts nothing behind its back
    if "error" in answer:
        raise KeeploreError(answer["error"]["message"], answer["error"]["remedy"])
    waiting = Spool(places.spool).counts()["new"]
    if waiting:
        note(f"{waiting} host events wait to be read; `keeplore worker run` reads them")
    if as_json:
        emit_json(answer)
    else:
        show(answer)
    if told:
        note(told)
    sys.exit(EXIT[answer["status"]])


def _without_worker(places: Places, request: RecallRequest) -> dict[str, Any]:
    # half a second of imports that a warm worker has behind it
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        answer = registry.recall(request)
        missing = answer.stamp.passages - answer.stamp.vectors
        may_fill = not request.text_only and 0 < missing <= FEW
        if may_fill and _are_filled(registry.for_directory(request.cwd)):
            answer = registry.recall(request)
        return answer.to_json()


def _are_filled(workspace: Workspace) -> bool:
    """Make the vectors that are missing, which takes a second at most: what was just written is
    found then.
    """
    # without a model text search serves, and the answer says so; a server may take longer than a
    # person waits
    with contextlib.suppress(IndexUnavailable, ModelUnavailable):
        if workspace.embedder.is_remote or workspace.index.is_remote:
            return False
        workspace.index.embed_pending()
        return True
    return False


def _started(places: Places, answer: dict[str, Any]) -> str:
    """Start a worker where text or vectors are missing that a recall does not make, and say so; ""
    where none does.
    """
    stamp = answer.get("stamp") or {}
    has_model = bool(stamp.get("model")) and stamp["passages"] - stamp["vectors"] > FEW
    if not (has_model or answer.get("status") == "stale" or (stamp and not stamp["updated_at"])):
        return ""
    if ask(places.state, "status", timeout_s=WORKER_S) is not None or start(places.state) is None:
        return ""
    return (
        "a worker was started, which reads the rest and makes the vectors; it leaves when it is "
        "done"
    )
