"""Questions to a small written workspace, through real files, the real index and the packaged
model.
"""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keeplore.config.settings import ContextSettings
from keeplore.index import embedder_for
from keeplore.recall.answer import recall
from keeplore.recall.prepare import UNREAD, RecallDeps
from keeplore.recall.request import Answer, RecallRequest, ResultFilter, SearchScope
from keeplore.recall.weights import EXCERPT_CHARS

NOW = datetime(2026, 5, 1, tzinfo=UTC)
API, WEB, OPS = (
    SearchScope("kasha-api"),
    SearchScope("lumen-web"),
    SearchScope("orbit-infra"),
)

PARAPHRASED = [
    (
        API,
        "where do we keep user sessions nowadays",
        "Sessions move from Redis to Postgres",
    ),
    (
        API,
        "how should prices be stored to avoid rounding errors",
        "Amounts are integers in the smallest unit",
    ),
    (
        API,
        "customers got billed two times after a retry",
        "Idempotency keys on payment endpoints",
    ),
    (API, "do we use an object relational mapper", "Plain SQL through asyncpg, no ORM"),
    (
        API,
        "bank test environment broken at the weekend",
        "The bank's sandbox answers 500 on Sundays",
    ),
    (API, "what kind of identifier should a new table use", "UUIDv7 for primary keys"),
    (
        API,
        "how many API calls are allowed per minute",
        "Rate limit is 600 requests a minute for each tenant",
    ),
    (
        API,
        "how are callbacks to customers authenticated",
        "Webhooks are signed and retried",
    ),
    (
        API,
        "how do clients walk through a long list of results",
        "Cursor pagination instead of offset",
    ),
    (
        API,
        "when do we erase the data of somebody who leaves",
        "Customer data is deleted after 30 days",
    ),
    (WEB, "which library holds state in the frontend", "Zustand for client state"),
    (
        WEB,
        "what did we decide about styling components",
        "CSS modules, no utility classes",
    ),
    (WEB, "browser tests tool", "Playwright replaces Cypress"),
    (
        WEB,
        "why no third-party service for feature toggles",
        "Feature flags live in a table of our own",
    ),
    (
        WEB,
        "sending big video files from the browser",
        "Uploads go straight to the bucket",
    ),
    (OPS, "why are we not running kubernetes", "Nomad instead of Kubernetes"),
    (
        OPS,
        "what made the server run out of disk space",
        "The outage of the disk that filled up",
    ),
    (
        OPS,
        "how do we know that the backups work",
        "Database backups are restored every Monday",
    ),
    (
        OPS,
        "where do services get their passwords",
        "Secrets come from Vault, never from the repository",
    ),
    (OPS, "can I ship a release on a Friday", "No deploys on Friday afternoon"),
]
UNRELATED = [
    "how long should I boil an egg",
    "train timetable from Zurich to Milan",
    "recommend a novel by Tolstoy",
    "watering schedule for tomato plants",
    "how to tie a bowline knot",
    "convert the Kalman filter to fixed point",
    "which GPU driver does the render farm need",
    "pair the Bluetooth headset with the phone",
    "parse the MIDI file into notes",
    "calibrate the lidar of the robot",
]


@pytest.fixture(scope="session")
def ask(written, embedder):
    index, store = written

    def answer(here: SearchScope, query: str, **options: Any) -> Answer:
        deps = RecallDeps(index, store, options.pop("embedder", embedder))
        now = options.pop("now", NOW)
        return recall(deps, RecallRequest(query, **options), here, now=now)

    return answer


def titles(answer: Answer) -> list[str]:
    return [hit.title for hit in answer.hits]


def test_a_question_in_other_words_finds_its_memory_first(ask) -> None:
    missed = [
        (q, wanted, titles(a))
        for here, q, wanted in PARAPHRASED
        if titles(a := ask(here, q))[:1] != [wanted]
    ]
    assert len(missed) <= 3, missed


def test_an_unrelated_question_finds_nothing_and_says_so(ask) -> None:
    answers = {query: ask(API, query) for query in UNRELATED}
    wrong = {query: titles(answer) for query, answer in answers.items() if answer.hits}
    assert len(wrong) <= 1, wrong
    assert {answer.status for answer in answers.values() if not answer.hits} == {
        "nothing"
    }


def test_the_question_of_the_readme_is_answered_with_the_decision(ask) -> None:
    answer = ask(API, "why did we drop Redis")
    hit = answer.hits[0]
    assert (answer.status, answer.legs) == ("found", ("text", "vectors"))
    assert (hit.title, hit.changed_at[:10], hit.scope, hit.project) == (
        "Sessions move from Redis to Postgres",
        "2026-02-09",
        "project",
        "kasha-api",
    )
    assert "we drop Redis and keep sessions in a Postgres table" in hit.passage
    assert (
        hit.path.startswith("projects/kasha-api/memory/conversations/2026/02/")
        and hit.score > ContextSettings().threshold
    )


