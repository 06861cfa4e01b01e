"""Which settings of an engine are refused, and in which words."""

from __future__ import annotations

import re

import pytest

from keeplore.config.engine_settings import EngineSettings, check_engine

URL = "postgresql://db.example.com:5432/keeplore?sslmode=require"
BACKEND = "index.backend: it should be small letters, digits and -, 40 at most"
NAME = "index.name: it should be small letters, digits and _, 40 at most, and none other's there"
PLAIN = "index.url: it should be an address of 500 plain characters at most"
ADDRESS = "index.url: it should be an address like postgresql://db.example.com/keeplore"
SECRET = (
    "index.url: passwords and keys belong into the environment, see docs/scaling.md"
)


@pytest.mark.parametrize(
    "engine",
    [
        EngineSettings(),
        EngineSettings("embedded", "nonsense", "No Name"),
        EngineSettings("postgres", URL, "team_1"),
        EngineSettings(
            "a" * 40, f"{URL},http://other.example.com?host=a&port=1", "a" * 40
        ),
        EngineSettings(
            "postgres",
            "postgresql://x/y?host=a&port=1&sslmode=require&target_session_attrs=any",
            "team",
        ),
        EngineSettings("qdrant", f"http://x/{'a' * 491}", "team"),
    ],
    ids=lambda engine: engine.backend[:9],
)
def test_sound_settings_pass(engine: EngineSettings) -> None:
    check_engine(engine)


@pytest.mark.parametrize(
    ("engine", "flaw"),
    [
        (("Postgres", URL, "team"), BACKEND),
        (("a" * 41, URL, "team"), BACKEND),
        (("postgres\n", URL, "team"), BACKEND),
        (
            ("postgres", URL, ""),
            "index.backend: postgres needs index.name and index.url, set before it",
        ),
        (("postgres", URL, "my-team"), NAME),
        (("postgres", URL, "a" * 41), NAME),
        (("postgres", f"http://x/{'a' * 492}", "team"), PLAIN),
        (("postgres", "http://exämple.com", "team"), PLAIN),
        (("postgres", "http://x/\x7f", "team"), PLAIN),
        (("postgres", f"{URL}, {URL}", "team"), PLAIN),
        (("postgres", "db.example.com", "team"), ADDRESS),
        (("postgres", f"{URL},db.example.com", "team"), ADDRESS),
        (("postgres", "", "team"), ADDRESS),
        (("postgres", "postgresql://a:b@db.example.com", "team"), SECRET),
        (("postgres", f"{URL}&sslkey=/k", "team"), SECRET),
    ],
)
def test_others_are_refused_with_what_they_should_be(
    engine: tuple[str, str, str], flaw: str
) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(flaw)}\Z"):
        check_engine(EngineSettings(*engine))
