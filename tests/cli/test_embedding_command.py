from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keeplore.config.consent import Consents, ConsentUse
from keeplore.config.places import Places
from keeplore.config.settings import load_settings
from keeplore.index import embedder_for
from keeplore.workspace.embedding_model import consent_question

NOBODY = "https://models.example.invalid/v1#small"


def test_another_model_is_one_command_and_its_progress_is_told(
    memory: Path, home: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    assert run("remember", "Deploy on Thursday").returncode == 0
    # makes the few vectors that are missing
    assert run("recall", "when do we deploy").returncode == 0
    embedder_for("packaged", tmp_path).embed(["a"])
    [source] = tmp_path.glob("all-MiniLM-*")
    shutil.copytree(source, home / "model")
    done = run("embedding", "use", "model/../model/.")
    assert done.returncode == 1 and "no model of fastembed's list" in done.stderr
    assert load_settings(memory).embedding.model == "packaged"
    done = run("embedding", "use", "./model")
    assert done.returncode == 0 and "384 dimensions" in done.stdout, done.stderr
    assert (
        f"{home / 'model'} has 0 of 1 vectors; until it has all, packaged answers"
        in done.stdout
    )
    assert load_settings(memory).embedding.model == str(home / "model")
    done = run("embedding", "use", "--wait")
    assert done.returncode == 0 and "answers" not in done.stdout
    told = json.loads(run("embedding", "--json").stdout)
    assert [(one["model"], one["vectors"]) for one in told["kept"]] == [
        (str(home / "model"), 1),
        ("packaged", 1),
    ]
    assert (told["answering"], told["vectors"], told["problem"]) == (
        str(home / "model"),
        1,
        "",
    )


def test_a_server_is_used_only_after_somebody_said_yes(
    memory: Path, run: Callable[..., Any], at_terminal: Callable[..., tuple[int, str]]
) -> None:
    done = run("embedding", "use", NOBODY)
    assert done.returncode == 1 and "--yes" in done.stderr
    status, seen = at_terminal("embedding", "use", NOBODY, typed="n\n")
    assert status == 130 and "goes to https://models.example.invalid:443/v1" in seen
    assert load_settings(memory).embedding.model == "packaged"
    (memory / "keeplore.yaml").write_text(f"embedding: {{model: '{NOBODY}'}}\n")
    done = run("embedding")
    assert "not accepted on this machine" in done.stderr
    asked = consent_question(NOBODY, memory)
    assert asked
    Consents(Places.from_environment(os.environ).state).accept(
        memory, ConsentUse.EMBEDDING, asked.subject
    )
    done = run("embedding", "use", NOBODY)
    # it is not asked again, and does not answer
    assert done.returncode == 1 and "--yes" not in done.stderr
