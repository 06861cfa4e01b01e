"""What doctor says of the plugins of other packages."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Set

from keeplore.cli.doctor.finding import DoctorFinding, note, well, wrong
from keeplore.config.places import Places
from keeplore.connect import host_locations
from keeplore.text.dates import minute_of
from keeplore.workspace.plugin_failures import failures
from keeplore.workspace.plugin_manager import GATES
from keeplore_hooks import specs
from keeplore_hooks.installed import HOSTS, SOURCES, problems

PART = "plugins"


def findings(places: Places) -> Iterator[DoctorFinding]:
    """The installed plugins, and what they raised lately."""
    for point in importlib.metadata.entry_points(group=specs.NAME):
        whose = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
        yield well(PART, f"{point.name}{whose} is installed")
    failed = list(failures(places.state))
    yield from _brought_hosts_and_sources(
        {failure.plugin for failure in failed if failure.point in GATES}
    )
    for failure in failed:
        where = f"at {failure.point}" if failure.point else "when it was loaded"
        said = f"{failure.plugin} failed {where}: {failure.error}, last on {minute_of(failure.at)}"
        if failure.point in GATES:
            yield wrong(
                PART,
                f"{said}; nothing it should have checked was written",
                "Mend or uninstall it",
            )
        else:
            yield note(PART, said, "Mend or uninstall it; everything else went on")


def _brought_hosts_and_sources(stopping: Set[str]) -> Iterator[DoctorFinding]:
    """The hosts and sources of other packages, and what failed to load; plugins that stop writing
    are reported elsewhere.
    """
    for name, (plugin, one) in {**HOSTS.plugins, **SOURCES.plugins}.items():
        if plugin:
            what = "host" if name in HOSTS else "source"
            about = f": {one.documentation}" if one.documentation else ""
            yield well(PART, f"{plugin} brings the {what} {name}{about}")
    for problem in dict.fromkeys((*problems(), *host_locations.problems())):
        if problem.plugin in stopping:
            continue
        where = f"at {problem.point}" if problem.point else "when it was loaded"
        yield note(
            PART,
            f"{problem.plugin} failed {where}: {problem.error}",
            "Mend or uninstall it; everything else went on",
        )
