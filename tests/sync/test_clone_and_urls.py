"""Where a workspace may come from, and what is said when it cannot."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from sample_note import note

from keeplore.errors import ConfigError, RemoteError
from keeplore.store import Store, run, without_credentials
from keeplore.sync import SyncError, clone, synchronise
from keeplore.sync.errors import failure, shown
from keeplore.sync.remote_git import attempt, checked_url

ALLOWED = {
    "https://example.invalid/me/memory.git": "https:ssh",
    "ssh://git@example.invalid:2222/me/memory": "https:ssh",
    "git@example.invalid:me/memory.git": "https:ssh",
    "host:memory.git": "https:ssh",
    "/srv/git/memory.git": "file",
    "../memory.git": "file",
    "file:///srv/git/memory.git": "file",
    "git://127.0.0.1:9418/memory": "git",
    "http://localhost:8080/memory": "http",
}
REFUSED = (
    "",
    "-oProxyCommand=touch ran",
    "--upload-pack=touch ran",
    "ext::sh -c 'touch ran'",
    "fd::17",
    "git://example.invalid/x",
    "http://example.invalid/x",
    "ftp://example.invalid/x",
    "javascript://x",
    "https:///nohost",
    "ssh://-oProxyCommand=x/y",
    "ssh://-x@host/y",
    "https://example.invalid/x\n--upload-pack=x",
    "https://[::bad/x",
)


@pytest.mark.parametrize(("url", "protocols"), ALLOWED.items())
def test_addresses_that_are_followed(url, protocols):
    assert checked_url(url, is_path_allowed=True) == (url, protocols)


@pytest.mark.parametrize("url", REFUSED)
def test_addresses_that_are_not(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SyncError) as caught:
        clone(url, tmp_path / "x")
    assert caught.value.kind == "blocked" and caught.value.remedy
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["/srv/git/memory.git", "../x", "file:///srv/x", "~/x"])
def test_a_path_is_followed_only_where_a_person_typed_it(url):
    with pytest.raises(SyncError):
        checked_url(url, is_path_allowed=False)


def test_credentials_are_not_shown():
    token = "ghp_" + "x" * 36
    for url in (
        f"https://{token}@example.invalid/x",
        f"https://me:{token}@example.invalid/x?private_token={token}",
    ):
        assert (
            without_credentials(f"fatal: unable to access '{url}': no")
            == "fatal: unable to access 'https://example.invalid/x': no"
        )
    assert (
        without_credentials("ssh://git:pw@example.invalid/x")
        == "ssh://git@example.invalid/x"
    )
    assert (
        without_credentials("git@example.invalid:me/x.git")
        == "git@example.invalid:me/x.git"
    )


def test_another_machines_words_cannot_steer_a_terminal():
    text = shown("remote: \x1b[31mred\x1b[0m\x07 \x9b1m" + "x" * 1000)
    assert all(ord(char) >= 32 and not 127 <= ord(char) < 160 for char in text)
    assert len(text) == 300


@pytest.mark.parametrize(
    ("printed", "kind"),
    [
        ("fatal: unable to access 'https://x/': Could not resolve host: x", "offline"),
        (
            (
                "ssh: connect to host x port 22: Connection refused\nfatal: Could not read from "
                "remote "
                "repository."
            ),
            "offline",
        ),
        (
            "fatal: unable to access 'https://x/': The requested URL returned error: 503",
            "offline",
        ),
        ("fatal: the remote end hung up unexpectedly", "offline"),
        ("fatal: Authentication failed for 'https://x/'", "auth"),
        (
            "fatal: could not read Username for 'https://x': terminal prompts disabled",
            "auth",
        ),
        (
            "git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.",
            "auth",
        ),
        (
            (
                "remote: Permission to a/b.git denied to c.\nfatal: The requested URL returned "
                "error: "
                "403"
            ),
            "auth",
        ),
        (
            "Host key verification failed.\nfatal: Could not read from remote repository.",
            "untrusted",
        ),
        (
            "fatal: unable to access 'https://x/': server certificate verification failed.",
            "untrusted",
        ),
        ("! refs/heads/main:refs/heads/main [rejected] (fetch first)", "moved"),
        ("! [rejected] main -> main (non-fast-forward)", "moved"),
        (
            (
                "! [remote rejected] main -> main (cannot lock ref 'refs/heads/main': is at 1 but "
                "expected 2)"
            ),
            "moved",
        ),
        ("! [remote rejected] main -> main (pre-receive hook declined)", "refused"),
        ("remote: error: GH006: Protected branch update failed", "refused"),
        ("ERROR: Repository not found.", "missing"),
        ("fatal: '/x' does not appear to be a git repository", "missing"),
        ("fatal: transport 'ext' not allowed", "blocked"),
        ("something new", "other"),
    ],
)
def test_what_git_prints_tells_the_case(printed, kind):
    error = failure(printed)
    assert isinstance(error, RemoteError)
    assert error.kind == kind and error.remedy


def test_of_what_git_prints_the_reason_is_told() -> None:
    missing = """\
