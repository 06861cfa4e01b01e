"""Which statements no longer hold at the end, and what ended them."""

from __future__ import annotations

from keeplore.capture.discourse.standing import ended_statements, sent_back
from keeplore.capture.discourse.statements import statements_of
from keeplore.memory import Exchange


def talk(*said: str) -> list[Exchange]:
    """Messages of the person and the agent in turn."""
    pairs = zip(said[::2], said[1::2], strict=True)
    return [
        Exchange(f"t{n}", f"2026-03-01T10:{n:02}:00Z", user, (reply,))
        for n, (user, reply) in enumerate(pairs)
    ]


def gone(*said: str) -> dict[str, int]:
    exchanges = talk(*said)
    statements = statements_of(exchanges)
    found = ended_statements(statements, exchanges, sent_back(exchanges))
    return {statements[n].text: at for n, at in found.items()}


def test_an_objection_ends_the_claims_that_it_speaks_of_and_no_others() -> None:
    assert gone(
        "why does the login fail?",
        "The login fails since the session cookie has expired. "
        "The parser reads `config.toml` first.",
        "no, the session cookie has not expired, I set it a minute ago",
        "Right.",
    ) == {"The login fails since the session cookie has expired.": 1}


def test_an_objection_that_names_nothing_ends_what_was_reported_as_done() -> None:
    assert gone(
        "fix the export",
        "Fixed the export of dates. The writer is in `export.py`.",
        "still broken",
        "I see.",
    ) == {"Fixed the export of dates.": 1}


def test_what_a_message_quotes_to_object_to_it_ends_and_no_other_quotation() -> None:
    claim = "Session B would create a second branch as soon as it starts."
    talks = ("how do sessions part?", claim, "and the export?", "It takes two hours.")
    objection = f"{claim}\n\nThis is not fully true, only when it changes a file."
    assert gone(*talks, objection, "I see.") == {claim: 2}
    exchanges = talk(*talks, objection, "I see.")
    statements = statements_of(exchanges)
    numbers = ended_statements(statements, exchanges, sent_back(exchanges))
    ended_twice = [statements[number].text for number in sorted(numbers)]
    assert ended_twice == [claim, claim]
    assert gone(*talks, f"{claim}\n\nDo it like that.", "Done.") == {}
    assert gone(*talks, "This is not fully true, is it?", "It is.") == {}


def test_what_was_asked_again_in_the_same_words_took_its_answer_with_it() -> None:
    question = "how long does the nightly export of all customers take now?"
    assert gone(
        question, "It takes two hours.", question, "It takes nine minutes."
    ) == {"It takes two hours.": 1}


def test_a_new_cause_of_the_same_thing_replaces_the_one_before() -> None:
    assert gone(
        "the build is slow",
        "The problem is the cache of the build server.",
        "look again",
        "The real problem is the build server's disk, not its cache.",
    ) == {"The problem is the cache of the build server.": 1}


def test_a_cause_of_something_else_replaces_nothing() -> None:
    assert (
        gone(
            "the build is slow",
            "The problem is the cache of the build server.",
            "and the login?",
            "The problem is a missing index on the sessions table.",
        )
        == {}
    )


def test_what_the_agent_tells_that_it_had_said_and_denies_is_no_claim() -> None:
    wrong = "I wrote that the directory names the project."
    assert gone(
        "Can a session be found?", f"{wrong} It isn't: every dash is folded."
    ) == {wrong: 0}
    assert gone("Can it?", f"{wrong} It isn't the only one that does.") == {}
    assert gone("Can it?", "The directory names the project. It isn't unique.") == {}
    assert gone("Can it?", f"{wrong}", "Which one?", "Wrong. It is the file.") == {}


def test_a_message_objects_within_its_first_200_characters() -> None:
    def is_sent_back(message: str, reply: str) -> bool:
        exchanges = talk("fix it", "Fixed the export.", message, reply)
        return sent_back(exchanges) == {0}

    objection = "it still fails"
    noted = "noted. "
    assert is_sent_back(f"{noted:.<186}{objection}", "I look.")
    assert not is_sent_back(f"{noted:.<191}{objection}", "I look.")
    assert is_sent_back("and the import?", f"{'':*<180}I was wrong about it.")
    assert not is_sent_back("and the import?", f"{'':*<200}I was wrong about it.")


def test_an_objection_of_three_words_says_what_it_is_about() -> None:
    said = ("fix the export", "Fixed the export of dates. The writer is `export.py`.")
    assert gone(*said, "still broken dates", "I see.") == {
        "Fixed the export of dates.": 1
    }
    assert gone(*said, "no, the login page breaks", "I see.") == {}


def test_an_objection_shares_two_words_with_what_it_rejects() -> None:
    said = ("fix the export", "Fixed the export of dates.")
    assert gone(*said, "no, the dates of the export differ", "I see.") == {
        "Fixed the export of dates.": 1
    }
    assert gone(*said, "no, the export crashes the browser", "I see.") == {}


def test_a_sentence_of_six_words_is_known_where_it_is_quoted() -> None:
    five, six = "Sessions part when they start.", "Sessions part once they all start."
    for claim, is_known in ((five, False), (six, True)):
        objection = f"{claim}\n\nThis is not fully true, only when it changes a file."
        said = ("how do they part?", claim, "and dates?", "Two.", objection, "I see.")
        assert (claim in gone(*said)) is is_known


def test_a_new_cause_shares_a_third_of_the_words_of_the_one_before() -> None:
    cause = "The problem is the cache of the build server."
    new = "The real problem is the build of the disk image in staging."
    assert gone("the build is slow", cause, "look", new) == {cause: 1}


def test_a_new_cause_replaces_one_of_the_last_six_exchanges() -> None:
    cause = "The problem is the cache of the build server."
    new = "The real problem is the build server's disk, not its cache."
    for between, ended in ((5, {cause: 6}), (6, {})):
        others = ("and the port?", "It is 5433.") * between
        assert gone("the build is slow", cause, *others, "look", new) == ended
