from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from refusals import refused
from tests.llm.model_server import Hang, ModelServer, Said, Status, model_server

from keeplore.config.settings import LlmSettings
from keeplore.errors import BudgetSpent, LlmRefused
from keeplore.llm.account import Account
from keeplore.llm.base import TransientFailure
from keeplore.llm.ledger import MAX_CALL, Budget, SpendingLedger, SpendingRow
from keeplore.llm.openai_server import OpenaiServer
from keeplore_hooks.contracts import LanguageModel, Usage

AGAIN = "It is tried again by itself; `keeplore doctor` says whether the model answers"
NOON = datetime(2026, 3, 31, 12, tzinfo=UTC)
PROMPT = "x" * 200  # with the rest of the request about 100 tokens


@pytest.fixture(scope="module")
def played() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture(scope="module")
def model(played: ModelServer) -> OpenaiServer:
    return OpenaiServer(LlmSettings("openai", "played", played.url))


@pytest.fixture
def server(played: ModelServer) -> ModelServer:
    played.reset()
    return played


class Bench:
    """An account whose clock stands still and which notes its pauses instead of making them."""

    def __init__(self, model: LanguageModel, file: Path, budget: Budget) -> None:
        self.now = NOON
        self.pauses: list[float] = []
        self.ledger = SpendingLedger(file)
        self.account = Account(
            model, self.ledger, budget, clock=lambda: self.now, sleep=self.pauses.append
        )

    def ask(self) -> str:
        return self.account.complete("extract", "", PROMPT, {}).text


@pytest.fixture
def bench(model: OpenaiServer, tmp_path: Path) -> Bench:
    return Bench(model, tmp_path / "ledger.db", Budget(0, 0))


def booked(*calls: tuple[int, int, Usage]) -> list[SpendingRow]:
    return [SpendingRow("2026-03-31", "played", "extract", *call) for call in calls]


def test_a_busy_server_is_asked_again_when_it_says_and_only_the_answer_is_booked(
    bench: Bench, server: ModelServer
) -> None:
    server.script(
        Status(429, {"Retry-After": "7"}), Status(500), Said("{}", (100, 20, 60))
    )
    assert bench.ask() == "{}"
    assert bench.pauses[0] == 7
    assert 0 < bench.pauses[1] <= 30
    assert bench.ledger.rows() == booked((1, 0, Usage(100, 20, 60)))


@pytest.mark.parametrize(
    ("reply", "requests"), [(Status(429, {"Retry-After": "3600"}), 1), (Status(503), 3)]
)
def test_one_that_stays_busy_is_left_to_the_queue(
    bench: Bench, server: ModelServer, reply: Any, requests: int
) -> None:
    server.always(reply)
    said = f"the server says {reply.status} (error). {AGAIN}"
    with refused(TransientFailure, said):
        bench.ask()
    assert len(server.requests) == requests
    assert bench.ledger.rows() == []


def test_a_call_that_the_server_may_have_made_for_nothing_is_counted_and_not_repeated(
    tmp_path: Path, server: ModelServer
) -> None:
    bench = Bench(
        OpenaiServer(LlmSettings("openai", "played", server.url, 0.3)),
        tmp_path / "l.db",
        Budget(0, 0),
    )
    server.always(Hang())
    with refused(TransientFailure, f"no answer within 0.3 s. {AGAIN}"):
        bench.ask()
    (row,) = bench.ledger.rows()
    assert (row.calls, row.estimates, row.usage.output_tokens) == (1, 1, 0)
    assert row.usage.input_tokens >= len(PROMPT) // 4
    assert len(server.requests) == 1


def test_an_answer_of_no_use_is_paid_for_and_refused(
    bench: Bench, server: ModelServer
) -> None:
    server.script(Said('{"facts": [', (100, 8_192, 0), end="length"))
    said = "played: the answer was cut off. The conversation itself is kept as it is"
    with refused(LlmRefused, said):
        bench.ask()
    assert bench.ledger.rows() == booked((1, 0, Usage(100, 8_192)))


