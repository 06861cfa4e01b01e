"""What plugins of other people raised on this machine, kept for `keeplore doctor`.

The words of an exception may be the person's, so that its kind and place alone are kept.
"""

from __future__ import annotations

import contextlib
import json
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keeplore.text.dates import in_utc, now
from keeplore_hooks import durable, typed_json

FILE = "plugin-failures.json"
KEPT_DAYS = 7
MAX_KEPT = 50


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """``plugin`` is the name of its entry point, ``point`` the extension point, "" for loading it;
    ``at`` RFC 3339.
    """

    plugin: str
    point: str
    error: str
    at: str


def error_kind_and_place(error: BaseException) -> str:
    """The kind of an exception and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = (
        f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    )
    return f"{type(error).__name__}{where}"


def note_failure(state: Path, plugin: str, point: str, error: BaseException) -> None:
    """Store the failure, replacing the last one of the same plugin and extension point. A full disk
    loses only this record.
    """
    kept = {(failure.plugin, failure.point): failure for failure in failures(state)}
    kept.pop((plugin, point), None)
    kept[plugin, point] = PluginFailure(
        plugin, point, error_kind_and_place(error), now()
    )
    data = [asdict(failure) for failure in list(kept.values())[-MAX_KEPT:]]
    with contextlib.suppress(OSError):
        durable.write(state / FILE, json.dumps(data, indent=2).encode())


def failures(state: Path) -> Iterator[PluginFailure]:
    """The failures of the last days, the oldest first."""
    since = in_utc(datetime.now(UTC) - timedelta(days=KEPT_DAYS))
    found = typed_json.load(state / FILE, list[PluginFailure]) or []
    return (failure for failure in found if failure.at >= since)
