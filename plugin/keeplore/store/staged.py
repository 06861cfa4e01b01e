"""What git's index holds of our files: the content that the next commit will have, whatever is on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store.git import output, run
from keeplore.store.paths import is_ours


def staged(root: Path, index_file: str = "") -> dict[str, bytes | None]:
    """Path and content of every regular file of ours that is staged; None for one that is too large.

    ``index_file`` is git's index where a commit of some paths alone uses another. Raises RepositoryError.
    """
    environment = {"GIT_INDEX_FILE": index_file} if index_file else {}
    arguments = ("diff", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--diff-filter=ACMT")
    raw = output(root, *arguments, environment=environment).items
    blobs = {}
    for about, path in zip(raw[::2], raw[1::2], strict=False):
        _, mode, _, blob, _ = about.split(" ")
        if mode.startswith("100") and is_ours(path):
            blobs[path] = blob
    contents = dict(_contents(root, {*blobs.values()}))
    found: dict[str, bytes | None] = {path: contents.get(blob) for path, blob in blobs.items()}
    for path in _filtered(root, [*blobs]):
        done = run(root, "cat-file", "--filters", f"--path={path}", blobs[path])
        found[path] = done.out if done.code == 0 and len(done.out) <= MAX_FILE else None
    return found


def _contents(root: Path, blobs: set[str]) -> Iterator[tuple[str, bytes]]:
    asked = "".join(f"{blob}\n" for blob in blobs)
    sizes = output(root, "cat-file", "--batch-check", stdin=asked.encode()).text if blobs else ""
    small = [line.split(" ")[0] for line in sizes.splitlines() if int(line.split(" ")[2]) <= MAX_FILE]
    if not small:
        return
    out = output(root, "cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in small).encode()).out
    position = 0
    while position < len(out):
        end = out.index(b"\n", position)
        blob, _, size = out[position:end].decode().split(" ")
        yield blob, out[end + 1 : end + 1 + int(size)]
        position = end + 2 + int(size)


def _filtered(root: Path, paths: list[str]) -> list[str]:
    """Paths whose content in git is not the text itself, as with git-crypt."""
    if not paths:
        return []
    asked = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    told = output(root, "check-attr", "-z", "--stdin", "filter", stdin=asked).items
    values: Mapping[str, str] = dict(zip(told[::3], told[2::3], strict=False))
    return [path for path in paths if values.get(path, "unspecified") not in ("unspecified", "unset")]
