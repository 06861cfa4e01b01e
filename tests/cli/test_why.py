"""``keeplore why`` and ``keeplore show --related``, as a person runs them."""

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from keeplore.config.places import Places
from keeplore.memory import Memory, new_id, new_meta
from keeplore.workspace.registry import Registry

EXPLANATION = """found in place 1
“They are lost without it.”

text	+8.00	BM25 3.14e-06, the best has 3.14e-06; it covers 100% of the question's words
doubt	-4.00	where every passage begins
words	-0.07	5 words -0.07
passing	-0.20	not marked as permanent
together	+3.73	a score of 0.977; shown from 0.05 on, where the best one has 0.20
"""


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
    words = run("why", old, "where", "do we keep sessions", "--text", cwd=memory)
    assert words.stdout == told.stdout
    parts = [line.split("\t") for line in lines[4:]]
    assert [parts[0][0], parts[-1][0]] == ["text", "together"]
    assert abs(
        sum(float(part[1]) for part in parts[:-1]) - float(parts[-1][1])
    ) < 0.005 * len(parts)

    shown = json.loads(run("show", "--json", "--related", "2", old, cwd=memory).stdout)
    assert [(one["id"], one["said"], one["hops"]) for one in shown["related"]] == [
        (other, "refined by", 1)
    ]

    run("forget", "--yes", other, cwd=memory)
    gone = json.loads(run("why", "--json", other, "-q", "deploys", cwd=memory).stdout)
    assert (gone["is_found"], "forgotten on" in gone["verdict"]) == (False, True)


def test_every_line_of_an_explanation(
    run: Callable[..., subprocess.CompletedProcess[str]], memory: Path
) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = new_id("redis")
    with Registry(Places.from_environment(os.environ)) as registry:
        title = "We keep sessions in Redis."
        meta = new_meta(
            id=found, kind="note", title=title, created_at=now, scope="workspace"
        )
        body = f"# {title}\n\nThey are lost without it.\n"
        registry.named("memory").store.save(Memory(meta, body))
    told = run("why", found, "-q", "where do we keep sessions", "--text", cwd=memory)
    assert (told.returncode, told.stdout) == (
        0,
        f"{found[4:12]} {title}\n" + EXPLANATION,
    )


def test_a_weight_that_comes_from_use_says_so(
    run: Callable[..., subprocess.CompletedProcess[str]], memory: Path
) -> None:
    done = run("remember", "We keep sessions in Postgres", "--json", cwd=memory)
    id_ = json.loads(done.stdout)["id"]
    counts = {"used": 3, "last": "2026-03-01", "idle": {"2026-01-05": 2}}
    folder = memory / "feedback"
    folder.mkdir()
    (folder / "studio.json").write_text(
        json.dumps({"schema": 1, "memories": {id_: counts}})
    )
    told = run("why", id_, "-q", "where do we keep sessions", "--text", cwd=memory)
    [line] = [one for one in told.stdout.splitlines() if one.startswith("feedback")]
    assert line.split("\t") == [
        "feedback",
        "+0.11",
        "of use in 3 sessions, last on 2026-03-01; told in 2 without; weight 1.30",
    ]
