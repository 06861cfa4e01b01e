"""``keeplore.yaml``: what a workspace is set to. Every key has a default; the template shows each with a comment."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from keeplore.errors import ConfigError

FILE = "keeplore.yaml"
MAX_FILE = 16 * 1024  # bytes


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Capture(_Section):
    """What of a session is written down."""

    enabled: bool = True
    notes: bool = True


class Embedding(_Section):
    """The model that turns text into vectors: ``packaged``, a directory, or a name of fastembed's list."""

    model: str = "packaged"


class Sync(_Section):
    """Whether commits are pushed and fetched in the background where the workspace has a remote."""

    automatic: bool = True


class Settings(_Section):
    """The whole file."""

    schema_: int = Field(default=1, alias="schema", le=1)
    name: str = Field(default="", max_length=63, pattern=r"^[a-z0-9._-]*$")
    branch: str = Field(default="main", min_length=1, max_length=200)
    inherits: tuple[str, ...] = ()
    capture: Capture = Capture()
    embedding: Embedding = Embedding()
    sync: Sync = Sync()


def load_settings(root: Path) -> Settings:
    """Read a workspace's settings.

    Raises ConfigError that names the key and what is wrong with it, or that the directory is no workspace.
    """
    path = root / FILE
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE + 1)
    except OSError as e:
        raise ConfigError(f"{root} is no workspace: {path.name} cannot be read", "Run `keeplore init DIR`") from e
    if len(text) > MAX_FILE:
        raise ConfigError(f"{path} is larger than {MAX_FILE} bytes", "Compare it with the template")
    try:
        # the loader in C overflows its stack on hostile nesting; this one raises
        data = yaml.safe_load(text)
        return Settings.model_validate({} if data is None else data)
    except ValidationError as e:
        first = e.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ConfigError(f"{path}: {key}: {first['msg']}", "Mend or remove that key") from e
    except (yaml.YAMLError, RecursionError, ValueError) as e:
        raise ConfigError(f"{path} is no YAML: {' '.join(str(e).split())}", "Mend that line") from e