def test_behind_a_likely_memory_none_is_shown_that_is_unlikely(ask) -> None:
    query = "where do we keep user sessions nowadays"
    usual, many = ask(API, query), ask(API, query, limit=10)
    assert many.hits[0].score >= 0.6
    assert many.hits[-1].score < 0.4
    assert usual.hits == tuple(hit for hit in many.hits if hit.score >= 0.4)
    assert ask(API, query, by_exchange=True).hits[-1].score < 0.4


def test_an_ordinary_question_has_the_three_likeliest_answers(ask) -> None:
    query = "requests, tests and timestamps of the payment API"
    many = ask(API, query, limit=10).hits
    assert len(many) > 3
    assert ask(API, query).hits == many[:3]
    assert ask(API, query, limit=2).hits == many[:2]


def test_scores_are_shares_in_falling_order_and_passages_are_short(ask) -> None:
    answer = ask(API, "requests, tests and timestamps of the payment API", limit=10)
    scores = [hit.score for hit in answer.hits]
    assert len(scores) > 1 and scores == sorted(scores, reverse=True)
    assert all(0.0 < score <= 1.0 for score in scores)
    assert all(0 < len(hit.passage) <= EXCERPT_CHARS for hit in answer.hits)


def test_an_identifier_is_found_as_it_is_written_in_code(ask) -> None:
    assert titles(ask(API, "test_settlement_batch"))[:1] == [
        "The flaky settlement test"
    ]
    assert titles(ask(WEB, "Intl.DateTimeFormat"))[:1] == [
        "Bundle shrank by dropping moment.js"
    ]


def test_workspace_and_user_scope_are_inherited(ask) -> None:
    assert titles(ask(OPS, "how are commit messages written"))[:1] == [
        "Commit subjects in the imperative"
    ]
    assert "Short answers, in English" in titles(
        ask(WEB, "in which language are answers given")
    )


def test_another_project_is_asked_only_when_little_is_found_here(ask) -> None:
    answer = ask(WEB, "why did we drop Redis")
    assert titles(answer)[:1] == ["Sessions move from Redis to Postgres"]
    assert any("other projects" in note for note in answer.notes)


def test_outside_of_all_projects_a_memory_is_as_sure_as_in_its_own(ask) -> None:
    query = "sending big video files from the browser"
    inside, outside = ask(WEB, query, limit=1), ask(SearchScope(), query, limit=1)
    assert titles(outside) == ["Uploads go straight to the bucket"] == titles(inside)
    assert outside.hits[0].score == inside.hits[0].score


def test_the_own_project_comes_before_another_one_that_says_the_same(
    workspace_of, memory_builders
) -> None:
    note = memory_builders.note
    same = "The cache of rendered pages is purged by tag."
    index, store = workspace_of(
        [
            note("theirs", "2026-03-01", "Page cache", same, project="lumen-web"),
            note("mine", "2026-03-01", "Page cache", same, project="kasha-api"),
            note("all", "2026-03-01", "Page cache", same, scope="workspace"),
        ]
    )
    answer = recall(
        RecallDeps(index, store),
        RecallRequest("how is the page cache purged", wide=True),
        API,
        now=NOW,
    )
    assert [hit.project or hit.scope for hit in answer.hits][:1] == ["kasha-api"]
    assert {
        hit.project
        for hit in recall(
            RecallDeps(index, store), RecallRequest("page cache purged"), WEB, now=NOW
        ).hits
    } >= {"lumen-web"}


def test_what_holds_now_comes_first_among_notes_whose_title_is_all_they_say(
    workspace_of, memory_builders
) -> None:
    note = memory_builders.note
    old, new = "The page cache is purged by tag", "Editors purge the page cache by hand"
    index, store = workspace_of(
        [
            note("old", "2026-01-01", old, "", project="kasha-api"),
            note("new", "2026-02-01", new, "", project="kasha-api"),
        ]
    )
    answer = recall(
        RecallDeps(index, store),
        RecallRequest("the page cache is purged by what tag"),
        API,
        now=NOW,
    )
    assert titles(answer)[:1] == [new]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("为什么没有选 Redis 做队列？", "任务队列用Postgres的表，不用Redis"),
        (
            "ステージングのデータベースはどこですか？",
            "ステージングのデータベースはdb7にある",
        ),
        ("세션은 언제 만료되나요?", "로그인 세션의 만료 시간은 삼십 분이다"),
        ("เซสชันหมดอายุเมื่อไร", "เซสชันการเข้าสู่ระบบหมดอายุในสามสิบนาที"),
    ],
)
def test_a_question_in_a_script_without_spaces_is_answered_by_words_alone(
    workspace_of, memory_builders, question: str, answer: str
) -> None:
    said = [
        "任务队列用Postgres的表，不用Redis",
        "缓存的键要带上租户编号",
        "ステージングのデータベースはdb7にある",
        "リリースは毎週木曜の午後に行う",
        "로그인 세션의 만료 시간은 삼십 분이다",
        "배포는 매주 목요일 오후에 한다",
        "เซสชันการเข้าสู่ระบบหมดอายุในสามสิบนาที",
        "ฐานข้อมูลทดสอบอยู่ที่ db7",
    ]
    index, store = workspace_of(
        [
            memory_builders.note(str(n), "2026-01-01", text, "", project="kasha-api")
            for n, text in enumerate(said)
        ]
    )
    found = recall(RecallDeps(index, store), RecallRequest(question), API, now=NOW)
    assert titles(found) == [answer]


