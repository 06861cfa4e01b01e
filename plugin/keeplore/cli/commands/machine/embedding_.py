"""``keeplore embedding``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.after_write import settle
from keeplore.cli.output import emit_json, note, plain, say, table
from keeplore.cli.progress import fill_vectors
from keeplore.config.places import Places
from keeplore.errors import ConfigError, KeeploreError

if TYPE_CHECKING:
    from keeplore.index import Embedder
    from keeplore.workspace.embedding_model import ConsentQuestion
    from keeplore.workspace.workspace import Workspace


@click.group(
    short_help="Show or change the model that finds memories by meaning.",
    invoke_without_command=True,
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Show which embedding model this directory's workspace has, how far its vectors are, and what
    they take.

    \b
    keeplore embedding
    keeplore embedding use BAAI/bge-small-en-v1.5
    keeplore embedding use ~/models/gte-small
    keeplore embedding use ollama:nomic-embed-text
    """
    if context.invoked_subcommand is None:
        _show(context.obj, as_json=as_json)


@command.command()
@click.argument("name", required=False)
@click.option(
    "--yes",
    is_flag=True,
    help="Accept what would be asked: that a server gets the text, for example.",
)
@click.option("--wait", is_flag=True, help="Make all vectors now instead of in the background.")
@click.pass_obj
def use(places: Places, name: str | None, *, yes: bool, wait: bool) -> None:
    """Use the embedding model NAME in this directory's workspace; without NAME, make the one that
    is set usable here.

    NAME is `packaged`, a directory with an ONNX model, a name of fastembed's list, which is
    fetched, `ollama:MODEL`, `openai:MODEL`, or `http(s)://HOST/PATH#MODEL` for any server with
    OpenAI's /embeddings. It is tried first, and nothing changes where it does not work. The vectors
    are made in the background; until they are complete, those of the model before answer.
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.config.consent import EMBEDDING, Consents
    from keeplore.config.yaml_edit import write_setting
    from keeplore.workspace.embedding_model import consent_question, full_name
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        workspace.index.refresh()
        before = workspace.settings.embedding.model
        wanted = _in_full(name, workspace.root) if name else before
        asked = consent_question(full_name(wanted, workspace.root), workspace.root)
        accepted = Consents(places.state)
        if asked is not None:
            is_accepted = yes or accepted.has(workspace.root, EMBEDDING, asked.subject)
            _ask(asked, workspace, is_accepted=is_accepted)
        embedder = _tried(workspace, full_name(wanted, workspace.root))
        if asked is not None:
            accepted.accept(workspace.root, EMBEDDING, asked.subject)
        if wanted != before:
            write_setting(workspace.root, "embedding", "model", wanted)
            note(
                "keeplore.yaml says so now; commit it where your other machines should use that "
                "model too"
            )
        say(
            f"{plain(workspace.name)} uses {plain(wanted)}: {embedder.dim} dimensions, unrelated "
            f"below {embedder.floor}"
        )
        workspace = registry.named(workspace.name)  # with its new settings
        if wait:
            fill_vectors(workspace)
        else:
            settle(places, workspace)
        _tell(workspace)


def _in_full(name: str, root: Path) -> str:
    """A directory as settings name it: from the workspace's root where it lies in there, else with
    its whole path.
    """
    place = Path(name).expanduser()
    if not (place.is_absolute() or name.startswith(".")):
        return name
    place = place.absolute().resolve()
    inside = root.resolve()
    return f"./{place.relative_to(inside)}" if place.is_relative_to(inside) else str(place)


def _ask(asked: ConsentQuestion, workspace: Workspace, *, is_accepted: bool) -> None:
    say(f"With this model, {plain(asked.risk)}.")
    passages = workspace.index.state(of_text=True).passages
    say(f"It makes vectors of {passages:,} passages now, and of new ones as they come.")
    if is_accepted:
        return
    if not sys.stdin.isatty():
        raise ConfigError("nobody is here to accept that", "Add --yes where you do")
    click.confirm("Accept that on this machine, for this workspace?", abort=True, err=True)


def _tried(workspace: Workspace, name: str) -> Embedder:
    """The embedder, once it has made a vector here. Raises ModelUnavailable."""
    # heavy, as above
    from keeplore.index.embedding.local_embedder import LocalEmbedder
    from keeplore.workspace.embedding_model import fetch

    embedder: Embedder = workspace.plugins.hook.keeplore_embedder(model=name)
    if isinstance(embedder, LocalEmbedder):
        fetch(workspace.models, name)
        embedder = workspace.plugins.hook.keeplore_embedder(model=name)
    embedder.embed(["Does it work?", "Once more."])
    return embedder


def _tell(workspace: Workspace) -> None:
    stamp = workspace.index.state()
    if stamp.switch is not None:
        say(f"{plain(stamp.switch)}.")
    missing = stamp.passages - (stamp.switch.vectors if stamp.switch else stamp.vectors)
    if missing:
        say(
            f"{missing:,} vectors are made while a worker runs; `keeplore embedding use --wait` "
            f"makes them now."
        )


def _show(places: Places, *, as_json: bool) -> None:
    # heavy, as above
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        workspace.index.refresh()
        stamp, kept = workspace.index.state(), workspace.index.kept_vectors()
        model, problem = workspace.settings.embedding.model, _problem(workspace)
    switch = stamp.switch
    vectors = switch.vectors if switch else stamp.vectors
    if as_json:
        rows = [{"model": one.name, "vectors": one.vectors, "bytes": one.bytes} for one in kept]
        progress = {
            "passages": stamp.passages,
            "vectors": vectors,
            "answering": switch.answering if switch else model,
        }
        emit_json({"model": model, **progress, "problem": problem, "kept": rows})
        return
    say(f"{plain(model)}: {vectors:,} of {stamp.passages:,} passages have a vector", bold=True)
    if switch:
        say(f"{plain(switch.answering)} answers until all have one")
    table(
        ("vectors by", "number", "MB"),
        [(one.name, f"{one.vectors:,}", f"{one.bytes / 1e6:.1f}") for one in kept],
    )
    if problem:
        note(problem)


def _problem(workspace: Workspace) -> str:
    """Why the model cannot be used, "" where it can, as far as is known without asking a server."""
    try:
        _ = workspace.embedder.fingerprint
    except KeeploreError as e:
        return str(e)
    return ""
