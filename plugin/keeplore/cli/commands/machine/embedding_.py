"""``keeplore embedding``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import confirm_risk, emit_json, note, say, table
from keeplore.cli.parameters import json_option, pass_registry, pass_workspace
from keeplore.cli.progress import fill_vectors
from keeplore.cli.writing import settle
from keeplore.errors import ConfigError, KeeploreError
from keeplore.text.counts import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keeplore.index import Embedder, IndexState
    from keeplore.index.model_switch import KeptVectors
    from keeplore.workspace.embedding_model import ConsentQuestion
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace

KEY = "embedding.model"


@click.group(
    short_help="Show or change the model that finds memories by meaning.",
    invoke_without_command=True,
)
@json_option
@click.pass_context
def embedding_command(context: click.Context, /, *, as_json: bool) -> None:
    """Show which embedding model this directory's workspace has, how far its vectors are, and what
    they take.

    \b
    keeplore embedding
    keeplore embedding use BAAI/bge-small-en-v1.5
    keeplore embedding use ~/models/gte-small
    keeplore embedding use --machine ollama:nomic-embed-text
    """
    if context.invoked_subcommand is None:
        _show(as_json=as_json)


@embedding_command.command(
    short_help="Choose the model, or make the chosen one usable here."
)
@click.argument("name", required=False)
@click.option(
    "--yes",
    is_flag=True,
    help="Accept what would be asked: that a server gets the text, for example.",
)
@click.option(
    "--wait", is_flag=True, help="Make all vectors now instead of in the background."
)
@click.option(
    "--machine",
    "of_machine",
    is_flag=True,
    help="On this machine alone, in all its workspaces; keeplore.yaml stays as it is.",
)
@pass_registry
def use(
    registry: Registry, name: str | None, *, yes: bool, wait: bool, of_machine: bool
) -> None:
    """Use the embedding model NAME in this directory's workspace; without NAME, make the one that
    is set usable here.

    NAME is `packaged`, a directory with an ONNX model, a name of fastembed's list, which is
    fetched, `ollama:MODEL`, `openai:MODEL`, or `http(s)://HOST/PATH#MODEL` for any server with
    OpenAI's /embeddings. It is tried first, and nothing changes where it does not work. The vectors
    are made in the background; until they are complete, those of the model before answer.
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.config.consent import Consents, ConsentUse
    from keeplore.workspace.embedding_model import full_name

    workspace = registry.for_directory(Path.cwd())
    workspace.index.refresh()
    root, before = workspace.root, workspace.settings.embedding.model
    if name and not of_machine:
        _expect_no_own(registry)
    wanted = _in_full(name, root, of_machine=of_machine) if name else before
    name = full_name(wanted, root)
    risk = _agreed_risk(workspace, name, yes=yes)
    embedder = _working_embedder(workspace, name)
    if risk is not None:
        Consents(registry.places.state).accept(root, ConsentUse.EMBEDDING, risk.subject)
    if name and (of_machine or wanted != before):
        _write_down(workspace, wanted, of_machine=of_machine)
    facts = f"{embedder.dim} dimensions, unrelated below {embedder.floor}"
    say(f"{workspace.name} uses {wanted}: {facts}")
    # with its new settings
    _make_vectors(registry.named(workspace.name), is_waited_for=wait)


def _expect_no_own(registry: Registry) -> None:
    """Refuse to go on (ConfigError) where this machine has a model of its own, which counts before
    the one in keeplore.yaml.
    """
    from keeplore.config.setting_layers import own_values  # heavy, as above

    own = own_values(registry.places.state).get(KEY)
    if own is not None:
        raise ConfigError(
            f"this machine has an embedding model of its own, {own}",
            f"Add --machine to change that one, or `keeplore config unset --machine {KEY}` first",
        )


