"""Secrets in forms that people paste, written by somebody who had not seen the rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from keeplore.redact import redact

FORMS = yaml.load(
    Path(__file__).with_name("written_blind.yaml").read_text(), yaml.CSafeLoader
)
# words of a language, or values that are anything else in most texts
MISSED = [
    "env next auth",
    "ci echo",
    "yaml plain",
    "yaml folded",
    "go const",
    "en prose",
    "en reversed",
    "diff word",
]


@pytest.mark.parametrize(
    "placed",
    [
        str,
        "Here is what I have now:\n\n{}\n\nCan you look why it fails?".format,
        "```\n{}\n```".format,
        lambda text: text.replace("\n", "\n    "),
        lambda text: text.replace("\r", "").replace("\n", "\r\n"),
    ],
    ids=["alone", "in a talk", "fenced", "indented", "with CRLF"],
)
def test_what_people_paste_is_hidden_but_for_these(
    placed: Callable[[str], str],
) -> None:
    left = []
    for form in FORMS:
        clean = redact(placed(form["text"]))
        if any(secret in clean for secret in form["secrets"]):
            left.append(form["form"])
    assert left == MISSED
