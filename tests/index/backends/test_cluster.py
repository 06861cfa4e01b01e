"""A Qdrant cluster of three nodes, each point in two of them, loses a node by SIGKILL while it is
written and read.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.engine_servers import Cluster

from keeplore.errors import EngineUnavailable
from keeplore.index import Index, ScopeFilter
from keeplore.memory import Memory
from keeplore_hooks.contracts import EngineMaker

NOTES = 120
KILLED_AFTER = 40  # notes; the rest is written while a node is missing


def test_no_point_is_lost_and_searches_go_on_when_a_node_is_killed(
    cluster: Cluster,
    make_engine: Callable[[str, str], EngineMaker],
    files: Any,
    embedder: Any,
    make_note: Callable[..., Memory],
    tmp_path: Path,
) -> None:
    maker = make_engine("qdrant", ",".join(cluster.urls))
    index = Index(tmp_path / "index", files, embedder, engine=maker)
    first = make_note("Note 0", "about the first theme")
    files.put(first)
    index.refresh()
    assert index.embed_pending() == 0
    answers: list[list[str]] = []
    is_over = threading.Event()

    def read() -> None:
        vector = embedder.embed(["note 0 about the first theme"])[0]
        while not is_over.is_set():
            with contextlib.suppress(
                EngineUnavailable
            ):  # on a busy machine; then it is asked again
                found = index.vector_search(vector, ScopeFilter(), 1, is_patient=True)
                answers.append(
                    [
                        row.memory_id
                        for row in index.passages([match.passage for match in found])
                    ]
                )

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(1, NOTES):
        files.put(make_note(f"Note {n}", f"about theme{n} of many"))
        if n == KILLED_AFTER:
            cluster.kill(0)  # the node that was asked so far
            before = len(answers) + 1  # one may have been on its way
        if n % 20 == 0 or n == NOTES - 1:
            index.refresh()
            assert index.embed_pending() == 0
    while len(answers) <= before:  # searches go on
        assert reader.is_alive()
        reader.join(0.05)
    is_over.set()
    reader.join()
    assert [answer for answer in answers if answer != [first.id]] == []
    assert index.state().vectors == NOTES
    assert [
        *index.flaws()
    ] == []  # all that was written is there, so it is without the node
    index.close()
    again = Index(
        tmp_path / "index", files, embedder, engine=maker
    )  # with the nodes that are left
    for n in (KILLED_AFTER - 1, KILLED_AFTER, NOTES - 1):
        [best, *_] = again.text_search(f"theme{n}", ScopeFilter(), 3, is_patient=True)
        assert again.passages([best.passage])[0].title == f"Note {n}"
    assert again.note == ""
    again.close()
