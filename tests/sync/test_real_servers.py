"""Git's own servers on loopback: what goes through, and what each refusal is called."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from sample_note import note

from keeplore.store import Store
from keeplore.sync import SyncError, clone, synchronise

PERSON, SECRET = "ann", "-".join(("open", "sesame"))


class GitOverHttp(BaseHTTPRequestHandler):
    """`git http-backend` as a web server calls it; ``server.refusal`` answers in its place."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.serve(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            self.serve(b"".join(iter(self.chunk, b"")))
        else:
            self.serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def chunk(self) -> bytes:
        size = int(self.rfile.readline(), 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def serve(self, body: bytes) -> None:
        server = self.server
        expected = "Basic " + base64.b64encode(f"{PERSON}:{SECRET}".encode()).decode()
        if server.refusal:
            self.answer(server.refusal, [], b"no")
        elif server.is_closed and self.headers.get("Authorization") != expected:
            self.answer(
                401, [("WWW-Authenticate", 'Basic realm="git"')], b"who are you?"
            )
        else:
            self.answer(*self.backend(body))

    def backend(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        path, _, query = self.path.partition("?")
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.server.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": PERSON,
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            env=environment,
            capture_output=True,
            check=False,
        )
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        fields = [
            tuple(line.split(": ", 1))
            for line in head.decode().split("\r\n")
            if ": " in line
        ]
        status = next(
            (int(value.split()[0]) for name, value in fields if name == "Status"), 200
        )
        return status, [field for field in fields if field[0] != "Status"], data

    def answer(self, status: int, fields: list[tuple[str, str]], data: bytes) -> None:
        self.send_response(status)
        for name, value in [*fields, ("Content-Length", str(len(data)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def http(network) -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), GitOverHttp)
    server.folder, server.refusal, server.is_closed = network.folder, 0, False
    server.url = f"http://127.0.0.1:{server.server_port}/remote.git"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def ssh(network, monkeypatch, tmp_path) -> str:
    """What OpenSSH's client does for git, with this machine at both ends."""
    script = tmp_path / "ssh"
    script.write_text(
        "#!/bin/sh\nwhile :; do case $1 in -o|-p) shift 2 ;; -*) shift ;; *) break ;; esac; done\n"
        'shift\nexec sh -c "$*"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    return f"ssh://ann@localhost{network.remote}"


@pytest.fixture(params=["http", "daemon", "ssh"])
def url(request) -> str:
    served = request.getfixturevalue(request.param)
    if request.param == "http":
        return served.url
    return f"{served}/remote.git" if request.param == "daemon" else served


def kind_of(store: Store) -> str:
    with pytest.raises(SyncError) as caught:
        synchronise(store)
    return caught.value.kind


def test_two_machines_exchange_and_merge_over_it(network, first, git, url):
    git("remote", "set-url", "origin", url, cwd=first.root)
    clone(url, network.folder / "second")
    second = Store(network.folder / "second", branch="main")
    for number in range(3):
        first.save(note(f"Argued {number}", "mine\n"))
        second.save(note(f"Argued {number}", "theirs\n"))
        first.save(note(f"Added {number}", "x" * 200_000))
        assert synchronise(first).pushed
        assert synchronise(second).fetched
        synchronise(first)
    assert first.head() == second.head() == git("rev-parse", "main", cwd=network.remote)
    bodies = [first.load(file.path).body for file in first.scan()]
    assert (bodies.count("mine\n"), bodies.count("theirs\n"), len(bodies)) == (3, 3, 9)


def test_a_branch_that_is_protected_refuses_and_keeps_what_is_here(
    network, first, git, url
):
    network.git_hook("pre-receive", "echo 'GH006: protected branch' >&2; exit 1")
    git("remote", "set-url", "origin", url, cwd=first.root)
    path = first.save(note("Kept"))
    assert kind_of(first) == "refused"
    assert (first.root / path).exists() and git(
        "status", "--porcelain", cwd=first.root
    ) == ""
    (network.remote / "hooks" / "pre-receive").unlink()
    assert synchronise(first).pushed == 1


def test_a_repository_that_is_not_there(first, git, url):
    git(
        "remote",
        "set-url",
        "origin",
        url.replace("remote.git", "nothing.git"),
        cwd=first.root,
    )
    assert kind_of(first) in (
        "missing",
        "refused",
        "auth",
    )  # `git daemon` says "access denied" for both


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [("", "auth"), (f"{PERSON}:wrong@", "auth"), (f"{PERSON}:{SECRET}@", "")],
)
def test_credentials_are_never_asked_for(first, git, http, wrong, kind):
    http.is_closed = True
    git(
        "remote",
        "set-url",
        "origin",
        http.url.replace("//", f"//{wrong}"),
        cwd=first.root,
    )
    first.save(note("Kept"))
    if kind:
        assert kind_of(first) == kind
    else:
        assert synchronise(first).pushed == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (403, "auth"),
        (404, "missing"),
        (429, "offline"),
        (500, "offline"),
        (503, "offline"),
    ],
)
def test_what_a_web_server_answers_tells_the_case(first, git, http, status, kind):
    http.refusal = status
    git("remote", "set-url", "origin", http.url, cwd=first.root)
    assert kind_of(first) == kind


def test_a_host_whose_key_is_not_known_is_not_trusted(
    first, git, monkeypatch, tmp_path
):
    script = tmp_path / "ssh"
    script.write_text("#!/bin/sh\necho 'Host key verification failed.' >&2\nexit 255\n")
    script.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    git("remote", "set-url", "origin", "ssh://ann@localhost/x.git", cwd=first.root)
    assert kind_of(first) == "untrusted"


def test_a_server_that_went_away_is_offline(first, git):
    with socket.socket() as taken:
        taken.bind(
            ("127.0.0.1", 0)
        )  # bound and not listening: nobody else can answer there
        port = taken.getsockname()[1]
        git(
            "remote",
            "set-url",
            "origin",
            f"git://127.0.0.1:{port}/remote.git",
            cwd=first.root,
        )
        assert kind_of(first) == "offline"
