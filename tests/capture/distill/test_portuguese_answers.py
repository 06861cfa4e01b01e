"""What people who write Portuguese decide in reply to an agent, state for good and leave open; and
what sounds alike and says nothing of that.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
ASKED = "Precisamos de uma fila para as faturas."
OPTIONS = """Duas opções:

1. Redis com RQ: rápido, um servidor a mais.
2. Postgres com SKIP LOCKED: nada novo para manter.

Qual você prefere?"""
FIRST = (
    "Precisamos de uma fila para as faturas → Redis com RQ: rápido, um servidor a mais."
)
SECOND = "Precisamos de uma fila para as faturas → Postgres com SKIP LOCKED: nada novo para manter."
PROPOSED = "Proponho limitar os uploads a 20 MB e deixar a fila no Postgres."
PROPOSAL = f"{PROPOSED} Posso fazer assim?"
DONE = "Feito."

SECOND_PICKED = [
    "Postgres.",
    "Postgres por favor",
    "Postgres, obrigado!",
    "a segunda, obrigado",
    "a segunda",
    "o segundo",
    "melhor a segunda",
    "usa a 2",
    "vamos com a 2",
    "a 2",
    "opção 2",
    "2 por favor",
    "2. E limita as tentativas a 5.",
    "vamos usar Postgres, depois push",
    "vamos de Postgres e roda os testes",
    "prefiro Postgres",
    "Postgres me parece melhor",
    "Postgres porque já temos",
    "então Postgres",
    "eu usaria Postgres",
    "a última",
    "Postgres, não Redis",
    "Postgres está bom",
]

FIRST_PICKED = [
    "não, redis",
    "a primeira, porque já temos Redis",
]

NOTHING_PICKED = [
    "a segunda opção é muito cara",
    "a segunda mas depois",
    "eu não usaria Redis",
    "2, mas no máximo 5 tentativas",
    "nada de Redis",
    "sem Redis por favor",
    "não, nada de Redis",
    "Redis não, melhor Postgres",
    "Redis não! Não podemos operar.",
    "2 não",
    "a segunda não",
    "Redis: não",
    "Redis para dev, Postgres para prod",
    "qualquer um menos Redis",
    "nenhuma",
    "nenhuma das duas",
    "não sei, talvez Postgres",
    "você decide",
    "Postgres é rápido?",
    "primeiro roda os testes",
    "primeiro, roda os testes",
    "2 perguntas",
    "a última linha falha",
    "não usa Redis",
    "não quero Redis",
    "Redis é demais",
]

AGREED = [
    "sim",
    "sim, e depois push",
    "faz isso e abre um PR",
    "beleza, faz commit",
    "claro, continua com o login",
    "perfeito, agora rebase",
]

AMENDED = [
    "sim, mas 50 MB",
    "ok, mas no Redis, não no Postgres",
    "sim para a fila, não para o limite",
    "sim, menos o limite",
    "sim, exceto o limite",
    "ok, mas registra cada tentativa",
    "sim, com limite de 50",
    "sim, sem limite",
]

NOT_AGREED = [
    "20 é pouco, põe 50",
    "não, deixa os uploads",
    "não",
    "não precisa",
    "melhor 50",
    "ainda não",
    "só a fila",
    "ok mas por que é lento?",
    "sim, mas os usuários reclamam",
    "não precisamos do limite",
    "sim mas primeiro olha os logs",
]

DECIDED = [
    ("usa UTC em todo lugar e roda o relatório de novo", "usa UTC em todo lugar"),
    (
        "a partir de agora nunca faça push na main, depois continua",
        "a partir de agora nunca faça push na main",
    ),
    ("nunca commita arquivos gerados", "nunca commita arquivos gerados"),
    ("sempre usamos pnpm aqui, agora instala", "sempre usamos pnpm aqui"),
    ("nada de emojis na UI", "nada de emojis na UI"),
    ("sem emojis na UI por favor", "sem emojis na UI por favor"),
    ("não suportamos mais Windows", "não suportamos mais Windows"),
    ("a API tem que continuar compatível", "a API tem que continuar compatível"),
    ("os preços devem ser líquidos", "os preços devem ser líquidos"),
    ("o limite é 50, não 20", "o limite é 50, não 20"),
    ("muda o limite para 50", "muda o limite para 50"),
    (
        "não adiciona dependências sem perguntar",
        "não adiciona dependências sem perguntar",
    ),
    ("não quero classes", "não quero classes"),
    ("funções, não classes", "funções, não classes"),
    ("prefiro funções a classes", "prefiro funções a classes"),
    ("como combinado, usamos UTC", "como combinado, usamos UTC"),
    ("usa Redis em vez de Postgres, depois commita", "usa Redis em vez de Postgres"),
    ("decidimos usar SQLite, agora commita", "decidimos usar SQLite"),
]

NOTED = [
    (
        "nunca commita arquivos gerados",
        "Nunca commita arquivos gerados",
        "project-conventions",
    ),
    ("fazemos deploy às sextas", "Fazemos deploy às sextas", "project-conventions"),
    (
        "fyi o banco de staging está no db7",
        "O banco de staging está no db7",
        "infrastructure",
    ),
    (
        "o banco de staging está no db7, não no db3",
        "O banco de staging está no db7, não no db3",
        "corrections",
    ),
    ("lembra que usamos UTC", "Usamos UTC", "architectural-decisions"),
    ("o Max é dono do faturamento", "O Max é dono do faturamento", "infrastructure"),
    (
        "pergunta ao Max antes de mexer no faturamento",
        "Pergunta ao Max antes de mexer no faturamento",
        "infrastructure",
    ),
    (
        "não mexe em legacy/, é gerado",
        "não mexe em legacy/, é gerado",
        "project-conventions",
    ),
    ("estou no Windows", "Estou no Windows", "user-facts"),
]

LEFT_OPEN = [
    "o cache a gente vê semana que vem",
    "deixamos o cache para depois",
    "pergunto ao Max sobre o cache",
]

SAYS_NOTHING = [
    "talvez a gente deva usar Redis",
    "podemos usar Redis?",
    "por que não usamos Redis?",
    "roda os testes",
    "faz commit e push",
    "continua",
    "olha o esquema",
    "vamos ver",
    "vamos ver se os testes passam",
    "deu erro: KeyError",
    "a página não carrega",
    "ainda não funciona",
    "os testes falham",
    "valeu, ótimo",
    "ainda precisa escrever os testes",
    "o que significa?",
    "nada mal",
    "sem problema",
    "sem pressa por favor",
    "não faço ideia",
    "nunca vi isso",
    "sempre esse erro",
    "sempre dá erro aqui",
    "deve ser um bug",
    "tem que ser um bug",
    "tem que ficar pronto hoje",
    "usa o tempo que precisar",
    "deixa eu olhar",
    "deixa isso por enquanto",
    "faz de novo, não está certo",
    "se não funcionar, usamos Redis",
    "nunca se sabe",
    "não mexe em nada ainda",
    "não se preocupe",
    "o valor é 50, não sei por quê",
    "tira isso",
    "vamos manter isso em mente",
    "não faça push ainda",
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
    return talk("Continua com as faturas", "A página está pronta.", message)


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
        "Os uploads são lentos e a fila perde tarefas.", PROPOSAL, message
    ) == [PROPOSED]


@pytest.mark.parametrize("message", AMENDED)
def test_a_yes_with_a_change_keeps_the_change(message: str) -> None:
    made = decided("Os uploads são lentos e a fila perde tarefas.", PROPOSAL, message)
    assert made == [f"{PROPOSED} → {message}"]


@pytest.mark.parametrize("message", NOT_AGREED)
def test_a_no_and_an_objection_agree_to_nothing(message: str) -> None:
    made = decided("Os uploads são lentos e a fila perde tarefas.", PROPOSAL, message)
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
