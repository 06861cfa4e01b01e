"""What is told to whoever lacks a part depends on how the program was installed."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from keeplore.config import install_method
from keeplore.config.install_method import install_hint
from keeplore.errors import SourceRefused
from keeplore.ingest import markup
from keeplore.ingest.decode import decoded

EDITABLE = json.dumps({"url": "file:///src/keep%20it", "dir_info": {"editable": True}})
COPY = json.dumps({"url": "file:///src", "dir_info": {}})
VCS = json.dumps({"url": "https://x.example/k", "vcs_info": {"vcs": "git"}})


@pytest.mark.parametrize(
    ("marker", "noted", "command"),
    [
        ("", {}, "PYTHON -m pip install --upgrade 'keeplore[pdf]'"),
        (
            "",
            {"INSTALLER": "uv\n"},
            "uv pip install --python PYTHON --upgrade 'keeplore[pdf]'",
        ),
        (
            "",
            {"direct_url.json": EDITABLE},
            "PYTHON -m pip install --upgrade -e '/src/keep it[pdf]'",
        ),
        (
            "pipx_metadata.json",
            {"direct_url.json": COPY},
            "pipx install --force '/src[pdf]'",
        ),
        (
            "uv-receipt.toml",
            {"direct_url.json": VCS},
            "uv tool install --reinstall 'git+https://x.example/k[pdf]'",
        ),
        (
            "",
            {"direct_url.json": "[1]"},
            "PYTHON -m pip install --upgrade 'keeplore[pdf]'",
        ),
    ],
)
def test_an_extra_is_added_the_way_the_program_was_installed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    marker: str,
    noted: dict[str, str],
    command: str,
) -> None:
    class Noted:
        def read_text(self, name: str) -> str | None:
            return noted.get(name)

    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Noted())
    monkeypatch.setattr(sys, "executable", "PYTHON")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    if marker:
        (tmp_path / marker).touch()
    assert install_hint("pdf") == f"Run `{command}`"


def _without(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    monkeypatch.setattr(install_method, "_source", lambda: ("keeplore", False))
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.parametrize(
    ("module", "read", "extra"),
    [
        ("trafilatura", lambda: markup.from_html(b"<p>a", ""), "pages"),
        ("lxml", lambda: markup.from_xml(b"<a/>", ""), "pages"),
        ("pypdf", lambda: markup.from_pdf(b"%PDF-", ""), "pdf"),
        ("charset_normalizer", lambda: decoded(b"caf\xe9 " * 9), "pages"),
    ],
)
def test_a_document_whose_reader_is_missing_is_refused_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, read: Any, extra: str
) -> None:
    _without(monkeypatch, module)
    with pytest.raises(SourceRefused, match=rf"'keeplore\[{extra}\]'"):
        read()
