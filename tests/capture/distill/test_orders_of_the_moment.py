"""An order that says what to do next settles nothing about how a thing shall be."""

from __future__ import annotations

import pytest

from keeplore.capture.cues import opens_with, says
from keeplore.capture.distill.decisions import decisions
from keeplore.memory import Exchange


def decided(message: str) -> list[str]:
    """What a message decides behind a reply that asks nothing."""
    exchanges = [
        Exchange("t0", "", "Build the orders page", ("The page is there.",)),
        Exchange("t1", "", message, ("Done.",)),
    ]
    return [decision.quote.text for decision in decisions(exchanges)]


@pytest.mark.parametrize(
    "order",
    [
        "use this screenshot",
        "use the new token",
        "please use the correct path: /srv/app",
        "use the api keys available locally",
        "use the values i sent",
        "replace the image with this one",
        "use the docs server and find the pages on sessions",
        "set DEBUG=1 and run again",
        "nimm diesen Screenshot",
        "usa el nuevo token",
        "utilise cette capture",
        "use o novo token",
        "使用新的令牌",
        "このファイルにしてください",
    ],
)
def test_what_is_handed_over_for_a_step_is_no_decision(order: str) -> None:
    assert decided(order) == []


@pytest.mark.parametrize(
    "choice",
    [
        "use these keys for every environment",
        "use the new API instead of the old one",
        "use API keys rather than OAuth",
        "use the csv format for exports",
        "use Redis and keep a TTL of 60",
        "set DEBUG=false in production",
        "replace the image library with Sharp",
        "nimm Redis für die Sitzungen",
        "usa Redis para las sesiones",
        "utilise Redis pour les sessions",
        "用 Redis 而不是 Memcached",
        "Redisを使ってください",
    ],
)
def test_what_is_used_from_now_on_is_a_decision(choice: str) -> None:
    assert decided(choice) == [choice]


@pytest.mark.parametrize(
    "order",
    [
        "change the title to Orders",
        'change the name "React App" to "Pet Shop"',
        "rename the file to orders.py",
        "i prefer you rename flow.py to single_app.py",
        "remove the debug prints",
        "remove all console.logs",
        "drop old tables",
        "remove the current .env and set up a new one again",
        'remove "By clicking the button you are signing"',
        "move the button to the left",
        "move it up a bit",
        "ändere den Titel in Bestellungen",
        "cambia el título a Pedidos",
        "change le titre en Commandes",
        "muda o título para Pedidos",
        "标题改成订单",
        "タイトルを注文に変えてください",
    ],
)
def test_what_is_written_or_stands_somewhere_is_no_decision(order: str) -> None:
    assert decided(order) == []


@pytest.mark.parametrize(
    "choice",
    [
        "rename the project to Ledger",
        "rename `users` to `accounts`",
        "change the port to 8081",
        "drop the old endpoint",
        "remove the comments feature",
        "drop logs older than a week",
        "remove the cache layer",
        "move auth to the gateway",
        "put the id first",
        "ändere den Port auf 8081",
        "cambia el puerto a 8081",
        "端口改成8081",
    ],
)
def test_what_is_called_or_goes_for_good_is_a_decision(choice: str) -> None:
    assert decided(choice) == [choice]


@pytest.mark.parametrize(
    "order",
    [
        "make it faster",
        "make it more readable please",
        "skip the tests",
        "keep it short",
        "let's start with the backend",
        "let's start with task 1",
        "lets also fix the graphing to be more effective",
        "I think we need to again try to load more data",
        "ok sounds good",
        "I would like to rerun last night's import first",
        "we need to rerun the backfill for January",
        "deixa mais rápido",
        "把它改成快一点",
    ],
)
def test_a_wish_without_a_way_and_the_next_step_are_no_decisions(order: str) -> None:
    assert decided(order) == []


@pytest.mark.parametrize(
    "choice",
    [
        "make it faster by caching the prices",
        "make it optional",
        "make the cache smaller than 5 MB",
        "skip tests on draft PRs",
        "keep it in one file",
        "let's start with SQLite",
        "let's start with a monolith",
        "let's just store the hash",
        "Postgres sounds good",
    ],
)
def test_a_way_and_what_it_begins_with_are_decisions(choice: str) -> None:
    assert decided(choice) == [choice]


