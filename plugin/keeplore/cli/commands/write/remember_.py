"""``keeplore remember [TEXT]``."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.memory_options import (
    PLACE,
    agent_option,
    category_option,
    check_place,
    project_option,
    scope_option,
)
from keeplore.cli.output import attributes_of, emit_json, near, note, say
from keeplore.cli.parameters import Option, Reference, json_option, pass_registry
from keeplore.cli.writing import (
    calling_agent,
    calling_agent_name,
    calling_session,
    note_if_ignored,
    settle,
)
from keeplore.errors import KeeploreError
from keeplore.memory.names import short_id
from keeplore.text.agent_scope import long_place
from keeplore.text.dates import day_of
from keeplore.worker.server.protocol import ask
from keeplore_hooks.spool import Spool

if TYPE_CHECKING:
    from keeplore.memory.note import NoteDraft
    from keeplore.workspace.note_writer import NoteOutcome, SimilarNote
    from keeplore.workspace.registry import FoundMemory, Registry
    from keeplore.workspace.workspace import Workspace
    from keeplore.workspace.writing.remember import NoteTarget

MAX_BYTES = 1_000_000  # of a text from stdin
LINKS = ("refines", "contradicts", "relates_to")
CATCH_UP_S = 8.0  # a little more than the worker waits


def _link_option(name: str, text: str) -> Option:
    return click.option(name, metavar="REF", type=Reference(), multiple=True, help=text)


@click.command(short_help="Write something down for good.")
@click.argument("text", nargs=-1)
@scope_option("Who inherits it; the project here if not given.")
@category_option("What it is; told from the text if not given")
@click.option(
    "--permanent/--no-permanent",
    default=False,
    help="Never archive it, and rank it first.",
)
@project_option("Write it for this project instead of the one of this directory.")
@agent_option("Write it for this agent of the project alone, such as reviewer.")
@click.option("--title", help="Its heading; the first sentence if not given.")
@click.option(
    "--replaces",
    metavar="REF",
    type=Reference(),
    help="Make it the new version of that memory.",
)
@_link_option("--refines", "It says more about that one.")
@_link_option("--contradicts", "It says otherwise than that one.")
@_link_option("--relates-to", "It belongs to that one.")
@json_option
@pass_registry
def remember_command(
    registry: Registry, /, *, text: tuple[str, ...], as_json: bool, **chosen: Any
) -> None:
    """Write TEXT down as a note. With - as TEXT, or from a pipe, it is read from stdin.

    Without a TEXT, the last exchanges of the session here, open or of today, become a permanent
    note. A note that says exactly the same is not written twice; for one that says nearly the same
    you are asked what to do.

    \b
    keeplore remember "We keep prices in cents, because floats lost one in March"
    keeplore remember --scope user --category coding-preferences "Use pnpm, never npm"
    keeplore remember --replaces 1f0c9a2e "The staging database listens on port 5434"
    git log -1 --format=%B | keeplore remember - --category architectural-decisions
    keeplore remember

    With --json, stdin holds a JSON object: `text`, and if wanted `title`, `category`, `scope`,
    `project`, `agent`, `permanent`, `replaces`, `entities`, `aspects`, `related`.

    What it says is printed with its file and id; `keeplore forget ID` undoes it.
    """
    words = _given_text(text)
    _check(words, chosen)
    if as_json and words is not None and set(text) <= {"-"}:  # from stdin
        words, chosen = _structured(words, chosen)
    written: tuple[Workspace, NoteOutcome] | None
    if words is None:
        written = _recent(registry)
    else:
        written = _write_note(registry, words, chosen, may_ask=not as_json)
    if written is None:
        say("Nothing was written.")
        return
    workspace, outcome = written
    settle(workspace)
    if as_json:
        emit_json(_as_json(workspace, outcome))
    else:
        _tell_outcome(workspace, outcome, is_replacing=bool(chosen["replaces"]))
    note_if_ignored(workspace.root / outcome.path)


def _given_text(text: Sequence[str]) -> str | None:
    """The text from the command line or stdin; None where the recent exchanges are meant."""
    if text and text != ("-",):
        return _decoded_text(os.fsencode(" ".join(text)))
    if not text and not _is_piped():
        return None
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise KeeploreError(
            f"the text is larger than {MAX_BYTES // 1000} kB, and a note is one statement",
            "Keep the part that matters; `keeplore ingest FILE` keeps a whole file",
        )
    return _decoded_text(data)


def _structured(words: str, chosen: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text and fields that a program gave as JSON."""
    from keeplore.workspace.writing.structured_note import (  # heavy: its models
        structured_note,
        subject_meta,
    )

    given = _given_options(chosen)
    if given:
        raise click.UsageError(f"with --json, {given[0]} stands in the JSON object")
    note = structured_note(words.encode())
    fields: dict[str, Any] = {
        **chosen,
        **note.model_dump(exclude={"text", "entities", "aspects", "related"}),
        "told": subject_meta(note),
        **{kind: [] for kind in LINKS},
    }
    for link in note.related:
        fields[link.relationship.replace("-", "_")].append(link.id)
    _check(note.text, fields)
    return note.text, fields


