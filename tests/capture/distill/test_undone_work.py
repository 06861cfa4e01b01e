"""What the person undid themselves of the agent's work, in the words of different people."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange

ASKED = "can you add retries to the uploader"
DONE = (
    "I added retries with exponential backoff to `uploader.py`, three attempts at most. "
    "The client now waits 200 ms, 400 ms and 800 ms."
)


def talk(*said: tuple[str, str]) -> list[Exchange]:
    return [
        Exchange(f"a-{n}", f"2026-02-09T14:{n:02}:11Z", user, (reply,))
        for n, (user, reply) in enumerate(said)
    ]


def head(*said: tuple[str, str]) -> dict[str, list[str]]:
    parts = distill(talk(*said))
    return {name: [quote.text for quote in quotes] for name, quotes in parts.items()}


@pytest.mark.parametrize(
    "message",
    [
        "I reverted that, the gateway already retries",
        "nevermind, i undid your changes as the gateway retries",
        "I've rolled back the retries, we'd get nine attempts",
        "i already threw it out. the gateway retries",
        "Ich habe deine Änderungen rückgängig gemacht, das Gateway wiederholt schon",
        "j'ai annulé tes changements, la passerelle réessaie déjà",
        "revertí tus cambios, el gateway ya reintenta",
        "desfiz as suas mudanças, o gateway já repete",
        "変更を元に戻しました。ゲートウェイが再試行します",
        "我把你的改动撤销了，网关已经会重试",
    ],
)
def test_what_the_person_undid_is_decided_and_no_outcome(message: str) -> None:
    of = head((ASKED, DONE), (message, "Understood, it stays as it was."))
    (line,) = of["decision"] + of["also_decided"]
    asked, _, told = line.partition(" → ")
    assert asked == ASKED
    assert message.startswith(told)
    assert not any("backoff" in text for text in of["outcome"])


def test_what_was_decided_with_the_work_ends_with_it() -> None:
    of = head(
        (
            "move the settings to a toml file",
            "I moved the settings to `settings.toml`.",
        ),
        (
            "I rolled back the toml change, 3.9 has no tomllib. let's stay with json",
            "OK.",
        ),
    )
    assert of["decision"] + of["also_decided"] == [
        "let's stay with json",
        "move the settings to a toml file → I rolled back the toml change, 3.9 has no tomllib.",
    ]


@pytest.mark.parametrize(
    "message",
    [
        "looks good. I also reverted the debug logging I had added",
        "thanks, I undid that last week in the other branch too",
        "I discarded the stash with the old icons",
    ],
)
def test_other_work_of_the_persons_own_undoes_nothing(message: str) -> None:
    of = head((ASKED, DONE), (message, "Good."))
    assert not any("→" in text for text in of["decision"] + of["also_decided"])
    assert any("backoff" in text for text in of["outcome"])


def test_what_was_only_asked_is_not_undone() -> None:
    of = head(
        (
            "why did the deploy fail?",
            "The migration 0042 locks the table for a minute.",
        ),
        ("I reverted the deploy because of the lock. Add a time-out", "I added one."),
    )
    assert not any("→" in text for text in of["decision"] + of["also_decided"])