@pytest.mark.parametrize(
    "order",
    [
        "put that plan in a file please",
        "put all instructions in md file",
        "add these @notes_Readme.md for task 7",
        "save it to notes.md",
        'replace find with "revisit"',
        "Replace the contents of @README.md with a plan for tomorrow.",
        "convert the ascii diagrams to real figures and create an updated pdf file.",
        "So in the last conversation, we looked into the orders and moved them.",
    ],
)
def test_what_is_written_down_of_the_work_is_no_decision(order: str) -> None:
    exchanges = [
        Exchange("t0", "", "Build the page", ("I'd move the orders to Redis then.",)),
        Exchange("t1", "", order, ("Done, the figures are in the pdf file.",)),
    ]
    assert decisions(exchanges) == []


@pytest.mark.parametrize(
    "choice",
    [
        "put the limits in config.yaml",
        "store the notes in Postgres",
        "keep the prompts in the database",
        "put it in a config file",
        "put the rules in CLAUDE.md",
        "replace moment with dayjs",
        "put the transcript in a collapsed block",
    ],
)
def test_where_a_thing_is_kept_is_a_decision(choice: str) -> None:
    assert decided(choice) == [choice]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("perfect just one thing, the menu is underlined", "I'd keep two workers."),
        ("perfect, just one worker", "perfect, just one worker"),
    ],
)
def test_one_thing_more_is_no_other_value(answer: str, told: str) -> None:
    exchanges = [
        Exchange("t0", "", "Build the page", ("I'd keep two workers.",)),
        Exchange("t1", "", answer, ("Done.",)),
    ]
    assert [d.quote.text.split(" → ")[-1] for d in decisions(exchanges)] == [told]


@pytest.mark.parametrize(
    "choice",
    [
        "use Redis and read from the replica",
        "use Postgres and find users by email",
        'replace axios with "undici"',
        "drop the table and create it again on every deploy",
        "remove all comments in generated code",
        "drop the imports of moment",
        "remove old migrations",
        "drop stale sessions",
        "remove the words table",
        "change the label format to ISO dates",
        "rename the variable DB_URL to DATABASE_URL",
        "skip the review step",
        "skip lint",
        "let's start with the Rust parser",
        "use the keys that I provided in every environment",
        "set TTL=60 and restart on failure",
        "upload to S3 instead of GCS",
    ],
)
def test_an_order_for_good_that_sounds_like_one_of_the_moment_decides(
    choice: str,
) -> None:
    assert decided(choice) == [choice]


@pytest.mark.parametrize(
    "order",
    [
        "use the docs and read the page on sessions",
        'replace "Find" with "Search"',
        "drop the table and create it again",
        "remove all comments in this file",
        "drop the imports",
        "remove the words in the header",
        "change the label to Orders",
        "rename the variable x to y",
        "skip the review for now",
        "skip lint for now",
        "let's start with the Orders page",
        "use the keys that I provided",
    ],
)
def test_its_neighbour_for_the_moment_does_not(order: str) -> None:
    assert decided(order) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "we need to retry on 503",
        "we should start with the tests",
        "turn on retries and retry at most 3 times",
    ],
)
def test_how_a_thing_goes_on_is_no_step_of_the_work(sentence: str) -> None:
    assert not says(sentence, "workflow")


def test_what_is_set_for_a_run_ends_with_the_run() -> None:
    assert opens_with("set DEBUG=1 and run again", "set_for_run")
    assert opens_with("enable tracing and restart", "set_for_run")
    assert not opens_with("set TTL=60 and restart on failure", "set_for_run")
    assert not opens_with("turn on retries and retry at most 3 times", "set_for_run")


def test_where_a_thing_comes_from_is_no_errand() -> None:
    assert opens_with("upload the report", "errand")
    assert not opens_with("upload to S3 instead of GCS", "errand")
