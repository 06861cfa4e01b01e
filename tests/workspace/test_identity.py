"""One function says which project a directory belongs to, wherever it is cloned and however its
remote is written.
"""

import re
import subprocess
from pathlib import Path

import pytest

from keeplore.redact import Redactor
from keeplore.store import Store
from keeplore.workspace.identity import (
    IdentityResolver,
    Project,
    identify,
    load_projects,
    normalise_remote,
    save_project,
)
from keeplore_hooks.events import Origin


@pytest.fixture
def store(tmp_path):
    root = tmp_path / "workspace"
    root.mkdir()
    return Store(root)


def repository(path: Path, remote: str = "", commits: int = 1) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    if remote:
        git(path, "remote", "add", "origin", remote)
    for number in range(commits):
        git(path, "commit", "-q", "--allow-empty", "-m", f"{path.name} {number}")
    return path


def git(path: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(
        ["git", *identity, *arguments], cwd=path, check=True, capture_output=True
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Acme/Ledgerly.git",
        "https://user:pass@github.com/acme/ledgerly",
        "https://github.com:443/acme/ledgerly/",
        "git@github.com:acme/ledgerly.git",
        "ssh://git@github.com/acme/ledgerly.git",
        "ssh://git@github.com:22/acme//ledgerly.git",
        "git://github.com/acme/ledgerly",
        "github.com:acme/ledgerly.git",
    ],
)
def test_every_way_to_write_a_remote_is_the_same_project(url):
    assert normalise_remote(url) == "github.com/acme/ledgerly"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ssh://git@git.acme.test:2222/ledgerly.git", "git.acme.test:2222/ledgerly"),
        (
            "https://dev.azure.test/org/project/_git/repo",
            "dev.azure.test/org/project/_git/repo",
        ),
        ("/srv/git/ledgerly.git", "file/srv/git/ledgerly"),
        ("file:///srv/git/ledgerly.git", "file/srv/git/ledgerly"),
        ("", ""),
        ("not a url", ""),
        ("https://[broken", ""),
        ("https://host:port/x", ""),
    ],
)
def test_other_remotes_keep_what_distinguishes_them(url, expected):
    assert normalise_remote(url) == expected


def test_clones_and_worktrees_of_one_remote_are_one_project(store, tmp_path):
    one = repository(tmp_path / "a" / "ledgerly", "git@github.com:acme/ledgerly.git")
    other = repository(tmp_path / "b" / "checkout", "https://github.com/acme/ledgerly")
    git(one, "worktree", "add", "-q", str(tmp_path / "feature"), "-b", "feature")
    first = identify(one, store, tmp_path)
    assert (first.project, first.is_known) == ("ledgerly", False)
    save_project(store, first.proposal)
    for place in (one, one / ".." / "ledgerly", other, tmp_path / "feature"):
        found = identify(place.resolve(), store, tmp_path)
        assert (found.project, found.is_known, found.reason) == (
            "ledgerly",
            True,
            "git remote github.com/acme/ledgerly",
        )


def test_projects_of_the_same_name_are_kept_apart(store, tmp_path):
    one = repository(tmp_path / "a" / "api", "git@github.com:acme/api.git")
    other = repository(tmp_path / "b" / "api", "git@github.com:rival/api.git")
    save_project(store, identify(one, store, tmp_path).proposal)
    second = identify(other, store, tmp_path)
    assert second.project.startswith("api-") and not second.is_known
    save_project(store, second.proposal)
    assert identify(one, store, tmp_path).project == "api"
    assert identify(other, store, tmp_path).project == second.project


def test_a_repository_that_gets_a_remote_later_stays_the_same_project(store, tmp_path):
    place = repository(tmp_path / "tool")
    save_project(store, identify(place, store, tmp_path).proposal)
    git(place, "remote", "add", "origin", "git@github.com:me/renamed-tool.git")
    found = identify(place, store, tmp_path)
    assert (found.project, found.is_known) == ("tool", True)
    assert found.reason.startswith("root commit ")


