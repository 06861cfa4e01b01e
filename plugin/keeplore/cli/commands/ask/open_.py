"""``keeplore open``."""

from __future__ import annotations

import importlib.util
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import near, say
from keeplore.cli.parameters import pass_registry
from keeplore.errors import ConfigError

if TYPE_CHECKING:
    from keeplore.cli.doctor import DoctorFinding
    from keeplore.web.doctor_findings import Health
    from keeplore.workspace.registry import Registry

NEEDED = ("jinja2", "markdown_it", "starlette", "uvicorn")


@click.command(short_help="Look through memory in the browser, and correct it.")
@click.option("--read-only", is_flag=True, help="Nothing can be changed there.")
@click.option(
    "--no-browser", is_flag=True, help="Print the address and open no browser."
)
@click.option(
    "--export",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the same as static pages into this folder, and stop.",
)
@pass_registry
def open_command(
    registry: Registry, *, read_only: bool, no_browser: bool, export: Path | None
) -> None:
    """Open a page of this directory's workspace in the browser: what is new, everything by day,
    search, and each memory with its versions.

    Only this machine can reach it, and only the browser that uses the printed address first. It
    ends a few minutes after its last page was closed, or with Ctrl-C.

    \b
    keeplore open
    keeplore open --export ~/memory-pages
    """
    _check_installed()
    if export:
        _export(registry, export)
    else:
        _serve(registry, is_read_only=read_only, has_browser=not no_browser)


def _check_installed() -> None:
    if not all(map(importlib.util.find_spec, NEEDED)):
        raise ConfigError(
            "the pages need packages that are not installed",
            "Run `pip install 'keeplore[web]'` where Keeplore is installed",
        )


def _export(registry: Registry, folder: Path) -> None:
    # heavy: git and the index are needed here, not for --help
    from keeplore.web.page_context import PageContext
    from keeplore.web.static_export import export

    count = export(PageContext(registry, Path.cwd(), health_of(registry)), folder)
    say(f"{count} pages: {near(folder.absolute() / 'index.html')}")


def _serve(registry: Registry, *, is_read_only: bool, has_browser: bool) -> None:
    from keeplore.web.serving import WindowServer  # heavy, as above

    server = WindowServer(
        registry, Path.cwd(), health_of(registry), is_read_only=is_read_only
    )
    say(server.address)
    if has_browser:
        webbrowser.open(server.address)
    server.run()


def health_of(registry: Registry) -> Health:
    """What doctor finds, without a commit: a page only looks."""
    from keeplore.web.doctor_findings import Health  # heavy, as above

    def examined() -> list[DoctorFinding]:
        # heavy: everything that is examined, which no page waits for
        from keeplore.cli.connect_dialog import surroundings
        from keeplore.cli.doctor import DoctorOptions, examine

        options = DoctorOptions(surroundings(registry.places), commits=False)
        return examine(registry.places, options, registry)

    return Health(examined)
