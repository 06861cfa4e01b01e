"""Settings that two machines changed are joined key by key, committed or not."""

from __future__ import annotations

import pytest
import yaml

from keeplore.store.merge.settings_merge import join_settings, merge_settings

BASE = b"""\
schema: 1  # of this file
inherits: []
context:
  enabled: true   # false: told nothing
  threshold: 0.95 # how likely
redaction:
  deny: [acme]
"""


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        # keys beside one another
        (
            BASE.replace(b"true ", b"false "),
            BASE.replace(b"0.95", b"0.5"),
            BASE.replace(b"true ", b"false ").replace(b"0.95", b"0.5"),
        ),
        # lists: what either added, without what either took away
        (
            BASE.replace(b"[acme]", b"[acme, beta]"),
            BASE.replace(b"[acme]", b"[gamma]"),
            BASE.replace(b"[acme]", b"[gamma, beta]"),
        ),
        # a key of one, a section of the other
        (
            BASE + b"sync:\n  automatic: false\n",
            BASE + b"recall:\n  wide: true\n",
            BASE + b"sync:\n  automatic: false\nrecall:\n  wide: true\n",
        ),
        # the same key: the larger text
        (BASE.replace(b"0.95", b"0.5"), BASE.replace(b"0.95", b"0.7"), None),
        # one that cannot be read
        (BASE.replace(b"[acme]", b"[acme"), BASE.replace(b"0.95", b"0.5"), None),
        (BASE.replace(b"0.95", b"0.5"), b"\xff\xfe", "one"),
        (BASE.replace(b"0.95", b"0.5"), b"x: " + b"[" * 90, "one"),
        # a key that a side took out
        (BASE.replace(b"inherits: []\n", b""), BASE.replace(b"0.95", b"0.5"), None),
    ],
)
def test_two_versions_become_one_in_either_order(one, other, joined):
    found = merge_settings(BASE, one, other)
    assert merge_settings(BASE, other, one) == found
    if joined is None:
        joined = max(one, other)
        if b"[acme\n" in one or b"inherits" not in one:
            joined = (
                other if b"inherits" in one else other.replace(b"inherits: []\n", b"")
            )
    assert yaml.safe_load(found) == yaml.safe_load(one if joined == "one" else joined)
    assert found.count(b"#") == 3


def test_a_form_that_cannot_be_edited_loses_its_comments_and_no_value():
    one = b"schema: 1\ncontext: &x {threshold: 0.5}\n"
    joined = join_settings(
        b"schema: 1\ncontext: {threshold: 0.95}\n",
        b"schema: 1\ncontext: {threshold: 0.95, enabled: false}\n",
        one,
    )
    assert yaml.safe_load(joined) == {
        "schema": 1,
        "context": {"threshold": 0.5, "enabled": False},
    }


def test_the_winner_keeps_what_both_set():
    mine = BASE.replace(b"0.95", b"0.1")
    assert join_settings(BASE, BASE.replace(b"0.95", b"0.9"), mine) == mine
