"""What a person has left out of memory: a pause that goes on, and rules that mean nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from keeplore.cli.doctor.finding import DoctorFinding, note, several, well
from keeplore.config.capture_choice import Pauses
from keeplore.text.dates import now
from keeplore.workspace.capture_policy import pause_reason
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.person_choice import HeldRule, held_rules


def findings(registry: Registry) -> Iterator[DoctorFinding]:
    pause = Pauses.load(registry.places).at(now())
    if pause:
        yield note(
            "capture",
            f"{pause_reason(pause)}: nothing is captured on this machine",
            "`keeplore pause --end` ends it",
        )
    held = _rules(registry)
    rules = f"rules that say what is captured: {len(held)}"
    yield well("capture", rules if held else "no rule leaves anything out")
    yield from several(
        note(
            "capture",
            f"the rule {one.rule} ({one.whose}) means nothing that is known here",
            "If it should, correct it; `keeplore exclude --list` shows all rules",
        )
        for one in held
        if not one.means
    )


def _rules(registry: Registry) -> list[HeldRule]:
    """The rules of this machine and of every workspace, each once."""
    found: dict[tuple[str, str, bool], HeldRule] = {}
    for name in registry.machine.workspaces:
        for one in held_rules(registry, registry.named(name), Path.cwd()):
            found[one.whose, str(one.rule), one.may] = one
    return [*found.values()]
