"""What doctor says of versions, of jobs for a language model and of rules, word for word."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.cli.doctor import check_capture, check_chains, check_llm
from keeplore.errors import LlmUnavailable
from keeplore.jobs import JobCount, JobState

A, B, C = (f"mem_{letter * 8}-0000-4000-8000-000000000000" for letter in "abc")


def told(found: Any) -> list[str]:
    return [f"{one.level} {one.part}: {one.message} → {one.remedy}" for one in found]


def workspace_with(
    chains: tuple[Any, ...] = (),
    links: tuple[tuple[str, str, str], ...] = (),
    forgotten: tuple[str, ...] = (),
    purged: tuple[str, ...] = (),
) -> Any:
    tombstones: Any = Stones(
        SimpleNamespace(id=id_, is_purged=id_ in purged) for id_ in forgotten
    )
    rows = {A: SimpleNamespace(path="a.md"), B: SimpleNamespace(path="b.md")}
    index = SimpleNamespace(
        chains=lambda: chains,
        memories=lambda ids: {id_: rows[id_] for id_ in ids if id_ in rows},
        dangling_links=lambda: links,
    )
    return SimpleNamespace(index=index, store=SimpleNamespace(tombstones=tombstones))


class Stones(list[Any]):
    def ids(self) -> set[str]:
        return {tombstone.id for tombstone in self}


def chain(*, has_cycle: bool = False, leaves: tuple[str, ...] = (A,)) -> Any:
    return SimpleNamespace(
        members=(A, B, C), leaves=leaves, head=A, has_cycle=has_cycle
    )


@pytest.mark.parametrize(
    ("one", "lines"),
    [
        (chain(), []),
        (
            chain(leaves=(A, C)),
            [
                (
                    f"wrong file: two versions replace the same memory: a.md, {C} → "
                    "`keeplore edit aaaaaaaa` makes a version that replaces them all"
                )
            ],
        ),
        (
            chain(has_cycle=True),
            [
                (
                    f"wrong file: these supersede one another in a circle: a.md, b.md, {C} → "
                    "Take out a `supersedes` of one"
                )
            ],
        ),
    ],
    ids=["a line", "a fork", "a circle"],
)
def test_versions_that_form_no_line_are_named_with_all_files(
    one: Any, lines: list[str]
) -> None:
    assert told(check_chains.chain_findings("file", workspace_with((one,)))) == lines


def test_a_link_to_nothing_is_noted_and_one_to_what_was_forgotten_is_not() -> None:
    links = (("x.md", "refines", A), ("y.md", "refines", B))
    found = check_chains.chain_findings("file", workspace_with((), links, (B,)))
    assert told(found) == [
        (
            f"note file: x.md refines {A}, which is not here → "
            "Mend the link, or fetch what it names"
        )
    ]


def test_a_newer_version_of_what_was_forgotten_is_wrong_and_of_what_was_purged_too() -> (
    None
):
    links = (
        ("x y.md", "supersedes", A),
        ("z.md", "supersedes", B),
        ("w.md", "refines", A),
    )
    workspace = workspace_with((), links, (A, B), (B,))
    newer = "is a newer version of"
    assert told(check_chains.chain_findings("file", workspace)) == [
        (
            f"wrong file: x y.md {newer} aaaaaaaa, which was forgotten meanwhile → "
            "`keeplore forget 'x y.md'` takes it away too; `keeplore restore aaaaaaaa` brings back "
            "what was before it"
        ),
        (
            f"wrong file: z.md {newer} bbbbbbbb, which was forgotten meanwhile, also from git's "
            "history → `keeplore forget z.md --purge` takes it away too"
        ),
    ]
    assert check_chains.left_versions(workspace) == [("x y.md", A), ("z.md", B)]


@pytest.mark.parametrize(
    ("state", "reason", "in_s", "lines"),
    [
        (
            JobState.DEAD,
            "it is away",
            -60,
            [
                (
                    "note model: 2 jobs (refine) were given up, the first because: it is away → "
                    "`keeplore refine` takes up again what is left"
                )
            ],
        ),
        (
            JobState.WAITING,
            "it is away",
            60,
            [
                "note model: 2 jobs (refine) wait: it is away → `keeplore cost` shows more"
            ],
        ),
        (JobState.WAITING, "it is away", -60, []),
        (JobState.WAITING, "", 60, []),
    ],
)
def test_jobs_that_wait_for_a_reason_or_were_given_up_are_told(
    state: JobState, reason: str, in_s: int, lines: list[str]
) -> None:
    due = datetime.now(UTC) + timedelta(seconds=in_s)
    count = JobCount("refine", state, 2, due, reason)
    assert told(check_llm._jobs("model", count)) == lines


@pytest.mark.parametrize(
    ("account", "line"),
    [
        (
            LlmUnavailable("it is not accepted", "Accept it"),
            "note model: it is not accepted → Accept it",
        ),
        ("it is away", "wrong model: it is away → What waits for it is kept"),
        ("", "ok model: THE TERMS → "),
        (None, "ok model: THE TERMS → "),
    ],
    ids=["refused", "away", "there", "none"],
)
def test_a_model_is_told_with_its_terms_unless_it_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, account: Any, line: str
) -> None:
    def open_account(*_: Any) -> Any:
        if isinstance(account, Exception):
            raise account
        return None if account is None else SimpleNamespace(available=lambda: account)

    monkeypatch.setattr(check_llm, "open_account", open_account)
    monkeypatch.setattr(check_llm, "terms_of", lambda _: "THE TERMS")
    monkeypatch.setattr(check_llm, "counts_in", lambda _: [])
    workspace: Any = SimpleNamespace(
        settings=SimpleNamespace(llm=None),
        root=None,
        places=SimpleNamespace(jobs=None),
        plugins=SimpleNamespace(hook=SimpleNamespace(keeplore_llm=None)),
    )
    assert told(check_llm.findings("model", workspace)) == [line]


@pytest.mark.parametrize(
    ("meanings", "lines"),
    [
        ((), ["ok capture: no rule leaves anything out → "]),
        ((True,), ["ok capture: rules that say what is captured: 1 → "]),
        (
            (True, False),
            [
                "ok capture: rules that say what is captured: 2 → ",
                (
                    "note capture: the rule path:~/1 (yours) means nothing that is known here → If it "
                    "should, correct it; `keeplore exclude --list` shows all rules"
                ),
            ],
        ),
    ],
    ids=["none", "one", "one in vain"],
)
def test_rules_are_counted_and_those_that_mean_nothing_are_named(
    monkeypatch: pytest.MonkeyPatch, meanings: tuple[bool, ...], lines: list[str]
) -> None:
    held = [
        SimpleNamespace(rule=f"path:~/{n}", whose="yours", may=False, means=means)
        for n, means in enumerate(meanings)
    ]
    pauses = SimpleNamespace(load=lambda _: SimpleNamespace(at=lambda _: None))
    monkeypatch.setattr(check_capture, "Pauses", pauses)
    # each workspace knows the rules of the machine
    monkeypatch.setattr(check_capture, "held_rules", lambda *_: held)
    registry: Any = SimpleNamespace(
        places=None,
        machine=SimpleNamespace(workspaces=["memory", "team"]),
        named=lambda name: name,
    )
    assert told(check_capture.findings(registry)) == lines