def test_a_question_that_the_model_does_not_read_is_answered_by_words_and_says_so(
    workspace_of, memory_builders, tmp_path: Path
) -> None:
    embedder = embedder_for("packaged", tmp_path)
    said = ("webhook 里不要直接调用 OrderService.cancel()", "缓存的键要带上租户编号")
    index, store = workspace_of(
        [
            memory_builders.note(str(n), "2026-01-01", text, "", project="kasha-api")
            for n, text in enumerate(said)
        ],
        embedder,
    )
    index.refresh()
    index.embed_pending()
    found = recall(
        RecallDeps(index, store, embedder),
        RecallRequest("webhook 里怎么取消订单？"),
        API,
        now=NOW,
    )
    assert (titles(found), found.legs, found.notes) == ([said[0]], ("text",), (UNREAD,))


def test_a_replaced_memory_is_answered_with_its_newest_version(ask) -> None:
    answer = ask(API, "every API key may send 100 requests a minute")
    assert titles(answer)[:1] == ["Rate limit is 600 requests a minute for each tenant"]
    assert "Rate limit is 100 requests a minute for each key" not in titles(answer)
    assert answer.hits[0].changes == 1
    assert "600 requests" in answer.hits[0].passage


def test_an_archived_memory_comes_after_one_that_is_not(
    workspace_of, memory_builders
) -> None:
    text = "Logs go to Loki and are kept for a month."
    index, store = workspace_of(
        [
            memory_builders.note(
                "kept", "2026-03-01", "Logs in Loki", text, project="orbit-infra"
            ),
            memory_builders.note(
                "old",
                "2026-03-02",
                "Log storage",
                f"{text} Decided by all.",
                project="orbit-infra",
            ),
        ]
    )
    path = next(Path(store.root).rglob("*log-storage*"))
    archive = (
        store.root / "projects/orbit-infra/memory/archive/infrastructure" / path.name
    )
    archive.parent.mkdir(parents=True)
    path.rename(archive)
    answer = recall(
        RecallDeps(index, store), RecallRequest("where do logs go"), OPS, now=NOW
    )
    assert titles(answer) == ["Logs in Loki", "Log storage"]


def test_a_workspace_without_memories_is_empty_and_not_without_an_answer(
    workspace_of,
) -> None:
    index, store = workspace_of([])
    answer = recall(
        RecallDeps(index, store), RecallRequest("why did we drop Redis"), API
    )
    assert (answer.status, answer.hits) == ("empty", ())


def test_without_a_model_text_alone_answers_and_says_so(ask) -> None:
    answer = ask(API, "why did we drop Redis", embedder=None)
    assert titles(answer)[:1] == ["Sessions move from Redis to Postgres"]
    assert answer.legs == ("text",)
    assert any("text alone" in note for note in answer.notes)


def test_a_model_that_cannot_be_loaded_costs_the_vectors_alone(ask, tmp_path) -> None:
    from keeplore.index import embedder_for

    answer = ask(
        API,
        "why did we drop Redis",
        embedder=embedder_for(str(tmp_path / "no-model"), tmp_path),
    )
    assert titles(answer)[:1] == ["Sessions move from Redis to Postgres"]
    assert answer.legs == ("text",) and any("no-model" in note for note in answer.notes)


def test_what_was_asked_for_as_text_alone_needs_no_note(ask) -> None:
    answer = ask(API, "why did we drop Redis", text_only=True)
    assert (answer.legs, answer.notes) == (("text",), ())


def test_a_prompt_without_a_telling_word_is_not_searched_for(ask) -> None:
    answer = ask(API, "ok, go on please")
    assert (answer.status, answer.hits) == ("nothing", ())


