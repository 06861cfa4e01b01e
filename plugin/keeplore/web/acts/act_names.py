"""The names under which forms ask for acts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keeplore.web.acts import decision_acts, memory_acts, place_acts
from keeplore.web.acts.done import Done
from keeplore.web.page_desk import Desk

ACTS: dict[str, Callable[[Desk, Mapping[str, str]], Done]] = {
    "pin": memory_acts.pin,
    "forget": memory_acts.forget_memory,
    "return": memory_acts.return_to_version,
    "restore": memory_acts.restore_memory,
    "keep-statement": decision_acts.keep_statement,
    "reject-statement": decision_acts.reject_statement,
    "accept-proposal": decision_acts.accept_proposal,
    "reject-proposal": decision_acts.reject_proposal,
    "decide-dispute": decision_acts.decide_dispute,
    "accept-machine": decision_acts.accept_machine,
    "refuse-machine": decision_acts.refuse_machine,
    "exclude": place_acts.exclude_project,
    "include": place_acts.include_project,
}
