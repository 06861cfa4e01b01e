"""``keeplore refine``, ``audit`` and ``review`` as a person runs them, with a real server that
plays the model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from tests.llm.model_server import Gone, Request, Said, Status, model_server

from keeplore.cli.commands.write import refine_, review_
from keeplore.cli.main import cli
from keeplore.config.places import Places
from keeplore.errors import LlmUnavailable
from keeplore.jobs.queue import Job
from keeplore.memory import Conversation, Exchange, Memory, new_id, new_meta
from keeplore.refine.answers.answer_schema import REPAIRED
from keeplore.refine.pipeline import RefineResult
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.refinery import RefineStep
from keeplore_hooks.contracts import Usage

TALKS = {
    "The ledger": (
        "Should the ledger be append-only? Auditors ask for every state.",
        "The ledger stays append-only.",
    ),
    "The backup": (
        "How often do we back up, and where to?",
        "Backups must go to the second site every night.",
    ),
}
FIELDS = {
    "type": "decision",
    "scope": "project",
    "category": "architectural-decisions",
    "confidence": 0.9,
}


@pytest.fixture
def server() -> Any:
    with model_server() as server:
        yield server


@pytest.fixture
def root(home: Path, server: Any) -> Path:
    """A workspace with two talks of long ago, whose model is the server."""
    places = Places(home / "state", home / "cache")
    root = home / "memory"
    initialise(places, root)
    model = f"provider: openai\n  model: played\n  base_url: {server.url}"
    prices = "prices: {played: {input: 1.0, output: 2.0}}"
    (root / "keeplore.yaml").write_text(
        f"llm:\n  {model}\n  {prices}\nrefine: {{aspects: true}}\n"
    )
    with Registry(places) as registry:
        workspace = registry.named("memory")
        for number, (title, (asked, said)) in enumerate(TALKS.items()):
            at = f"2026-02-0{number + 1}T10:00:00Z"
            exchange = Exchange(
                f"turn-{number}",
                at,
                f"{asked} {said if not number else ''}",
                (said,),
                at,
            )
            source = {
                "host": "codex",
                "session": f"s-{number}",
                "machine": workspace.machine,
            }
            names = {
                "kind": "conversation",
                "title": title,
                "scope": "workspace",
                "trust": "assistant",
            }
            meta = new_meta(
                id=new_id(title), created_at=at, updated_at=at, source=source, **names
            )
            workspace.store.save(
                Memory(meta, Conversation(title, (exchange,)).to_markdown())
            )
        workspace.commit()
    return root


def answer(request: Request) -> Said:
    if request.prompt.startswith("Things:\nledger"):
        told = {"fact": 1, "name": "ledger", "type": "system", "aspect": "storage"}
        return Said(json.dumps({"aspects": [{**told, "kind": "constraint"}]}))
    if "Talk 1:" in request.prompt:
        return told_apart(request)
    if "Talk:" not in request.prompt:
        choices = [
            {
                "fact": 1,
                "action": "ADD",
                "target": "",
                "content": "",
                "confidence": 0.9,
                "reason": "new",
            }
        ]
        return Said(json.dumps({"decisions": choices}))
    return Said(json.dumps(facts_in(request.prompt)))


def told_apart(request: Request) -> Said:
    """What is said of several talks, each with its number."""
    found: dict[str, list[Any]] = {"facts": [], "entities": []}
    for number, talk in enumerate(request.prompt.split("\n\nTalk ")[1:], 1):
        for key, items in facts_in(talk).items():
            found[key] += [{"talk": number, **item} for item in items]
    return Said(json.dumps(found))


def facts_in(prompt: str) -> dict[str, list[Any]]:
    said = next(said for _, said in TALKS.values() if said in prompt)
    named = {
        "source": "Auditors",
        "relationship": "read",
        "target": "ledger",
        "confidence": 1.0,
    }
    return {
        "facts": [{"content": said, "span": said, **FIELDS}],
        "entities": [named] if "Auditors" in prompt else [],
    }


@pytest.fixture
def run(root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.chdir(root)
    return lambda *arguments, typed="": CliRunner().invoke(cli, arguments, input=typed)


def test_a_backlog_is_priced_accepted_refined_and_decided(
    root: Path, server: Any, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.always(answer)
    priced = run("refine", "--all", "--dry-run").stdout
    assert "2 conversations" in priced and "llm.prices" in priced
    refused = run("refine", "--all").exception
    assert (
        isinstance(refused, LlmUnavailable)
        and "keeplore refine --accept-model" in refused.remedy
    )
    assert server.requests == []
    accepted = run("refine", "--accept-model", typed="y\n")
    assert (accepted.exit_code, server.url.partition("/v1")[0] in accepted.stdout) == (
        0,
        True,
    )
    recent = run("refine")  # they are not of this week
    assert "Nothing to refine" in recent.stdout and "--all" in recent.stderr
    done = run("refine", "--all").stdout
    assert "2 of 2 conversations refined" in done
    assert (
        "The ledger: 1 ADD applied, 1 left out (" in done
        and "The backup: 1 ADD review (" in done
    )
    lines = [
        line.split("\t")[1:5]
        for line in run("audit", "--since", "1d").stdout.splitlines()
    ]
    assert sorted(lines) == [
        ["ADD", "applied", "", "The ledger stays append-only."],
        ["ADD", "review", "rule", "Backups must go to the second site every night."],
    ]
    assert run("audit", "--proposal", "add", "--outcome", "blocked").stdout == ""
    [ledger] = root.glob("memory/decisions/*ledger*.md")
    assert (
        "aspects:\n- entity: ledger\n  type: system\n  aspect: storage\n  kind: constraint\n"
        in ledger.read_text()
    )
    assert "aspects" in run("cost").stdout
    [held] = json.loads(run("audit", "--outcome", "review", "--json").stdout)
    with Registry(Places(root.parent / "state", root.parent / "cache")) as registry:
        elsewhere = {
            **held,
            "id": f"{held['id'][:-1]}x",
            "scope": "project",
            "project": "elsewhere",
        }
        registry.named("memory").store.record(
            registry.named("memory").machine, elsewhere
        )
    assert "proposals of other projects: 1;" in run("review").stderr
    monkeypatch.setattr(
        review_, "sys", SimpleNamespace(stdin=Terminal(), stdout=Terminal())
    )
    seen = run("review", typed="y\n").stdout
    assert (
        "New note: Backups must go to the second site every night." in seen
        and "held back: rule" in seen
    )
    [note] = root.glob("memory/decisions/*backups-must*.md")
    assert "trust: user" in note.read_text()
    decided = json.loads(run("audit", "--outcome", "accepted", "--json").stdout)
    assert [line["id"][4:12] for line in decided] == [note.stem[-8:]]
    assert "New note" not in run("review").stdout


def extracting(server: Any) -> list[int]:
    """Of each call of the first stage how many talks it was about."""
    asked = (request.prompt for request in server.requests)
    return [
        prompt.count("\n\nTalk")
        for prompt in asked
        if prompt.startswith("Known notes:")
    ]


@pytest.mark.parametrize(
    ("talk", "calls"),
    [
        (None, [2]),
        ({}, [2, 1, 1]),
        ({"talk": 3}, [2, 1, 1]),
        ({"talk": "1"}, [2, 1, 1]),
    ],
)
def test_short_talks_share_a_call_whose_answer_must_keep_them_apart(
    server: Any, run: Callable[..., Any], talk: dict[str, Any] | None, calls: list[int]
) -> None:
    def play(request: Request) -> Said:
        if "Talk 1:" not in request.prompt or talk is None:
            return answer(request)
        items = json.loads(told_apart(request).text)
        unlike = [
            {**{k: v for k, v in item.items() if k != "talk"}, **talk}
            for item in items["facts"]
        ]
        return Said(json.dumps({"facts": unlike}))

    server.always(play)
    run("refine", "--accept-model", typed="y\n")
    done = run("refine", "--all")
    assert extracting(server) == calls
    assert "The ledger: 1 ADD applied, 1 left out (" in done.stdout
    assert "The backup: 1 ADD review (" in done.stdout
    audit = [
        line.split("\t")[1:5]
        for line in run("audit", "--since", "1d").stdout.splitlines()
    ]
    assert sorted(audit) == [
        ["ADD", "applied", "", "The ledger stays append-only."],
        ["ADD", "review", "rule", "Backups must go to the second site every night."],
    ]
    assert "Nothing to refine" in run("refine", "--all").stdout


def test_words_that_one_talk_says_are_no_receipt_in_another(
    server: Any, run: Callable[..., Any]
) -> None:
    def swapped(request: Request) -> Said:
        items = json.loads(told_apart(request).text)["facts"]
        return Said(
            json.dumps(
                {"facts": [{**item, "talk": 3 - item["talk"]} for item in items]}
            )
        )

    server.script(swapped)
    run("refine", "--accept-model", typed="y\n")
    done = run("refine", "--all").stdout
    assert "The ledger: nothing to note, 1 left out" in done
    assert "The backup: nothing to note, 1 left out" in done
    assert run("audit", "--since", "1d").stdout == ""


def test_a_server_that_refuses_leaves_the_work_in_the_queue(
    root: Path, server: Any, run: Callable[..., Any]
) -> None:
    run("refine", "--accept-model", typed="y\n")
    server.always(Status(401))
    done = run("refine", "--all")
    assert (
        "0 of 2 conversations refined" in done.stdout
        and "the rest waits" in done.stderr
    )
    assert "no conversation could be refined: " in str(done.exception)
    assert len(server.requests) == 1
    assert not [*root.glob("audit/*/*")]


def test_a_talk_at_which_the_server_breaks_off_is_given_up_and_holds_nothing_up(
    root: Path, server: Any, run: Callable[..., Any]
) -> None:
    run("refine", "--accept-model", typed="y\n")
    server.always(
        lambda request: Gone() if "append-only" in request.prompt else answer(request)
    )
    first = run("refine", "--all")
    assert (
        "The ledger: the server cannot be reached" in first.stdout
        and "1 of 2 conversations refined" in first.stdout
    )
    run("refine", "--all")
    run("refine", "--all")
    assert "1 job (refine) was given up" in run("cost").stderr
    server.always(answer)
    assert "1 of 1 conversations refined" in run("refine", "--all").stdout
    assert "given up" not in run("cost").stderr


class Steps:
    """A queue whose jobs, named one after the other, end so: why one came to nothing, or ""."""

    def __init__(self, *problems: str, wait_s: float = 0.0) -> None:
        self.left = [
            RefineStep(
                job(f"talk-{number}"),
                None if problem else RefineResult(f"talk-{number}"),
                problem,
                wait_s if problem else 0.0,
            )
            for number, problem in enumerate(problems)
        ]

    def step(self) -> RefineStep | None:
        return self.left.pop(0) if self.left else None


def job(key: str) -> Job:
    return Job(1, "refine", key, {}, 1, "", "")


@pytest.mark.parametrize(
    ("problems", "done", "left"),
    [
        (("no", "no", "never", ""), 0, 1),
        (("no", "no", "", "no", "never"), 1, 0),
        (("", "no", "no", "never", ""), 1, 1),
        (("", "", ""), 3, 0),
    ],
)
def test_after_three_talks_in_a_row_that_come_to_nothing_the_rest_waits(
    capsys: pytest.CaptureFixture[str],
    problems: tuple[str, ...],
    done: int,
    left: int,
) -> None:
    steps: Any = Steps(*problems)
    titles = {f"talk-{number}": f"Talk {number}" for number in range(9)}
    last = "never" if "never" in problems else ""
    assert refine_._run_jobs(steps, titles) == (done, last)
    assert len(steps.left) == left
    shown = capsys.readouterr()
    assert ("the rest waits: every other one" in shown.err) == bool(left)
    assert "Talk 0: " in shown.out


def test_a_talk_that_was_not_asked_for_is_told_by_its_id_and_not_counted() -> None:
    steps: Any = Steps("", "")
    assert refine_._run_jobs(steps, {"talk-1": "Talk 1"}) == (1, "")


def test_after_one_for_which_all_have_to_wait_none_is_tried(
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps: Any = Steps("the tokens are spent", "", wait_s=60.0)
    assert refine_._run_jobs(steps, {}) == (0, "the tokens are spent")
    assert len(steps.left) == 1
    shown = capsys.readouterr()
    assert shown.out == "talk-0: the tokens are spent\n"
    assert "the rest waits: every other one would meet the same" in shown.err
    assert "the tokens are spent" not in shown.err


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (RefineResult("x"), "nothing to note"),
        (RefineResult("x", why="it is too short"), "it is too short"),
        (
            RefineResult("x", outcomes=Counter({"SKIP": 1, "ADD applied": 2})),
            "2 ADD applied, 1 SKIP",
        ),
        (
            RefineResult(
                "x",
                dropped=Counter({"facts: no receipt": 2, f"facts: {REPAIRED}": 3}),
                usage=Usage(1200, 345),
            ),
            "nothing to note, 2 left out, 3 put right (1,200 + 345 tokens)",
        ),
        (
            RefineResult("x", dropped=Counter({f"facts: {REPAIRED}": 1})),
            "nothing to note, 1 put right",
        ),
    ],
)
def test_what_became_of_a_talk_is_told_on_one_line(
    capsys: pytest.CaptureFixture[str], result: RefineResult, told: str
) -> None:
    refine_._tell_step(RefineStep(job("x"), result), "The ledger")
    assert capsys.readouterr().out == f"The ledger: {told}\n"


def test_a_mode_may_be_given_for_this_once(
    root: Path, server: Any, run: Callable[..., Any]
) -> None:
    run("refine", "--accept-model", typed="y\n")
    server.always(answer)
    assert (
        "2 of 2 conversations refined"
        in run("refine", "--all", "--mode", "shadow").stdout
    )
    lines = [line.split("\t") for line in run("audit").stdout.splitlines()]
    assert lines and {line[2] for line in lines} == {"shadow"}
    assert not [*root.rglob("decisions/**/*.md")]
    frozen = run("refine", "--all", "--mode", "frozen").exception
    assert getattr(frozen, "message", "") == "refining is frozen"


def test_what_another_machine_recorded_is_refined_only_where_that_is_said(
    root: Path, server: Any, run: Callable[..., Any]
) -> None:
    run("refine", "--accept-model", typed="y\n")
    for file in root.rglob("conversations/**/*.md"):
        text = re.sub(r"machine: \S+", "machine: studio-1", file.read_text())
        file.write_text(text)
    assert run("refine", "--all").stdout == "Nothing to refine.\n"
    assert server.requests == []
    told = run("refine", "--all", "--anywhere", "--dry-run").stdout
    assert told.startswith("2 conversations with ")


def test_a_model_is_tried_on_talks_whose_facts_are_known(
    root: Path, server: Any, run: Callable[..., Any]
) -> None:
    run("refine", "--accept-model", typed="y\n")
    known = {
        "SKIP LOCKED": ("Jobs go into Postgres with SKIP LOCKED.", "Postgres with SKIP LOCKED it is"),
        "db7": ("The staging database runs on db7.", "the staging database runs on db7"),
        "British": ("Docs are in British English.", "always write British English in docs"),
        "server.close": ("Tests hang unless the fixture closes.", "Calling server.close()"),
        "SQLite": ("Sessions go into SQLite.", "Sessions go into SQLite instead"),
        "8443": ("The admin page is on 8443.", "8443, since the proxy"),
    }  # fmt: skip

    def good(request: Request) -> Said:
        found = [pair for word, pair in known.items() if word in request.prompt]
        # as a server says it that knows no schemas
        facts = [{"content": fact, "span": span} for fact, span in found]
        return Said(json.dumps({"facts": facts}))

    server.always(good)
    done = run("refine", "--check")
    assert done.exit_code == 0, done.output
    assert "8 of 8 conversations read rightly, 0 items put right" in done.stdout
    assert len(server.requests) == 8
    server.always(Said("Sure! Here are the facts: they went with Postgres."))
    bad = run("refine", "--check")
    assert (
        "2 of 8" not in bad.stdout and "0 of 8 conversations read rightly" in bad.stdout
    )
    assert "the answer cannot be read: the answer holds no JSON" in bad.stdout
    assert "llm.model" in getattr(bad.exception, "remedy", "")
    assert not [*root.glob("audit/*/*")] and "check" in run("cost").stdout


class Terminal:
    def isatty(self) -> bool:
        return True