def test_a_new_file_is_found_at_once_and_a_deleted_one_no_more(
    workspace_of, memory_builders
) -> None:
    first = memory_builders.note(
        "one", "2026-03-01", "Logs in Loki", "Logs go to Loki.", project="orbit-infra"
    )
    second = memory_builders.note(
        "two",
        "2026-03-02",
        "Traces in Tempo",
        "Traces go to Tempo.",
        project="orbit-infra",
    )
    index, store = workspace_of([first])
    assert titles(
        recall(RecallDeps(index, store), RecallRequest("where do logs go"), OPS)
    ) == ["Logs in Loki"]
    paths = memory_builders.write(store.root, [second])
    assert titles(
        recall(RecallDeps(index, store), RecallRequest("where do traces go"), OPS)
    ) == ["Traces in Tempo"]
    (store.root / paths[second.id]).unlink()
    assert (
        recall(
            RecallDeps(index, store), RecallRequest("where do traces go to tempo"), OPS
        ).status
        == "nothing"
    )


def test_a_match_whose_file_went_or_changed_since_it_was_indexed_is_not_shown(
    workspace_of, memory_builders
) -> None:
    notes = [
        memory_builders.note(
            f"n{n}",
            "2026-03-01",
            f"Loki rule {n}",
            f"Loki keeps stream {n}.",
            project="orbit-infra",
        )
        for n in range(3)
    ]
    index, store = workspace_of(notes)
    index.refresh()
    writer = BlockedWriter(index)
    with writer:
        paths = [
            store.root / relative
            for relative in sorted(memory_builders.paths(notes).values())
        ]
        paths[0].unlink()
        paths[1].write_text(
            paths[1].read_text(encoding="utf-8").replace("keeps", "drops"),
            encoding="utf-8",
        )
        answer = recall(RecallDeps(index, store), RecallRequest("Loki stream"), OPS)
    assert len(answer.hits) == 1 and answer.status == "found"
    assert any("2 left out" in note for note in answer.notes)
    assert any("files behind" in note for note in answer.notes)


def test_nothing_found_in_an_index_that_is_behind_is_called_stale(
    workspace_of, memory_builders
) -> None:
    index, store = workspace_of(
        [memory_builders.note("a", "2026-03-01", "Loki", "Loki.", scope="workspace")]
    )
    index.refresh()
    with BlockedWriter(index):
        memory_builders.write(
            store.root,
            [memory_builders.note("b", "2026-03-01", "Tempo", "x", scope="workspace")],
        )
        answer = recall(RecallDeps(index, store), RecallRequest("tempo traces"), OPS)
    assert answer.status == "stale"


def test_an_answer_becomes_plain_json(ask) -> None:
    data = json.loads(json.dumps(ask(API, "why did we drop Redis").to_json()))
    assert data["status"] == "found" and data["legs"] == ["text", "vectors"]
    assert re.fullmatch(r"mem_[0-9a-f-]{36}", data["hits"][0]["memory_id"])
    assert data["stamp"]["memories"] == 32
    assert data["hits"][0]["path"].endswith(".md")


class BlockedWriter:
    """Another process that keeps the right to write the index."""

    def __init__(self, index) -> None:
        self._index = index

    def __enter__(self) -> None:
        import fcntl

        database = self._index._database
        self._wait, database._wait_s = database._wait_s, 0.1
        self._handle = os.open(
            database.directory / "writer.lock", os.O_RDWR | os.O_CREAT
        )
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._index._database._wait_s = self._wait
        os.close(self._handle)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (
            "what did we use for sessions before?",
            ["Sessions in Postgres", "Sessions in Redis"],
        ),
        (
            "where did sessions originally live",
            ["Sessions in Postgres", "Sessions in cookies"],
        ),
        (
            "how have sessions changed",
            ["Sessions in Postgres", "Sessions in Redis", "Sessions in cookies"],
        ),
        (
            "where did sessions live in February",
            ["Sessions in Postgres", "Sessions in Redis"],
        ),
        ("where do sessions live", ["Sessions in Postgres"]),
    ],
)
def test_what_held_before_is_shown_behind_what_holds_now_where_it_is_asked_for(
    workspace_of, memory_builders, query: str, wanted: list[str]
) -> None:
    def note(key: str, month: int, text: str, **meta: str):
        title = f"Sessions in {text.split()[-1][:-1]}"
        return memory_builders.note(
            key, f"2026-0{month}-10", title, text, project="kasha-api", **meta
        )

    one, two = (
        note("one", 1, "Sessions live in cookies."),
        note("two", 2, "They live in Redis.", supersedes="one"),
    )
    index, store = workspace_of(
        [one, two, note("three", 3, "Sessions live in Postgres.", supersedes="two")]
    )
    found = recall(RecallDeps(index, store), RecallRequest(query), API, now=NOW)
    assert titles(found) == wanted
    assert {hit.replaced_by for hit in found.hits[1:]} <= {found.hits[0].memory_id}
    unasked = recall(
        RecallDeps(index, store),
        RecallRequest(query, filter=ResultFilter(0.01, is_unasked=True)),
        API,
        now=NOW,
    )
    assert titles(unasked) == wanted[:1]
