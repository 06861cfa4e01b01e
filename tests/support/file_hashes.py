"""What lies below a directory, to see that nothing of it was changed."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digests(root: Path) -> dict[str, str]:
    """Every file below, git's own too: path → SHA-256."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
