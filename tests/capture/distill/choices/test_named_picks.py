"""Ways that the person takes by their name alone, and other short words that settle something."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import candidates
from keeplore.memory import Exchange, Quote

AT = "2026-02-09T14:03:11Z"
REPLY = "Most of it is the terrain grid. Zstd shrinks it to 6 MB; lz4 to 9 MB."


def talk(*said: tuple[str, str]) -> list[Exchange]:
    return [
        Exchange(f"t-{n}", AT, user, (reply,) if reply else ())
        for n, (user, reply) in enumerate(said)
    ]


def decided(*said: tuple[str, str]) -> list[Quote]:
    return [one.quote for one in decisions(talk(*said))]


@pytest.mark.parametrize(
    ("asked", "message", "line"),
    [
        (
            "I think they should be smaller, possibly half. What kind of packing might suit them?",
            "zstd",
            "What kind of packing might suit them? → zstd",
        ),
        (
            "The save files are too big",
            "zstd then",
            "Zstd shrinks it to 6 MB; lz4 to 9 MB. → zstd then",
        ),
        (
            "The save files are too big",
            "ok so lz4. I can live with 9 MB",
            "Zstd shrinks it to 6 MB; lz4 to 9 MB. → ok so lz4.",
        ),
        (
            "Which codec should the save files use?",
            "k zstd",
            "Which codec should the save files use? → k zstd",
        ),
        (
            "Not sure which codec the save files should use. Give me two.",
            "ok, zstd. Go!",
            "Not sure which codec the save files should use → ok, zstd.",
        ),
        (
            "save files: zstd or lz4",
            "the phones are slow so lz4, and no levels",
            "save files: zstd or lz4 → the phones are slow so lz4, and no levels",
        ),
    ],
)
def test_what_a_message_names_of_what_was_told_is_taken(
    asked: str, message: str, line: str
) -> None:
    made = decided((asked, REPLY), (message, "Done."))
    assert made == [Quote(line, "user", "t-1")]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("The save files are too big", "zstd"),
        ("The save files are too big", "commit then"),
        ("The save files are too big", "brotli then"),
        ("Which codec should the save files use?", "zstd fails"),
        ("Which codec should the save files use?", "ok maybe zstd"),
        ("How do I shrink the save files?", "ok the terrain grid"),
        ("Fix the zstd or the lz4 reader", "zstd"),
    ],
)
def test_a_name_where_nothing_was_open_and_a_report_take_nothing(
    asked: str, message: str
) -> None:
    assert decided((asked, REPLY), (message, "Done.")) == []


TOLD = ("Which codec should the save files use?", REPLY)


@pytest.mark.parametrize(("count", "is_found"), [(2, True), (3, False)])
def test_a_name_was_told_in_the_last_three_replies(
    count: int, *, is_found: bool
) -> None:
    between = [("How many bytes has a grid?", "It has 12 MB.")] * count
    assert bool(decided(TOLD, *between, ("k zstd", "Done."))) is is_found


@pytest.mark.parametrize(
    ("before", "behind", "is_found"),
    [(3, 4, True), (3, 5, False), (4, 0, False)],
    ids=["eight sentences", "nine sentences", "in the fifth"],
)
def test_a_name_is_taken_in_the_first_four_sentences_of_eight(
    before: int, behind: int, *, is_found: bool
) -> None:
    grids = ["The grids are large.", *["Phones are slow."] * 8]
    message = " ".join([*grids[:before], "ok, zstd.", *grids[before : before + behind]])
    assert bool(decided(TOLD, (message, "Done."))) is is_found


def test_an_answer_may_come_one_message_later() -> None:
    said = (
        ("where should the history live: columns or files", "Columns can be asked."),
        ("we had columns, nobody asked", "Then a table beside it, by a trigger."),
        ("trigger + table. no extensions", "Done."),
    )
    line = "where should the history live: columns or files → trigger + table."
    assert decided(*said) == [Quote(line, "user", "t-2")]


def test_the_other_way_of_the_persons_own_question_replaces_the_first() -> None:
    said = (
        ("codec: zstd or lz4?", REPLY),
        ("k zstd", "Done."),
        ("lz4 after all then, the phones are too slow", "Done."),
    )
    line = "codec: zstd or lz4? → lz4 after all then, the phones are too slow"
    assert decided(*said) == [Quote(line, "user", "t-2")]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("Kafka goes, one table is enough", "Kafka goes, one table is enough"),
        ("no retries at all", "no retries at all"),
        (
            "sqlite for tests, postgres for the rest",
            "sqlite for tests, postgres for the rest",
        ),
    ],
)
def test_a_few_words_can_settle_a_matter(message: str, line: str) -> None:
    made = decided(("Look at the broker", "It retries twice."), (message, "Done."))
    assert made == [Quote(line, "user", "t-1")]


def test_a_proposal_in_other_words_waits_for_a_yes_too() -> None:
    proposed = "I'd sample at 1 Hz and average over ten minutes."
    said = (
        ("Look at the wind", f"It updates at 4 Hz. {proposed}"),
        ("go for it", "Ok"),
    )
    assert decided(*said) == [Quote(proposed, "assistant", "t-0")]


def test_what_is_ruled_out_behind_a_yes_takes_nothing_back() -> None:
    proposed = "I'd suggest a queue beside the importer."
    said = (
        ("Look at the importer", proposed),
        ("sounds good. no retries at all", "Ok"),
    )
    assert decided(*said) == [
        Quote(proposed, "assistant", "t-0"),
        Quote("no retries at all", "user", "t-1"),
    ]


@pytest.mark.parametrize(
    "message", ["that's too long, 3", "5 is a lot... make it 3", "3"]
)
def test_another_value_may_come_behind_a_reason(message: str) -> None:
    told = "Five retries take 31 seconds."
    made = decided(("keep the retries?", told), (message, "Done."))
    assert [quote.text.rpartition(" → ")[2] for quote in made] == [
        message.removeprefix("5 is a lot... ")
    ]


def test_a_choice_that_is_still_to_be_made_is_no_decision() -> None:
    assert decided(("we need to pick what reads the labels", "Tesseract does.")) == []


def test_what_the_person_asked_and_puts_off_stays_open() -> None:
    asked = "can we move the exporter to the new format?"
    heads = distill(
        talk((asked, "It is still a draft."), ("then not now. maybe later", "Ok."))
    )
    assert heads["decision"] == ()
    line = f"{asked} → then not now."
    assert heads["open_questions"] == (Quote(line, "user", "t-1"),)


def test_the_note_of_a_named_pick_tells_its_question_once() -> None:
    asked = "Which codec should the save files use?"
    exchanges = talk((asked, REPLY), ("k zstd", "Done."))
    told = [one.text for one in candidates(exchanges)]
    assert told == [f"{asked} → k zstd"]


def test_a_value_stands_behind_the_question_that_it_answers() -> None:
    told = "Relay 7 drives the kiln's fan. How long may the fan run at once, at most?"
    made = decided(
        ("Look at the fan", "It has two relays. Which one?"),
        ("On relay 7, the fan.", told),
        ("4 hours", "Done."),
    )
    line = "How long may the fan run at once, at most? → 4 hours"
    assert [quote.text for quote in made] == [
        "On relay 7, the fan. → Relay 7 drives the kiln's fan.",
        line,
    ]


WEIGHED = """You're right, `restore.db` is a misnomer.

