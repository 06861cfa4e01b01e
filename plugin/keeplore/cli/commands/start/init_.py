"""``keeplore init DIR``."""

from __future__ import annotations

from pathlib import Path

import click

from keeplore.cli.output import note
from keeplore.cli.project_picker import ProjectWish, wish_options
from keeplore.config.places import Places


@click.command(short_help="Set up a workspace, or register one that is already there.")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--name", help="What to call it on this machine; the directory's name if not given."
)
@click.option("--beside-code", is_flag=True, help="Also where DIRECTORY holds code.")
@wish_options
@click.pass_obj
def init_command(
    places: Places,
    /,
    *,
    directory: Path,
    name: str | None,
    beside_code: bool,
    **wishes: tuple[str, ...],
) -> None:
    """Make DIRECTORY a workspace: a git repository that holds your memory as markdown.

    The first one becomes your home workspace, where everything is kept that belongs to no other. A
    directory that is a workspace already is registered on this machine and otherwise left as it is.
    For a new one you are shown which projects your agents have recorded, and asked which to read;
    --only and --except choose beforehand.

    \b
    keeplore init ~/memory
    keeplore init ~/team-memory --name work
    keeplore init ~/memory --except 'client-*'
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.lifecycle.setup import initialise

    made = initialise(places, directory, name, beside_code=beside_code)
    deed = "Created" if made.is_new else "Registered"
    click.echo(f"{deed} workspace {made.name!r} in {made.root}")
    _note_kept_name(made.name, name)
    if made.is_home:
        click.echo("It is this machine's home workspace.")
    if not made.is_new:
        return
    # heavy, as above
    from keeplore.cli.commands.start.import_ import offer
    from keeplore.workspace.registry import Registry

    wish = ProjectWish(**wishes)
    with Registry(places) as registry:
        has_more = offer(registry, wish)
    chosen = wish.options()
    reads = (
        "them; --except leaves one out" if has_more else "the sessions you already have"
    )
    click.echo(f"Next: `keeplore import --all{chosen}` reads {reads},")
    click.echo(
        "      `keeplore connect` lets the agents on this machine report to it, and ask it."
    )


def _note_kept_name(name: str, wanted: str | None) -> None:
    if wanted and name != wanted:
        renaming = f"`keeplore workspaces rename {name} {wanted}` changes that"
        note(f"it keeps the name that this machine knows: {renaming}")
