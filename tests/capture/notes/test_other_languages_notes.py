"""What a person states for good in another language than English."""

from __future__ import annotations

import pytest

from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

STATED = [
    ("wir deployen nie freitags", "project-conventions"),
    ("die staging db liegt auf db7, nicht auf db3", "corrections"),
    ("ich mag keine kommentare im code", "coding-preferences"),
    ("alle migrationen müssen rückwärts laufen können", "project-conventions"),
    ("nein, die API läuft auf port 8080, nicht 8000", "corrections"),
    ("nunca desplegamos los viernes", "project-conventions"),
    ("la base de staging está en db7, no en db3", "corrections"),
    ("no me gustan los comentarios en el código", "coding-preferences"),
    ("todos los endpoints deben devolver JSON", "project-conventions"),
    ("on ne déploie jamais le vendredi", "project-conventions"),
    ("la base de staging est sur db7, pas sur db3", "corrections"),
    ("je n'aime pas les commentaires dans le code", "coding-preferences"),
    ("chaque migration doit être réversible", "project-conventions"),
    ("a gente nunca faz deploy na sexta", "project-conventions"),
    ("o banco de staging fica na db7, não na db3", "corrections"),
    ("não gosto de comentários no código", "coding-preferences"),
    ("todos os endpoints devem devolver JSON", "project-conventions"),
    ("我们从不在周五部署", "project-conventions"),
    ("测试数据库在db7，不在db3", "corrections"),
    ("我不喜欢代码里写注释", "coding-preferences"),
    ("所有接口都必须返回JSON", "project-conventions"),
    ("うちでは金曜日にデプロイしません", "project-conventions"),
    ("ステージングのDBはdb3ではなくdb7にあります", "corrections"),
    ("コード内のコメントは嫌いです", "coding-preferences"),
    ("すべてのAPIは必ずJSONを返すこと", "project-conventions"),
]
NOT_FOR_GOOD = [
    "ich will nicht dass du das jetzt machst",
    "warum ist das nie grün?",
    "das ist im moment kaputt, nicht schlimm",
    "vielleicht nutzen wir nie wieder redis",
    "mach alle tests grün",
    "jede datei muss ich jetzt selbst prüfen",
    "no, esto no está bien",
    "no me gusta esto",
    "quizás nunca usamos eso",
    "non, ce n'est pas ça",
    "je n'aime pas ça",
    "não, isso não está certo",
    "não gosto disso",
    "不对，还是报错",
    "这是什么，不是已经修好了吗？",
    "これではなくて、別のファイルを直して",
    "まだ直っていない",
    "wir deployen heute ausnahmsweise nie direkt",
    "hoy nunca desplegamos nada",
    "aujourd'hui on ne déploie jamais",
]


@pytest.mark.parametrize(("said", "category"), STATED)
def test_what_is_stated_for_good_becomes_a_note(said: str, category: str) -> None:
    assert written(said) == [category]


@pytest.mark.parametrize("said", NOT_FOR_GOOD)
def test_what_is_of_the_moment_or_in_doubt_does_not(said: str) -> None:
    assert written(said) == []


def written(said: str) -> list[str]:
    """The categories of the notes that are written without being asked about."""
    exchange = Exchange("turn", "2026-03-01T10:00:00Z", said, ("ok",))
    found = candidates([exchange])
    return [str(one.category) for one in found if one.confidence >= AUTOMATIC]
