"""Talk in Chinese, German, Spanish, French, Japanese and Portuguese; other languages are quoted
for their opening alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from keeplore.capture.cues import opens_with
from keeplore.capture.distill.distiller import distill
from keeplore.capture.titles.titles import title_of
from keeplore.memory import Exchange
from keeplore.text.sentences import sentences
from keeplore.text.slugs import slugify
from keeplore.text.terms import terms

TALKS = {
    "zh": (
        "目前队列经常丢任务，重启以后任务就没了。帮我看看怎么改。",
        "我检查了代码。根本原因是Redis没有开启持久化。我建议把队列移到Postgres，因为这样只需要一个数据库。",
        "好的，就用Postgres，不用Redis。不要修改现有的接口。",
        "已经把队列迁移到Postgres。所有测试通过。监控还没有实现，以后再做。",
    ),
    "de": (
        (
            "Die Warteschlange verliert derzeit Aufträge, wenn der Server neu startet. Kannst du "
            "dir "
            "das ansehen?"
        ),
        (
            "Die Ursache ist, dass Redis ohne Persistenz läuft. Ich empfehle Postgres, weil es "
            "ohnehin "
            "läuft."
        ),
        "Ja, wir nehmen Postgres statt Redis. Die Schnittstelle darf sich nicht ändern.",
        (
            "Ich habe den Speicher in `queue.py` umgestellt. Alle 41 Tests laufen. "
            "Noch offen ist, ob wir die Metriken behalten."
        ),
    ),
    "es": (
        (
            "La cola pierde tareas cuando se reinicia el servidor, ahora mismo no funciona. "
            "¿Puedes "
            "mirarlo?"
        ),
        (
            "La causa es que Redis no guarda nada en disco. Recomiendo Postgres porque ya está "
            "instalado."
        ),
        "Sí, vamos a usar Postgres en lugar de Redis. La interfaz no debe cambiar.",
        (
            "He cambiado el almacenamiento en `queue.py`. Todos los tests pasan. Queda pendiente "
            "decidir las métricas."
        ),
    ),
    "fr": (
        (
            "La file d'attente perd des tâches au redémarrage, elle ne fonctionne pas en ce "
            "moment. Tu "
            "peux regarder ?"
        ),
        (
            "La cause est que Redis n'écrit rien sur le disque. Je recommande Postgres, parce "
            "qu'il "
            "est déjà installé."
        ),
        "Oui, on va utiliser Postgres plutôt que Redis. L'interface ne doit jamais changer.",
        (
            "J'ai remplacé le stockage dans `queue.py`. Tous les tests passent. Reste à décider "
            "quoi "
            "faire des métriques."
        ),
    ),
    "ja": (
        "現在、サーバーを再起動するとキューのタスクが消えます。調べてもらえますか？",
        "原因はRedisの永続化が無効なことです。Postgresをおすすめします。すでに動いているからです。",
        "はい、RedisをやめてPostgresにしましょう。公開APIは変えないでください。",
        "`queue.py`の保存先を変更しました。すべてのテストが通りました。監視はまだ決まっていません。",
    ),
    "pt": (
        (
            "A fila perde tarefas quando o servidor reinicia, no momento não funciona. Você pode "
            "olhar?"
        ),
        (
            "A causa é que o Redis não grava nada em disco. Recomendo Postgres, porque já está "
            "instalado."
        ),
        "Sim, vamos usar Postgres em vez de Redis. A interface não deve mudar.",
        (
            "Troquei o armazenamento em `queue.py`. Todos os testes passam. Ainda falta decidir "
            "as métricas."
        ),
    ),
}
PARTS = {
    "zh": ("目前队列", "就用Postgres", "根本原因", "迁移到Postgres", "还没有实现"),
    "de": (
        "Die Warteschlange",
        "wir nehmen Postgres",
        "Die Ursache",
        "in `queue.py`",
        "Noch offen",
    ),
    "es": (
        "La cola pierde",
        "vamos a usar Postgres",
        "La causa",
        "en `queue.py`",
        "Queda pendiente",
    ),
    "fr": (
        "La file d'attente",
        "on va utiliser Postgres",
        "La cause",
        "dans `queue.py`",
        "Reste à décider",
    ),
    "ja": (
        "現在、サーバー",
        "RedisをやめてPostgres",
        "原因は",
        "`queue.py`の",
        "監視はまだ",
    ),
    "pt": (
        "A fila perde",
        "vamos usar Postgres",
        "A causa",
        "em `queue.py`",
        "Ainda falta decidir",
    ),
}


def talk(*said: str) -> list[Exchange]:
    return [
        Exchange(f"turn-{n}", "2026-03-01T10:00:00Z", user, (assistant,))
        for n, (user, assistant) in enumerate(zip(said[::2], said[1::2], strict=True))
    ]


def holds(quotes: Sequence[object], words: str) -> bool:
    return any(words in str(quote) for quote in quotes)


@pytest.mark.parametrize("language", TALKS)
def test_each_part_has_what_belongs_there(language: str) -> None:
    found = distill(talk(*TALKS[language]))
    names = ("context", "decision", "reasoning", "outcome", "open_questions")
    assert [
        name
        for name, words in zip(names, PARTS[language], strict=True)
        if not holds(found[name], words)
    ] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "我们要不要用Postgres？",
        "也许可以改用Postgres代替Redis",
        "为什么必须使用Postgres呢？",
        "Vielleicht nehmen wir Postgres statt Redis.",
        "Sollen wir Postgres nehmen?",
        "Wenn wir Postgres nehmen, brauchen wir einen Server.",
        "Quizás vamos a usar Postgres en lugar de Redis.",
        "¿Vamos a usar Postgres?",
        "Je ne sais pas si on va utiliser Postgres.",
        "On va utiliser Postgres ?",
        "Postgresにしますか？",
        "たぶんPostgresにします。",
        "Postgresにするかどうか迷っています。",
        "RedisをやめてPostgresにするなら、サーバーが必要です。",
        "Talvez a gente use Postgres em vez de Redis.",
        "Vamos usar Postgres?",
        "Se vamos usar Postgres, precisamos de um servidor.",
        "Deve ser o Redis, não o Postgres.",
    ],
)
def test_a_question_and_a_doubt_decide_nothing(sentence: str) -> None:
    found = distill(talk("x", "y", sentence, "z"))
    assert (*found["decision"], *found["also_decided"]) == ()


def test_a_chat_of_brazil_is_told_whole() -> None:
    found = distill(
        talk(
            "bom dia! o webhook do pix tá perdendo pagamentos qd a fila enche. dá uma olhada?",
            (
                "A causa é que o worker confirma a mensagem antes de gravar. Há duas opções:\n\n"
                "1. Confirmar só depois do commit\n"
                "2. Uma tabela `outbox` com chave de idempotência\n\n"
                "Eu ficaria com a opção 2, porque evita pagamentos duplicados."
            ),
            "2, mas sem trigger no banco",
            "Feito. O worker lê a tabela a cada 5 segundos. Quanto tempo guardamos as linhas?",
            "30 dias. e os logs tem que ficar em português",
            "Anotado: linhas processadas são apagadas depois de 30 dias.",
            "vc acha melhor redis ou postgres pro rate limit?",
            "Sugiro Postgres: você já tem e o volume é baixo.",
            "beleza, vai de postgres. o painel a gente vê depois",
            "Pronto: rate limit em Postgres, `ratelimit.go`.",
        )
    )
    assert {part: [quote.text for quote in found[part]] for part in found} == {
        "context": ["o webhook do pix tá perdendo pagamentos qd a fila enche."],
        "options": [
            "Confirmar só depois do commit",
            "Uma tabela `outbox` com chave de idempotência",
        ],
        "decision": [
            "Uma tabela `outbox` com chave de idempotência → 2, mas sem trigger no banco",
            "e os logs tem que ficar em português",
        ],
        "reasoning": [
            "A causa é que o worker confirma a mensagem antes de gravar.",
            "Eu ficaria com a opção 2, porque evita pagamentos duplicados.",
        ],
        "also_decided": [
            "30 dias. → Anotado: linhas processadas são apagadas depois de 30 dias.",
            "Sugiro Postgres: você já tem e o volume é baixo.",
        ],
        "outcome": ["Pronto: rate limit em Postgres, `ratelimit.go`."],
        "open_questions": ["o painel a gente vê depois"],
    }


def test_a_chat_of_japan_is_told_whole() -> None:
    found = distill(
        talk(
            "現在、サーバーを再起動するとキューのタスクが消えます。調べてもらえますか？",
            (
                "原因はRedisの永続化が無効になっていることです。選択肢は次の二つです：\n\n"
                "1. RedisのAOFを有効にする（簡単だが遅い）\n"
                "2. Postgresの`jobs`テーブルに移す\n\n"
                "案2をおすすめします。Postgresはすでに動いているので、運用が増えません。"
            ),
            "2で。ただしトリガーは使わないで",
            "完了しました。`0012_jobs.sql`にテーブルを追加しました。処理済みの行は何日保持しますか？",
            "30日で",
            "承知しました。処理済みの行は30日後に削除します。",
            "レート制限はRedisとPostgresのどちらがいいと思いますか？",
            "Postgresをおすすめします。アクセス数が少ないので十分です。",
            "ではそれでお願いします。ダッシュボードは後で決めましょう",
            "レート制限をPostgresに実装しました。",
            "今後はコミットメッセージを必ず日本語で書いてください",
            "承知しました。",
        )
    )
    assert {part: [quote.text for quote in found[part]] for part in found} == {
        "context": ["現在、サーバーを再起動するとキューのタスクが消えます。"],
        "options": [
            "RedisのAOFを有効にする（簡単だが遅い）",
            "Postgresの`jobs`テーブルに移す",
        ],
        "decision": ["Postgresの`jobs`テーブルに移す", "トリガーは使わないで"],
        "reasoning": [
            "原因はRedisの永続化が無効になっていることです。",
            "Postgresはすでに動いているので、運用が増えません。",
        ],
        "also_decided": [
            "30日で → 処理済みの行は30日後に削除します。",
            "Postgresをおすすめします。",
            "今後はコミットメッセージを必ず日本語で書いてください",
        ],
        "outcome": [
            "`0012_jobs.sql`にテーブルを追加しました。",
            "レート制限をPostgresに実装しました。",
        ],
        "open_questions": ["ダッシュボードは後で決めましょう"],
    }


@pytest.mark.parametrize(
    "lead",
    [
        "Es gibt zwei Möglichkeiten für die Warteschlange:",
        "Hay dos opciones:",
        "On a deux possibilités ici :",
        "有两种方案：",
        "方法は次の二つです：",
    ],
)
def test_a_list_of_options_is_told_by_the_line_before_it(lead: str) -> None:
    found = distill(talk("queue?", f"{lead}\n\n1. Redis AOF\n2. Postgres jobs"))
    assert [quote.text for quote in found["options"]] == ["Redis AOF", "Postgres jobs"]


@pytest.mark.parametrize(
    "said",
    [
        (
            "Очередь теряет задачи при перезапуске.",
            "Причина в том, что Redis не пишет на диск.",
            "Берём Postgres.",
            "Готово.",
        ),
        (
            "큐가 작업을 잃어버립니다.",
            "원인은 Redis 설정입니다.",
            "네, Postgres로 합시다.",
            "이전했습니다.",
        ),
    ],
)
def test_another_language_is_quoted_for_its_opening_alone(
    said: tuple[str, ...],
) -> None:
    found = distill(talk(*said))
    assert [quote.text for quotes in found.values() for quote in quotes] == [said[0]]


def test_sentences_end_where_these_scripts_end_them() -> None:
    found = sentences("我们决定用SQLite。为什么？因为它更简单！")
    assert [(s.text, s.is_question) for s in found] == [
        ("我们决定用SQLite。", False),
        ("为什么？", True),
        ("因为它更简单！", False),
    ]


def test_code_behind_a_full_stop_is_no_end_of_a_quotation() -> None:
    found = sentences("完了しました。`a.py`に`b`を追加しました。`c`も直しました。")
    assert [s.text for s in found] == [
        "完了しました。",
        "`a.py`に`b`を追加しました。",
        "`c`も直しました。",
    ]


def test_two_characters_that_stand_together_are_a_term() -> None:
    assert set(terms("数据库迁移")) & set(terms("迁移旧的数据库")) == {
        "数据",
        "据库",
        "迁移",
    }
    assert terms("用Postgres队列") == ("用", "队列", "postgr")


def test_the_words_of_a_request_become_the_title_and_the_name_of_the_file() -> None:
    title = title_of(talk("请帮我把队列迁移到Postgres，谢谢。", "好的。"), {})
    assert title == "把队列迁移到Postgres，谢谢"
    assert slugify(title) == "ba-dui-lie-qian-yi-dao-postgres-xie-xie"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("reader_step", "Cliquez sur « S'inscrire »."),
        ("reader_step", "Une fois connecté, allez dans les outils."),
        ("reader_step", "Haz clic en «Guardar»."),
        ("reader_step", "Klicken Sie auf „Speichern“."),
        ("reader_step", "Depois clique em «Salvar»."),
        ("announced", "Vamos a crear las cinco ventanas."),
        ("announced", "Entiendo perfectamente la estructura."),
        ("announced", "Je vais regarder le fichier."),
        ("announced", "Ich werde die Datei ansehen."),
        ("announced", "Vou olhar o arquivo."),
    ],
)
def test_steps_and_announcements_are_known_in_other_languages(
    name: str, sentence: str
) -> None:
    assert opens_with(sentence, name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("reader_step", "Le bouton ouvre la page."),
        ("reader_step", "Öffnet die Datei nur einmal."),
        ("announced", "Perfecto: la base está en db7."),
        ("announced", "La ventana va a la izquierda."),
    ],
)
def test_what_is_stated_in_other_languages_is_neither(name: str, sentence: str) -> None:
    assert not opens_with(sentence, name)
