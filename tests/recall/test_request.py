"""A question to memory as a worker is sent it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keeplore.errors import ConfigError
from keeplore.recall.request import RecallRequest

FIELDS = {
    "query": "why Postgres?",
    "cwd": "/code/shop",
    "limit": 7,
    "wide": True,
    "exchanges": False,
    "text": True,
    "agent": "reviewer",
    "session": "s-1",
    "within": "1f0c9a2e",
}


@pytest.mark.parametrize("turned", ["wide", "exchanges", "text"])
def test_it_is_read_as_it_was_sent(turned: str) -> None:
    fields = {**FIELDS, turned: not FIELDS[turned]}
    request = RecallRequest.from_json(json.dumps(fields).encode())
    assert request == RecallRequest(
        "why Postgres?",
        Path("/code/shop"),
        7,
        wide=bool(fields["wide"]),
        by_exchange=bool(fields["exchanges"]),
        text_only=bool(fields["text"]),
        agent="reviewer",
        session="s-1",
        within="1f0c9a2e",
    )
    assert request.to_json() == fields
    assert request.may_widen is not request.wide


@pytest.mark.parametrize(
    ("sent", "flaw"),
    [
        ("[]", "it is no object"),
        ("7", "it is no object"),
        (json.dumps({**FIELDS, "more": 1}), "missing or unknown: more"),
        (json.dumps({"query": "x"}), "missing or unknown: agent, cwd, exchanges, limit, session, text, wide, within"),
        (json.dumps({**FIELDS, "limit": True}), "limit is no int"),
        (json.dumps({**FIELDS, "query": None}), "query is no str"),
        (json.dumps({**FIELDS, "wide": 1}), "wide is no bool"),
        (json.dumps({**FIELDS, "limit": 0}), "limit is below 1"),
        ("{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)  # fmt: skip
def test_one_of_another_form_is_refused(sent: str, flaw: str) -> None:
    with pytest.raises(ConfigError) as refused:
        RecallRequest.from_json(sent.encode())
    assert refused.value.message == f"a question to memory cannot be read: {flaw}"
    assert refused.value.remedy == (
        "Update Keeplore where the question comes from: both sides must have one version"
    )
    least = RecallRequest.from_json(json.dumps({**FIELDS, "limit": 1}).encode())
    assert least.limit == 1