def _given_options(chosen: Mapping[str, Any]) -> list[str]:
    """The options about a note that somebody typed."""
    names = (*PLACE, "category", "title", "permanent", *LINKS, "replaces")
    return [f"--{name.replace('_', '-')}" for name in names if chosen[name]]


def _decoded_text(data: bytes) -> str:
    """The text of these bytes. Raises KeeploreError for bytes that are not text: a replacement
    character for each would help nobody.
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
    if calling_agent().session or sys.stdin is None or sys.stdin.closed:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _check(words: str | None, chosen: Mapping[str, Any]) -> None:
    given = _given_options(chosen)
    if words is None and given:
        raise click.UsageError(f"{given[0]} needs a TEXT")
    if chosen["replaces"] and any(chosen[name] for name in PLACE):
        raise click.UsageError(
            "--replaces keeps the place of that memory; `keeplore edit` moves one"
        )
    check_place(*(chosen[name] for name in PLACE))


def _recent(registry: Registry) -> tuple[Workspace, NoteOutcome]:
    """The last exchanges of the session here, as a note."""
    # heavy: git
    from keeplore.workspace.recording.remember_recent import remember_recent

    if not _has_caught_up(registry):
        note(
            "some of what was said last is not read yet; `keeplore worker status` says more"
        )
    here = Path.cwd()
    workspace = registry.for_directory(here)
    return workspace, remember_recent(workspace, here, calling_session())


def _has_caught_up(registry: Registry) -> bool:
    """Have what was said just now written down before it is looked for."""
    places = registry.places
    counts = Spool(places.spool).counts()
    if not counts["new"] + counts["claimed"]:
        return True
    answer = ask(places.state, "catch-up", timeout_s=CATCH_UP_S)
    if answer is not None:
        return bool(answer.get("is_caught_up"))
    from keeplore.worker.loop import Worker  # heavy, as above

    return Worker(places).catch_up(registry)


def _related_memories(
    registry: Registry, chosen: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Relationship and id of each memory that the note is linked to."""
    return [
        (name.replace("_", "-"), registry.find(ref, Path.cwd()).row.id)
        for name in LINKS
        for ref in chosen[name]
    ]


