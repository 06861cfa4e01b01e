"""The last gate: what a push would publish for the first time is looked through."""

from __future__ import annotations

import json
import random
import string
from dataclasses import replace

import pytest
from sample_note import note

from keeplore.memory import serialise
from keeplore.redact import Redactor
from keeplore.sync import SyncError, synchronise

KEY = b"k" * 32
scan = Redactor(KEY).scan


def secret() -> str:
    """A token of a known form, made here so that no scanner trips over this file."""
    return "ghp_" + "".join(
        random.Random(3).choices(string.ascii_letters + string.digits, k=36)
    )


def by_hand(store, path: str, text: str) -> None:
    file = store.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def by_person(store, git, folder: str) -> None:
    git("add", folder, cwd=store.root)
    git("commit", "-q", "-m", "Of my own", "--", folder, cwd=store.root)


def stopped(store) -> SyncError:
    with pytest.raises(SyncError) as caught:
        synchronise(store, scan)
    assert caught.value.kind == "secret"
    assert secret() not in f"{caught.value.message}{caught.value.remedy}"
    return caught.value


def test_a_secret_written_by_hand_stops_the_push_and_its_place_and_kind_are_named(
    network, first, git
):
    before = git("rev-parse", "main", cwd=network.remote)
    by_hand(first, "memory/notes/by-hand.md", f"# Deploying\n\nUse {secret()} there.\n")
    error = stopped(first)
    (_, kind), *_ = scan(secret().encode())
    assert f"memory/notes/by-hand.md:3 ({kind})" in error.message and kind.startswith(
        "github-token:"
    )
    assert kind in error.remedy and "redaction.allow" in error.remedy
    assert git("rev-parse", "main", cwd=network.remote) == before
    assert (first.root / "memory/notes/by-hand.md").exists()


def test_a_secret_that_a_later_commit_mends_still_stops_the_push_until_the_commits_are_made_anew(
    network, first, git
):
    at_remote = first.tip("refs/remotes/origin/main")
    by_hand(first, "memory/notes/by-hand.md", f"# Deploying\n\nUse {secret()} there.\n")
    stopped(first)
    by_hand(
        first,
        "memory/notes/by-hand.md",
        "# Deploying\n\nUse the token of the team there.\n",
    )
    assert f"reset --soft {at_remote[:12]}" in stopped(first).remedy
    git("reset", "--soft", at_remote, cwd=first.root)
    assert synchronise(first, scan).pushed == 1
    assert secret() not in git("log", "-p", "main", cwd=network.remote)
    assert git("status", "--porcelain", cwd=first.root) == ""


def test_before_the_first_push_all_of_history_is_looked_through_and_can_be_made_anew(
    network, first, git
):
    empty = network.folder / "empty.git"
    git("init", "-q", "--bare", "-b", "main", str(empty), cwd=network.folder)
    git("remote", "set-url", "origin", str(empty), cwd=first.root)
    by_hand(first, "memory/notes/by-hand.md", f"token {secret()}\n")
    beginning = git("rev-list", "--max-parents=0", "HEAD", cwd=first.root)
    assert f"reset --soft {beginning[:12]}" in stopped(first).remedy
    by_hand(first, "memory/notes/by-hand.md", "no token\n")
    git("reset", "--soft", beginning, cwd=first.root)
    synchronise(first, scan)
    assert secret() not in git("log", "-p", "main", cwd=empty)
    assert "no token" in git("show", "main:memory/notes/by-hand.md", cwd=empty)


@pytest.mark.parametrize(
    "path",
    [
        "projects/shop/project.json",
        "audit/laptop/2026-02.jsonl",
        "user/memory/likes.md",
    ],
)
def test_projects_records_and_notes_about_the_person_are_looked_at_too(first, path):
    by_hand(first, path, json.dumps({"said": secret()}))
    assert f"{path}:1 (github-token:" in stopped(first).message


def test_what_the_remote_has_already_and_what_is_no_text_stop_nothing(
    network, first, git
):
    by_hand(first, "memory/notes/by-hand.md", f"# Old\n\n{secret()}\n")
    synchronise(first)
    first.save(note("Another"))
    by_hand(first, "pictures/plan.bin", f"\0{secret()}\n")
    by_person(first, git, "pictures")
    assert synchronise(first, scan).pushed == 2
    second = network.machine("second")
    second.save(note("Of the second"))
    assert synchronise(second, scan).pushed == 1


