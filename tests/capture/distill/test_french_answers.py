"""What people who write French decide in reply to an agent, state for good and leave open; and
what sounds alike and says nothing of that.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
ASKED = "Il nous faut une file pour les factures."
OPTIONS = """Deux options :

1. Redis avec RQ : rapide, un serveur de plus.
2. Postgres avec SKIP LOCKED : rien de nouveau à gérer.

Laquelle préfères-tu ?"""
FIRST = "Laquelle préfères-tu ? → Redis avec RQ : rapide, un serveur de plus."
SECOND = "Laquelle préfères-tu ? → Postgres avec SKIP LOCKED : rien de nouveau à gérer."
PROPOSED = (
    "Je propose de limiter les envois à 20 Mo et de garder la file dans Postgres."
)
PROPOSAL = f"{PROPOSED} Je le fais ?"
DONE = "C'est fait."

SECOND_PICKED = [
    "Postgres.",
    "Postgres s'il te plaît",
    "Postgres, merci !",
    "la deuxième, merci",
    "la deuxième",
    "le second",
    "plutôt la deuxième",
    "prends la 2",
    "on prend la 2",
    "la 2",
    "option 2",
    "2 stp",
    "2. Et limite les essais à 5.",
    "on prend Postgres, puis push",
    "partons sur Postgres et lance les tests",
    "je préfère Postgres",
    "Postgres me semble mieux",
    "Postgres parce qu'on l'a déjà",
    "alors Postgres",
    "je prendrais Postgres",
    "la dernière",
    "Postgres, pas Redis",
    "Postgres c'est bien",
]

FIRST_PICKED = [
    "non, redis",
    "la première, parce qu'on a déjà Redis",
]

NOTHING_PICKED = [
    "la deuxième option est trop chère",
    "la deuxième option on l'a déjà testée",
    "je ne prendrais pas Redis",
    "2, mais maximum 5 essais",
    "pas Redis",
    "pas de Redis",
    "surtout pas Redis",
    "non, pas Redis",
    "Redis non, plutôt Postgres",
    "Pas de Redis ! On n'a pas le droit.",
    "pas la 2",
    "la deuxième non",
    "pas la première",
    "Redis : non",
    "Redis pour le dev, Postgres pour la prod",
    "tout sauf Redis",
    "aucune",
    "aucune des deux",
    "je ne sais pas, peut-être Postgres",
    "à toi de voir",
    "Postgres est rapide ?",
    "d'abord lance les tests",
    "2 questions",
    "la dernière ligne échoue",
    "n'utilise pas Redis",
    "je ne veux pas de Redis",
    "Redis c'est trop",
    "la 2 ne marche pas",
]

AGREED = [
    "oui",
    "oui, puis push",
    "vas-y et ouvre une PR",
    "ça me va, commit quand c'est fini",
    "bien sûr, continue avec le login",
    "parfait, maintenant rebase",
    "super",
]

AMENDED = [
    "oui, mais 50 Mo",
    "d'accord, mais dans Redis, pas dans Postgres",
    "oui pour la file, non pour la limite",
    "oui, sauf la limite",
    "oui, à part la limite",
    "d'accord, mais logge chaque essai",
    "oui, avec une limite de 50",
    "oui, sans limite",
]

NOT_AGREED = [
    "20 c'est trop peu, mets 50",
    "non, laisse les envois",
    "non",
    "pas besoin",
    "plutôt 50",
    "pas encore",
    "seulement la file",
    "ok mais pourquoi c'est lent ?",
    "oui, mais les utilisateurs se plaignent",
    "on n'a pas besoin de la limite",
    "oui mais regarde d'abord les logs",
]

DECIDED = [
    ("utilise UTC partout et relance le rapport", "utilise UTC partout"),
    (
        "à partir de maintenant ne jamais pousser sur main, puis continue",
        "à partir de maintenant ne jamais pousser sur main",
    ),
    ("ne commite jamais de fichiers générés", "ne commite jamais de fichiers générés"),
    (
        "on utilise toujours pnpm ici, maintenant installe",
        "on utilise toujours pnpm ici",
    ),
    ("on utilise les conventional commits", "on utilise les conventional commits"),
    ("pas d'emojis dans l'UI", "pas d'emojis dans l'UI"),
    ("pas d'emojis dans l'UI s'il te plaît", "pas d'emojis dans l'UI s'il te plaît"),
    ("on ne supporte plus Windows", "on ne supporte plus Windows"),
    ("on a arrêté le support de Windows", "on a arrêté le support de Windows"),
    ("l'API doit rester compatible", "l'API doit rester compatible"),
    ("les prix doivent être nets", "les prix doivent être nets"),
    ("la limite est 50, pas 20", "la limite est 50, pas 20"),
    ("ça doit être 50, pas 20", "ça doit être 50, pas 20"),
    (
        "n'ajoute pas de dépendances sans demander",
        "n'ajoute pas de dépendances sans demander",
    ),
    ("je ne veux pas de classes", "je ne veux pas de classes"),
    ("des fonctions, pas des classes", "des fonctions, pas des classes"),
    ("je préfère des fonctions aux classes", "je préfère des fonctions aux classes"),
    ("comme convenu, on prend UTC", "comme convenu, on prend UTC"),
    ("on s'est mis d'accord sur UTC", "on s'est mis d'accord sur UTC"),
    (
        "utilise Redis au lieu de Postgres, puis commit",
        "utilise Redis au lieu de Postgres",
    ),
    (
        "on a décidé de prendre SQLite, maintenant commit",
        "on a décidé de prendre SQLite",
    ),
]

NOTED = [
    ("on déploie le vendredi", "On déploie le vendredi", "project-conventions"),
    (
        "fyi la base de staging est sur db7",
        "La base de staging est sur db7",
        "infrastructure",
    ),
    (
        "pour info, la base de staging est sur db7",
        "La base de staging est sur db7",
        "infrastructure",
    ),
    (
        "la base de staging est sur db7, pas sur db3",
        "La base de staging est sur db7, pas sur db3",
        "corrections",
    ),
    (
        "Max est responsable de la facturation",
        "Max est responsable de la facturation",
        "infrastructure",
    ),
    (
        "demande à Max avant de toucher à la facturation",
        "Demande à Max avant de toucher à la facturation",
        "infrastructure",
    ),
    (
        "ne touche pas à legacy/, c'est généré",
        "Ne touche pas à legacy/, c'est généré",
        "project-conventions",
    ),
    ("je suis sur Windows", "Je suis sur Windows", "user-facts"),
]

LEFT_OPEN = [
    "le cache on verra la semaine prochaine",
    "on laisse le cache pour plus tard",
    "on décidera du cache demain",
    "je demande à Max pour le cache",
    "on laisse ça ouvert",
]

SAYS_NOTHING = [
    "on devrait peut-être prendre Redis",
    "on peut utiliser Redis ?",
    "pourquoi pas Redis ?",
    "lance les tests",
    "commit et push",
    "continue",
    "regarde le schéma",
    "voyons",
    "on va voir si les tests passent",
    "il y a une erreur : KeyError",
    "la page ne charge pas",
    "ça ne marche toujours pas",
    "les tests échouent",
    "merci, super",
    "il faut encore écrire les tests",
    "ça veut dire quoi ?",
    "pas mal",
    "pas de problème",
    "aucune idée",
    "jamais vu ça",
    "toujours la même erreur",
    "toujours pas",
    "ça doit être un bug",
    "ça doit être prêt aujourd'hui",
    "prends ton temps",
    "prends le temps qu'il faut",
    "laisse-moi regarder",
    "garde ça en tête",
    "mets ça de côté pour l'instant",
    "refais-le, ce n'est pas bon",
    "si ça ne marche pas, on prend Redis",
    "on garde ça en tête",
    "on prend un café",
    "on utilise l'ancienne version en ce moment",
    "ne pousse pas encore",
    "ne t'inquiète pas",
    "la valeur est 50, je ne sais pas pourquoi",
    "enlève ça",
    "on prend ça comme ça ?",
    "prends une pause et pas trop longue",
    "aucun fichier ne doit manquer ?",
    "aucune erreur ne peut expliquer ça",
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
    return talk("Continue avec les factures", "La page est prête.", message)


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
        "Les envois sont lents et la file perd des tâches.", PROPOSAL, message
    ) == [PROPOSED]


@pytest.mark.parametrize("message", AMENDED)
def test_a_yes_with_a_change_keeps_the_change(message: str) -> None:
    made = decided(
        "Les envois sont lents et la file perd des tâches.", PROPOSAL, message
    )
    assert made == [f"{PROPOSED} → {message}"]


@pytest.mark.parametrize("message", NOT_AGREED)
def test_a_no_and_an_objection_agree_to_nothing(message: str) -> None:
    made = decided(
        "Les envois sont lents et la file perd des tâches.", PROPOSAL, message
    )
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