def _in_full(name: str, root: Path, *, of_machine: bool) -> str:
    """A model's name, or its directory as settings name it: the machine's by its whole path, the
    workspace's from the root if it lies in there.
    """
    directory = Path(name).expanduser()
    if not (directory.is_absolute() or name.startswith(".")):
        return name
    directory = directory.resolve()
    root = root.resolve()
    if of_machine or not directory.is_relative_to(root):
        return str(directory)
    return f"./{directory.relative_to(root)}"


def _agreed_risk(
    workspace: Workspace, model: str, *, yes: bool
) -> ConsentQuestion | None:
    """The risk of the model that the person takes, None where it has none. Raises Abort."""
    # heavy, as above
    from keeplore.config.consent import Consents, ConsentUse
    from keeplore.workspace.embedding_model import consent_question

    question = consent_question(model, workspace.root)
    if question is None:
        return None
    _show_risk(question, workspace)
    place = (workspace.root, ConsentUse.EMBEDDING, question.subject)
    confirm_risk(yes=yes or Consents(workspace.places.state).has(*place))
    return question


def _show_risk(question: ConsentQuestion, workspace: Workspace) -> None:
    say(f"With this model, {question.risk}.")
    passages = workspace.index.state(of_text=True).passages
    say(f"It makes vectors of {passages:,} passages now, and of new ones as they come.")


def _working_embedder(workspace: Workspace, name: str) -> Embedder:
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


def _write_down(workspace: Workspace, model: str, *, of_machine: bool) -> None:
    # heavy, as above
    from keeplore.config.setting_layers import set_own
    from keeplore.workspace.lifecycle.shared_settings import set_for_all

    if of_machine:
        set_own(workspace.places.state, workspace.root, KEY, model)
        note("this machine alone uses it; its other workspaces do too")
        return
    state = workspace.places.state
    note(set_for_all(workspace.root, state, {KEY: model}, lambda: workspace))


def _make_vectors(workspace: Workspace, *, is_waited_for: bool) -> None:
    if is_waited_for:
        fill_vectors(workspace)
    else:
        settle(workspace)
    _tell_missing(workspace)


def _tell_missing(workspace: Workspace) -> None:
    stamp = workspace.index.state()
    if stamp.switch is not None:
        say(f"{stamp.switch}.")
    if missing := stamp.passages - _vectors(stamp):
        say(
            f"{missing:,} vectors are made while a worker runs; `keeplore embedding use --wait` "
            f"makes them now."
        )


def _vectors(stamp: IndexState) -> int:
    """How many there are by the model that is set, while another may still answer."""
    return stamp.switch.vectors if stamp.switch else stamp.vectors


@pass_workspace
def _show(workspace: Workspace, *, as_json: bool) -> None:
    workspace.index.refresh_for_reading()
    stamp, kept = workspace.index.state(), workspace.index.kept_vectors()
    model, problem = workspace.settings.embedding.model, _problem(workspace)
    answering = stamp.switch.answering if stamp.switch else model
    if as_json:
        emit_json(
            {
                "model": model,
                "passages": stamp.passages,
                "vectors": _vectors(stamp),
                "answering": answering,
                "problem": problem,
                "kept": [_kept_json(model) for model in kept],
            }
        )
        return
    counted = f"{_vectors(stamp):,} of {stamp.passages:,} passages have a vector"
    say(f"{model}: {counted}", bold=True)
    if stamp.switch:
        say(f"{answering} answers until all have one")
    _list_kept(kept)
    if problem:
        note(problem)


def _kept_json(model: KeptVectors) -> dict[str, Any]:
    return {"model": model.name, "vectors": model.vectors, "bytes": model.bytes}


def _list_kept(all_vectors: Sequence[KeptVectors]) -> None:
    sizes = [
        (model.name, f"{model.vectors:,}", size_text(model.bytes))
        for model in all_vectors
    ]
    table(("vectors by", "number", "size"), sizes)


def _problem(workspace: Workspace) -> str:
    """Why the model cannot be used, "" where it can, as far as is known without asking a server."""
    try:
        _ = workspace.embedder.fingerprint
    except KeeploreError as e:
        return str(e)
    return ""
