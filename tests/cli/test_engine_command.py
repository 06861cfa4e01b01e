from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keeplore.config.settings import load_settings


def test_an_engine_that_was_pulled_is_not_used_unasked_and_one_that_is_away_stops_nobody(
    memory: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    assert run("remember", "Deploy on Thursday").returncode == 0
    url = (
        f"postgresql:///keeplore?host={tmp_path}"  # a folder in which no server listens
    )
    (memory / "keeplore.yaml").write_text(
        f"index: {{backend: postgres, url: '{url}', name: acme}}\n"
    )
    done = run("recall", "when do we deploy")
    assert (
        done.returncode == 0
        and "Thursday" in done.stdout
        and "not accepted here" in done.stdout + done.stderr
    )
    done = run("engine", "accept")
    assert done.returncode == 1 and "--yes" in done.stderr
    done = run("engine", "accept", "--yes")
    assert (
        done.returncode == 1
        and "the shared engine does not answer: PostgreSQL: connection" in done.stderr
    )
    done = run("recall", "when do we deploy")
    assert done.returncode == 0 and "Thursday" in done.stdout
    assert (
        "searched by the full text of this machine alone" in done.stdout + done.stderr
    )
    told = json.loads(run("engine", "--json").stdout)
    assert (told["backend"], told["accepted"], told["vectors"]) == ("postgres", True, 0)
    assert "PostgreSQL" in told["problem"]
    assert "the shared engine does not answer" in run("doctor").stdout
    (memory / "keeplore.yaml").write_text(
        f"index: {{backend: postgres, url: '{url}', name: other}}\n"
    )
    assert json.loads(run("engine", "--json").stdout)["accepted"] is False
    assert load_settings(memory).index.name == "other"
