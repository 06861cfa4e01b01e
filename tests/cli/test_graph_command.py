"""What memory is about, looked at: around one name, or all of it, on a terminal and in files."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from keeplore.config.places import Places
from keeplore.memory.note import NoteDraft
from keeplore.workspace.registry import Registry

Run = Callable[..., CompletedProcess[str]]
USES = {
    "source": "kasha-api",
    "relationship": "uses",
    "target": "fastembed",
    "confidence": 0.9,
}
RUNS_ON = {
    "source": "fastembed",
    "relationship": "runs-on",
    "target": "onnxruntime",
    "confidence": 0.8,
}
NEEDS = {
    "source": "onnxruntime",
    "relationship": "needs",
    "target": "libstdc++",
    "confidence": 0.7,
}
START_UP = {
    "entity": "fastembed",
    "type": "tool",
    "aspect": "start-up time",
    "kind": "constraint",
}
EVIL = {
    "source": "fastembed",
    "relationship": "\x1b[31mhides",
    "target": "</script>\u202e",
    "confidence": 0.1,
}


@pytest.fixture
def known(memory: Path) -> Path:
    """Notes of two projects with their triples."""
    with Registry(Places.from_environment(os.environ)) as registry:
        notes = registry.named("memory").notes
        told = {"entities": [USES, RUNS_ON], "aspects": [START_UP]}
        notes.write(
            NoteDraft("fastembed starts slowly", project="kasha-api", told=told)
        )
        notes.write(
            NoteDraft(
                "fastembed runs where onnxruntime runs",
                project="kasha-api",
                told={"entities": [RUNS_ON]},
            )
        )
        notes.write(
            NoteDraft(
                "onnxruntime needs a new libstdc++",
                project="kasha-api",
                told={"entities": [NEEDS]},
            )
        )
        notes.write(
            NoteDraft(
                "What was seen in a page", project="web", told={"entities": [EVIL]}
            )
        )
    return memory


def test_a_name_is_shown_with_its_relations_aspects_and_memories(
    known: Path, run: Run
) -> None:
    done = run("graph", "FastEmbed")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "fastembed" and lines[1].startswith("tool · ")
    told = done.stdout
    assert (
        "uses ← kasha-api · 90%, 1 time" in told
        and "runs-on → onnxruntime · 80%, 2 times" in told
    )
    assert "start-up time · constraint · 1 memory" in told
    assert (
        "fastembed starts slowly" in told
        and "libstdc++" not in told.partition("memories")[0]
    )
    assert "needs → libstdc++" in run("graph", "fastembed", "--hops", "2").stdout
    elsewhere = run("graph", "fastembed", "--project", "web").stdout
    assert (
        "hides" in elsewhere
        and "What was seen in a page" in elsewhere
        and "starts slowly" not in elsewhere
    )
    assert "\x1b" not in elsewhere and "\u202e" not in elsewhere
    assert (
        run(
            "entity", "add", "fastembed", "--type", "concept", "--project", "web"
        ).returncode
        == 0
    )
    assert "another thing in web" in run("graph", "fastembed").stderr


def test_a_relation_ends_when_something_takes_the_place_of_what_states_it(
    memory: Path, run: Run
) -> None:
    def note(text: str, at: str, target: str = "", replaces: str = "") -> str:
        told = {"entities": [{**USES, "target": target}]} if target else {}
        with Registry(Places.from_environment(os.environ)) as registry:
            notes = registry.named("memory").notes
            times = {"created_at": at, "updated_at": at}
            if replaces:
                body = f"# {text}\n"
                return notes.revise(
                    replaces, body=body, title=text, **times, **told
                ).memory.id
            draft = NoteDraft(text, project="kasha-api", told=told)
            made = notes.write(draft)
            path = memory / made.path
            was = made.memory.created_at
            path.write_text(path.read_text().replace(was, at))
            return made.memory.id

    first = note("kasha-api uses Fastly", "2026-01-05T08:00:00Z", "Fastly")
    note("kasha-api uses Cloudflare", "2026-03-01T08:00:00Z", "Cloudflare", first)
    note("We host kasha-api on Heroku", "2026-02-01T08:00:00Z", "Heroku")
    note("We host kasha-api on Fly instead of Heroku", "2026-04-01T08:00:00Z", "Fly")

    def uses(*options: str) -> list[str]:
        lines = run("graph", "kasha-api", *options).stdout.splitlines()
        return sorted(
            line.partition("uses → ")[2] for line in lines if "uses →" in line
        )

    assert uses() == [
        "Cloudflare · 90%, 1 time · since 2026-03-01",
        "Fly · 90%, 1 time · since 2026-04-01",
    ]
    assert uses("--at", "2026-02-28") == [
        "Fastly · 90%, 1 time · 2026-01-05 to 2026-03-01",
        "Heroku · 90%, 1 time · 2026-02-01 to 2026-04-01",
    ]
    assert uses("--at", "2026-01-04") == []
    found = json.loads(
        run("graph", "kasha-api", "--at", "2026-01-05", "-f", "json").stdout
    )
    assert [(one["since"], one["until"]) for one in found["relations"]] == [
        ("2026-01-05T08:00:00Z", "2026-03-01T08:00:00Z")
    ]
    assert run("graph", "--at", "soon").returncode == 2


def test_of_two_things_of_one_name_the_one_in_the_same_memories_is_shown(
    known: Path, run: Run
) -> None:
    for project, why in (
        ("kasha-api", "weekly"),
        ("kasha-api", "by hand"),
        ("web", "never"),
    ):
        text = (
            f"We roll out {why}, by `deploy/roll.sh`:\n\n```sh\n$ terraform apply\n```"
        )
        assert run("remember", "--project", project, text, cwd=known).returncode == 0
    assert "deploy/roll.sh · 2 memories" in run("graph", "terraform", cwd=known).stdout
    for option, told in ((), "3 mentions"), (("--project", "web"), "1 mention"):
        assert (
            run("graph", "terraform", *option, cwd=known).stdout.splitlines()[1]
            == f"tool · {told}"
        )


def test_what_is_shown_can_be_asked_for(known: Path, run: Run, memory: Path) -> None:
    text = "Ties are in `app/graph/ties.py`, which fixes #12."
    assert run("remember", "--project", "web", text, cwd=memory).returncode == 0
    for asked in ("app/graph/ties.py", "ties.py", "#12"):
        done = run("graph", asked, "--project", "web")
        assert done.stdout.startswith(("app/graph/ties.py\n", "#12\n")), done.stderr
    assert run("graph", "app/graph/knots.py").returncode == 4


def test_all_that_is_known_is_listed_and_an_unknown_name_is_told_with_those_near_it(
    known: Path, run: Run
) -> None:
    listed = [line.split("\t") for line in run("graph").stdout.splitlines()]
    assert {"fastembed", "onnxruntime", "kasha-api", "libstdc++"} <= {
        row[0] for row in listed
    }
    assert len(run("graph", "--limit", "1").stdout.splitlines()) == 1
    of_web = run("graph", "--project", "web").stdout.splitlines()
    assert {line.split("\t")[0] for line in of_web} == {"fastembed", "</script>"}
    missing = run("graph", "fastembd", "--format", "json")
    assert (missing.returncode, missing.stdout) == (4, "")
    assert (
        "Nothing found" in missing.stderr
        and "fastembed" in missing.stderr
        and "keeplore recall" in missing.stderr
    )


def test_nothing_at_all_is_told_apart_from_nothing_found(
    memory: Path, run: Run
) -> None:
    done = run("graph")
    assert done.returncode == 5 and "keeplore entity add" in done.stderr


def test_a_file_is_replaced_only_where_it_is_ours(
    known: Path, run: Run, tmp_path: Path
) -> None:
    for form in ("html", "json", "dot", "mermaid"):
        file = tmp_path / f"graph.{form}"
        for _ in range(2):
            done = run("graph", "fastembed", "--format", form, "--output", str(file))
            note = f"note: 4 names are in {file}\n"
            assert (done.returncode, done.stderr) == (0, note)
        assert (
            file.read_text(encoding="utf-8")
            == run("graph", "fastembed", "--format", form).stdout
        )
    drawn = json.loads((tmp_path / "graph.json").read_text(encoding="utf-8"))
    assert (
        drawn["about"] == "fastembed"
        and drawn["entities"][0]["memories"][0] in drawn["memories"]
    )
    mine = tmp_path / "mine.html"
    mine.write_text("<p>years of work</p>", encoding="utf-8")
    done = run("graph", "--format", "html", "--output", str(mine))
    assert (
        done.returncode == 1
        and "is there already" in done.stderr
        and "→ Name another file" in done.stderr
    )
    assert mine.read_text(encoding="utf-8") == "<p>years of work</p>"
    assert sorted(path.suffix for path in tmp_path.glob("*graph*")) == [
        ".dot",
        ".html",
        ".json",
        ".mermaid",
    ]
    assert run("graph", "--output", str(mine)).returncode == 2


def test_the_search_for_an_unknown_name_may_be_typed_as_it_stands(
    known: Path, run: Run
) -> None:
    told = run("graph", 'Jo\'s "x"').stderr
    command = told.rpartition("lists what is known; `")[2].partition("`")[0]
    assert shlex.split(command) == ["keeplore", "recall", 'Jo\'s "x"']
