"""The size alarm names what takes the room."""

from keeplore.cli.doctor.check_size import size_findings
from keeplore.store.files import FileState


def file(path: str, size: int) -> FileState:
    return FileState(path, 0, size, 0)


def test_large_text_is_told_with_the_projects_and_files_that_take_most() -> None:
    files = [
        file("projects/shop/memory/documents/a.md", 300_000_000),
        file("projects/site/memory/documents/b.md", 250_000_000),
        file("memory/facts/c.md", 10_000),
    ]
    (found,) = size_findings("memory file", files)
    assert found.message == (
        "the text takes 550.0 MB in 3 files, 2 of them over 1.0 MB; most in shop 300.0 MB, "
        "site 250.0 MB, no project 10 kB; largest projects/shop/memory/documents/a.md 300.0 MB, "
        "projects/site/memory/documents/b.md 250.0 MB, memory/facts/c.md 10 kB"
    )
    assert "keeplore archive --larger-than 50kB" in found.remedy
    assert [*size_findings("memory file", files[:1])] == []
