"""``keeplore remember [TEXT]``."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.after_write import settle
from keeplore.cli.calling_agent import agent, session
from keeplore.cli.output import emit_json, near, note, plain, say
from keeplore.cli.references import Reference, short
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.memory import CATEGORIES, SCOPES
from keeplore.worker.server.protocol import ask
from keeplore_hooks.spool import Spool

if TYPE_CHECKING:
    from keeplore.memory.note import NoteDraft
    from keeplore.workspace.note_writer import NoteOutcome, SimilarNote
    from keeplore.workspace.registry import FoundMemory, Registry
    from keeplore.workspace.workspace import Workspace
    from keeplore.workspace.writing.remember import NoteRequest, NoteTarget

MAX_BYTES = 1_000_000  # of a text from stdin
LINKS = ("refines", "contradicts", "relates_to")
CATCH_UP_S = 8.0  # a little more than the worker waits


@click.command(short_help="Write something down for good.")
@click.argument("text", nargs=-1)
@click.option(
    "--scope", type=click.Choice(SCOPES), help="Who inherits it; the project here if not given."
)
@click.option(
    "--category",
    metavar="CATEGORY",
    type=click.Choice(CATEGORIES),
    help=f"What it is; told from the text if not given: {', '.join(CATEGORIES)}.",
)
@click.option(
    "--permanent/--no-permanent", default=False, help="Never archive it, and rank it first."
)
@click.option(
    "--project",
    metavar="NAME",
    help="Write it for this project instead of the one of this directory.",
)
@click.option("--title", help="Its heading; the first sentence if not given.")
@click.option(
    "--replaces", metavar="REF", type=Reference(), help="Make it the new version of that memory."
)
@click.option(
    "--refines", metavar="REF", type=Reference(), multiple=True, help="It says more about that one."
)
@click.option(
    "--contradicts",
    metavar="REF",
    type=Reference(),
    multiple=True,
    help="It says otherwise than that one.",
)
@click.option(
    "--relates-to", metavar="REF", type=Reference(), multiple=True, help="It belongs to that one."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def command(
    places: Places, /, *, text: tuple[str, ...], as_json: bool, replaces: str | None, **chosen: Any
) -> None:
    """Write TEXT down as a note. With - as TEXT, or from a pipe, it is read from stdin.

    Without a TEXT, the last exchanges of the session here become a permanent note. A note that says
    exactly the same is not written twice; for one that says nearly the same you are asked what to
    do.

    \b
    keeplore remember "We keep prices in cents, because floats lost one in March"
    keeplore remember --scope user --category coding-preferences "Use pnpm, never npm"
    keeplore remember --replaces 1f0c9a2e "The staging database listens on port 5434"
    git log -1 --format=%B | keeplore remember - --category architectural-decisions
    keeplore remember

    What it says is printed with its file and id; `keeplore forget ID` undoes it.
    """
    words = _words(text)
    _check(words, replaces, chosen)
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.writing.remember import NoteRequest

    cwd = Path.cwd()
    with Registry(places) as registry:
        if words is None:
            workspace, outcome = _recent(places, registry, cwd)
        else:
            fields = {key: chosen[key] for key in ("category", "title") if chosen[key]}
            said = NoteRequest(words, agent(), permanent=chosen["permanent"], **fields)
            written = _written(registry, cwd, said, chosen, replaces, may_ask=not as_json)
            if written is None:
                return
            workspace, outcome = written
        settle(places, workspace)
        if as_json:
            emit_json(_as_json(workspace, outcome))
        else:
            _tell(workspace, outcome, cwd, is_replacing=replaces is not None)


def _words(text: Sequence[str]) -> str | None:
    """The text from the command line or stdin; None where the recent exchanges are meant."""
    if text and text != ("-",):
        return _decoded(os.fsencode(" ".join(text)))
    if not text and not _is_piped():
        return None
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise KeeploreError(
            f"the text is larger than {MAX_BYTES // 1000} kB, and a note is one statement",
            "Keep the part that matters; `keeplore ingest FILE` keeps a whole file",
        )
    return _decoded(data)


def _decoded(data: bytes) -> str:
    """The text of these bytes. What is no text is refused: a replacement character for each byte
    helps nobody.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        raise KeeploreError(
            f"that is no text: byte {e.start + 1} is not UTF-8",
            "Convert it, for example with `iconv -t UTF-8`",
        ) from e
    if "\0" in text:
        raise KeeploreError(
            f"that is no text: byte {data.index(0) + 1} is NUL",
            "Say in words what is to be remembered",
        )
    return text


def _is_piped() -> bool:
    """Whether a person sent something from a pipe or a file; in an agent's shell that may be a pipe
    without an end.
    """
    if agent().session or sys.stdin is None or sys.stdin.closed:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _check(words: str | None, replaces: str | None, chosen: dict[str, Any]) -> None:
    names = ("scope", "category", "project", "title", "permanent", *LINKS)
    given = [f"--{name.replace('_', '-')}" for name in names if chosen[name]]
    if words is None and (given or replaces):
        raise click.UsageError(f"{(given or ['--replaces'])[0]} needs a TEXT")
    if replaces and (chosen["scope"] or chosen["project"]):
        raise click.UsageError(
            "--replaces keeps the place of that memory; `keeplore edit` moves one"
        )
    if chosen["project"] and chosen["scope"] not in (None, "project"):
        raise click.UsageError(f"--project and --scope {chosen['scope']} exclude one another")


