"""``keeplore why REF QUESTION``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import emit_json, note, plain, say, table
from keeplore.cli.parameters import json_option, pass_registry, reference
from keeplore.cli.usage_errors import WrongUsage
from keeplore.memory.names import short_id

if TYPE_CHECKING:
    from keeplore.recall.score_explanation import ScoreExplanation
    from keeplore.workspace.registry import Registry

PASSAGE_CHARS = 200  # of the words that counted


@click.command(short_help="Explain why a question finds a memory, or does not.")
@reference()
@click.argument("question", nargs=-1)
@click.option("-q", "--query", help="The question, where it is not given as QUESTION.")
@click.option("--wide", is_flag=True, help="As `keeplore recall --wide` asks.")
@click.option(
    "--text", "text_only", is_flag=True, help="As `keeplore recall --text` asks."
)
@json_option
@pass_registry
def why_command(
    registry: Registry,
    *,
    reference: str,
    question: tuple[str, ...],
    query: str | None,
    wide: bool,
    text_only: bool,
    as_json: bool,
) -> None:
    """Show where the memory REF stands for a question, and what each part gave to its score or took
    from it.

    The parts are log-odds and add up to the score: 0 is a likelihood of one half, 1 of .73, 3 of
    .95.

    \b
    keeplore why 1f0c9a2e "why did we drop Redis"
    """
    asked = query or " ".join(question)
    if not asked:
        raise WrongUsage(
            "of the memory and the question one is missing",
            '`keeplore why ID "QUESTION"`; `keeplore recall "QUESTION"` prints ids',
        )
    # heavy: the index and the model are needed here, not for --help
    from keeplore.recall.request import RecallRequest
    from keeplore.workspace.reading.explain import explain

    request = RecallRequest(asked, wide=wide, text_only=text_only)
    explanation = explain(registry, reference, request)
    if as_json:
        emit_json(asdict(explanation))
    else:
        _show(explanation)


def _show(explanation: ScoreExplanation) -> None:
    say(f"{short_id(explanation.memory_id)} {explanation.title}", bold=True)
    say(explanation.verdict)
    for line in explanation.notes:
        note(line)
    if not explanation.parts:
        return
    if explanation.passage:
        words = plain(explanation.passage[: 2 * PASSAGE_CHARS])
        end = "…" if len(words) > PASSAGE_CHARS else ""
        say(f"“{words[:PASSAGE_CHARS]}{end}”", dim=True)
    say()
    _show_parts(explanation)


def _show_parts(explanation: ScoreExplanation) -> None:
    rows = [
        (part.name, f"{part.odds:+.2f}", part.because)
        for part in explanation.shown_parts
    ]
    total = (
        f"a score of {explanation.score:.3f}; shown from {explanation.threshold:.2f} on, "
        f"where the best one has {explanation.best_from:.2f}"
    )
    rows.append(("together", f"{explanation.odds:+.2f}", total))
    table(("part", "log-odds", "because"), rows, wide=("because",))