def test_the_persons_own_files_are_looked_at_too_and_go_along_without_a_secret(
    network, first, git
):
    by_hand(first, "scripts/deploy.sh", f"TOKEN={secret()}\n")
    by_person(first, git, "scripts")
    assert "scripts/deploy.sh:1 (github-token:" in stopped(first).message
    assert secret() not in git("log", "-p", "--all", cwd=network.remote)
    git("reset", "-q", "--soft", "HEAD~1", cwd=first.root)
    by_hand(first, "scripts/deploy.sh", "TOKEN=$1\n")
    by_person(first, git, "scripts")
    synchronise(first, scan)
    assert git("show", "main:scripts/deploy.sh", cwd=network.remote) == "TOKEN=$1"


def test_what_is_allowed_by_its_fingerprint_is_pushed(first):
    by_hand(first, "memory/notes/by-hand.md", f"# Sample\n\n{secret()}\n")
    stopped(first)
    (_, kind), *_ = scan(secret().encode())
    assert synchronise(first, Redactor(KEY, allow=[kind]).scan).pushed >= 1
    assert (
        Redactor(b"another" * 4, allow=[kind]).keeplore_redact(secret(), "") is not None
    )


def test_what_the_person_denies_stops_the_push(first):
    by_hand(first, "memory/notes/by-hand.md", "# Visit\n\nWith Müller & Söhne.\n")
    with pytest.raises(
        SyncError, match=r"by-hand\.md:3 \(denied:[0-9a-f]{6}\)"
    ) as caught:
        synchronise(first, Redactor(KEY, deny=["(?i)MÜLLER"]).scan)
    assert "Müller" not in str(caught.value)


def test_no_name_of_a_file_reaches_the_terminal_as_it_is_and_many_findings_are_counted(
    first, git
):
    by_hand(first, "memory/notes/a\x1b[31mred.md", secret())
    git("add", "memory", cwd=first.root)
    git("commit", "-q", "-m", "By hand", cwd=first.root)
    assert (
        "red.md:1 (" in stopped(first).message
        and "\x1b" not in f"{stopped(first).message}{stopped(first).remedy}"
    )
    for number in range(8):
        by_hand(first, f"memory/notes/{number}.md", f"{number} {secret()}\n")
    assert "and 4 more" in stopped(first).message


def test_what_keeplore_wrote_itself_is_pushed(first):
    clean = Redactor(KEY)
    body = f"# Keys\n\n{secret()}\n"
    memory = note("Keys", clean.keeplore_before_write({}, body) or body)
    first.save(memory)
    assert not list(scan(serialise(memory).encode()))
    assert synchronise(first, scan).pushed == 1


def test_the_id_of_a_session_is_no_secret_for_its_name_but_a_token_in_its_place_is(
    first,
):
    rng = random.Random(9)
    session = "ses_" + "".join(rng.choices(string.ascii_letters + string.digits, k=26))
    memory = note("With a source")
    plain = replace(
        memory, meta={**memory.meta, "source": {"host": "opencode", "session": session}}
    )
    assert f"  session: {session}" in serialise(plain)
    first.save(plain)
    first.record(
        "laptop",
        {
            "at": "2026-02-09T14:03:11Z",
            "event": "again",
            "source": {"session": session},
        },
    )
    assert synchronise(first, scan).pushed == 1
    assert list(scan(f"# Login\n\nsession: {session}\n".encode()))
    by_hand(
        first,
        "memory/notes/odd.md",
        f"---\nsource:\n  session: {secret()}\n---\n# Odd\n",
    )
    assert "odd.md:3 (github-token:" in stopped(first).message


def test_a_repository_inside_a_memory_folder_is_passed_over(first, git):
    commit = "1" * 40
    git(
        "update-index",
        "--add",
        "--cacheinfo",
        f"160000,{commit},memory/inside",
        cwd=first.root,
    )
    git("commit", "-q", "-m", "Inside", cwd=first.root)
    (first.root / "memory" / "inside").mkdir(parents=True)
    first.save(note("Beside"))
    assert synchronise(first, scan).pushed >= 1
