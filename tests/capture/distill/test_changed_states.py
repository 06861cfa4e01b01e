"""Remarks that settle something as the agent's next words tell: how a thing was, and is now."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"


def settled(told: str, message: str, answer: str) -> list[str]:
    asked = "Please look at the module and tell me what you see there."
    talk = [
        Exchange("t-0", AT, asked, (told,)),
        Exchange("t-1", AT, message, (answer,)),
    ]
    parts = distill(talk)
    return [quote.text for quote in (*parts["decision"], *parts["also_decided"])]


@pytest.mark.parametrize(
    ("told", "message", "answer"),
    [
        (
            "It caches for 24 hours.",
            "prices change hourly",
            "The cache lives for one hour now.",
        ),
        (
            "The error is swallowed there.",
            "let it bubble up, the middleware handles it",
            "The handler no longer catches the error.",
        ),
        (
            "It sends one mail for every comment.",
            "collect them into one per day",
            "It sends a daily digest now.",
        ),
        (
            "The build runs on Node 16.",
            "16 is eol, use the one from .nvmrc",
            "The build reads `.nvmrc` (20.11) now.",
        ),
        (
            "I made the field optional.",
            "must be mandatory, legal wants it",
            "`birth_date` is mandatory now.",
        ),
        (
            "I'll paginate with offset.",
            "cursor, offsets drift",
            "It uses cursor pagination now.",
        ),
        (
            "I wrote the migration as one step.",
            "two, or we get downtime",
            "Split into two migrations.",
        ),
        (
            "Der Cache hält 24 Stunden.",
            "Preise ändern sich stündlich",
            "Der Cache hält jetzt eine Stunde.",
        ),
        (
            "Ich habe die Klasse `DataHandler` genannt.",
            "schlechter Name, es ist ein Parser",
            "Umbenannt in `FeedParser`.",
        ),
        (
            "La caché dura 24 horas.",
            "los precios cambian cada hora",
            "La caché dura ahora una hora.",
        ),
        (
            "Le cache dure 24 heures.",
            "les prix changent toutes les heures",
            "Le cache dure maintenant une heure.",
        ),
        (
            "O cache dura 24 horas.",
            "os preços mudam a cada hora",
            "O cache agora dura uma hora.",
        ),
        ("缓存24小时。", "价格每小时变一次", "缓存现在是一小时。"),
        (
            "キャッシュは24時間です。",
            "価格は毎時変わる",
            "キャッシュを1時間に変更しました。",
        ),
    ],
)
def test_a_remark_is_decided_with_what_is_otherwise_now(
    told: str, message: str, answer: str
) -> None:
    assert settled(told, message, answer) == [f"{message} → {answer}"]


@pytest.mark.parametrize(
    ("told", "message", "answer"),
    [
        (
            "The list shows all orders.",
            "the list is empty for me",
            "The list shows all orders now.",
        ),
        (
            "The tests for the parser fail.",
            "they passed yesterday",
            "The parser tests pass now.",
        ),
        (
            "The deploy waits for a key.",
            "I put it in 1Password",
            "The deploy has its key now.",
        ),
        (
            "I added the endpoint.",
            "still 404 on staging",
            "The endpoint is registered in staging now.",
        ),
        (
            "I added the endpoint.",
            "my colleague pushed to main",
            "I rebased; the branch has your colleague's endpoint now.",
        ),
        (
            "I added the endpoint.",
            "where is it documented?",
            "The endpoint is documented in `docs/api.md` now.",
        ),
        (
            "It fetches messages after the last id.",
            "sometimes they appear twice now",
            "Messages are matched by id now.",
        ),
        (
            "Les commentaires ne sont pas exportés.",
            "il manque les commentaires",
            "Les commentaires sont maintenant dans `comments.json`.",
        ),
        (
            "The pool has 20 connections.",
            "load test passed, 52 connections max.",
            "The pool is merged now.",
        ),
        (
            "The chart uses weekly data.",
            "nice, the numbers match mine",
            "The chart is final now.",
        ),
        (
            "The pull request has conflicts.",
            "umm, there are changes in our working copy",
            "The pull request should be clean now.",
        ),
    ],
)
def test_trouble_news_and_praise_settle_nothing(
    told: str, message: str, answer: str
) -> None:
    assert settled(told, message, answer) == []


def test_a_fact_answers_a_choice_where_the_reply_is_of_both() -> None:
    asked = "Should old records be archived or deleted?"
    message = "law says we keep them 10 years"
    answer = "They're archived to cold storage, with a retention of 10 years."
    assert settled(asked, message, answer) == [f"{asked} → {message}"]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("Tests use a real Postgres.", "keep that, mocks have bitten us"),
        ("There's a debug banner on staging.", "leave it, QA uses it"),
        ("The export includes deleted users.", "gdpr... leave them out"),
        ("It needs a service account.", "use the one from billing"),
        ("Die Suche braucht einen Index.", "haben wir keinen, lass das weg"),
        ("Der Debug-Banner ist noch auf Staging.", "lass ihn drin, QA braucht ihn"),
        ("El banner de depuración sigue en staging.", "déjalo, QA lo usa"),
        ("La bannière de debug est en staging.", "laisse-la, la QA en a besoin"),
        ("O banner de debug ainda está em staging.", "deixa assim, o QA usa"),
    ],
)
def test_an_order_about_it_stands_behind_what_was_told(told: str, message: str) -> None:
    assert settled(told, message, "OK.") == [f"{told} → {message}"]


@pytest.mark.parametrize(
    ("told", "decided"),
    [
        (
            "The rule `no-console` fails in 14 files.",
            "The rule `no-console` fails in 14 files. → disable it for scripts/",
        ),
        (  # too long to tell what "it" is
            "Red is used. Green is used too. Blue is not. The rule fails in 14 files.",
            "disable it for scripts/",
        ),
    ],
)
def test_it_is_looked_for_in_a_short_reply_alone(told: str, decided: str) -> None:
    answer = "Disabled for `scripts/`."
    assert settled(told, "disable it for scripts/", answer) == [decided]
