"""Where the files stand that ``keeplore init`` lays down."""

from __future__ import annotations

from pathlib import Path

from keeplore.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parents[2]
# an installed wheel carries the template inside the package; in a checkout it stands at the top,
# where people see it
_PLACES = (_PACKAGE / "workspace_template", _PACKAGE.parents[1] / "workspace_template")


def template_dir() -> Path:
    """The directory whose files a new workspace starts with.

    Raises ConfigError where the installation lacks it.
    """
    for place in _PLACES:
        if (place / "keeplore.yaml").is_file():
            return place
    raise ConfigError(f"the workspace template is not at {_PLACES[0]}", "Install keeplore again")