fatal: '/x.git' does not appear to be a git repository
fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
"""
    assert failure(missing).message == (
        "there is no repository at the remote: '/x.git' does not appear to be a git repository"
    )
    protected = """\
remote: error: GH006: Protected branch update failed.
remote: error: Changes must be made through a pull request.
error: failed to push some refs to 'https://x/'
To https://x/
!\trefs/heads/main:refs/heads/main\t[remote rejected] (protected branch)
Done
"""
    assert failure(protected).message == (
        "the remote does not take the push: GH006: Protected branch update failed; Changes must be "
        "made through a pull request; [remote rejected] (protected branch)"
    )
    unknown = "fatal: unable to access 'https://x/': there was an error: 7"
    assert failure(unknown).message == f"git failed: {unknown.removeprefix('fatal: ')}"
    assert (
        failure("fatal: Could not read from remote repository.").message == "git failed"
    )


def test_a_clone_is_a_workspace_that_can_go_on(network, git):
    store = network.machine("second")
    assert store.remote() == str(network.remote)
    store.save(note("Here too"))
    assert synchronise(store).pushed == 1
    assert [
        path.name for path in network.folder.iterdir() if path.name.startswith(".")
    ] == []


def test_a_remote_whose_head_nobody_pushed_is_cloned_all_the_same(network, git):
    git("symbolic-ref", "HEAD", "refs/heads/master", cwd=network.remote)
    store = network.machine("second")
    assert git("symbolic-ref", "--short", "HEAD", cwd=store.root) == "main"
    assert synchronise(store).note == "nothing new"


def test_a_repository_that_is_no_workspace_is_not_kept(tmp_path, git):
    git("init", "-q", "-b", "main", "code", cwd=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "First", cwd=tmp_path / "code")
    with pytest.raises(ConfigError, match=r"holds no keeplore\.yaml"):
        clone(str(tmp_path / "code"), tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["code"]


def test_a_directory_with_something_in_it_is_left_alone(network):
    place = network.folder / "full"
    place.mkdir()
    (place / "mine").write_text("x")
    with pytest.raises(ConfigError, match="not empty"):
        clone(str(network.remote), place)
    assert (place / "mine").read_text() == "x"


def test_an_empty_directory_and_a_path_with_a_space_are_fine(network):
    place = network.folder / "my wörkspace"
    place.mkdir()
    clone(network.remote.as_uri(), place)
    assert (place / "keeplore.yaml").is_file()


def test_a_clone_over_the_network(daemon, tmp_path):
    clone(f"{daemon}/remote.git", tmp_path / "cloned")
    with pytest.raises(SyncError) as caught:
        clone(f"{daemon}/nothing.git", tmp_path / "nothing")
    assert caught.value.kind in (
        "missing",
        "auth",
    )  # the daemon says "access denied or repository not exported"
    assert Store(tmp_path / "cloned").head()


def test_a_remote_that_hangs_is_given_up_with_all_its_processes(network, first):
    pid_file = network.folder / "pid"
    script = network.folder / "ssh"
    script.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > '{pid_file}'\nwait\n")
    script.chmod(0o755)
    os.environ["GIT_SSH_COMMAND"] = str(script)
    try:
        with pytest.raises(SyncError) as caught:
            attempt(
                first.root,
                "https:ssh",
                "ls-remote",
                "--",
                "ssh://host.invalid/x",
                timeout_s=1.0,
            )
    finally:
        del os.environ["GIT_SSH_COMMAND"]
    assert caught.value.kind == "offline"
    child = int(pid_file.read_text())
    for _ in range(100):
        stat = Path(f"/proc/{child}/stat")
        if not stat.exists() or stat.read_text().split()[2] == "Z":
            break
        time.sleep(0.02)
    else:
        pytest.fail("the helper's child is still running")


def test_the_persons_ssh_command_is_kept_and_never_asks(network, first, git, tmp_path):
    log = tmp_path / "arguments"
    script = tmp_path / "my ssh"
    script.write_text(f"#!/bin/sh\necho \"$@\" > '{log}'\nenv >> '{log}'\nexit 1\n")
    script.chmod(0o755)
    git("config", "core.sshCommand", f"'{script}' -i mykey", cwd=first.root)
    git("remote", "set-url", "origin", "git@host.invalid:x", cwd=first.root)
    with pytest.raises(SyncError):
        synchronise(first)
    said = log.read_text()
    assert said.startswith("-i mykey -oBatchMode=yes -oConnectTimeout=10")
    for setting in (
        "GIT_TERMINAL_PROMPT=0",
        "GCM_INTERACTIVE=never",
        "GIT_ASKPASS=\n",
        "SSH_ASKPASS=\n",
        "LC_ALL=C",
    ):
        assert setting in said


def test_variables_of_another_repository_do_not_reach_ours(
    first, tmp_path, monkeypatch
):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert run(first.root, "rev-parse", "--git-dir").text == ".git"
    assert first.commit().commit is None