- `index.db` says what it is, but is generic.
- `resume.db` belongs to one command.

"""


@pytest.mark.parametrize("reply", [WEIGHED, "You're right, it is a misnomer. "])
@pytest.mark.parametrize(
    ("asked", "answer", "taken"),
    [
        (
            "Do you want `resume.db`, `sessions.db`, or stick with `index.db`?",
            "let's go with sessions.db",
            "`sessions.db`",
        ),
        ("`index.db` or `sessions.db`?", "sessions.db", "`sessions.db`"),
    ],
)
def test_one_of_several_names_in_code_is_taken_and_an_earlier_word_for_another_left(
    reply: str, asked: str, answer: str, taken: str
) -> None:
    first = "hmm maybe index.db makes more sense than restore.db"
    said = [(first, reply + asked), (answer, "It is renamed.")]
    assert [quote.text for quote in decided(*said)] == [f"{asked} → {taken}"]
    assert first in [quote.text.partition(" → ")[0] for quote in decided(*said[:1])]
    parts = distill(talk(*said))
    assert [quote.text for quote in parts["decision"]] == [f"{asked} → {taken}"]


def test_what_is_said_of_both_names_or_of_none_stands() -> None:
    said = [
        (
            "We keep sessions.db beside index.db in the home folder. We decided on one table for it.",
            "Fine. `index.db` or `sessions.db` for the names of tests?",
        ),
        ("sessions.db", "It is so."),
    ]
    assert [quote.text for quote in decided(*said)] == [
        "We decided on one table for it.",
        "We keep sessions.db beside index.db in the home folder.",
        "`index.db` or `sessions.db` for the names of tests? → `sessions.db`",
    ]


WALLETS = """There are three ways:

1. **URI scheme** with `url_launcher`: opens a native wallet.
2. **WebLN**: a browser extension; one-click payment.
3. **QR code**: works everywhere.

I'd combine 1 for mobile with 3 for the web."""


@pytest.mark.parametrize(
    "said",
    [
        "could you implement the simplest QR-code option for web and desktop",
        "Could you build the QR code option?",
        "please do the WebLN way",
        "I like the URI scheme approach",
    ],
)
def test_an_option_that_is_ordered_by_its_name_is_picked(said: str) -> None:
    asked = ("how can I open a wallet?", WALLETS)
    (line,) = [quote.text for quote in decided(asked, (said, "Done: it is there."))]
    assert line == f"how can I open a wallet? → {said}"


@pytest.mark.parametrize(
    "said",
    [
        "does the QR code option work offline?",
        "would you use the QR code option?",
        "explain the QR code option",
        "is there a way to do it without a phone",
        "do the payment a different way",
        "we tried to use the WebLN approach last year and it failed",
        "how would one build the QR code variant",
        "I do not like the QR code approach",
        "add a WebLN option in the settings",
    ],
)
def test_an_option_that_is_only_spoken_of_is_not(said: str) -> None:
    assert decided(("how can I open a wallet?", WALLETS), (said, "It is there.")) == []
