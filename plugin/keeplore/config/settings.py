"""``keeplore.yaml``: what a workspace is set to. Every key has a default; the template shows each
with a comment.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from keeplore.config.capture_choice import CaptureRule, CaptureRules
from keeplore.config.consent import server_of
from keeplore.config.engine_settings import EngineSettings, check_engine
from keeplore.config.feedback_settings import FeedbackSettings
from keeplore.config.settings_yaml import RepeatedKey, parsed_yaml
from keeplore.config.yaml_edit import line_of
from keeplore.errors import ConfigError
from keeplore_hooks.hosts.jsonl import open_regular

FILE = "keeplore.yaml"
MAX_FILE = 16 * 1024  # bytes
SCHEMA = 1
MAX_BRANCH = 200  # characters
MAX_MINUTES = 24 * 60
MAX_TIMEOUT_S = 240  # for one answer or document; shorter than the lease of a job
MAX_LEASE_MINUTES = 60
_RANGES = {
    "context.brief_tokens": (0, 3_000),
    "context.prompt_tokens": (0, 3_000),
    "context.threshold": (0, 1),
    "context.related": (0, 3),
    "context.deadline_ms": (20, 250),  # the client waits for 300
    "documents.megabytes": (1, 100),
    "documents.seconds": (1, MAX_TIMEOUT_S),
    "llm.timeout_s": (1, MAX_TIMEOUT_S),
    "refine.confidence": (0, 1),
    "refine.lasting": (0, 1),
    "recall.threshold": (0, 1),
    "recall.graph_boost": (0, 2),
    "recall.feedback_boost": (0, 2),
    "recall.half_life_days": (1, 3_650),
    "feedback.delta": (0, 1),
    "feedback.ceiling": (1, 10),
    "feedback.fade": (0, 1),
    "feedback.every": (1, 100),
    "feedback.grace_days": (0, 3_650),
    "feedback.floor": (0, 1),
    "sync.every_minutes": (1, MAX_MINUTES),
    "tidy.archive_after_days": (0, 3_650),
    "worker.idle_minutes": (1, MAX_MINUTES),
    "worker.lease_minutes": (5, MAX_LEASE_MINUTES),
    "worker.look_seconds": (1, 300),
}
_WANTED = {
    bool: "true or false",
    str: "a text",
    int: "a whole number",
    float: "a number",
    tuple: "a list of texts",
    dict: "a list of models and their prices",
}
_FINGERPRINT = re.compile(r"[a-z0-9-]{1,40}:[0-9a-f]{6}\Z")
_PROVIDER = re.compile(r"[a-z0-9-]{0,40}\Z")
# it also becomes an argument of a command
_MODEL = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199})?\Z")
_NAME = re.compile(r"[a-z0-9._-]{0,63}\Z")
# as `git check-ref-format --branch` has it, but for a name that is a commit's id
_BRANCH = re.compile(
    r"(?![-/.])(?!.*(?:\.\.|//|@\{|/\.|\.lock(?:/|$)))[^\x00-\x20\x7f~^:?*\[\\]+(?<![/.])"
)


class RefineMode(StrEnum):
    """What becomes of what a language model proposes."""

    SHADOW = "shadow"  # written into the audit alone
    CONTROLLED = "controlled"  # notes are added, none is changed
    FULL = "full"
    FROZEN = "frozen"  # nothing is asked


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """What of a session is written down."""

    enabled: bool = True
    notes: bool = True
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()

    @property
    def rules(self) -> CaptureRules:
        """Both lists as rules. Raises ValueError."""
        exclude, include = (
            tuple(map(CaptureRule.parse, texts))
            for texts in (self.exclude, self.include)
        )
        return CaptureRules(exclude, include)


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What agents are given unasked. The defaults are measured, see docs/benchmarks.md."""

    enabled: bool = True
    brief_tokens: int = 1_200
    prompt_tokens: int = 400
    threshold: float = 0.95
    deadline_ms: int = 200
    before_edit: bool = False
    related: int = 0


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """How large a file or page may be to be ingested, and how long reading it may take."""

    megabytes: int = 10
    seconds: int = 30

    @property
    def bytes(self) -> int:
        return self.megabytes * 1_000_000


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """The model that turns text into vectors: ``packaged``, a directory, a name of fastembed's
    list, or a server's.
    """

    model: str = "packaged"


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """What a million tokens cost, in any currency; ``cached`` ones, which the server still had,
    cost as much as ``input`` if not set.
    """

    input: float = 0.0
    output: float = 0.0
    cached: float = 0.0


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The language model that refines, and what may be spent on it; off while ``provider`` is
    empty.
    """

    provider: str = ""
    model: str = ""
    base_url: str = ""
    timeout_s: float = 120.0
    daily_tokens: int = 200_000
    monthly_tokens: int = 4_000_000
    prices: Mapping[str, TokenPrice] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RefineSettings:
    """What becomes of the notes that a language model proposes; nothing is asked where none
    is set.
    """

    mode: str = "controlled"
    confidence: float = 0.7
    lasting: float = 0.9
    aspects: bool = False


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """The score from which memories are shown, and what decides beside their words which one comes
    first.
    """

    threshold: float = 0.2
    graph: bool = False
    graph_boost: float = 0.6
    feedback: bool = True
    feedback_boost: float = 0.3
    half_life_days: int = 90


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """Whether commits are pushed and fetched in the background where the workspace has a remote,
    and how often other machines' are looked for where nothing is pushed.
    """

    automatic: bool = True
    every_minutes: int = 5


@dataclass(frozen=True, slots=True)
class TidySettings:
    """Whether the worker tidies by itself, and what is archived then; 0 days for nothing."""

    nightly: bool = False
    archive_after_days: int = 0


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How long the worker of a machine stays when there is nothing to do, and a job is its own; how
    often it looks at files whose changes nobody tells of. The home workspace's hold.
    """

    idle_minutes: int = 15
    lease_minutes: int = 5
    look_seconds: int = 10


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    """What is redacted besides secrets, as RE2 patterns, and which fingerprints of secrets are left
    as they are.
    """

    deny: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole file."""

    schema: int = SCHEMA
    name: str = ""
    branch: str = "main"
    inherits: tuple[str, ...] = ()
    wikilinks: bool = False
    frozen: bool = False
    capture: CaptureSettings = CaptureSettings()
    context: ContextSettings = ContextSettings()
    documents: DocumentSettings = DocumentSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    index: EngineSettings = field(default_factory=EngineSettings)
    llm: LlmSettings = LlmSettings()
    refine: RefineSettings = RefineSettings()
    recall: RecallSettings = RecallSettings()
    feedback: FeedbackSettings = field(default_factory=FeedbackSettings)
    sync: SyncSettings = SyncSettings()
    tidy: TidySettings = TidySettings()
    worker: WorkerSettings = WorkerSettings()
    redaction: RedactionSettings = RedactionSettings()

    @property
    def refine_mode(self) -> str:
        """``refine.mode``, but where nothing at all is written."""
        return RefineMode.FROZEN if self.frozen else self.refine.mode

    @property
    def syncs_itself(self) -> bool:
        """Whether it is exchanged with its remote in the background."""
        return self.sync.automatic and not self.frozen

    @property
    def counts_use(self) -> bool:
        """Whether what was told and used is written down."""
        return self.recall.feedback and not self.frozen


def load_settings(root: Path) -> Settings:
    """Read what a workspace's own file says, the same on every machine.

    Raises ConfigError that names the key and what is wrong with it, or that the directory is no
    workspace.
    """
    path = root / FILE
    return filled_settings(Settings(), _text(path), path)


def parse_settings(path: Path, text: bytes) -> Any:
    """The value of YAML text; an empty mapping where it is empty. Raises ConfigError that names
    ``path``.
    """
    try:
        data = parsed_yaml(text)
    except RepeatedKey as e:
        place = f"{path}, line {e.line}"
        raise ConfigError(f"{place}: {e}", "Join the two, or remove one") from e
    except (yaml.YAMLError, ValueError) as e:
        raise ConfigError(
            f"{path} is no YAML: {' '.join(str(e).split())}", "Mend that line"
        ) from e
    return {} if data is None else data


def filled_settings(below: Settings, text: bytes, path: Path) -> Settings:
    """``below`` with what the text of a file says over it. Raises ConfigError that names the file,
    the line and the key.
    """
    data = parse_settings(path, text)
    try:
        settings: Settings = _with_overrides(below, data, "")
        _check(settings)
    except ValueError as e:
        line = line_of(text.decode(), str(e))
        place = f"{path}, line {line}" if line else str(path)
        raise ConfigError(
            f"{place}: {e}", "Mend or remove that key; a newer Keeplore may know it"
        ) from e
    return settings


def setting_keys() -> dict[str, Any]:
    """Every key, such as ``context.threshold``, with its built-in value."""
    return flat_settings(Settings())


def flat_settings(settings: Settings) -> dict[str, Any]:
    """Every key with its value."""
    values: dict[str, Any] = {}
    for part in dataclasses.fields(settings):
        section = getattr(settings, part.name)
        if not dataclasses.is_dataclass(section):
            values[part.name] = section
            continue
        for key in dataclasses.fields(section):
            values[f"{part.name}.{key.name}"] = getattr(section, key.name)
    return values


def did_you_mean(key: str) -> str:
    """The hint `` (did you mean …?)`` for an unknown key; "" where no key is close to it."""
    keys = list(setting_keys())
    name = key.rpartition(".")[2]
    in_other_sections = [known for known in keys if known.rpartition(".")[2] == name]
    near = in_other_sections or difflib.get_close_matches(key, keys, 1)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def _text(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            text: bytes = file.read(MAX_FILE + 1)
    except OSError as e:
        what = f"{path.parent} is no workspace"
        if e.errno is None:  # the disk refused nothing: it is a folder or a pipe
            raise ConfigError(
                f"{what}: its {path.name} is no file",
                "Move it away; take yours from git, or run `keeplore init DIR`",
            ) from e
        raise ConfigError(f"{what}: {path.name} cannot be read", _remedy(path)) from e
    if len(text) > MAX_FILE:
        raise ConfigError(
            f"{path} is larger than {MAX_FILE} bytes", "Compare it with the template"
        )
    return text


def _remedy(path: Path) -> str:
    """How a settings file comes back that is gone."""
    root, is_git = shlex.quote(str(path.parent)), (path.parent / ".git").exists()
    back = f"`git -C {root} checkout -- {path.name}` brings it back; " if is_git else ""
    return f"{back}`keeplore init {root}` makes one with what is built in"


def _with_overrides(default: Any, data: Any, key: str) -> Any:
    """``default`` with what the file says; a section is filled key by key. Raises ValueError that
    names the key.
    """
    if dataclasses.is_dataclass(default) and not isinstance(default, type):
        return _filled_section(default, data, key)
    if isinstance(default, dict) and isinstance(data, Mapping):
        return _prices(data, key)
    if isinstance(default, tuple) and _is_list_of_texts(data):
        return tuple(data)
    if isinstance(default, float) and type(data) is int:
        return float(data)
    if type(data) is not type(default):
        raise ValueError(f"{key}: it should be {_WANTED[type(default)]}")
    return data


def _filled_section(default: Any, data: Any, key: str) -> Any:
    """A section, the defaults standing for what ``data`` leaves out. Raises ValueError."""
    if data is None:  # all of its keys are commented out
        return default
    if not isinstance(data, Mapping):
        raise ValueError(
            f"{key or 'the file'}: it should be a list of keys and their values"
        )
    known = {
        field.name: getattr(default, field.name)
        for field in dataclasses.fields(default)
    }
    inside = {name: f"{key}.{name}" if key else str(name) for name in data}
    for name, place in inside.items():
        if name not in known:
            raise ValueError(f"{place}: there is no such key{did_you_mean(place)}")
    filled = {
        name: _with_overrides(known[name], value, inside[name])
        for name, value in data.items()
    }
    return dataclasses.replace(default, **filled)


def _is_list_of_texts(data: Any) -> bool:
    return isinstance(data, list) and all(isinstance(item, str) for item in data)


def _prices(data: Mapping[Any, Any], key: str) -> dict[str, TokenPrice]:
    return {str(name): _price(price, f"{key}.{name}") for name, price in data.items()}


def _price(data: Any, key: str) -> TokenPrice:
    price: TokenPrice = _with_overrides(TokenPrice(), data, key)
    return (
        price
        if data and "cached" in data
        else dataclasses.replace(price, cached=price.input)
    )


def _check(settings: Settings) -> None:
    if settings.schema > SCHEMA:
        raise ValueError(
            f"schema: {settings.schema} is of a newer Keeplore; this one knows {SCHEMA}"
        )
    _check_workspace(settings)
    values = flat_settings(settings)
    for key, (least, most) in _RANGES.items():
        if not least <= values[key] <= most:
            raise ValueError(f"{key}: it should be {least} to {most}")
    _check_rules(settings.capture)
    check_engine(settings.index)
    _check_llm(settings.llm)
    if settings.refine.mode not in list(RefineMode):
        raise ValueError(f"refine.mode: it should be one of {', '.join(RefineMode)}")
    _check_allowed(settings.redaction)


def _check_workspace(settings: Settings) -> None:
    if not _NAME.match(settings.name):
        raise ValueError(
            "name: it should be small letters, digits and . _ -, 63 at most"
        )
    if not 0 < len(settings.branch) <= MAX_BRANCH:
        raise ValueError(f"branch: it should have 1 to {MAX_BRANCH} characters")
    if not _BRANCH.fullmatch(settings.branch):
        raise ValueError("branch: git knows no branch of such a name")


def _check_rules(capture: CaptureSettings) -> None:
    for name, rules in (("exclude", capture.exclude), ("include", capture.include)):
        try:
            _ = CaptureSettings(exclude=rules).rules
        except ValueError as e:
            raise ValueError(f"capture.{name}: {e}") from e


def _check_llm(llm: LlmSettings) -> None:
    if not _PROVIDER.match(llm.provider):
        raise ValueError(
            "llm.provider: it should be small letters, digits and -, 40 at most"
        )
    if not _MODEL.match(llm.model):
        raise ValueError(
            "llm.model: it should be the model's name, as its server lists it"
        )
    if llm.base_url:
        try:
            server_of(llm.base_url)
        except ConfigError as e:
            raise ValueError(f"llm.base_url: {e.message}") from e
    _check_llm_limits(llm)


def _check_llm_limits(llm: LlmSettings) -> None:
    if min(llm.daily_tokens, llm.monthly_tokens) < 0:
        raise ValueError(
            "llm.daily_tokens, llm.monthly_tokens: neither can be negative; 0 means no limit"
        )
    for name, price in llm.prices.items():
        if not all(0 <= value < math.inf for value in dataclasses.astuple(price)):
            raise ValueError(f"llm.prices.{name}: a price should be 0 or more")


def _check_allowed(redaction: RedactionSettings) -> None:
    for fingerprint in redaction.allow:
        if not _FINGERPRINT.match(fingerprint):
            raise ValueError(
                f"redaction.allow: {fingerprint!r} should be a kind and six digits, like "
                f"api-key:12ab34"
            )
