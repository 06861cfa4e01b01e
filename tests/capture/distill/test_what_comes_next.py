"""What the work goes on with, and what only sounds like an answer, decides nothing."""

from __future__ import annotations

from time import perf_counter

import pytest

from keeplore.capture.cues import says
from keeplore.capture.distill.decisions import decisions
from keeplore.memory import Exchange

STRATEGIES = "Want me to apply strategy 3 (one context) or 4 (an atom per node) here?"
WAYS = "Two ways:\n\nOption A: a queue\n\nOption B: a cron job\n\nWhich one?"
SUMMARY = "The page is there. Would you like me to add a summary of the changes?"
POINTS = """1. Do you want me to help you set up the products?
2. Which schedule?
   A. linear
   B. cosine
3. Should the trial show a badge?

Tell me and I begin."""


def decided(*said: str) -> list[str]:
    exchanges = [
        Exchange(f"t{n}", "", words, said[2 * n + 1 : 2 * n + 2])
        for n, words in enumerate(said[::2])
    ]
    return [decision.quote.text for decision in decisions(exchanges)]


def answered(question: str, answer: str) -> list[str]:
    return decided("Build the orders page", question, answer, "Done.")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "Shall we preview this layout or proceed with implementing the fetching?",
            "go with the fetching",
        ),
        (
            "Would you like to proceed with scaffolding the menu, or focus on the track next?",
            "lets go with the menu",
        ),
        ("Which part should I tackle next?", "do the login page"),
        ("Which of them do you want me to work on first?", "take the login page"),
        ("Should we go on to the pipeline, or see it in action?", "great work!"),
        ("Soll ich testen oder mit der Kasse weitermachen?", "nimm die Kasse zuerst"),
        ("¿Quieres que pruebe o prefieres que siga con la caja?", "usa la caja nueva"),
        ("Tu veux que je teste ou que je continue la caisse ?", "prends la caisse"),
        ("Quer que eu teste ou continue com o caixa?", "use o caixa novo"),
    ],
)
def test_what_is_worked_on_next_is_no_decision(question: str, answer: str) -> None:
    assert answered(question, answer) == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Should I continue with SQLite or switch to Postgres?", "go with Postgres"),
        ("Shall we start with one worker or two?", "go with two workers"),
        ("Would you like a queue or a cron job?", "go with the queue"),
        ("Which database do you want?", "go with SQLite"),
        ("Should a failed import retry or stop?", "go with retry"),
        ("Which database would you like to use first?", "take SQLite"),
        ("What should I store first, the id or the name?", "take the id"),
        ("Do you want JSON or see the first rows as CSV?", "take JSON"),
        (
            "Should I sort by price, or should I start with the newest first?",
            "go with the price",
        ),
        ("Which backend should we focus on?", "go with the Postgres one"),
        ("Soll ich SQLite nehmen oder zuerst im Cache suchen?", "nimm SQLite"),
        ("¿Quieres Redis o seguir con Postgres?", "usa Redis"),
        ("Tu veux Redis ou continuer avec Postgres ?", "prends Redis"),
        ("Quer Redis ou continuar com Postgres?", "use Redis"),
    ],
)
def test_a_way_that_is_taken_is_a_decision(question: str, answer: str) -> None:
    assert len(answered(question, answer)) == 1


def test_a_label_that_names_nothing_is_no_decision() -> None:
    assert answered("The page is there.", "go with option A") == []
    assert answered("The page is there.", "Let's go with strategy 4") == []


def test_a_label_is_told_with_the_option_or_with_the_question_that_names_it() -> None:
    assert answered(WAYS, "go with option B") == [
        "Build the orders page → Option B: a cron job"
    ]
    assert answered(STRATEGIES, "Let's go with strategy 4") == [
        f"{STRATEGIES} → Let's go with strategy 4"
    ]


def test_an_option_that_was_tried_is_not_picked() -> None:
    assert answered(WAYS, "option A worked. where is the log now?") == []
    assert answered(WAYS, "option A, the queue worked last year") != []


@pytest.mark.parametrize("yes", ["yes", "Great!", "sure", "ok", "Yes that looks good."])
def test_a_yes_to_an_offer_to_tell_or_to_help_decides_nothing(yes: str) -> None:
    assert answered(SUMMARY, yes) == []
    assert answered("Want me to explain the flow of the login?", yes) == []
    assert answered("Do you want me to help you with the page?", yes) == []
    assert answered("Soll ich dir den Ablauf der Anmeldung zeigen?", yes) == []
    assert answered("¿Quieres que te explique el flujo del login?", yes) == []


@pytest.mark.parametrize(
    "offer",
    [
        "Would you like me to show the price in the orders list only?",
        "Would you like me to add a retry to the import?",
        "Should I make the export of orders async?",
        "Would you like me to add a summary row to the report?",
        "Want me to list the orders by date instead of by name?",
        "Should I summarise the log nightly?",
        "Should I describe tables in the schema with comments?",
        "Should I add a weekly summary for admins?",
        "Should I add an overview of all orders?",
        "Should I guide users through a wizard?",
        "Want me to go through the queue in order of age?",
    ],
)
def test_a_yes_to_an_offer_of_how_it_shall_be_decides(offer: str) -> None:
    assert len(answered(offer, "yes")) == 1


