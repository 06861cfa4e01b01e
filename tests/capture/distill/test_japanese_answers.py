"""What people who write Japanese decide in reply to an agent, state for good and leave open; and
what sounds alike and says nothing of that.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
ASKED = "請求書用のキューが必要です。"
OPTIONS = """方法は2つあります：

1. RedisとRQ：速いがサーバーが増える。
2. PostgresとSKIP LOCKED：新しいものは不要。

どちらがいいですか？"""
FIRST = "どちらがいいですか？ → RedisとRQ：速いがサーバーが増える。"
SECOND = "どちらがいいですか？ → PostgresとSKIP LOCKED：新しいものは不要。"
PROPOSED = "アップロードを20 MBに制限し、キューはPostgresに置くことを提案します。"
PROPOSAL = f"{PROPOSED} そうしましょうか？"
DONE = "完了しました。"

SECOND_PICKED = [
    "Postgres。",
    "Postgresで",
    "Postgresがいいです",
    "2番目で",
    "2で",
    "案2で",
    "後者で",
    "Postgresで、あとpushして",
    "じゃあPostgresで、テストも走らせて",
]

FIRST_PICKED = [
    "前者",
    "いや、Redisで",
]

NOTHING_PICKED = [
    "Redisはなしで",
    "Redisは使わないで",
    "Redisじゃなくて Postgresで",
    "2はなしで",
    "2番目はダメ",
    "Redisはダメ",
    "開発はRedis、本番はPostgresで",
    "どちらもなし",
    "お任せします",
    "わからない、たぶんPostgres",
    "Postgresは速いですか？",
    "先にテストを走らせて",
    "最後の行でエラー",
    "2つ質問",
    "最後ので",
    "Redisは重すぎる",
]

AGREED = [
    "はい",
    "はい、そのあとpushして",
    "それでお願いします、PRも作って",
    "いいね、コミットして",
]

AMENDED = [
    "はい、ただし50 MBで",
    "はい、制限以外は",
    "はい、制限なしで",
]

NOT_AGREED = [
    "20は少なすぎる、50にして",
    "OK、でもPostgresじゃなくてRedisで",
    "いや、アップロードはそのままで",
    "いいえ",
    "必要ない",
    "50にして",
    "まだ",
    "キューはOK、制限はなしで",
    "キューだけ",
    "OK、ただし毎回ログを残して",
    "OK、でもなぜ遅いの？",
    "はい、でもユーザーが困っています",
    "制限は不要",
    "はい、でもまずログを見て",
]

DECIDED = [
    (
        "今後はmainに直接pushしないでください。続けて",
        "今後はmainに直接pushしないでください。",
    ),
    ("生成ファイルはコミットしないで", "生成ファイルはコミットしないで"),
    ("日時はすべてUTCにしてください", "日時はすべてUTCにしてください"),
    ("UIに絵文字は使わないで", "UIに絵文字は使わないで"),
    ("上限は20ではなく50です", "上限は20ではなく50です"),
    ("上限を50に変更して", "上限を50に変更して"),
    ("勝手に依存を追加しないで", "勝手に依存を追加しないで"),
    ("UTCを使うことに決めました。コミットして", "UTCを使うことに決めました。"),
    (
        "PostgresではなくRedisを使って、それからコミット",
        "PostgresではなくRedisを使って",
    ),
    ("legacy/は生成物なので触らないで", "legacy/は生成物なので触らないで"),
]

NOTED = [
    ("上限は20ではなく50です", "上限は20ではなく50です", "corrections"),
    (
        "クラスより関数のほうが好きです",
        "クラスより関数のほうが好きです",
        "coding-preferences",
    ),
    ("UTCを使うと覚えておいて", "UTCを使う", "architectural-decisions"),
]

LEFT_OPEN = [
    "キャッシュは来週決めましょう",
]

SAYS_NOTHING = [
    "Redisのほうがいいかも",
    "Redisは使えますか？",
    "なぜRedisを使わないの？",
    "テストを走らせて",
    "コミットしてpushして",
    "続けて",
    "スキーマを見て",
    "エラーが出ました",
    "ページが開かない",
    "まだ動かない",
    "ありがとう",
    "テストも書かないと",
    "どういう意味？",
    "悪くない",
    "大丈夫",
    "わからない",
    "見たことない",
    "いつもこのエラー",
    "バグに違いない",
    "今日中に終わらせないと",
    "急がなくていい",
    "もう一度やって",
    "ダメならRedisで",
    "今は古い版を使っています",
    "これを消して",
    "気にしないで",
    "心配しないで",
    "まだpushしないで",
    "忘れないで",
]


def talk(asked: str, reply: str, message: str) -> list[Exchange]:
    return [
        Exchange("t-0", AT, asked, (reply,)),
        Exchange("t-1", AT, message, (DONE,)),
    ]


def decided(asked: str, reply: str, message: str) -> list[str]:
    return [one.quote.text for one in decisions(talk(asked, reply, message))]


def told(message: str) -> list[Exchange]:
    """A talk in which nothing was asked."""
    return talk("請求書を続けて", "ページができました。", message)


def written(message: str) -> list[tuple[str, str]]:
    """The text and category of each note that is written unasked."""
    found = candidates(told(message))
    return [(one.text, one.category) for one in found if one.confidence >= AUTOMATIC]


@pytest.mark.parametrize("message", SECOND_PICKED)
def test_the_second_option_is_picked(message: str) -> None:
    assert decided(ASKED, OPTIONS, message) == [SECOND]


@pytest.mark.parametrize("message", FIRST_PICKED)
def test_the_first_option_is_picked(message: str) -> None:
    assert decided(ASKED, OPTIONS, message) == [FIRST]


@pytest.mark.parametrize("message", NOTHING_PICKED)
def test_a_no_a_doubt_and_a_step_pick_no_option(message: str) -> None:
    made = decided(ASKED, OPTIONS, message)
    assert not {FIRST, SECOND} & {*made}


@pytest.mark.parametrize("message", AGREED)
def test_a_yes_agrees_to_the_proposal_whatever_comes_next(message: str) -> None:
    assert decided(
        "アップロードが遅く、キューがタスクを失います。", PROPOSAL, message
    ) == [PROPOSED]


@pytest.mark.parametrize("message", AMENDED)
def test_a_yes_with_a_change_keeps_the_change(message: str) -> None:
    made = decided("アップロードが遅く、キューがタスクを失います。", PROPOSAL, message)
    assert made == [f"{PROPOSED} → {message}"]


@pytest.mark.parametrize("message", NOT_AGREED)
def test_a_no_and_an_objection_agree_to_nothing(message: str) -> None:
    made = decided("アップロードが遅く、キューがタスクを失います。", PROPOSAL, message)
    assert not any(PROPOSED in line for line in made)


@pytest.mark.parametrize(("message", "decision"), DECIDED)
def test_a_rule_is_decided_without_the_next_step(message: str, decision: str) -> None:
    assert [one.quote.text for one in decisions(told(message))] == [decision]


@pytest.mark.parametrize(("message", "text", "category"), NOTED)
def test_what_lasts_is_noted(message: str, text: str, category: str) -> None:
    assert (text, category) in written(message)


@pytest.mark.parametrize("message", LEFT_OPEN)
def test_what_is_put_off_is_left_open(message: str) -> None:
    found = distill(told(message))
    assert [quote.text for quote in found["open_questions"]] == [message]


@pytest.mark.parametrize("message", SAYS_NOTHING)
def test_what_is_of_the_moment_decides_nothing(message: str) -> None:
    assert [one.quote.text for one in decisions(told(message))] == []
    assert written(message) == []
