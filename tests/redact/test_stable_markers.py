"""What stands in the place of a secret, by which an owner allows it: the same on every machine."""

from __future__ import annotations

from keeplore.redact.rules import marker


def test_a_marker_has_the_kind_and_six_digits_where_there_is_a_key() -> None:
    assert marker("token", b"secret", b"") == b"[REDACTED:token]"
    assert marker("token", b"secret", b"key") == b"[REDACTED:token:25cf3c]"
    assert marker("token", b"secret", b"other") != marker("token", b"secret", b"key")