def test_an_entry_that_came_back_after_it_was_reassigned_gives_way(store, tmp_path):
    remote = ("github.com/up/lib",)
    place = repository(tmp_path / "lib", f"https://{remote[0]}")
    for entry in (
        Project("lib", remote, also=("notes",)),  # changed on another machine meanwhile
        Project("web", remote, also=("lib", "old")),
    ):
        save_project(store, entry)
    found = identify(place, store, tmp_path)
    assert (found.project, found.also) == ("web", ("lib", "old", "notes"))
    # each became the other, on two machines
    store.write_text(
        "projects/lib/project.json", Project("lib", remote, also=("web",)).to_json()
    )
    found = identify(place, store, tmp_path)
    assert (found.project, found.also) == ("lib", ("web", "old"))


def test_a_fork_with_its_own_remote_is_a_project_of_its_own_until_it_is_marked(
    store, tmp_path
):
    upstream = repository(tmp_path / "up" / "lib", "git@github.com:up/lib.git")
    fork = tmp_path / "fork" / "lib"
    fork.parent.mkdir()
    git(tmp_path, "clone", "-q", str(upstream), str(fork))
    git(fork, "remote", "set-url", "origin", "git@github.com:me/lib.git")
    save_project(store, identify(upstream, store, tmp_path).proposal)
    assert not identify(fork, store, tmp_path).is_known
    marked = Project("lib", ("github.com/up/lib", "github.com/me/lib"))
    store.write_text("projects/lib/project.json", marked.to_json())
    assert identify(fork, store, tmp_path).project == "lib"


def test_directories_without_git_go_by_marker_file_then_path(store, tmp_path):
    notes = tmp_path / "notes" / "deep"
    notes.mkdir(parents=True)
    assert identify(notes, store, tmp_path).project == "deep"
    (tmp_path / "notes" / ".keeplore-project").write_text("My-Notes\n")
    assert identify(notes, store, tmp_path).project == "my-notes"


def test_a_marker_with_a_hostile_name_is_ignored(store, tmp_path):
    place = tmp_path / "plain"
    place.mkdir()
    (place / ".keeplore-project").write_text("../../etc")
    assert identify(place, store, tmp_path).project == "plain"


def test_the_home_directory_is_no_project_nor_is_the_root(store, tmp_path):
    for place, name in ((tmp_path, "home"), (Path(tmp_path.anchor), "root")):
        found = identify(place, store, tmp_path)
        told = f"the {name} directory belongs to no project"
        assert (found.project, found.reason) == ("", told)


def test_a_home_directory_behind_a_link_is_one_place(store, tmp_path):
    """A shell says where it is, the environment where the link is."""
    real, link = tmp_path / "var" / "anna", tmp_path / "anna"
    (real / "notes").mkdir(parents=True)
    link.symlink_to(real)
    assert identify(real, store, link).project == ""
    for place in (real / "notes", link / "notes"):
        assert identify(place, store, link).root == "~/notes"
    other = Project("older", path=(real / "notes").as_posix())
    save_project(store, other)
    assert identify(real / "notes", store, link).project == "older"


def test_a_directory_whose_name_is_no_text_is_a_project_too(store, tmp_path):
    place = tmp_path / "bad\udcff"
    place.mkdir()
    found = identify(place, store, tmp_path)
    assert (found.project, found.root) == ("bad", "~/bad?")
    save_project(store, found.proposal)
    assert identify(place, store, tmp_path).is_known


def test_a_directory_that_is_gone_is_still_recognised_by_its_path(store, tmp_path):
    assert identify(tmp_path / "gone" / "api", store, tmp_path).project == "api"


