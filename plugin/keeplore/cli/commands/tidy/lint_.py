"""``keeplore lint``."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import emit_json, plain, say
from keeplore.cli.parameters import json_option
from keeplore.config.places import Places
from keeplore.config.project_file import NAME, code_memory_folder
from keeplore.config.setting_layers import is_frozen
from keeplore.config.settings import FILE
from keeplore.errors import NotFound, NoWorkspace, WorkspaceFrozen
from keeplore.text.counts import counted

if TYPE_CHECKING:
    from keeplore.memory.lint_rules import LintFinding
    from keeplore.workspace.lifecycle.lint import LintReport


@dataclass(frozen=True, slots=True)
class _LintRoot:
    """The root of a workspace, or what code keeps of its project; ``workspace`` is the one whose
    settings hold.
    """

    root: Path
    workspace: Path | None

    @property
    def top(self) -> Path:
        """The directory where git looks."""
        return self.root.parent if self.root.name == NAME else self.root


@click.command(short_help="Say what is wrong in memory files, by line.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--staged",
    is_flag=True,
    help="Look at what is staged for the next commit, as git's index has it.",
)
@click.option("--strict", is_flag=True, help="Let warnings count as errors.")
@click.option(
    "--install",
    is_flag=True,
    help="Let git run this check before each of your commits.",
)
@click.option("--uninstall", is_flag=True, help="Take that check out again.")
@json_option
@click.pass_obj
def lint_command(
    places: Places,
    /,
    *,
    paths: tuple[str, ...],
    strict: bool,
    as_json: bool,
    staged: bool,
    install: bool,
    uninstall: bool,
) -> None:
    """Look at memory files, and print what is wrong with path and line, and what to do about it.

    Without PATH all files of this directory's workspace are looked at, and the notes kept with the
    code here; --staged and --install are then about the code's repository. Nothing is changed. An
    error is what Keeplore skips or misreads, or what must not be there, such as a secret. A warning
    is read, and could be better: a file without front matter is one.

    \b
    keeplore lint
    keeplore lint projects/ledgerly
    keeplore lint --install

    Exit status: 0 no errors, 1 errors.
    """
    if [staged, install, uninstall, bool(paths)].count(True) > 1:
        raise click.UsageError(
            "--staged, --install, --uninstall and PATH exclude one another"
        )
    roots = _roots(places, paths, is_of_git=staged or install or uninstall)
    if install and roots[0].workspace and is_frozen(roots[0].workspace, places.state):
        raise WorkspaceFrozen(roots[0].workspace)
    if install or uninstall:
        _git_hook(roots[0].top, is_wanted=install)
        return
    report = _report(places, roots, paths, is_staged=staged)
    if as_json:
        emit_json([asdict(finding) for finding in report.findings])
    else:
        _show(report, is_quiet=staged and not strict)
    sys.exit(1 if report.errors or (strict and report.findings) else 0)


def _report(
    places: Places, roots: Sequence[_LintRoot], paths: Sequence[str], *, is_staged: bool
) -> LintReport:
    # heavy: redaction's rules, YAML
    from keeplore.workspace.lifecycle.lint import (
        KNOWN,
        joined_reports,
        lint,
        lint_staged,
        secrets_of,
    )

    reports = []
    for place in roots:
        secrets = secrets_of(place.workspace, places) if place.workspace else KNOWN
        if is_staged:
            reports.append(lint_staged(place.root, _index_file(), secrets))
        else:
            below = [_relative_path(place.root, path) for path in paths]
            reports.append(lint(place.root, below if all(below) else (), secrets))
    return joined_reports(reports)


def _show(report: LintReport, *, is_quiet: bool) -> None:
    """Show the findings and how many there are; where it is quiet, warnings are left out."""
    for finding in report.findings:
        # before a commit, what stops it counts
        if not is_quiet or finding.level == "error":
            _show_finding(finding)
    warnings = len(report.findings) - report.errors
    files = counted(report.files, "file")
    if report.errors or (report.findings and not is_quiet):
        say(
            f"{counted(report.errors, 'error')} and {counted(warnings, 'warning')} in {files}",
            err=True,
        )
    elif not is_quiet:
        say(f"{files}, nothing wrong")


def _show_finding(finding: LintFinding) -> None:
    colour = "red" if finding.level == "error" else "yellow"
    level = click.style(finding.level, fg=colour)
    place = f"{plain(finding.path)}:{finding.line}"
    click.echo(f"{place}: {level}: {plain(finding.message)}")
    if finding.remedy:
        say(f"  → {finding.remedy}")


def _roots(places: Places, paths: Sequence[str], *, is_of_git: bool) -> list[_LintRoot]:
    """The workspace around the first path or this directory, registered or not; else the notes that
    the code there keeps, and the workspace that knows its project, unless a path or the code's own
    git is meant.
    """
    # links are not to be followed
    start = Path(os.path.abspath(paths[0] if paths else "."))  # noqa: PTH100
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return [_LintRoot(folder, folder)]
    code = code_memory_folder(start)
    try:
        workspace = _known_workspace(places)
    except NoWorkspace:
        if code is None:
            raise
        return [_LintRoot(code, None)]
    own = _LintRoot(workspace, workspace)
    if code is None:
        return [own]
    kept = _LintRoot(code, workspace)
    return [kept] if paths or is_of_git else [own, kept]


def _known_workspace(places: Places) -> Path:
    # heavy: it opens the workspace
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        return registry.for_directory(Path.cwd()).root


def _relative_path(root: Path, path: str) -> str:
    """The path relative to the workspace, "" for all of it."""
    place = Path(os.path.abspath(path))  # noqa: PTH100  # as above
    for known in (root, root.resolve()):
        if known.is_relative_to(place):
            return ""
        if place.is_relative_to(known):
            return place.relative_to(known).as_posix()
    raise NotFound(
        f"{path} is not below {root}",
        "Name files of one workspace, or none for all of them",
    )


def _index_file() -> str:
    """The index that git prepares a commit of some paths in, told to the programs that it runs."""
    named = os.environ.get("GIT_INDEX_FILE", "")
    return str(Path.cwd() / named) if named else ""


def _git_hook(root: Path, *, is_wanted: bool) -> None:
    # heavy: git
    from keeplore.store.git.pre_commit_hook import install, uninstall

    if not is_wanted:
        say(f"removed {uninstall(root)}")
        return
    installed = Path(sys.executable).with_name("keeplore")
    program = (
        str(installed) if installed.exists() else shutil.which("keeplore") or "keeplore"
    )
    wrote = install(root, program)
    say(f"wrote {wrote}: git runs `keeplore lint --staged` before each of your commits")
    say(
        "Keeplore's own commits run no git hooks; `git commit --no-verify` leaves the check out "
        "once"
    )
