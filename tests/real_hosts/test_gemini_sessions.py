"""Gemini CLI shortens, clears and resumes a session; it announces a compression before each call of
the model, and seldom carries one out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from host_lab import HostLab
from host_lab import day as said
from model_server import Request, Step

AGAIN = "Decided earlier in this session:"
RECALL = re.compile(r"&lt;keeplore-recall id=")
ROWS = "Tell me about the rows of the table"
# with this answer the conversation has more tokens than the share of a million, without it fewer
LONG = " ".join(f"Row {number} of the table holds a job." for number in range(600))
SHARE = 0.0175
SPIDERS, BIRDS, FISH, DOGS, COWS = (
    f"Tell me about {animals}"
    for animals in ("spiders", "birds", "fish", "dogs", "cows")
)
SNAPSHOT = (
    "<state_snapshot>The jobs of the billing service were spoken of.</state_snapshot>"
)

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1200)]


def test_a_real_compression_a_clear_and_a_resumption_are_told_apart(
    laboratory: Callable[[str], HostLab],
) -> None:
    lab = laboratory("gemini-cli")
    settings = lab.machine.home / ".gemini/settings.json"
    config = json.loads(settings.read_text())
    settings.write_text(json.dumps(config | {"model": {"compressionThreshold": SHARE}}))
    script = lab.server.script
    script.rule(is_compression, Step(SNAPSHOT))
    answers = {
        said.OPTIONS_ASKED: said.OPTIONS,
        said.DECISION: said.AGREED,
        ROWS: LONG,
        SPIDERS: "Spiders weave.",
        BIRDS: "Birds fly.",
        FISH: "Fish swim.",
        DOGS: "Dogs bark.",
        COWS: "Cows moo.",
    }
    for prompt, answer in answers.items():
        script.answer(prompt, answer)
    lab.connect()
    asked: dict[str, Request] = {}
    with lab.open() as session:
        for prompt in (said.OPTIONS_ASKED, said.DECISION, ROWS, SPIDERS):
            asked[prompt] = session.say(prompt, answers[prompt])
        assert not any(map(is_compression, lab.server.requests))
        session.say(BIRDS, answers[BIRDS])
        # the host asks twice for one summary
        assert sum(map(is_compression, lab.server.requests)) == 2
        asked[FISH] = session.say(FISH, answers[FISH])
        session.order("/clear")
        asked[DOGS] = session.say(DOGS, answers[DOGS])
        session.end()
    lab.settle()
    with lab.open(resume=True) as session:
        asked[COWS] = session.say(COWS, answers[COWS])
        session.end()
    lab.settle()
    told = {
        prompt: request.everything.count(AGAIN) for prompt, request in asked.items()
    }
    assert told == {**dict.fromkeys(asked, 0), FISH: 1}
    # the project had no memory when the first session began
    briefs = {
        p: len(RECALL.findall(request.everything)) for p, request in asked.items()
    }
    assert (briefs[said.DECISION], briefs[FISH], briefs[DOGS]) == (0, 1, 1)
    assert said.DECISION in asked[DOGS].everything
    # resumed, it goes on from what it sent, and its words stay in one record
    kept = len(asked[DOGS].pieces)
    assert asked[COWS].pieces[:kept] == asked[DOGS].pieces
    (text,) = [
        path.read_text()
        for path in lab.memory.glob("projects/ledgerly/memory/conversations/**/*.md")
        if DOGS in path.read_text()
    ]
    assert COWS in text and said.DECISION not in text


def is_compression(request: Request) -> bool:
    return "state_snapshot" in request.system and not request.tools