def test_a_plugin_that_raises_or_answers_nonsense_costs_this_request(
    tmp_path: Path,
) -> None:
    class Broken:
        name = "broken"

        def available(self) -> str:
            return ""

        def complete(self, system: str, prompt: str, schema: Any) -> Any:
            return 1 / len(system)

    bench = Bench(Broken(), tmp_path / "ledger.db", Budget(0, 0))
    for system, why in (("", "ZeroDivisionError"), ("x", "TypeError")):
        said = f"broken failed: {why}. `keeplore doctor` says more"
        with refused(LlmRefused, said):
            bench.account.complete("extract", system, PROMPT, {})
    assert [row.estimates for row in bench.ledger.rows()] == [2]


def test_at_the_limit_no_request_is_made_until_the_next_day(
    model: OpenaiServer, tmp_path: Path, server: ModelServer
) -> None:
    server.always(Said("{}", (100, 150, 0)))
    bench = Bench(model, tmp_path / "ledger.db", Budget(400, 10_000))
    for _ in range(2):
        bench.ask()
    with pytest.raises(BudgetSpent) as caught:
        bench.ask()
    assert re.fullmatch(
        r"500 of the 400 tokens of this day are spent, and the next call needs \d+\. "
        r"It goes on at 2026-04-01 00:00 UTC, or raise llm\.daily_tokens in keeplore\.yaml",
        str(caught.value),
    )
    assert caught.value.until == datetime(2026, 4, 1, tzinfo=UTC)
    assert len(server.requests) == 2
    bench.now = caught.value.until
    assert bench.ask() == "{}"


def test_the_limit_of_a_month_holds_until_the_next_one(tmp_path: Path) -> None:
    ledger, budget = SpendingLedger(tmp_path / "ledger.db"), Budget(0, 1_000)
    ledger.add(NOON.replace(month=12, day=1), "played", "extract", Usage(900, 90))
    at = NOON.replace(month=12)
    with pytest.raises(BudgetSpent) as caught:
        ledger.reserve(at, "played", "extract", Usage(11, 100), budget)
    assert str(caught.value) == (
        "990 of the 1,000 tokens of this month are spent, and the next call needs 11. It goes on "
        "at 2027-01-01 00:00 UTC, or raise llm.monthly_tokens in keeplore.yaml"
    )
    assert caught.value.until == datetime(2027, 1, 1, tzinfo=UTC)
    assert ledger.reserve(at, "played", "extract", Usage(10, 100), budget)
    assert (ledger.spent("day", at), ledger.spent("month", at)) == (110, 1_100)


def test_a_call_that_no_day_can_pay_for_says_what_to_raise(tmp_path: Path) -> None:
    said = (
        "the next call needs 11 tokens, which is more than the 10 of a day. "
        "Raise llm.daily_tokens in keeplore.yaml"
    )
    with refused(BudgetSpent, said):
        SpendingLedger(tmp_path / "ledger.db").reserve(
            NOON, "played", "extract", Usage(11, 1), Budget(10, 0)
        )


def test_what_a_dead_process_put_aside_is_counted_as_far_as_it_was_sent(
    tmp_path: Path,
) -> None:
    ledger = SpendingLedger(tmp_path / "ledger.db")
    ledger.reserve(NOON, "played", "extract", Usage(300, 8_000), Budget(1_000, 0))
    with pytest.raises(BudgetSpent):
        ledger.reserve(NOON, "played", "extract", Usage(300, 8_000), Budget(1_000, 0))
    later = NOON + MAX_CALL + timedelta(seconds=1)
    assert ledger.spent("day", later) == 300
    assert ledger.reserve(
        later, "played", "extract", Usage(300, 8_000), Budget(1_000, 0)
    )


def test_many_at_once_exceed_the_budget_by_one_answer_at_most(tmp_path: Path) -> None:
    allowed: list[int] = []

    def reserve() -> None:
        with contextlib.suppress(BudgetSpent):
            allowed.append(
                SpendingLedger(tmp_path / "l.db").reserve(
                    NOON, "m", "extract", Usage(100, 200), Budget(450, 0)
                )
            )

    threads = [threading.Thread(target=reserve) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(allowed) == 2
    assert SpendingLedger(tmp_path / "l.db").spent("day", NOON) == 600
