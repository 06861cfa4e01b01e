"""The head of a conversation as somebody reads it who asks what it came to."""

from keeplore.workspace.reading.overview import overview

HEAD = """# The queue

**Date**: 2026-02-09 10:00 UTC
**Session context**: codex session 9a9eadc8
**Projects involved**: shop

## Decision

- Use Postgres. — user, turn 9445f16e

## Outcome

- command: `make test`

## Code references

- file: `a.py`
- file: `b c.py`
- file: `d.py`
- subagent: find the callers
- command: `git commit`
- commit: `6f035fd Add the queue`
- file: `e.py`

## Related

- continues: [Before](../before.md)
"""


def test_facts_commands_and_links_are_left_out_and_files_stand_on_one_line() -> None:
    assert (
        overview(HEAD)
        == """## Decision

- Use Postgres. — user, turn 9445f16e

## Code references

- files: `a.py`, `b c.py`, `d.py`
- commit: `6f035fd Add the queue`
- file: `e.py`"""
    )


def test_what_is_quoted_in_a_head_stays() -> None:
    head = "## Context\n\n- the line - file: `x` was there\n- file: `a.py`\n"
    assert overview(head) == head.strip()