@pytest.mark.parametrize(
    "place",
    ["api/.worktrees/fix-1", "api/.claude/worktrees/fix-1", "api/worktrees/fix-1/src"],
)
def test_a_worktree_that_is_gone_belonged_to_the_project_around_it(
    store, tmp_path, place
):
    assert identify(tmp_path / "gone" / place, store, tmp_path).project == "api"


def test_two_machines_that_meet_a_project_write_the_same_bytes(store, tmp_path):
    one = repository(tmp_path / "a" / "ledgerly", "git@github.com:acme/ledgerly.git")
    git(tmp_path, "clone", "-q", str(one), str(tmp_path / "b"))
    git(
        tmp_path / "b",
        "remote",
        "set-url",
        "origin",
        "https://github.com/acme/ledgerly.git",
    )
    texts = {
        identify(place, store, tmp_path).proposal.to_json()
        for place in (one, tmp_path / "b")
    }
    assert len(texts) == 1


def test_entries_that_cannot_be_read_do_not_hide_the_others(store):
    for name, text in {
        "bad": "{",
        "list": "[]",
        "good": '{"name": "good", "remotes": ["h/x", 3]}',
    }.items():
        store.write_text(f"projects/{name}/project.json", text)
    assert [project.name for project in load_projects(store)] == ["good"]


def test_a_checkout_is_named_after_origin_then_upstream_then_the_first_by_name(
    store, tmp_path
):
    folder = repository(tmp_path / "lib")
    for name in ("zeta", "alpha", "upstream", "origin"):
        git(folder, "remote", "add", name, f"git@github.com:{name}/lib.git")
    for first in ("origin", "upstream", "alpha", "zeta"):
        found = identify(folder, store, tmp_path)
        assert found.proposal.remotes == (f"github.com/{first}/lib",)
        git(folder, "remote", "remove", first)
    assert identify(folder, store, tmp_path).proposal.remotes == ()


def test_two_directories_of_one_name_that_are_met_together_are_two_projects(
    store, tmp_path
):
    one, other = tmp_path / "a" / "cli", tmp_path / "b" / "cli"
    for directory in (one, other):
        directory.mkdir(parents=True)
    resolver = IdentityResolver(store)
    # both are looked at before the first memory of either, as an import does
    assert [resolver.of(directory).project for directory in (one, other)] == [
        "cli",
        "cli",
    ]
    places = [
        resolver.place(Origin("claude-code", "s", str(directory)))
        for directory in (one, other, one)
    ]
    assert [place.project for place in places[::2]] == ["cli", "cli"]
    name = places[1].project
    assert name.startswith("cli-")
    assert {entry.name: Path(entry.path) for entry in load_projects(store)} == {
        "cli": one,
        name: other,
    }
    assert resolver.of(other).project == IdentityResolver(store).of(other).project
    assert resolver.of(other).project == name


def test_an_entry_is_written_without_what_is_denied_and_recognised_all_the_same(
    store, tmp_path
):
    def clean(text):
        return re.sub("(?i)acme-[a-z]+", "[REDACTED:denied:12ab34]", text)

    plain = tmp_path / "ACME-Zeppelin" / "app"
    plain.mkdir(parents=True)
    cloned = repository(tmp_path / "shop", "https://example.org/acme-zeppelin/shop")
    for directory, name in ((plain, "app"), (cloned, "shop")):
        origin = Origin("claude-code", "s1", cwd=str(directory))
        for _ in range(2):  # the second time as another process
            place = IdentityResolver(store, clean).place(origin)
            assert place.project == name
        text = store.read_text(f"projects/{name}/project.json", 9_999)
        assert "acme" not in text.lower() and "denied:12ab34" in text
    assert {entry.name for entry in load_projects(store)} == {"app", "shop"}


def test_the_name_of_a_project_keeps_its_entry_out_of_no_commit():
    entry = Project("acme-shop", path="~/shop").to_json().encode()
    strict = Redactor(deny=["acme"])
    assert not [*strict.scan(entry)]
    assert [*strict.scan(entry.replace(b"~/shop", b"~/acme"))]