def _recent(places: Places, registry: Registry, cwd: Path) -> tuple[Workspace, NoteOutcome]:
    from keeplore.workspace.recording.remember_recent import remember_recent  # heavy, as above

    if not _has_caught_up(places, registry):
        note("some of what was said last is not read yet; `keeplore worker status` says more")
    workspace = registry.for_directory(cwd)
    return workspace, remember_recent(workspace, cwd, session())


def _has_caught_up(places: Places, registry: Registry) -> bool:
    """Have what was said just now written down before it is looked for."""
    counts = Spool(places.spool).counts()
    if not counts["new"] + counts["claimed"]:
        return True
    told = ask(places.state, "catch-up", timeout_s=CATCH_UP_S)
    if told is not None:
        return bool(told.get("is_caught_up"))
    from keeplore.worker.worker import Worker  # heavy, as above

    return Worker(places).catch_up(registry)


def _related(registry: Registry, cwd: Path, chosen: dict[str, Any]) -> list[tuple[str, str]]:
    """Relationship and id of each memory that the note is linked to."""
    return [
        (name.replace("_", "-"), registry.find(ref, cwd).row.id)
        for name in LINKS
        for ref in chosen[name]
    ]


def _written(
    registry: Registry,
    cwd: Path,
    said: NoteRequest,
    chosen: dict[str, Any],
    replaces: str | None,
    *,
    may_ask: bool,
) -> tuple[Workspace, NoteOutcome] | None:
    """The note, or None where the person wants none."""
    from keeplore.workspace.writing.remember import (  # heavy, as above
        drafted,
        remember,
        replace,
        target_of,
        with_related,
    )

    target = target_of(registry, cwd, scope=chosen["scope"] or "", project=chosen["project"] or "")
    draft = with_related(drafted(target, said), _related(registry, cwd, chosen))
    old: FoundMemory | None = registry.find(replaces, cwd) if replaces else None
    if old is None and may_ask and sys.stdin.isatty() and sys.stdout.isatty():
        answer, similar = _asked(target, draft)
        if answer == "s":
            say("Nothing was written.")
            return None
        if answer == "r":
            old = registry.find(similar[0].row.id, target.workspace.root)
    if old is not None:
        return old.workspace, replace(old, draft)
    return target.workspace, remember(target, draft, cwd)


def _asked(target: NoteTarget, draft: NoteDraft) -> tuple[str, tuple[SimilarNote, ...]]:
    """What to do beside notes that nearly say it: a to add, r to replace the first, s to skip."""
    similar = target.workspace.notes.similar(draft)
    if not similar or similar[0].similarity == 1.0:  # exactly that: it is not written twice anyway
        return "a", similar
    say("This is nearly remembered already:")
    _list(similar)
    choice = click.prompt(
        f"[a]dd it, [r]eplace {short(similar[0].row.id)}, or [s]kip",
        type=click.Choice(["a", "r", "s"]),
        default="a",
        show_choices=False,
    )
    return str(choice), similar


def _tell(workspace: Workspace, outcome: NoteOutcome, cwd: Path, *, is_replacing: bool) -> None:
    memory = outcome.memory
    place = near(workspace.root / outcome.path, cwd)
    about = ", ".join(
        filter(None, (memory.category, "permanent" if memory.is_permanent else "", _where(outcome)))
    )
    if not outcome.is_new:
        since = memory.created_at[:10]
        say(f"This is remembered already, since {plain(since)}: {plain(memory.title)}", bold=True)
    else:
        say(f"Remembered: {plain(memory.title)}", bold=True)
    say(f"  {plain(about)}")
    say(f"  {place}", fg="cyan")
    if outcome.is_new:
        digits = short(memory.id)
        # to forget a version is to forget them all
        undo = (
            f"`keeplore history {digits}` shows what it replaced"
            if is_replacing
            else f"`keeplore forget {digits}` undoes it"
        )
        say(f"  {memory.id}: {undo}")
    else:
        say(f"  {plain(memory.id)}; that it was said again is noted")
    if outcome.is_new and outcome.similar and not sys.stdin.isatty():
        note("earlier notes say nearly the same:")
        _list(outcome.similar, err=True)
        old, new = short(outcome.similar[0].row.id), short(memory.id)
        note(
            f"both may stay; `keeplore forget {old}` keeps the new one, `keeplore forget {new}` "
            f"the old one"
        )


def _where(outcome: NoteOutcome) -> str:
    memory = outcome.memory
    return f"project {memory.project}" if memory.scope == "project" else f"{memory.scope} scope"


def _list(similar: Sequence[SimilarNote], *, err: bool = False) -> None:
    for found in similar:
        row = found.row
        click.echo(f"  {short(row.id)}  {plain(row.updated_at[:10])}  {plain(row.title)}", err=err)


def _as_json(workspace: Workspace, outcome: NoteOutcome) -> dict[str, Any]:
    memory = outcome.memory
    return {
        "id": memory.id,
        "title": memory.title,
        "category": memory.category,
        "scope": memory.scope,
        "project": memory.project,
        "permanent": memory.is_permanent,
        "version": memory.version,
        "workspace": workspace.name,
        "path": str(workspace.root / outcome.path),
        "is_new": outcome.is_new,
        "similar": [
            {"id": found.row.id, "title": found.row.title, "similarity": round(found.similarity, 3)}
            for found in outcome.similar
        ],
    }
