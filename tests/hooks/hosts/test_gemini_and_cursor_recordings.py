"""Every real record of Gemini CLI and Cursor at hand, where there are any."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Turn, from_json, to_json
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import host_named

TABLES = Path(__file__).resolve().parents[2] / "golden" / "recordings"
_ROW = re.compile(r"^\| `([^`]+)` \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)


def documented(host: str) -> dict[str, tuple[int, ...]]:
    """File → messages of type user, turns, files and commands, from the table."""
    rows = _ROW.findall((TABLES / f"{host}.md").read_text())
    return {name: tuple(map(int, figures)) for name, *figures in rows}


def users_in(content: str) -> int:
    return len(re.findall(r'"(?:type|role)": ?"user"', content))


@pytest.mark.parametrize("host", ["gemini-cli", "cursor"])
def test_the_turns_are_those_of_the_table(recordings: Path, host: str) -> None:
    found = {}
    for path in sorted((recordings / host).glob("*/*")):
        reading = host_named(host).read_transcript(path, Cursor())
        assert reading.problems == ()
        turns = [event for event in reading.events if isinstance(event, Turn)]
        done = sum(len(turn.work.files) + len(turn.work.commands) for turn in turns)
        found[f"{path.parent.name}/{path.name}"] = (
            users_in(path.read_text()),
            len(turns),
            done,
        )
    assert found == documented(host)


@pytest.mark.parametrize("host", ["gemini-cli", "cursor"])
def test_no_wrapper_passes_for_words_of_the_person(recordings: Path, host: str) -> None:
    for path in sorted((recordings / host).glob("*/*")):
        for event in host_named(host).read_transcript(path, Cursor()).events:
            assert from_json(to_json(event)) == event
            if isinstance(event, Turn):
                assert event.user and not re.search(
                    r"</?(?:user_query|image_files|timestamp)>|^System: ", event.user
                )


@pytest.mark.parametrize("host", ["gemini-cli", "cursor"])
def test_a_recording_that_is_replayed_piece_by_piece_gives_the_same_turns(
    recordings: Path, tmp_path: Path, host: str, final: Any
) -> None:
    chance, adapter = random.Random(7), host_named(host)
    for source in sorted((recordings / host).glob("*/*")):
        content, path = source.read_bytes(), tmp_path / source.name
        shutil.copyfile(source, path)
        whole = final(adapter.read_transcript(path, Cursor()).events)
        cursor, grown = Cursor(), []
        for cut in [
            *sorted(chance.randrange(len(content)) for _ in range(6)),
            len(content),
        ]:
            path.write_bytes(content[:cut])
            reading = adapter.read_transcript(path, cursor)
            cursor, grown = reading.cursor, grown + list(reading.events)
        assert [(turn.id, turn.user, turn.replies) for turn in final(grown)] == [
            (turn.id, turn.user, turn.replies) for turn in whole
        ]
