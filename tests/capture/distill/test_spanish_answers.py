"""What people who write Spanish decide in reply to an agent, state for good and leave open; and
what sounds alike and says nothing of that.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
ASKED = "Necesitamos una cola para las facturas."
OPTIONS = """Dos opciones:

1. Redis con RQ: rápido, un servidor más.
2. Postgres con SKIP LOCKED: nada nuevo que mantener.

¿Cuál prefieres?"""
FIRST = (
    "Necesitamos una cola para las facturas → Redis con RQ: rápido, un servidor más."
)
SECOND = "Necesitamos una cola para las facturas → Postgres con SKIP LOCKED: nada nuevo que mantener."
PROPOSED = "Propongo limitar las subidas a 20 MB y dejar la cola en Postgres."
PROPOSAL = f"{PROPOSED} ¿Lo hago así?"
DONE = "Hecho."

SECOND_PICKED = [
    "Postgres.",
    "Postgres por favor",
    "Postgres, gracias!",
    "la segunda, gracias",
    "la segunda",
    "el segundo",
    "mejor la segunda",
    "usa la 2",
    "usemos la 2",
    "la 2",
    "opción 2",
    "2 por favor",
    "2. Y limita los intentos a 5.",
    "usemos Postgres, luego haz push",
    "vamos con Postgres y corre los tests",
    "prefiero Postgres",
    "Postgres me parece mejor",
    "Postgres porque ya lo tenemos",
    "entonces Postgres",
    "yo usaría Postgres",
    "la última",
    "Postgres, no Redis",
    "Postgres está bien",
]

FIRST_PICKED = [
    "no, redis",
    "la primera, porque ya tenemos Redis",
]

NOTHING_PICKED = [
    "la segunda opción es muy cara",
    "la segunda opción ya la probamos",
    "la segunda pero más tarde",
    "2, pero máximo 5 intentos",
    "no Redis",
    "nada de Redis",
    "sin Redis por favor",
    "no, nada de Redis",
    "Redis no, mejor Postgres",
    "¡Redis no! No lo podemos operar.",
    "2 no",
    "la segunda no",
    "la primera no, por favor",
    "Redis: no",
    "Redis para dev, Postgres para prod",
    "cualquiera menos Redis",
    "ninguna",
    "ninguna de las dos",
    "no sé, quizás Postgres",
    "decide tú",
    "¿Postgres es rápido?",
    "primero corre los tests",
    "primero, corre los tests",
    "2 preguntas",
    "la última línea falla",
    "Postgres no pierde tareas?",
    "no uses Redis",
    "no quiero Redis",
    "Redis es demasiado",
]

AGREED = [
    "sí",
    "sí, y luego haz push",
    "hazlo y abre un PR",
    "suena bien, haz commit",
    "claro, sigue con el login",
    "perfecto, ahora rebase",
    "genial",
    "dale",
]

AMENDED = [
    "sí, pero 50 MB",
    "vale, pero en Redis, no en Postgres",
    "sí a la cola, no al límite",
    "sí, menos el límite",
    "sí, excepto el límite",
    "sí, salvo el límite",
    "vale, pero registra cada intento",
    "sí, con un límite de 50",
    "sí, sin límite",
    "sí, pero solo la cola",
]

NOT_AGREED = [
    "20 es muy poco, pon 50",
    "no, deja las subidas",
    "no",
    "no hace falta",
    "mejor 50",
    "todavía no",
    "solo la cola",
    "vale pero ¿por qué es lento?",
    "sí, pero los usuarios se quejan",
    "el límite no lo necesitamos",
    "no necesitamos el límite",
    "sí pero primero mira los logs",
]

DECIDED = [
    ("usa UTC en todas partes y vuelve a correr el informe", "usa UTC en todas partes"),
    (
        "a partir de ahora nunca hagas push a main, luego sigue",
        "a partir de ahora nunca hagas push a main",
    ),
    ("nunca subas archivos generados", "nunca subas archivos generados"),
    ("no subas archivos generados", "no subas archivos generados"),
    ("siempre usamos pnpm aquí, ahora instala", "siempre usamos pnpm aquí"),
    ("nada de emojis en la UI", "nada de emojis en la UI"),
    ("sin emojis en la UI por favor", "sin emojis en la UI por favor"),
    ("ya no soportamos Windows", "ya no soportamos Windows"),
    ("hemos dejado de soportar Windows", "hemos dejado de soportar Windows"),
    ("la API debe seguir siendo compatible", "la API debe seguir siendo compatible"),
    ("los precios deben ser netos", "los precios deben ser netos"),
    ("el límite es 50, no 20", "el límite es 50, no 20"),
    ("debe ser 50, no 20", "debe ser 50, no 20"),
    ("cambia el límite a 50", "cambia el límite a 50"),
    ("no añadas dependencias sin preguntar", "no añadas dependencias sin preguntar"),
    ("no quiero clases", "no quiero clases"),
    ("prefiero funciones a clases", "prefiero funciones a clases"),
    ("como hablamos, usamos UTC", "como hablamos, usamos UTC"),
    ("quedamos en UTC", "quedamos en UTC"),
    ("usa Redis en vez de Postgres, luego haz commit", "usa Redis en vez de Postgres"),
    ("hemos decidido usar SQLite, ahora haz commit", "hemos decidido usar SQLite"),
]

NOTED = [
    ("no subas archivos generados", "No subas archivos generados", "patterns"),
    ("desplegamos los viernes", "Desplegamos los viernes", "project-conventions"),
    (
        "solo desplegamos los viernes",
        "Solo desplegamos los viernes",
        "project-conventions",
    ),
    (
        "no añadas dependencias sin preguntar",
        "No añadas dependencias sin preguntar",
        "patterns",
    ),
    (
        "fyi la base de staging está en db7",
        "La base de staging está en db7",
        "infrastructure",
    ),
    (
        "la base de staging está en db7, no en db3",
        "La base de staging está en db7, no en db3",
        "corrections",
    ),
    ("recuerda que usamos UTC", "Usamos UTC", "architectural-decisions"),
    (
        "Max es el dueño de facturación",
        "Max es el dueño de facturación",
        "infrastructure",
    ),
    (
        "pregunta a Max antes de tocar facturación",
        "Pregunta a Max antes de tocar facturación",
        "infrastructure",
    ),
    (
        "no toques legacy/, es generado",
        "No toques legacy/, es generado",
        "project-conventions",
    ),
    ("estoy en Windows", "Estoy en Windows", "user-facts"),
]

LEFT_OPEN = [
    "la caché la vemos la semana que viene",
    "dejamos la caché para después",
    "la caché la decidimos mañana",
    "pregunto a Max por la caché",
    "eso queda abierto",
]

SAYS_NOTHING = [
    "quizás deberíamos usar Redis",
    "¿podemos usar Redis?",
    "¿por qué no usamos Redis?",
    "corre los tests",
    "haz commit y push",
    "sigue",
    "mira el esquema",
    "vamos a ver",
    "veamos si pasan los tests",
    "sale un error: KeyError",
    "la página no carga",
    "sigue sin funcionar",
    "los tests fallan",
    "gracias, genial",
    "todavía hay que escribir los tests",
    "¿qué significa?",
    "no está mal",
    "no pasa nada",
    "ni idea",
    "nunca lo he visto",
    "siempre este error",
    "debe ser un error",
    "tiene que estar listo hoy",
    "tiene que ser un bug",
    "usa el tiempo que necesites",
    "deja que lo mire",
    "deja eso por ahora",
    "pon atención",
    "hazlo otra vez, no está bien",
    "si no funciona, usamos Redis",
    "usa esto y no eso",
    "nunca se sabe",
    "siempre se puede mejorar",
    "no te preocupes",
    "el valor es 50, no sé por qué",
    "quita eso",
    "vamos a dejarlo por hoy",
    "los precios deben estar mal",
    "el servidor está en rojo",
    "no hagas push todavía",
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
    return talk("Sigue con las facturas", "La página está lista.", message)


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
        "Las subidas son lentas y la cola pierde tareas.", PROPOSAL, message
    ) == [PROPOSED]


@pytest.mark.parametrize("message", AMENDED)
def test_a_yes_with_a_change_keeps_the_change(message: str) -> None:
    made = decided("Las subidas son lentas y la cola pierde tareas.", PROPOSAL, message)
    assert made == [f"{PROPOSED} → {message}"]


@pytest.mark.parametrize("message", NOT_AGREED)
def test_a_no_and_an_objection_agree_to_nothing(message: str) -> None:
    made = decided("Las subidas son lentas y la cola pierde tareas.", PROPOSAL, message)
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
