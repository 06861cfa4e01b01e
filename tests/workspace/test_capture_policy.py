"""Which rule decides whether something may be captured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keeplore.config.capture_choice import (
    FILE,
    CaptureRule,
    CaptureRules,
    Pause,
    Pauses,
)
from keeplore.config.places import Places
from keeplore.errors import ConfigError
from keeplore.workspace import Registry
from keeplore.workspace.capture_policy import (
    CaptureDecision,
    CapturePlace,
    CapturePolicy,
    closeness,
)
from keeplore.workspace.identity import IdentityResolver

API = "git.example.com/acme/api"


Decide = Callable[..., CaptureDecision]


def rules(*texts: str) -> tuple[CaptureRule, ...]:
    return tuple(map(CaptureRule.parse, texts))


@pytest.fixture
def identities(places: Places) -> Iterator[IdentityResolver]:
    with Registry(places) as registry:
        yield registry.named("memory").identities


@pytest.fixture
def decide(places: Places, identities: IdentityResolver) -> Decide:
    """What is decided about a directory, or a place, by rules of the machine."""

    def decided(
        what: str | CapturePlace, exclude: str = "", include: str = ""
    ) -> CaptureDecision:
        own = CaptureRules(*(rules(*filter(None, [one])) for one in (exclude, include)))
        policy = CapturePolicy(places, identities, own, CaptureRules())
        if isinstance(what, str):
            return policy.decide(what)
        return policy.decide_place(what)

    return decided


def place(path: str, *remotes: str, project: str = "api") -> CapturePlace:
    return CapturePlace((path,), (project,), remotes, path.count("/") + 1)


@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        ("path:/c/acme", True),
        ("path:/c/acme/", True),
        ("path:/c/acme/api", True),
        ("path:/c/acme/api/deeper", False),
        ("path:/c/ac", False),
        ("path:/", True),
        ("pattern:/c/*", True),
        ("pattern:/c/*/api", True),
        ("pattern:/*/api", False),
        ("pattern:/**/api", True),
        ("pattern:acme", True),
        ("pattern:ac*", True),
        ("pattern:*x", False),
        ("project:api", True),
        ("project:API", True),
        ("project:a*", True),
        ("project:acme", False),
        (f"remote:{API}", True),
        (f"remote:https://{API}.git", True),
        ("remote:git@git.example.com:Acme/API.git", True),
        ("remote:git.example.com/acme/*", True),
        ("remote:*/acme/*", True),
        ("remote:git.example.com/other/*", False),
    ],
)
def test_a_rule_means_places(rule: str, *, meant: bool) -> None:
    found = closeness(CaptureRule.parse(rule), place("/c/acme/api", API))
    assert (found is not None) == meant


@pytest.mark.parametrize(
    ("exclude", "include", "may"),
    [
        ("path:/c", "", False),
        ("path:/c", "path:/c/acme", True),
        ("path:/c/acme", "path:/c", False),
        ("pattern:/c/*", "path:/c/acme", True),
        ("remote:git.example.com/acme/*", f"remote:{API}", True),
        (f"remote:{API}", "remote:git.example.com/acme/*", False),
        (f"remote:{API}", "path:/c", False),
        ("path:/c", "project:api", True),
        ("project:api", f"remote:{API}", True),
        (f"remote:{API}", "path:/c/acme/api/docs", True),
    ],
)
def test_the_closest_rule_decides_and_an_inclusion_before_an_exclusion(
    decide: Decide, exclude: str, include: str, *, may: bool
) -> None:
    here = CapturePlace(("/c/acme/api/docs", "/c/acme/api"), ("api",), (API,), 4)
    assert decide(here, exclude, include).may == may


def test_rules_of_the_machine_come_before_those_of_the_workspace(
    places: Places, home: Path
) -> None:
    settings = home / "memory" / "keeplore.yaml"
    settings.write_text('capture: {exclude: ["path:~/a"], include: ["path:~/b/c"]}\n')
    own = 'capture: {exclude: ["path:~/b"], include: ["path:~"]}\n'
    (places.state / "settings.yaml").write_text(own)
    with Registry(places) as registry:
        policy = registry.named("memory").capture_policy
        found = [policy.decide(str(home / name)) for name in ("a", "b/c")]
    assert [(one.may, one.reason) for one in found] == [
        (True, "path:~ is included on this machine"),
        (False, "path:~/b is excluded on this machine"),
    ]


def test_a_link_leads_to_what_is_left_out_and_back(decide: Decide, home: Path) -> None:
    (home / "real").mkdir()
    (home / "link").symlink_to(home / "real")
    for rule, directory in (("path:~/real", "link/x"), ("path:~/link", "real/x")):
        assert not decide(str(home / directory), rule).may


@pytest.mark.parametrize(
    ("text", "may"),
    [
        (b"capture: off\n", False),
        (b"capture: false\n", False),
        (b"capture: 'off'\n", False),
        (b"capture: on\n", True),
        (b"", True),
        (b" \n", True),
        (b"off\n", False),
        (b"other: 1\n", True),
        (b"- a list\n", False),
        (b"capture: [\n", False),
        (b"[" * 4000, False),
        (b"#" * 4096, True),
        (b"#" * 4097, False),
        (b"\xff\xfe\x00", False),
    ],
)
def test_a_project_file_can_leave_out_and_one_that_cannot_be_read_does(
    decide: Decide, home: Path, text: bytes, *, may: bool
) -> None:
    (home / "shop" / "src").mkdir(parents=True)
    (home / "shop" / ".keeplore").write_bytes(text)
    assert decide(str(home / "shop" / "src")).may == may


def test_a_folder_of_that_name_says_nothing_and_an_inclusion_is_overridden_by_nobody(
    decide: Decide, home: Path
) -> None:
    (home / "shop" / ".keeplore" / "memory").mkdir(parents=True)
    assert decide(str(home / "shop")).may
    (home / "code").mkdir()
    (home / "code" / ".keeplore").write_text("capture: on\n")
    assert not decide(str(home / "code"), "path:~/code").may


@pytest.mark.parametrize("directory", ["", "relative", "/nul\0", "/" + "x" * 5000])
def test_what_a_host_calls_a_directory_may_be_anything(
    decide: Decide, directory: str
) -> None:
    assert decide(directory).may


@pytest.mark.parametrize(
    ("at", "end", "may"),
    [
        ("2026-01-01T09:59:59Z", "", True),
        ("2026-01-01T10:00:00Z", "", False),
        ("2026-01-01T09:00:00Z", "2026-01-01T10:30:00Z", False),
        ("2026-01-01T10:59:59Z", "2026-01-01T12:00:00Z", False),
        ("2026-01-01T11:00:00Z", "", True),
        ("", "", True),
    ],
)
def test_nothing_is_captured_that_was_said_in_a_pause_even_in_part(
    places: Places, identities: IdentityResolver, at: str, end: str, *, may: bool
) -> None:
    Pauses((Pause("2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z"),)).save(places)
    policy = CapturePolicy(places, identities, CaptureRules(), CaptureRules())
    assert policy.decide("/x", at, end).may == may


def test_where_the_choice_cannot_be_read_nothing_is_decided(
    places: Places, identities: IdentityResolver
) -> None:
    policy = CapturePolicy(places, identities, CaptureRules(), CaptureRules())
    (places.state / FILE).write_text('{"pauses": 1}')
    with pytest.raises(ConfigError, match="so nothing is captured"):
        policy.decide("/x", "2026-01-01T10:00:00Z")
    (places.state / "settings.yaml").write_text("capture: {exclude: [nonsense]}")
    with Registry(places) as registry, pytest.raises(ConfigError, match="nonsense"):
        registry.named("memory")


def test_a_pause_goes_on_with_another_end_and_is_ended() -> None:
    paused = Pauses().with_pause("2026-01-01T10:00:00Z", "")
    longer = paused.with_pause("2026-01-01T10:30:00Z", "2026-01-01T12:00:00Z")
    assert longer == Pauses((Pause("2026-01-01T10:00:00Z", "2026-01-01T12:00:00Z"),))
    ended = longer.with_current_ended("2026-01-01T11:00:00Z")
    assert ended == Pauses((Pause("2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z"),))
    assert ended.with_current_ended("2026-01-01T11:30:00Z") == ended
