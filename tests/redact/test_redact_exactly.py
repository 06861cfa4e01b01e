"""Redaction compared with its whole output: what is hidden, under which kind, and that all else
stays to the last character.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

from keeplore.redact import redact
from keeplore.redact.rules import RedactionRule, rules

GOLDEN = Path(__file__).with_name("golden_planted.json")
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


def _told(text: str, secret: str) -> str:
    """The marker that stands in the place of a planted secret; where something else is hidden or
    left besides, a digest of the whole output.
    """
    redacted = redact(text)
    before, _, after = text.partition(secret)
    marker = redacted[len(before) : len(redacted) - len(after)]
    is_one = marker.startswith("[REDACTED:") and marker.find("]") == len(marker) - 1
    if is_one and redacted == before + marker + after:
        return marker.removeprefix("[REDACTED:").removesuffix("]")
    return "sha256:" + hashlib.sha256(redacted.encode()).hexdigest()[:12]


def _outputs() -> dict[str, list[str]]:
    """What is told of the planted cases of each kind, each once, in the order of their settings."""
    found: dict[str, list[str]] = {}
    for item in (*planted.planted(values=1), *planted_blind.blind(values=1)):
        outputs = found.setdefault(item.kind, [])
        if (told := _told(item.text, item.secret)) not in outputs:
            outputs.append(told)
    return found


def test_every_planted_case_is_redacted_as_it_was() -> None:
    known = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found = _outputs()
    differing = {
        kind: found.get(kind) for kind in known if found.get(kind) != known[kind]
    }
    assert (differing, found.keys()) == ({}, known.keys()), ANEW


if __name__ == "__main__":
    lines = [
        f"{json.dumps(kind)}: {json.dumps(told)}" for kind, told in _outputs().items()
    ]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
