"""Settings come with every pull: text goes to a server only where this machine's person said so."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hasty_worker import hurry

from keeplore.cli.doctor import DoctorOptions, examine
from keeplore.cli.doctor.finding import FindingLevel
from keeplore.cli.progress import fill_vectors
from keeplore.config.consent import Consents, ConsentUse
from keeplore.config.places import Places
from keeplore.config.setting_layers import set_own, set_shared
from keeplore.config.settings import Settings, load_settings
from keeplore.connect.host_locations import Surroundings
from keeplore.errors import ModelUnavailable
from keeplore.index import embedder_for
from keeplore.index.embedding import server_embedder
from keeplore.memory.note import NoteDraft
from keeplore.recall.request import RecallRequest
from keeplore.worker.loop import Worker
from keeplore.workspace.embedding_model import ConsentQuestion, consent_question
from keeplore.workspace.lifecycle.setup import clone_workspace, initialise
from keeplore.workspace.lifecycle.sync_workspace import synchronise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

GOES = "the text of this workspace's memories, and what is asked here, goes to"
CAME = "came with the workspace, from whoever may push to it"


@pytest.mark.parametrize(
    ("name", "subject", "risk"),
    [
        (
            "http://emb.example/v1#m",
            "http://emb.example:80/v1#m",
            f"{GOES} http://emb.example:80/v1, readable for whoever is on the way",
        ),
        (
            "https://emb.example/v1#m",
            "https://emb.example:443/v1#m",
            f"{GOES} https://emb.example:443/v1",
        ),
        (
            "http://127.0.0.1:9/v1#m",
            "http://127.0.0.1:9/v1#m",
            f"{GOES} http://127.0.0.1:9/v1",
        ),
        (
            "ollama:gpt-oss:cloud",
            "http://127.0.0.1:11434/v1#gpt-oss:cloud",
            f"{GOES} http://127.0.0.1:11434/v1",
        ),
        ("/w/models/m", "/w/models/m", f"the model's files in /w/models/m {CAME}"),
        *((name, "", "") for name in ("ollama:nomic", "packaged", "/w-other/m")),
    ],
)
def test_what_has_to_be_accepted_before_a_model_is_used(
    name: str, subject: str, risk: str
) -> None:
    expected = ConsentQuestion(subject, risk) if subject else None
    assert consent_question(name, Path("/w")) == expected


class Handler(BaseHTTPRequestHandler):
    """Texts that share words are near to one another."""

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))[
            "input"
        ]
        self.server.texts += texts  # type: ignore[attr-defined]
        data = json.dumps(
            {
                "data": [
                    {"index": n, "embedding": _vector(text)}
                    for n, text in enumerate(texts)
                ]
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def _vector(text: str) -> list[float]:
    vector = [0.01] * 64
    for word in text.lower().split():
        vector[hashlib.sha256(word.strip(".,").encode()).digest()[0] % 64] += 1.0
    return vector


class Server:
    def __init__(self) -> None:
        self._http: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.texts = []
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()
        self.name = f"http://127.0.0.1:{self._http.server_port}/v1#small"

    @property
    def texts(self) -> list[str]:
        return list(self._http.texts)

    def stop(self) -> None:
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
            self._http.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(
        server_embedder, "QUESTION_S", 100.0
    )  # however busy the machine is
    serving = Server()
    yield serving
    serving.stop()


@pytest.fixture
def opened(places: Places, home: Path) -> Iterator[Callable[[], Workspace]]:
    with Registry(places) as registry:
        yield lambda: registry.named("memory")


def test_a_server_gets_no_text_before_it_is_accepted_and_text_search_goes_on_without_it(
    opened: Callable[[], Workspace],
    server: Server,
    places: Places,
    home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened().notes.write(NoteDraft("We deploy on Thursday"))
    opened().index.refresh()
    opened().index.embed_pending()
    set_shared(home / "memory", places.state, "embedding.model", server.name)
    workspace = opened()
    for act in (
        workspace.index.embed_pending,
        lambda: workspace.embedder.embed(["secret"]),
    ):
        with pytest.raises(ModelUnavailable, match="not accepted on this machine"):
            act()
    assert (
        fill_vectors(workspace)
        and "not accepted on this machine" in capsys.readouterr().err
    )
    answer = workspace.recall(RecallRequest("When do we deploy?", home))
    assert [hit.title for hit in answer.hits] == ["We deploy on Thursday"]
    assert server.texts == []
    assert answer.legs == (
        "text",
        "vectors",
    )  # of the model before, which is on this machine
    assert any(
        "0 of 1 vectors; until it has all, packaged answers" in note
        for note in answer.notes
    )
    assert workspace.capture_embedder.model == "packaged"

    subject = consent_question(server.name, home / "memory")
    assert (
        subject is not None and "the text of this workspace's memories" in subject.risk
    )
    Consents(places.state).accept(
        home / "memory", ConsentUse.EMBEDDING, subject.subject
    )
    assert workspace.index.embed_pending() == 0
    assert any("We deploy on Thursday" in text for text in server.texts)
    answer = workspace.recall(RecallRequest("When do we deploy?", home))
    assert (
        answer.legs == ("text", "vectors")
        and answer.notes == ()
        and answer.stamp.model.startswith("server/small@")
    )

    server.stop()
    answer = workspace.recall(RecallRequest("deploy on which day?", home))
    assert [hit.title for hit in answer.hits] == [
        "We deploy on Thursday"
    ] and answer.legs == ("text",)
    assert any(
        "searched by text alone: the embedding server" in note for note in answer.notes
    )
    assert not workspace.is_warm


def test_a_worker_sees_that_another_model_was_chosen_and_fills_in_its_vectors(
    opened: Callable[[], Workspace],
    server: Server,
    places: Places,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hurry(monkeypatch.setattr)
    workspace = opened()
    for n in range(40):
        workspace.notes.write(NoteDraft(f"Statement number {n} about subject{n}"))
    worker = Worker(
        places, idle_exit_s=0.0
    )  # leaves as soon as there is nothing left to do
    thread = threading.Thread(target=worker.run)
    set_shared(home / "memory", places.state, "embedding.model", server.name)
    subject = consent_question(server.name, home / "memory")
    assert subject is not None
    Consents(places.state).accept(
        home / "memory", ConsentUse.EMBEDDING, subject.subject
    )
    thread.start()
    thread.join()
    assert sum("Statement number" in text for text in server.texts) >= 40
    stamp = opened().index.state()
    assert stamp.vectors == stamp.passages == 40 and stamp.model.startswith(
        "server/small@"
    )


def test_a_model_that_came_with_the_workspace_is_asked_for_and_one_of_this_machine_is_not(
    opened: Callable[[], Workspace], places: Places, home: Path
) -> None:
    embedder_for("packaged", places.models).embed(["a"])
    [source] = places.models.glob("all-MiniLM-*")
    shutil.copytree(source, home / "memory" / "model")
    shutil.copytree(source, home / "model")
    set_shared(home / "memory", places.state, "embedding.model", "./model")
    with pytest.raises(ModelUnavailable, match="came with the workspace"):
        opened().embedder.embed(["a"])
    (home / "link").symlink_to(home / "memory" / "model")
    set_shared(home / "memory", places.state, "embedding.model", "~/link")
    with pytest.raises(ModelUnavailable, match="came with the workspace"):
        opened().embedder.embed(["a"])
    set_shared(home / "memory", places.state, "embedding.model", "~/model")
    assert opened().embedder.embed(["a"]).shape == (1, 384)


def test_two_machines_use_two_models_over_one_text(
    tmp_path: Path, server: Server, git: Callable[..., str]
) -> None:
    git("init", "-q", "--bare", "-b", "main", "remote.git", cwd=tmp_path)
    remote = str(tmp_path / "remote.git")
    office, laptop = (
        Places(tmp_path / name / "state", tmp_path / name / "cache")
        for name in ("office", "laptop")
    )
    first = initialise(office, tmp_path / "office" / "memory").root
    git("remote", "add", "origin", remote, cwd=first)
    with Registry(office) as at_office:
        _note_and_sync(at_office, "We deploy on Thursday")
    second = clone_workspace(laptop, remote, tmp_path / "laptop" / "memory").root
    asked = consent_question(server.name, second)
    assert asked is not None
    Consents(laptop.state).accept(second, ConsentUse.EMBEDDING, asked.subject)
    set_own(laptop.state, second, "embedding.model", server.name)
    with Registry(office) as at_office, Registry(laptop) as at_laptop:
        _note_and_sync(at_laptop, "We roll back on Friday")
        _note_and_sync(at_office, "We plan on Monday")
        _note_and_sync(at_laptop, "We rest on Sunday")
        synchronise(at_office.named("memory"))
        for registry, model in ((at_office, "minilm"), (at_laptop, "server/small@")):
            workspace = registry.named("memory")
            workspace.index.refresh()
            assert fill_vectors(workspace)
            answer = workspace.recall(RecallRequest("When do we deploy?", second))
            assert answer.hits[0].title == "We deploy on Thursday"
            assert answer.legs == ("text", "vectors")
            stamp = workspace.index.state()
            assert stamp.vectors == stamp.passages == 4
            assert model in stamp.model.lower()
    for places, root in ((office, first), (laptop, second)):
        around = Surroundings(tmp_path, places.state, os.environ)
        found = examine(places, DoctorOptions(around, is_deep=True))
        assert [one for one in found if one.part == "workspace memory"] != []
        assert [one for one in found if one.level == FindingLevel.WRONG] == []
        assert git("status", "--porcelain", cwd=root) == ""
        assert load_settings(root) == Settings()


def _note_and_sync(registry: Registry, title: str) -> None:
    workspace = registry.named("memory")
    workspace.notes.write(NoteDraft(title))
    synchronise(workspace)