def _write_note(
    registry: Registry, words: str, chosen: Mapping[str, Any], *, may_ask: bool
) -> tuple[Workspace, NoteOutcome] | None:
    """Write the note. Returns None where the person wants none."""
    from keeplore.workspace.writing.remember import (  # heavy, as above
        NoteRequest,
        note_draft,
        remember,
        replace,
        target_of,
        with_related,
    )

    here = Path.cwd()
    names = ("category", "title", "told")
    fields = {key: chosen[key] for key in names if chosen.get(key)}
    request = NoteRequest(
        words, calling_agent(), permanent=chosen["permanent"], **fields
    )
    place = {name: chosen[name] or "" for name in PLACE}
    running = calling_agent_name(registry.places)
    target = target_of(registry, here, **place, running=running)
    draft = with_related(
        note_draft(target, request), _related_memories(registry, chosen)
    )
    old: FoundMemory | None = None
    if chosen["replaces"]:
        old = registry.find(chosen["replaces"], here)
    elif may_ask and sys.stdin.isatty() and sys.stdout.isatty():
        answer, similar = _ask_about_similar(target, draft)
        if answer == "s":
            return None
        if answer == "r":
            old = registry.find(similar[0].row.id, target.workspace.root)
    if old is not None:
        return old.workspace, replace(old, draft)
    return target.workspace, remember(target, draft, here)


def _ask_about_similar(
    target: NoteTarget, draft: NoteDraft
) -> tuple[str, tuple[SimilarNote, ...]]:
    """What to do beside notes that nearly say it: a to add, r to replace the first, s to skip."""
    similar = target.workspace.notes.similar(draft)
    # exactly that: it is not written twice anyway
    if not similar or similar[0].similarity == 1.0:
        return "a", similar
    say("This is nearly remembered already:")
    _list(similar)
    choice = click.prompt(
        f"[a]dd it, [r]eplace {short_id(similar[0].row.id)}, or [s]kip",
        type=click.Choice(["a", "r", "s"]),
        default="a",
        show_choices=False,
    )
    return str(choice), similar


def _tell_outcome(
    workspace: Workspace, outcome: NoteOutcome, *, is_replacing: bool
) -> None:
    memory = outcome.memory
    permanent = "permanent" if memory.is_permanent else ""
    facts = (memory.category, permanent, long_place(*outcome.memory.place))
    deed = "Remembered"
    if not outcome.is_new:
        deed = f"This is remembered already, since {day_of(memory.created_at)}"
    say(f"{deed}: {memory.title}", bold=True)
    say(f"  {', '.join(filter(None, facts))}")
    say(f"  {near(workspace.root / outcome.path)}", fg="cyan")
    say(f"  {memory.id}{_next_step(outcome, is_replacing=is_replacing)}")
    if outcome.is_new and outcome.similar and not sys.stdin.isatty():
        _note_similar(outcome)


def _next_step(outcome: NoteOutcome, *, is_replacing: bool) -> str:
    if outcome.has_more:
        return "; what you told besides is added"
    if not outcome.is_new:
        return "; that it was said again is noted"
    digits = short_id(outcome.memory.id)
    # to forget a version is to forget them all
    if is_replacing:
        return f": `keeplore history {digits}` shows what it replaced"
    return f": `keeplore forget {digits}` undoes it"


def _note_similar(outcome: NoteOutcome) -> None:
    note("earlier notes say nearly the same:")
    _list(outcome.similar, err=True)
    earlier, new = short_id(outcome.similar[0].row.id), short_id(outcome.memory.id)
    note(
        f"both may stay; `keeplore forget {earlier}` keeps the new one, `keeplore forget {new}` "
        f"the old one"
    )


def _list(similar: Sequence[SimilarNote], *, err: bool = False) -> None:
    for found in similar:
        row = found.row
        say(f"  {short_id(row.id)}  {day_of(row.updated_at)}  {row.title}", err=err)


def _as_json(workspace: Workspace, outcome: NoteOutcome) -> dict[str, Any]:
    memory = outcome.memory
    similar = [
        {
            "id": found.row.id,
            "title": found.row.title,
            "similarity": round(found.similarity, 3),
        }
        for found in outcome.similar
    ]
    return {
        **attributes_of(memory, "id", "title", "category", "scope", "project"),
        "permanent": memory.is_permanent,
        "version": memory.version,
        "workspace": workspace.name,
        "path": str(workspace.root / outcome.path),
        "is_new": outcome.is_new,
        "similar": similar,
    }
