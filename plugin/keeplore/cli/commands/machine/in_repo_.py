"""``keeplore projects in-repo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import confirm, near, note, say, table
from keeplore.cli.parameters import directory_argument, pass_registry
from keeplore.cli.writing import settle
from keeplore.errors import NotFound
from keeplore.worker.after_writing import tell_worker

if TYPE_CHECKING:
    from keeplore.workspace.in_repo.author_trust import AuthorTrust
    from keeplore.workspace.in_repo.code_workspace import CodeWorkspace
    from keeplore.workspace.registry import Registry

RISK = (
    "Notes about this project, yours and those that capture makes, will be files in the code's "
    "repository. Whoever has the code reads them once you commit them. Conversations stay in your "
    "workspace."
)


@click.command(
    name="in-repo", short_help="Keep a project's notes in its code repository."
)
@directory_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--accept",
    "accepted",
    metavar="EMAIL",
    multiple=True,
    help="Believe the notes that commits of this author brought.",
)
@click.option(
    "--refuse", "refused", metavar="EMAIL", multiple=True, help="Never believe them."
)
@click.option(
    "--off", is_flag=True, help="Neither read nor write them any more; they stay."
)
@pass_registry
def in_repo_command(
    registry: Registry,
    directory: Path | None,
    *,
    yes: bool,
    off: bool,
    **said: tuple[str, ...],
) -> None:
    """Keep the notes about the project of DIRECTORY, of this directory if none is named, below
    .keeplore/ in its code repository, and read those that are there.

    A team reviews them with the code: Keeplore writes files and commits none. Each machine says
    yes for itself; what an author wrote whom nobody here has accepted is found and shown, with a
    label, and told to no agent unasked.

    \b
    keeplore projects in-repo
    keeplore projects in-repo --accept ada@example.com
    keeplore projects in-repo --off
    """
    # heavy: git is needed here, not for --help
    from keeplore.workspace.lifecycle import code_switch

    place = (directory or Path.cwd()).expanduser().resolve()
    if off:
        top = code_switch.switch_off(registry, place)
        tell_worker(registry.places)
        say(f"The notes in {near(top / '.keeplore')} are left to git from now on.")
        return
    if registry.code_memory(place) is None:
        say(RISK)
        confirm(
            "Keep them there?",
            yes=yes,
            refusal="nobody is here to agree to that",
            remedy="Add --yes where you do",
        )
    opened = code_switch.switch_on(registry, place)
    _judge(opened.machine_trust, said["accepted"], said["refused"])
    settle(opened, "Add projects")
    _tell_authors(opened)


def _judge(
    trust: AuthorTrust, accepted: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    known = trust.authors()
    for email in (*accepted, *refused):
        if email not in known:
            raise NotFound(
                f"no notes here are by {email!r}",
                f"Authors are {', '.join(sorted(known)) or 'none yet'}",
            )
    if accepted:
        trust.accept(accepted)
    if refused:
        trust.refuse(refused)


def _tell_authors(opened: CodeWorkspace) -> None:
    from keeplore.recall.unasked.origin import MemorySource  # heavy, as above
    from keeplore.workspace.in_repo.author_trust import UNKNOWN
    from keeplore.workspace.lifecycle.code_switch import is_ignored

    say(f"Notes of {opened.project} are kept in {near(opened.root)}; commit them.")
    trust = opened.machine_trust
    words = {
        MemorySource.OWN: "yours",
        MemorySource.ACCEPTED: "accepted",
        MemorySource.REFUSED: "refused",
        MemorySource.WAITING: "not accepted",
    }
    authors = trust.authors()
    rows = [
        (email, count, words[trust.source_of_author(email)])
        for email, count in authors.most_common()
    ]
    if rows:
        table(("author", "notes", ""), rows, wide=("author",))
    if any(state == words[MemorySource.WAITING] for _, _, state in rows):
        note("`keeplore projects in-repo --accept EMAIL` believes an author")
    if UNKNOWN in authors:
        note("this clone is shallow: `git fetch --unshallow` tells who wrote what")
    if is_ignored(opened.tree.top):
        note("git ignores .keeplore here, so nobody else gets what is written there")
