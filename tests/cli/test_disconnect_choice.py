"""Which agents ``keeplore disconnect`` means, and what it says of those that are not connected."""

from __future__ import annotations

import pytest

from keeplore.cli.commands.machine.disconnect_ import _chosen_hosts

NONE = "No agent is connected by `keeplore connect`."
CURSOR = "Cursor is not connected by `keeplore connect`."


@pytest.mark.parametrize(
    ("named", "connected", "chosen", "said"),
    [
        ((), {"codex", "claude-code"}, ["claude-code", "codex"], []),
        (("codex",), {"codex", "claude-code"}, ["codex"], []),
        (("cursor", "codex"), {"codex"}, ["codex"], [CURSOR]),
        (("cursor", "cursor"), {"codex"}, [], [CURSOR]),
        ((), set(), [], [NONE]),
        # of a plugin that is not installed any more
        ((), {"zeta", "acme", "codex"}, ["codex", "acme", "zeta"], []),
    ],
)
def test_all_that_are_connected_are_meant_unless_some_are_named(
    capsys: pytest.CaptureFixture[str],
    named: tuple[str, ...],
    connected: set[str],
    chosen: list[str],
    said: list[str],
) -> None:
    assert _chosen_hosts(named, connected) == chosen
    assert capsys.readouterr().out.splitlines() == said
