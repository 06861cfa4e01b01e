from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keeplore.index import Index, ScopeFilter
from keeplore.memory import Memory
from keeplore.store import create


def test_the_index_reflects_a_real_workspace_and_outlives_its_git(
    tmp_path: Path, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    template = tmp_path / "template"
    template.mkdir()
    (template / "keeplore.yaml").write_text("schema: 1\n")
    store = create(tmp_path / "workspace", template)
    path = store.save(make_note("Tabs", "Indent with tabs."))
    store.commit()
    index = Index(tmp_path / "index", store, embedder)
    index.refresh()
    assert index.problems() == []
    assert index.embed_pending() == 0
    assert index.state().commit == store.head() != ""
    [match] = index.text_search("tabs", ScopeFilter(), 5)
    assert index.passages([match.passage])[0].path == path

    shutil.rmtree(tmp_path / "workspace" / ".git")
    store.save(make_note("Spaces", "Indent with spaces."))
    assert index.refresh().changed == 1
    assert index.state().commit == ""
    assert len(index.text_search("indent", ScopeFilter(), 5)) == 2
    index.close()
