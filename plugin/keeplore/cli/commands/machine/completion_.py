"""``keeplore completion SHELL``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from keeplore.errors import KeeploreError

SHELLS = ("bash", "zsh", "fish")


@click.command(
    short_help="Print what makes your shell complete commands, ids and titles."
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(shell: str) -> None:
    """Print the completion script for SHELL. Put the line into the file that your shell reads at
    its start.

    Where a command takes a REF, the beginning of an id or a word of a title completes to the id.

    \b
    eval "$(keeplore completion bash)"                             # in ~/.bashrc
    eval "$(keeplore completion zsh)"                              # in ~/.zshrc
    keeplore completion fish > ~/.config/fish/completions/keeplore.fish
    """
    # a circle otherwise: the group loads this module
    from keeplore.cli.main import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise KeeploreError(
            f"there is no completion for {shell}", f"Choose one of {', '.join(SHELLS)}"
        )
    # of a bash that is too old, click says so on stderr
    click.echo(kind(cli, {}, "keeplore", "_KEEPLORE_COMPLETE").source())
