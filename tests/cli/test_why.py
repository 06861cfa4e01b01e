"""``keeplore why`` and ``keeplore show --related``, as a person runs them."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from keeplore.config.places import Places
from keeplore.memory import Memory, new_id, new_meta
from keeplore.workspace.registry import Registry


def test_a_score_is_explained_and_so_is_what_is_not_found(
    run: Callable[..., subprocess.CompletedProcess[str]], memory: Path
) -> None:
    old, new, other = new_id("old"), new_id("new"), new_id("other")
    with Registry(Places.from_environment(os.environ)) as registry:
        store = registry.named("memory").store
        for id_, text, links in (
            (old, "We keep sessions in Redis.", {}),
            (
                new,
                "We keep sessions in \x1b[31mPostgres since Redis lost them.",
                {"supersedes": old},
            ),
            (
                other,
                "Deploys happen on Tuesdays.",
                {"related": [{"id": new, "relationship": "refines"}]},
            ),
        ):
            meta = new_meta(
                id=id_,
                kind="note",
                title=text,
                created_at="2026-02-09T14:03:11Z",
                scope="workspace",
                **links,
            )
            store.save(Memory(meta, f"# {text}\n"))

    told = run("why", old, "-q", "where do we keep sessions", "--text", cwd=memory)
    lines = told.stdout.splitlines()
    assert (told.returncode, "\x1b" in told.stdout) == (0, False)
    assert (
        lines[1]
        == f"{new} replaced it and stands for it: found in place 1, by the words of its earlier "
        f"version {old}"
    )
    parts = [line.split("\t") for line in lines[4:]]
    assert [parts[0][0], parts[-1][0]] == ["text", "together"]
    assert abs(sum(float(part[1]) for part in parts[:-1]) - float(parts[-1][1])) < 0.005 * len(
        parts
    )

    shown = json.loads(run("show", "--json", "--related", "2", old, cwd=memory).stdout)
    assert [(one["id"], one["said"], one["hops"]) for one in shown["related"]] == [
        (other, "refined by", 1)
    ]

    run("forget", "--yes", other, cwd=memory)
    gone = json.loads(run("why", "--json", other, "-q", "deploys", cwd=memory).stdout)
    assert (gone["is_found"], "forgotten on" in gone["verdict"]) == (False, True)
