"""Whether a language model is good enough to refine with: short talks whose facts are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from keeplore.errors import LlmRefused
from keeplore.llm.account import Account
from keeplore.llm.json_answers import parse_answer
from keeplore.memory import Exchange
from keeplore.refine import extract
from keeplore.refine.answers.answer_schema import REPAIRED
from keeplore.refine.window import segments_of, windows

ENOUGH = 0.75  # share of the talks that a model has to read rightly


@dataclass(frozen=True, slots=True)
class CheckCase:
    """``wanted`` are words of each fact that has to be found, ``never`` words of none."""

    name: str
    exchanges: tuple[Exchange, ...]
    wanted: tuple[tuple[str, ...], ...]
    never: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``flaw`` says what is wrong with an answer, "" for nothing."""

    name: str
    flaw: str
    repaired: int
    input_tokens: int
    output_tokens: int


def check_model(account: Account) -> Iterator[CheckResult]:
    """Ask a model about each conversation. Raises BudgetSpent and LlmUnavailable."""
    for case in check_cases():
        yield _check_case(account, case)


@cache
def check_cases() -> tuple[CheckCase, ...]:
    file = Path(__file__).with_name("cases.yaml")
    return tuple(
        CheckCase(
            raw["name"],
            _exchanges(raw["talk"]),
            tuple(map(tuple, raw.get("wanted", ()))),
            tuple(raw.get("never", ())),
        )
        for raw in yaml.safe_load(file.read_text(encoding="utf-8"))
    )


def _exchanges(talk: list[dict[str, str]]) -> tuple[Exchange, ...]:
    """Each message as an exchange of its own."""
    return tuple(
        Exchange(
            f"check-{number}",
            "",
            said.get("user", ""),
            (said["assistant"],) if "assistant" in said else (),
        )
        for number, said in enumerate(talk, start=1)
    )


def _check_case(account: Account, case: CheckCase) -> CheckResult:
    """Let the model read a conversation whose facts are known, and compare."""
    segments = segments_of(case.exchanges, case.exchanges, lambda _: False)
    [window] = windows(segments)
    dropped: Counter[str] = Counter()
    question = extract.question(window, ())
    answered = account.complete("check", extract.PROMPT.text, question, extract.SCHEMA)
    try:
        answer: Any = parse_answer(answered.text)
        found = extract.extraction(answer, segments, (), str.strip, dropped)
    except (ValueError, RecursionError, LlmRefused) as e:
        flaw = f"the answer cannot be read: {e}"
    else:
        flaw = _case_problem(case, [fact.statement.lower() for fact in found.facts])
        flaw = flaw or _lost_facts(dropped)
    repaired = dropped[f"facts: {REPAIRED}"]
    usage = answered.usage
    return CheckResult(
        case.name, flaw, repaired, usage.input_tokens, usage.output_tokens
    )


def _case_problem(case: CheckCase, statements: list[str]) -> str:
    for words in case.wanted:
        if not any(_has_words(statement, words) for statement in statements):
            return f"not found: {', '.join(words)}"
    for word in case.never:
        if any(word in statement for statement in statements):
            return f"taken for a fact: {word}"
    if statements and not case.wanted and not case.never:
        return f"taken for a fact: {statements[0]}"
    return ""


def _has_words(statement: str, words: tuple[str, ...]) -> bool:
    return all(word in statement for word in words)


def _lost_facts(dropped: Counter[str]) -> str:
    """What of an answer could not be kept."""
    return ", ".join(what for what in +dropped if not what.endswith(REPAIRED))
