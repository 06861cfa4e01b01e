"""Which files a memory names."""

from __future__ import annotations

from sample_note import note

from keeplore.recall.since.named_files import named_files


def test_of_a_long_list_the_first_200_files_are_looked_at() -> None:
    names = [f"src/part{number}.py" for number in range(201)]
    found = named_files(note("Parts"), f"The parts are {', '.join(names)}.")
    assert found.files == tuple(names[:200])
