"""What a question is answered with."""

from datetime import UTC, datetime

import pytest

from keeplore.recall.prepare import age_days

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "days"),
    [
        ("2026-05-01T12:00:00Z", 0.0),
        ("2026-04-30T12:00:00Z", 1.0),
        ("2026-04-30T12:00:00", 1.0),
        ("2026-04-30T12:00:00+12:00", 1.5),
        ("2025-05-01", 365.5),
        ("2026-05-02T12:00:00Z", 0.0),
        ("long ago", 3650.0),
        ("", 3650.0),
    ],
)
def test_an_age_is_told_in_days(at: str, days: float) -> None:
    assert age_days(at, NOW) == days
