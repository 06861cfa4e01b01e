"""What people who write Chinese decide in reply to an agent, state for good and leave open; and
what sounds alike and says nothing of that.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
ASKED = "我们需要一个发票队列。"
OPTIONS = """有两个方案：

1. Redis加RQ：快，但多一台服务器。
2. Postgres加SKIP LOCKED：不用新增服务。

你选哪个？"""
FIRST = "你选哪个？ → Redis加RQ：快，但多一台服务器。"
SECOND = "你选哪个？ → Postgres加SKIP LOCKED：不用新增服务。"
PROPOSED = "我建议把上传限制在20 MB，队列放在Postgres里。"
PROPOSAL = f"{PROPOSED} 要这样做吗？"
DONE = "完成。"

SECOND_PICKED = [
    "Postgres。",
    "Postgres吧",
    "用Postgres",
    "就用Postgres",
    "还是Postgres吧",
    "第二个",
    "第二个吧，谢谢",
    "选第二个",
    "选2",
    "用2",
    "方案2",
    "方案二",
    "2吧",
    "后者",
    "用Postgres，然后提交",
    "那就Postgres吧，跑一下测试",
    "我选Postgres",
    "我觉得Postgres好",
    "Postgres更好，因为已经有了",
    "最后一个",
]

FIRST_PICKED = [
    "前者",
]

NOTHING_PICKED = [
    "2，但是最多重试5次",
    "不要Redis",
    "不用Redis",
    "别用Redis",
    "不要用Redis，用Postgres",
    "不，用Redis",
    "第一个不行",
    "第二个不好",
    "2不行",
    "不选2",
    "Redis不行",
    "开发用Redis，生产用Postgres",
    "都不要",
    "都不行",
    "你决定",
    "不知道，可能Postgres",
    "Postgres够快吗？",
    "先跑测试",
    "第一，为什么要Redis？",
    "最后一行报错",
    "两个问题",
    "2个问题",
    "除了Redis都行",
    "Redis太重了",
]

AGREED = [
    "好",
    "好的，然后推送",
    "就这样，开个PR",
    "没问题，提交吧",
    "可以，把限制做成可配置的",
    "行，继续",
]

AMENDED = [
    "可以，但是50 MB",
    "好，但放在Redis，不放Postgres",
    "改成50",
    "可以，除了限制",
    "好，限制去掉",
]

NOT_AGREED = [
    "20太小了，改成50",
    "不用",
    "不要",
    "不",
    "先不",
    "队列可以，限制不要",
    "只做队列",
    "好的，但是每次重试要记日志",
    "好，但是为什么慢？",
    "好，但用户在抱怨",
    "限制不需要",
    "不需要限制",
    "好的，但先看日志",
]

DECIDED = [
    ("以后不要直接推送到main，继续", "以后不要直接推送到main"),
    ("不要提交生成的文件", "不要提交生成的文件"),
    ("所有时间都用UTC，然后重新跑报告", "所有时间都用UTC"),
    ("我们不再支持Windows", "我们不再支持Windows"),
    ("API必须保持向后兼容", "API必须保持向后兼容"),
    ("把限制改成50", "把限制改成50"),
    ("用函数，不用类", "用函数，不用类"),
    ("我们决定用SQLite，现在提交", "我们决定用SQLite"),
    ("用Redis代替Postgres，然后提交", "用Redis代替Postgres"),
]

NOTED = [
    ("测试库在db7，不在db3", "测试库在db7，不在db3", "corrections"),
    ("记住我们用UTC", "我们用UTC", "architectural-decisions"),
]

LEFT_OPEN = [
    "缓存以后再说",
    "这个先放着",
]

SAYS_NOTHING = [
    "也许该用Redis",
    "可以用Redis吗？",
    "为什么不用Redis？",
    "跑测试",
    "提交并推送",
    "继续",
    "看一下表结构",
    "报错了：KeyError",
    "页面打不开",
    "还是不行",
    "测试失败",
    "谢谢，很好",
    "还要写测试",
    "什么意思？",
    "不错",
    "没关系",
    "不知道",
    "从来没见过",
    "总是这个错误",
    "肯定是bug",
    "今天必须完成",
    "别急",
    "不要着急",
    "让我看看",
    "先这样",
    "再做一次，不对",
    "如果不行就用Redis",
    "我们现在用的是旧版本",
    "值是50，不知道为什么",
    "去掉这个",
    "不要停",
    "别忘了提交",
    "用一下这个",
    "这个不能用",
    "不用了",
    "现在用不了",
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
    return talk("继续做发票", "发票页面好了。", message)


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
    assert decided("上传很慢，队列丢任务。", PROPOSAL, message) == [PROPOSED]


@pytest.mark.parametrize("message", AMENDED)
def test_a_yes_with_a_change_keeps_the_change(message: str) -> None:
    made = decided("上传很慢，队列丢任务。", PROPOSAL, message)
    assert made == [f"{PROPOSED} → {message}"]


@pytest.mark.parametrize("message", NOT_AGREED)
def test_a_no_and_an_objection_agree_to_nothing(message: str) -> None:
    made = decided("上传很慢，队列丢任务。", PROPOSAL, message)
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
