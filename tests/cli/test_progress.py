"""How far a long command has come, told to whoever watches."""

import re

import pytest


def last_counts(seen: str) -> dict[str, str]:
    """The label of each bar and how far it came at last, without its colours."""
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen)
    return dict(re.findall(r"\r([A-Z][\w ]+) ━+ +(\S+)", plain))


@pytest.fixture
def memory(at_terminal, home, git):
    """A workspace with three notes."""
    assert at_terminal("init", "memory")[0] == 0
    facts = home / "memory" / "memory" / "facts"
    facts.mkdir(parents=True)
    for n in range(3):
        (facts / f"{n}.md").write_text(f"# Note {n}\n\nWords.\n")
    git("add", "--all", cwd=facts)
    git("commit", "-qm", "Notes", cwd=facts)
    return home / "memory"


def test_bars_tell_how_many_of_how_many_are_done(memory, at_terminal):
    status, seen = at_terminal("clone", str(memory), "copy")
    assert (status, last_counts(seen)) == (
        0,
        {"Reading memories": "3/3", "Making vectors": "3/3"},
    )
    assert "3 memories can be searched now.\n" in seen
    status, seen = at_terminal("doctor", "--deep", cwd=memory)
    assert last_counts(seen) == {"Reading files again": "3/3"}


def test_each_document_has_a_line_with_how_far_it_is(memory, home, at_terminal):
    (home / "page.md").write_text("# Ports\n\nStaging listens on 5433.\n")
    status, seen = at_terminal("ingest", "page.md", cwd=home)
    lines = re.findall(r"page\.md: ([^\r\n\x1b]+)", seen)
    assert (status, lines[-1].strip()) == (0, "done, Ports")