@pytest.mark.parametrize(
    ("offer", "yes"),
    [
        ("Soll ich die Bestellungen je Tag zusammenfassen?", "ja"),
        ("Dois-je résumer les logs chaque nuit ?", "oui"),
        ("¿Quieres que resuma los pedidos por mes?", "sí"),
        ("Quer que eu resuma os pedidos por mês?", "sim"),
    ],
)
def test_a_yes_in_another_language_to_what_a_product_sums_up_decides(
    offer: str, yes: str
) -> None:
    assert len(answered(offer, yes)) == 1


@pytest.mark.parametrize(
    "offer",
    [
        "Should I summarise the changes?",
        "Want me to walk you through it?",
        "Want me to go through the steps one by one?",
        "Shall I explain how it works?",
        "Should I give you an overview?",
        "Soll ich das kurz zusammenfassen?",
        "¿Quieres que te resuma los cambios?",
        "Tu veux que je résume les changements ?",
        "Quer que eu resuma as mudanças?",
    ],
)
def test_what_only_a_talk_can_be_told_of_is_an_offer_to_tell(offer: str) -> None:
    assert says(offer, "offers_telling")


@pytest.mark.parametrize(
    "word",
    [
        "quer ou ",
        "soll ich oder ",
        "quieres o ",
        "tu veux ou ",
        "do you want or ",
        "which should i ",
        "soll ich testen oder ",
    ],
)
def test_a_question_of_any_length_is_read_in_a_moment(word: str) -> None:
    question = word * (8000 // len(word))
    began = perf_counter()
    says(question, "asks_next_work")
    assert perf_counter() - began < 2


@pytest.mark.parametrize(
    "reaction",
    [
        "okay.. I only roughly understand this.",
        "ok bro, that's what I'm saying.",
        "great work!",
        "ok you are repeating yourself.",
        "ok I don't see it.",
        "ok where is the button now?",
        "ok what is that",
    ],
)
def test_a_reaction_is_no_yes(reaction: str) -> None:
    assert answered("Should I keep the strict filter for cities?", reaction) == []


@pytest.mark.parametrize(
    "yes", ["okay", "yes, I think so", "great idea", "yeah do that", "sure, keep it"]
)
def test_a_yes_with_some_words_more_is_one(yes: str) -> None:
    assert len(answered("Should I keep the strict filter for cities?", yes)) == 1


@pytest.mark.parametrize(
    "yes",
    [
        "yes, I see, keep it",
        "yes, I understand, go ahead",
        "yes, when the city is known",
        "yes, where possible",
        "yes, what you said",
        "yes, you have my ok",
        "yes, that's why I asked for it",
        "ja, wie besprochen",
        "ja, du hast recht",
    ],
)
def test_a_yes_with_when_or_why_behind_it_is_one(yes: str) -> None:
    assert len(answered("Should I keep the strict filter for cities?", yes)) == 1


def test_numbered_answers_tell_the_option_of_a_letter_and_no_yes_to_help() -> None:
    assert answered(POINTS, "1. yes\n2. B\n3. no badge") == [
        "Which schedule? → cosine",
        "Should the trial show a badge? → no badge",
    ]


@pytest.mark.parametrize(
    "message",
    [
        "Okay let's begin",
        "Nein lass uns das jetzt mal testen",
        "I am on WSL with Ubuntu",
        "No, the issue is that the modal is inside the card.",
    ],
)
def test_what_a_reply_takes_up_of_the_work_settles_nothing(message: str) -> None:
    reply = "Good, I see the modal is inside the card with Ubuntu on WSL."
    assert decided("Build the page", "The page is there.", message, reply) == []


@pytest.mark.parametrize(
    "wish", ["I want to refactor the game file.", "i want to master golang"]
)
def test_what_a_talk_is_for_is_no_decision(wish: str) -> None:
    assert decided(wish, "Let me look.") == []


@pytest.mark.parametrize(
    "choice",
    ["I want to use Postgres for the orders.", "I want to keep the old endpoint."],
)
def test_a_way_that_a_talk_begins_with_is_a_decision(choice: str) -> None:
    assert decided(choice, "Let me look.") == [choice]


@pytest.mark.parametrize(
    "asked",
    [
        "Want me to reinstall the new APK and grab another screenshot?",
        "Should I open it in the emulator?",
        "Want me to inspect the page with the slow list?",
        "Shall I take a fresh screenshot of the calendar?",
    ],
)
def test_an_errand_that_is_agreed_to_is_no_decision(asked: str) -> None:
    for yes in ("y", "yes, please"):
        assert answered(asked, yes) == []


def test_work_that_is_agreed_to_is_one() -> None:
    asked = "Should I open the editor in a panel beside the list?"
    assert answered(asked, "yes") == [f"{asked} → yes"]
