"""``keeplore refine``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from keeplore.cli.output import note, say
from keeplore.cli.parameters import pass_registry, since_option
from keeplore.cli.writing import settle
from keeplore.config.settings import RefineMode
from keeplore.errors import ConfigError, LlmRefused
from keeplore.text.counts import counted
from keeplore.text.dates import in_utc, moment_of

if TYPE_CHECKING:
    from keeplore.llm.account import Account
    from keeplore.refine.pending import PendingPart
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace
    from keeplore.workspace.writing.refinery import RefineEstimate, Refinery, RefineStep

RECENT = "7d"  # what is older is refined when it is asked for
IN_A_ROW = 3  # conversations that come to nothing, after which it is the model's doing


@click.command(short_help="Let a language model make notes of your conversations.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say how much there is and what it would cost; nothing is asked.",
)
@since_option(f"Conversations that were changed since then; {RECENT} if not given.")
@click.option("--all", "is_all", is_flag=True, help="Conversations of any age.")
@click.option(
    "--mode",
    type=click.Choice([*map(str, RefineMode)]),
    help="What becomes of it, instead of refine.mode.",
)
@click.option(
    "--anywhere",
    is_flag=True,
    help="Conversations that your other machines recorded, too.",
)
@click.option(
    "--accept-model",
    is_flag=True,
    help="Let this machine use the model that keeplore.yaml names.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Ask the model about short conversations whose facts are known; nothing is written.",
)
@pass_registry
def refine_command(
    registry: Registry,
    /,
    *,
    dry_run: bool,
    since: str | None,
    is_all: bool,
    mode: str | None,
    anywhere: bool,
    accept_model: bool,
    check: bool,
) -> None:
    """Refine the conversations of this directory's workspace that were not refined yet: notes, each
    with the words it rests on.

    The worker does so by itself once a model is set and accepted; this does it now, and for older
    conversations. What was said stays as it is. `keeplore audit` shows what was decided, `keeplore
    review` what waits for you.

    \b
    keeplore refine --accept-model
    keeplore refine --check
    keeplore refine --all --dry-run
    """
    if is_all and since:
        raise click.UsageError("--all and --since exclude one another")
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.writing.refinery import backlog, estimate

    workspace = registry.for_directory(Path.cwd())
    _check_set(workspace, mode)
    if accept_model:
        _accept(workspace)
        return
    if check:
        _check(workspace)
        return
    after = "" if is_all else since or in_utc(moment_of(RECENT))
    parts = [*backlog(workspace, after, mode or "", anywhere=anywhere)]
    if not parts and not is_all:
        note("older conversations were not looked at: --all does that, too")
    if dry_run:
        _tell_cost(estimate(iter(parts), workspace.settings), workspace)
        return
    _open_account(workspace)
    queue = _queued(registry, workspace, parts, mode=mode or "", anywhere=anywhere)
    if not parts:
        say("Nothing to refine.")
        return
    _refine(workspace, queue, parts)


def _check_set(workspace: Workspace, mode: str | None) -> None:
    workspace.check_not_frozen()
    if not workspace.settings.llm.provider:
        raise ConfigError(
            "no language model is set",
            "`keeplore config set llm.provider openai` sets one, or anthropic or claude-cli, and "
            "`keeplore config set llm.model NAME` which; then run `keeplore refine --accept-model`",
        )
    if (mode or workspace.settings.refine.mode) == "frozen":
        raise ConfigError(
            "refining is frozen",
            "`keeplore config set refine.mode controlled` ends that, --mode for this once",
        )


def _accept(workspace: Workspace) -> None:
    # heavy, as above
    from keeplore.llm.open_model import accept, terms_of

    llm = workspace.settings.llm
    say(terms_of(llm), bold=True)
    say(
        "What you say in this workspace's projects is sent there, without the secrets that "
        "Keeplore finds."
    )
    click.confirm("Use it on this machine?", abort=True)
    accept(workspace.places, workspace.root, llm)
    say("Accepted, until one of these words changes.")


def _check(workspace: Workspace) -> None:
    """Try the model on conversations whose answers are known, and print how it did. Raises
    LlmRefused where it reads too few of them rightly.
    """
    # heavy, as above
    from keeplore.refine.model_check import ENOUGH, check_model

    results = []
    for result in check_model(_open_account(workspace)):
        results.append(result)
        say(f"{'--' if result.flaw else 'ok'}  {result.name}", dim=not result.flaw)
        if result.flaw:
            say(f"      {result.flaw}", fg="yellow")
    right = sum(not result.flaw for result in results)
    repaired = sum(result.repaired for result in results)
    read = sum(result.input_tokens for result in results)
    written = sum(result.output_tokens for result in results)
    say(
        f"{right} of {len(results)} conversations read rightly, "
        f"{counted(repaired, 'item')} put right; "
        f"{read:,} tokens read, {written:,} written"
    )
    if right < ENOUGH * len(results):
        raise LlmRefused(
            "this model is not good enough to refine with",
            "Set a larger one in llm.model, or leave refine.mode at shadow and read "
            "`keeplore audit`",
        )


def _open_account(workspace: Workspace) -> Account:
    """Before anything is queued: a model that is not accepted, or not there, is said at once."""
    from keeplore.llm.open_model import open_account  # heavy, as above

    llm, factory = workspace.settings.llm, workspace.plugins.hook.keeplore_llm
    account = open_account(llm, workspace.root, workspace.places, factory)
    # ``_check_set`` has seen that one is set
    return cast("Account", account)


def _tell_cost(cost: RefineEstimate, workspace: Workspace) -> None:
    model = workspace.settings.llm.model or workspace.settings.llm.provider
    talks = counted(cost.conversations, "conversation")
    say(f"{talks} with {cost.said:,} tokens would be refined by {model}")
    say(f"at most {cost.input:,} tokens read and about {cost.output:,} written")
    if cost.price is None:
        note("what a token costs is not known: set llm.prices in keeplore.yaml")
    else:
        say(f"about {cost.price:.2f}, by llm.prices in keeplore.yaml")


def _queued(
    registry: Registry,
    workspace: Workspace,
    parts: list[PendingPart],
    *,
    mode: str,
    anywhere: bool,
) -> Refinery:
    # heavy, as above
    from keeplore.workspace.recording.refine_trigger import RefineCause, enqueue
    from keeplore.workspace.writing.refinery import Refinery

    refinery = Refinery(registry)
    for part in parts:
        wishes = {"mode": mode, "anywhere": anywhere, "at": part.memory.created_at}
        enqueue(
            refinery.queue, workspace.name, part.memory.id, RefineCause.ASKED, **wishes
        )
    return refinery


def _refine(
    workspace: Workspace, refinery: Refinery, parts: Iterable[PendingPart]
) -> None:
    """Refine these conversations, and print what was done. Raises LlmRefused where a model came to
    nothing with every one.
    """
    titles = {part.memory.id: part.memory.title for part in parts}
    done, problem = _run_jobs(refinery, titles)
    settle(workspace, "Refine conversations")
    say(f"{done} of {len(titles)} conversations refined.")
    if problem and not done:
        raise LlmRefused(
            f"no conversation could be refined: {problem}",
            "They are tried again; `keeplore refine --check` says whether this model is good "
            "enough",
        )
    say(
        "`keeplore audit` shows what was decided, `keeplore review` what waits for you."
    )


def _run_jobs(refinery: Refinery, titles: dict[str, str]) -> tuple[int, str]:
    """Take jobs until none is due; how many conversations were refined, and what kept the last
    other one from it. The worker may do some of them meanwhile.
    """
    done = failed = 0
    problem = ""
    while step := refinery.step():
        done += step.job.key in titles and step.result is not None
        failed = failed + 1 if step.result is None else 0
        problem = step.problem or problem
        _tell_step(step, titles.get(step.job.key, step.job.key))
        if step.wait_s or failed == IN_A_ROW:
            note("the rest waits: every other one would meet the same")
            break
    return done, problem


def _tell_step(step: RefineStep, title: str) -> None:
    # heavy, as above
    from keeplore.refine.answers.answer_schema import REPAIRED
    from keeplore.refine.pipeline import outcome_summary

    result = step.result
    if result is None:
        say(f"{title}: {step.problem}", fg="yellow")
        return
    text = result.why or outcome_summary(result.outcomes) or "nothing to note"
    kept = sum(n for what, n in result.dropped.items() if what.endswith(REPAIRED))
    if dropped := sum(result.dropped.values()) - kept:
        text += f", {dropped} left out"
    if kept:
        text += f", {kept} put right"
    if usage := result.usage.input_tokens:
        text += f" ({usage:,} + {result.usage.output_tokens:,} tokens)"
    say(f"{title}: {text}")
