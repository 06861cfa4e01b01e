import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.recall.excerpt import excerpt, sentences_of
from keeplore.recall.question import looks_up_decision, parse_question, stems_of
from keeplore.recall.weights import EXCERPT_CHARS, QUERY_CHARS
from keeplore.text.fences import fence

LONG = (
    "User: The session store keeps falling over at night. I looked at the graphs and found "
    "nothing.\n\n"
    "Assistant: There are several things to look at first. The connection pool is at its limit "
    "during the export. "
    "The export itself reads one row at a time. We drop Redis because its eviction removed logins. "
    "Postgres keeps them in a table with an index on expiry. A job deletes expired rows every ten "
    "minutes. "
    "The dashboards stay as they are. The on-call rota is not touched by any of this."
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "yes, go on",
        "please continue",
        "  \n",
        "Why?",
        "do it again, thanks!",
        "…",
    ],
)
def test_a_prompt_that_is_about_nothing_says_nothing(text: str) -> None:
    assert not parse_question(text).says_something


@pytest.mark.parametrize(
    "text",
    ["redis", "why did we drop Redis", "OrderTable.tsx", "die Datenbank", "数据库"],
)
def test_a_question_with_a_telling_word_says_something(text: str) -> None:
    assert parse_question(text).says_something


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("why did we drop Redis", "We dropped redis last week", 1.0),
        ("why did we drop Redis", "Redis is fine", 0.5),
        ("caching of migrations", "cache the migration", 1.0),
        ("renderOrderTable", "the function render order table is slow", 1.0),
        ("load_settings", "see load_settings() there", 1.0),
        ("get_user_by_id", "getUserById throws", 1.0),
        ("why did we drop Redis", "bananas", 0.0),
    ],
)
def test_coverage_is_the_share_of_telling_words_in_a_text(
    query: str, text: str, share: float
) -> None:
    assert parse_question(query).coverage(stems_of(text)) == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "is_broad"),
    [
        ("summary of the billing work", True),
        ("Give me an overview!", True),
        ("Please summarise what we did on mails", True),
        ("what did we decide about the queue", True),
        ("Zusammenfassung der Woche", True),
        ("How do I turn on automatic summaries?", False),
        ("Which code hands its address to the overview page?", False),
        ("which port has the queue", False),
    ],
)
def test_a_summary_is_asked_for_not_spoken_of(text: str, is_broad: bool) -> None:
    assert parse_question(text).is_broad is is_broad


@pytest.mark.parametrize(
    ("text", "is_past"),
    [
        ("when did we move the backups", True),
        ("when we moved", True),
        ("when do the backups run", False),
    ],
)
def test_a_question_for_what_happened_is_about_the_past(
    text: str, is_past: bool
) -> None:
    assert parse_question(text).is_about_past is is_past


def test_what_was_injected_into_a_prompt_is_not_searched_for() -> None:
    question = parse_question(
        "What about Redis? " + fence("Kubernetes and Nomad", "token0000")
    )
    assert "Nomad" not in question.text and "Redis" in question.text


def test_of_a_page_of_prompt_the_beginning_and_the_end_count() -> None:
    question = parse_question("first question " + "log line " * 5000 + "last question")
    assert len(question.text) <= QUERY_CHARS + 3
    assert question.text.startswith("first question") and question.text.endswith(
        "last question"
    )


def test_a_short_passage_is_shown_whole() -> None:
    assert excerpt("Short.\n", parse_question("redis")) == "Short."


def test_the_excerpt_is_cut_between_sentences_around_the_words_of_the_question() -> (
    None
):
    shown = excerpt(LONG, parse_question("why did we drop Redis"), 200)
    assert "We drop Redis because its eviction removed logins." in shown
    assert shown.startswith("… ") and shown.endswith(" …")
    inside = shown.removeprefix("… ").removesuffix(" …")
    assert inside in LONG and inside.endswith(".") and inside[0].isupper()


def test_one_endless_line_is_cut_between_words_around_the_word_of_the_question() -> (
    None
):
    line = (
        " ".join(f"word{n}" for n in range(500))
        + " redis "
        + " ".join(f"more{n}" for n in range(500))
    )
    shown = excerpt(line, parse_question("redis"))
    assert " redis " in shown and len(shown) <= EXCERPT_CHARS


@given(st.text(), st.text(max_size=30), st.integers(20, 400))
def test_an_excerpt_is_never_longer_than_allowed_and_never_fails(
    text: str, query: str, limit: int
) -> None:
    assert len(excerpt(text, parse_question(query), limit)) <= limit


@given(st.text())
def test_sentences_joined_are_the_text(text: str) -> None:
    assert "".join(sentences_of(text)) == text.encode("utf-8", "replace").decode()


@pytest.mark.parametrize(
    ("text", "subject", "telling"),
    [
        ("What did we decide about retries?", "retries?", "retries"),
        ("so, what was decided on the queue", "the queue", "queue"),
        ("Do you remember what we said about caching?", None, "caching"),
        ("remind me: what did we agree on money?", "money?", "money"),
        ("what do we know about uploads in staging", "uploads in staging", None),
        ("Was haben wir zum Cache entschieden?", "Cache entschieden?", None),
        ("Qu'avons-nous décidé pour les files ?", "les files ?", None),
        ("¿Qué decidimos sobre colas?", "colas?", None),
        # the decision itself is what is asked for
        ("who decided about retries?", "who decided about retries?", None),
        ("what did we decide about", "what did we decide about", None),
        ("Why did we decide against Redis?", "Why did we decide against Redis?", None),
    ],
)
def test_what_many_questions_begin_with_is_no_part_of_their_subject(
    text: str, subject: str | None, telling: str | None
) -> None:
    question = parse_question(text)
    assert question.text == text
    assert subject is None or question.subject == subject
    assert telling is None or question.telling == telling


@pytest.mark.parametrize(
    "text",
    [
        "What did we decide about retries?",
        "So which queue did we finally choose?",
        "Why did we drop Redis and go with SQLite? And what have we agreed on?",
        "Have we already settled on a port?",
        "What was our decision on time zones?",
        "What was agreed about the price list",
        "Was haben wir zur Sicherung beschlossen?",
        "Welche Datenbank hatten wir noch gewählt?",
        "¿Qué decidimos sobre la caché?",
    ],
)
def test_a_question_for_what_was_decided_looks_it_up(text: str) -> None:
    assert looks_up_decision(text)


@pytest.mark.parametrize(
    "text",
    [
        "Which queue do we choose?",
        "Why did the build fail?",
        "Who may delete a workspace?",
        "Should we decide about retries now?",
        "We decided about retries.",
        "Which regions shall the backup cover?",
        "Welche Datenbank nehmen wir?",
    ],
)
def test_a_question_for_a_decision_to_come_looks_nothing_up(text: str) -> None:
    assert not looks_up_decision(text)
