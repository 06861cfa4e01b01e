"""Redaction compared with its whole output: what is hidden, under which kind, and that all else
stays to the last character.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from keeplore.redact import redact
from keeplore.redact.rules import RedactionRule, rules

GOLDEN = Path(__file__).with_name("golden_planted.json")
TO_COVER = 0.95  # of all planted secrets
ANEW = f"python {Path(__file__).name} writes the file anew"

# vectors whose secret another rule finds as well, or whose hit is wider than the secret
_PAIR = "[REDACTED:aws-access-key-id]", "[REDACTED:aws-secret-key]"
WIDER = {
    "AKIA{u16}\n«{B40}»": "\n".join(_PAIR),
    "AKIA{u16} / «{B40}»": " / ".join(_PAIR),
    "importprivkey «K{w51}»": "importprivkey [REDACTED:random-token]",
    "openssl enc -pass pass:«{w12}» -d": "openssl enc -pass [REDACTED:password] -d",
    "credentials: admin:«{p14}»": "credentials: [REDACTED:secret]",
    "seed phrase: «{l5} {l6} {l4} {l5} {l7} {l4} {l5} {l6} {l4} {l5} {l7} {l4}»": (
        "[REDACTED:seed-phrase]"
    ),
    "recovery codes:\n«{h5}-{h5}\n{h5}-{h5}\n{h5}-{h5}»": (
        "recovery codes:[REDACTED:recovery-codes]"
    ),
}
SHORTER = "old: {w40}"  # the vector has no marks: all of it counts as the secret


def _benchmark(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # planted_blind imports planted by this name
    spec.loader.exec_module(module)
    return module


planted = _benchmark("planted")
planted_blind = _benchmark("planted_blind")


def marked(text: str, secret: str, kind: str) -> str:
    """The text with a marker of this kind for the secret, wherever it stands."""
    return text.replace(secret, f"[REDACTED:{kind}]")


@pytest.mark.parametrize(
    "rule", rules(), ids=lambda rule: f"{rule.kind}-{rule.vector[0][:24]!a}"
)
def test_a_rule_hides_its_own_vectors_and_nothing_else(rule: RedactionRule) -> None:
    for recipe in rule.vector:
        for seed in range(3):
            text, secret = planted.expand(recipe, random.Random(seed))
            if recipe == SHORTER:
                secret = text.removeprefix("old: ")
            expected = WIDER.get(recipe) or marked(text, secret, rule.kind)
            assert redact(text) == expected, recipe


Redacted = list[tuple[Any, str]]  # planted cases, each with its text as it is redacted


def redacted_cases(cases: Iterable[Any]) -> Redacted:
    return [(case, redact(case.text)) for case in cases]


@pytest.fixture(scope="module")
def made_for() -> Redacted:
    """Secrets of the kinds that rules were written for first, two values in each setting."""
    return redacted_cases(planted.planted(values=2))


@pytest.fixture(scope="module")
def blind() -> Redacted:
    """Forms that no rule was written for first."""
    return redacted_cases(planted_blind.blind(values=1))


def missed(cases: Redacted) -> Counter[str]:
    """How many secrets are left of each kind in each setting."""
    return Counter(
        f"{case.kind} in {case.setting}"
        for case, redacted in cases
        if not planted.is_covered(case, redacted)
    )


def test_planted_secrets_are_covered_in_every_setting(made_for: Redacted) -> None:
    left = missed(made_for)
    assert len(planted.KINDS) >= 40
    assert left.total() / len(made_for) <= 1 - TO_COVER, left.most_common()


def test_forms_that_no_rule_was_written_for_first_are_covered_in_every_setting(
    blind: Redacted,
) -> None:
    left = missed(blind)
    assert len({case.kind for case, _ in blind}) >= 300
    assert left.total() / len(blind) <= 1 - TO_COVER, left.most_common()


def _told(case: Any, redacted: str) -> str:
    """The marker that stands in the place of a planted secret; where something else is hidden or
    left besides, a digest of the whole output.
    """
    before, _, after = case.text.partition(case.secret)
    marker = redacted[len(before) : len(redacted) - len(after)]
    is_one = marker.startswith("[REDACTED:") and marker.find("]") == len(marker) - 1
    if is_one and redacted == before + marker + after:
        return marker.removeprefix("[REDACTED:").removesuffix("]")
    return "sha256:" + hashlib.sha256(redacted.encode()).hexdigest()[:12]


def _outputs(cases: Redacted) -> dict[str, list[str]]:
    """What is told of the planted cases of each kind, each once, in the order of their settings."""
    found: dict[str, list[str]] = {}
    for case, redacted in cases:
        outputs = found.setdefault(case.kind, [])
        if (told := _told(case, redacted)) not in outputs:
            outputs.append(told)
    return found


def test_every_planted_case_is_redacted_as_it_was(
    made_for: Redacted, blind: Redacted
) -> None:
    known = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found = _outputs(made_for + blind)
    differing = {
        kind: found.get(kind) for kind in known if found.get(kind) != known[kind]
    }
    assert (differing, found.keys()) == ({}, known.keys()), ANEW


if __name__ == "__main__":
    every = (*planted.planted(values=2), *planted_blind.blind(values=1))
    lines = [
        f"{json.dumps(kind)}: {json.dumps(told)}"
        for kind, told in _outputs(redacted_cases(every)).items()
    ]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
