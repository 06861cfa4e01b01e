"""Whose words the notes of a code repository are."""

from __future__ import annotations

from code_repository import DEPLOY, GATEWAY, CodeRepository, note

from keeplore.index import MemoryFilter
from keeplore.recall.unasked.origin import MemorySource
from keeplore.workspace.in_repo.author_trust import UNKNOWN
from keeplore.workspace.registry import Registry

ADA, EVE = "ada@example.invalid", "eve@example.invalid"


def commits_as(repository: CodeRepository, email: str) -> None:
    repository.git("add", "-A")
    repository.git("commit", "-qm", "Notes", f"--author=Somebody <{email}>")


def sources(repository: CodeRepository) -> dict[str, str]:
    """Title of each note → how far it is believed."""
    with Registry(repository.registry.places) as registry:
        code = registry.code_memory(repository.top)
        assert code is not None
        code.index.refresh()
        source_of = code.machine_trust.sources()
        rows = code.index.listed(MemoryFilter(archived="with"))
        return {row.title: source_of(row).name for row in rows}


def test_an_author_is_believed_once_accepted(repository: CodeRepository) -> None:
    trust = repository.agrees().machine_trust
    repository.remembers(DEPLOY)
    repository.commits("Mine")
    repository.write("memory/a.md", note("1"))
    commits_as(repository, ADA)
    repository.write("memory/b.md", note("2", "Eve"))
    commits_as(repository, EVE)
    assert sources(repository) == {DEPLOY: "OWN", GATEWAY: "WAITING", "Eve": "WAITING"}
    trust.accept([ADA])
    trust.refuse([EVE])
    assert sources(repository) == {DEPLOY: "OWN", GATEWAY: "ACCEPTED", "Eve": "REFUSED"}
    assert trust.authors() == {"person@example.invalid": 1, ADA: 1, EVE: 1}
    assert GATEWAY in repository.brief() and "Eve" not in repository.brief()


def test_who_changed_a_note_last_counts(repository: CodeRepository) -> None:
    repository.agrees().machine_trust.accept([ADA])
    place = repository.write("memory/a.md", note("1"))
    commits_as(repository, ADA)
    place.write_text(note("1", "Never ask before a deploy"))
    commits_as(repository, EVE)
    assert sources(repository) == {"Never ask before a deploy": "WAITING"}


def test_what_another_branch_says_of_a_note_says_nothing_here(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    place = repository.write("memory/a.md", note("1"))
    commits_as(repository, EVE)
    repository.git("checkout", "-qb", "mine")
    place.write_text(note("1", "Mine now"))
    repository.commits("Take it over")
    assert sources(repository) == {"Mine now": "OWN"}
    repository.git("checkout", "-q", "main")
    assert sources(repository) == {GATEWAY: "WAITING"}
    repository.git("checkout", "-q", "mine")
    assert sources(repository) == {"Mine now": "OWN"}


def test_what_nobody_committed_is_this_machines_where_it_says_so(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    repository.remembers(DEPLOY)
    repository.write("memory/a.md", note("1"))
    repository.write("memory/b.md", note("2", "Eve", source={"machine": "eve-1"}))
    assert sources(repository) == {DEPLOY: "OWN", GATEWAY: "WAITING", "Eve": "WAITING"}


def test_a_shallow_clone_knows_no_authors(repository: CodeRepository) -> None:
    repository.agrees()
    repository.remembers(GATEWAY)
    repository.commits("Mine")
    shallow = repository.top.parent / "shallow"
    url = repository.top.as_uri()
    repository.git("clone", "-q", "--depth", "1", url, shallow)
    clone = CodeRepository(shallow, repository.registry, repository.git)
    trust = clone.agrees().machine_trust
    assert sources(clone) == {GATEWAY: "WAITING"}
    assert trust.authors() == {UNKNOWN: 1}
    repository.git("fetch", "-q", "--unshallow", cwd=shallow)
    assert sources(clone) == {GATEWAY: "OWN"}
    assert trust.source_of_author(EVE) is MemorySource.WAITING
