"""``keeplore ingest`` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path


def test_each_source_is_told_and_found_and_one_that_fails_keeps_no_other_from_it(
    run, memory: Path, shop: Path, git
) -> None:
    (shop / "guide.md").write_text(
        "# Guide \x1b[31m\x1b]0;title\x07red\n\nThe rollback of a deployment takes four minutes."
    )
    (shop / "picture.png").write_bytes(b"\x89PNG\r\n" + bytes(300))
    done = run(
        "ingest",
        "guide.md",
        "http://127.0.0.1:9/",
        "picture.png",
        "file:///etc/passwd",
        "guide.md",
        cwd=shop,
    )
    assert done.returncode == 1 and "\x1b" not in done.stdout + done.stderr
    assert done.stdout.count("Ingested: Guide red\n  project shop, 1 passage\n") == 1
    told = dict(line.split(": ", 2)[1:] for line in done.stderr.splitlines())
    assert told.keys() == {
        "http://127.0.0.1:9/",
        str(shop / "picture.png"),
        "file:///etc/passwd",
    }
    assert told["http://127.0.0.1:9/"].startswith(
        "127.0.0.1 is not on the public internet. "
    )
    assert told[str(shop / "picture.png")].endswith(
        "Save it as text, markdown, HTML or PDF"
    )
    assert told["file:///etc/passwd"] == (
        "file: is no address of the web. Give the address of a page as `https://host/path`, or "
        "the path of a file"
    )
    assert git("log", "-1", "--format=%s", cwd=memory) == "Ingest a document"
    assert git("status", "--porcelain", cwd=memory) == ""

    found = json.loads(
        run("recall", "how long does a rollback take", "--json", cwd=shop).stdout
    )["hits"]
    assert [(hit["title"], hit["trust"]) for hit in found] == [
        ("Guide red", "document")
    ]
    listed = json.loads(run("ingest", "--status", "--json", cwd=shop).stdout)
    assert sorted(status["state"] for status in listed) == [
        "done",
        "failed",
        "failed",
        "failed",
    ]
    assert found[0]["memory_id"] in {status["id"] for status in listed}

    again = json.loads(run("ingest", "./guide.md", "--json", cwd=shop).stdout)
    assert [(status["what"], status["id"]) for status in again] == [
        ("unchanged", found[0]["memory_id"])
    ]
    shown = run("show", found[0]["memory_id"], cwd=shop).stdout
    assert "trust:  document" in shown and "path ~/code/shop/guide.md" in shown


def test_wishes_that_exclude_one_another_are_refused(run) -> None:
    done = run("ingest", "--status", "a.md")
    assert done.returncode == 2 and "Usage: keeplore ingest" in done.stderr
