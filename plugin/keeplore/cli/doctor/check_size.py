"""Is a workspace's text larger than what people write, and what makes it so?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from keeplore.cli.doctor.finding import DoctorFinding, note
from keeplore.memory.location import location_of
from keeplore.store.files import FileState
from keeplore.text.counts import size_text

LARGE = 500_000_000  # bytes of text: some 100,000 conversations
LARGE_FILE = 1_000_000  # bytes
SHOWN = 3  # projects and files


def size_findings(part: str, files: Sequence[FileState]) -> Iterator[DoctorFinding]:
    """Which projects and files take most, where all files together are larger than
    ``LARGE`` bytes.
    """
    total = sum(file.size for file in files)
    if total <= LARGE:
        return
    projects: Counter[str] = Counter()
    for file in files:
        projects[location_of(file.path).project or "no project"] += file.size
    most = [f"{name} {size_text(size)}" for name, size in projects.most_common(SHOWN)]
    greatest = sorted(files, key=lambda file: (-file.size, file.path))[:SHOWN]
    sizes = [f"{file.path} {size_text(file.size)}" for file in greatest]
    count = sum(file.size > LARGE_FILE for file in files)
    yield note(
        part,
        f"the text takes {size_text(total)} in {len(files):,} files, {count} of them over "
        f"{size_text(LARGE_FILE)}; most in {', '.join(most)}; largest {', '.join(sizes)}",
        "`keeplore archive --larger-than 50kB` shows what could be put aside, "
        "`keeplore exclude` leaves a project out, `tidy.archive_after_days` lets old text leave",
    )
