"""How this program was installed, and so how it is upgraded and given an extra: nothing here asks
the network.
"""

from __future__ import annotations

import importlib.metadata
import json
import shlex
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "keeplore"


class Installer(StrEnum):
    PIPX = "pipx"
    UV_TOOL = "uv tool"
    UV = "uv pip"
    PIP = "pip"


@dataclass(frozen=True, slots=True)
class InstallMethod:
    """``source`` is where it was installed from: a directory, an address, or its name alone."""

    installer: Installer
    source: str
    is_editable: bool
    python: str

    def command(self, extra: str = "") -> str:
        """What installs it again from its source, with an extra if one is named."""
        requirement = shlex.quote(f"{self.source}[{extra}]" if extra else self.source)
        requirement = f"-e {requirement}" if self.is_editable else requirement
        python = shlex.quote(self.python)
        return {
            Installer.PIPX: f"pipx install --force {requirement}",
            Installer.UV_TOOL: f"uv tool install --reinstall {requirement}",
            Installer.UV: f"uv pip install --python {python} --upgrade {requirement}",
            Installer.PIP: f"{python} -m pip install --upgrade {requirement}",
        }[self.installer]

    def upgrade_commands(self) -> list[str]:
        """What upgrades it, in this order."""
        is_checkout = (Path(self.source) / ".git").exists()
        pull = [f"git -C {shlex.quote(self.source)} pull"] if is_checkout else []
        return [*pull, self.command()]


def install_method() -> InstallMethod:
    """How the program that runs was installed."""
    environment = Path(sys.prefix)
    source, is_editable = _source()
    installer = (
        Installer.UV if _installer_note("INSTALLER").strip() == "uv" else Installer.PIP
    )
    if (environment / "pipx_metadata.json").is_file():
        installer = Installer.PIPX
    elif (environment / "uv-receipt.toml").is_file():
        installer = Installer.UV_TOOL
    return InstallMethod(installer, source, is_editable, sys.executable)


def install_hint(extra: str) -> str:
    """The next step where an extra is missing."""
    return f"Run `{install_method().command(extra)}`"


def _source() -> tuple[str, bool]:
    """Where the installation came from, and whether it runs from there."""
    try:
        noted = json.loads(_installer_note("direct_url.json") or "{}")
        url = str(noted.get("url", ""))
        is_editable = bool(noted.get("dir_info", {}).get("editable"))
        if "vcs_info" in noted:
            return f"{noted['vcs_info']['vcs']}+{url}", is_editable
    except (ValueError, LookupError, AttributeError, TypeError):
        return NAME, False
    if url.startswith("file:"):
        return unquote(urlsplit(url).path), is_editable
    return url or NAME, is_editable


def _installer_note(name: str) -> str:
    """What the installer wrote beside the program, "" where nothing is known."""
    try:
        return importlib.metadata.distribution(NAME).read_text(name) or ""
    except (importlib.metadata.PackageNotFoundError, OSError, UnicodeDecodeError):
        return ""
