"""The names under which forms ask for actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keeplore.web.actions import decision_actions, memory_actions, place_actions
from keeplore.web.actions.action_result import ActionResult
from keeplore.web.page_context import PageContext

ACTIONS: dict[str, Callable[[PageContext, Mapping[str, str]], ActionResult]] = {
    "pin": memory_actions.pin,
    "forget": memory_actions.forget_memory,
    "return": memory_actions.return_to_version,
    "restore": memory_actions.restore_memory,
    "keep-statement": decision_actions.keep_statement,
    "reject-statement": decision_actions.reject_statement,
    "accept-proposal": decision_actions.accept_proposal,
    "reject-proposal": decision_actions.reject_proposal,
    "decide-dispute": decision_actions.decide_dispute,
    "accept-machine": decision_actions.accept_machine,
    "refuse-machine": decision_actions.refuse_machine,
    "exclude": place_actions.exclude_project,
    "include": place_actions.include_project,
}
