"""``keeplore config``: three layers, each shown with where a value comes from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_a_setting_is_shown_set_and_taken_back_in_both_layers(
    memory: Path, run: Callable[..., Any]
) -> None:
    file = memory / "keeplore.yaml"
    before = file.read_text()
    done = run("config", "set", "context.related", "2")
    assert (done.returncode, done.stdout) == (
        0,
        "context.related is 2 in keeplore.yaml\n",
    )
    assert file.read_text() == before.replace("related: 0 ", "related: 2 ")
    done = run("config", "set", "--machine", "context.related", "3")
    assert done.stdout == "context.related is 3 on this machine\n"
    done = run("config", "get", "context.related")
    assert (done.stdout, done.stderr) == ("3\n", "note: this machine; without that 2\n")
    assert json.loads(run("config", "list", "--machine", "--json").stdout) == [
        {"key": "context.related", "value": 3, "origin": "machine", "below": 2}
    ]
    done = run("config", "set", "context.related", "1")
    assert "`keeplore config unset --machine context.related` removes it" in done.stderr
    assert run("config", "unset", "--machine", "context.related").returncode == 0
    assert run("config", "get", "--machine", "context.related").returncode == 4
    assert run("config", "unset", "context.related").returncode == 0
    assert file.read_text() == before
    lines = run("config", "set", "inherits", "work", "private").stdout
    assert lines == "inherits is [work, private] in keeplore.yaml\n"
    listed = run("config").stdout.splitlines()
    assert listed[:3] == [
        'name\t""\tbuilt-in',
        "branch\tmain\tbuilt-in",
        "inherits\t[work, private]\tkeeplore.yaml",
    ]


def test_what_all_machines_share_is_committed_and_synced(
    memory: Path, home: Path, run: Callable[..., Any], git: Callable[..., str]
) -> None:
    git("init", "-q", "--bare", "remote.git", cwd=home)
    git("remote", "add", "origin", str(home / "remote.git"), cwd=memory)
    done = run("config", "set", "context.related", "2")
    assert done.stderr == (
        "note: keeplore.yaml is committed, so that a sync brings it to your other "
        "machines\n"
    )
    assert run("config", "unset", "sync.automatic").stderr == done.stderr
    assert run("sync").returncode == 0
    assert "  related: 2 " in git("show", "main:keeplore.yaml", cwd=home / "remote.git")
    assert git("log", "--format=%s", cwd=memory).splitlines() == [
        "Set context.related in keeplore.yaml",
        "Create a Keeplore workspace",
    ]


def test_edits_of_a_person_are_committed_by_the_person_alone(
    memory: Path, run: Callable[..., Any], git: Callable[..., str]
) -> None:
    file, before = memory / "keeplore.yaml", git("rev-parse", "HEAD", cwd=memory)
    file.write_text(f"{file.read_text()}# mine\n")
    done = run("config", "set", "context.related", "2")
    assert done.stderr == (
        "note: keeplore.yaml is not committed: HEAD lacked other edits of it already; "
        "commit it where your other machines should have it too\n"
    )
    assert git("rev-parse", "HEAD", cwd=memory) == before
    git("commit", "-qam", "Mine", cwd=memory)
    done = run("config", "set", "frozen", "true")
    assert "not committed: the workspace is frozen; " in done.stderr
    done = run("config", "set", "frozen", "false")
    assert "keeplore.yaml is committed" in done.stderr
    git("checkout", "-q", "-b", "other", cwd=memory)
    done = run("config", "set", "context.related", "1")
    assert "is on branch other, and Keeplore commits on main; " in done.stderr
    assert git("log", "--format=%s", "-1", cwd=memory) == "Mine"


def test_what_cannot_be_is_refused_with_the_next_step(
    memory: Path, run: Callable[..., Any]
) -> None:
    for words, told in (
        (("get", "embedding.modle"), "(did you mean embedding.model?)"),
        (("set", "sync.automatic", "perhaps"), "it should be true or false"),
        (("set", "context.related", "0", "1"), "context.related has one value"),
        (("set", "--machine", "redaction.deny", "x"), "is pushed to all"),
        (
            ("set", "--machine", "index.backend", "x"),
            "x needs index.name and index.url",
        ),
        (("set", "embedding.model", "some/model"), "is no model of fastembed's list"),
    ):
        done = run("config", *words)
        assert done.returncode == 1 and told in done.stderr and "  → " in done.stderr
    assert run("config", "list", "--machine").stdout == ""


def test_a_value_that_cannot_be_is_told_of_without_the_file(
    memory: Path, run: Callable[..., Any]
) -> None:
    for option in ([], ["--machine"]):
        done = run("config", "set", *option, "sync.automatic", "off")
        assert (done.returncode, done.stderr.splitlines()) == (
            1,
            [
                "keeplore: sync.automatic: it should be true or false",
                "  → Nothing was changed; `keeplore config get sync.automatic` prints what holds",
            ],
        )


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("redaction.deny", "([", "is no regular expression of RE2"),
        ("redaction.deny", "a*", "matches an empty text"),
        ("capture.exclude", "clients", "'clients' should be one of path:…"),
        ("branch", "release 1", "git knows no branch of such a name"),
    ],
)
def test_nothing_is_written_that_would_stop_all_writing(
    memory: Path, run: Callable[..., Any], key: str, value: str, why: str
) -> None:
    before = (memory / "keeplore.yaml").read_bytes()
    done = run("config", "set", key, value)
    assert done.returncode == 1 and why in done.stderr
    assert f"Nothing was changed; `keeplore config get {key}`" in done.stderr
    assert (memory / "keeplore.yaml").read_bytes() == before


def test_a_broken_setting_is_mended_by_setting_it(
    memory: Path, run: Callable[..., Any]
) -> None:
    file = memory / "keeplore.yaml"
    file.write_text("context:\n  related: many  # so\n")
    assert run("config", cwd=memory).returncode == 1
    done = run("config", "set", "context.related", "1", cwd=memory)
    assert done.returncode == 0, done.stderr
    assert file.read_text() == "context:\n  related: 1     # so\n"


def test_a_model_is_chosen_for_this_machine_alone(
    memory: Path, run: Callable[..., Any]
) -> None:
    before = (memory / "keeplore.yaml").read_text()
    done = run("embedding", "use", "--machine", "packaged")
    assert done.returncode == 0, done.stderr
    assert (memory / "keeplore.yaml").read_text() == before
    done = run("embedding", "use", "ollama:small")
    assert done.returncode == 1
    assert "keeplore config unset --machine embedding.model" in done.stderr
