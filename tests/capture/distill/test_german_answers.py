"""What people who write German decide in reply to an agent, state for good and leave open; and
what sounds alike and says nothing of that.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
ASKED = "Wir brauchen eine Queue für die Rechnungen."
OPTIONS = """Zwei Wege:

1. Redis mit RQ: schnell, ein Server mehr.
2. Postgres mit SKIP LOCKED: nichts Neues zu betreiben.

Welchen bevorzugst du?"""
FIRST = "Wir brauchen eine Queue für die Rechnungen → Redis mit RQ: schnell, ein Server mehr."
SECOND = "Wir brauchen eine Queue für die Rechnungen → Postgres mit SKIP LOCKED: nichts Neues zu betreiben."
PROPOSED = "Ich schlage vor, Uploads auf 20 MB zu begrenzen und die Queue in Postgres zu lassen."
PROPOSAL = f"{PROPOSED} Soll ich das so machen?"
DONE = "Erledigt."

SECOND_PICKED = [
    "Postgres.",
    "Postgres bitte",
    "Postgres, danke!",
    "die zweite, danke",
    "die zweite",
    "das zweite",
    "den zweiten bitte",
    "lieber die zweite",
    "nimm die zweite",
    "nimm 2",
    "nehmen wir 2",
    "mach 2",
    "2 bitte",
    "Variante 2",
    "variante 2 bitte, und mach gleich Tests dazu",
    "option 2, danke",
    "Nummer zwei",
    "nehmen wir Postgres, dann push",
    "ich würde Postgres nehmen",
    "ich nehme Postgres",
    "ich bevorzuge Postgres",
    "Postgres finde ich besser",
    "Postgres ist besser, Redis ist noch ein Server mehr",
    "dann Postgres",
    "eher Postgres",
    "Postgres natürlich",
    "Postgres reicht",
    "Postgres glaube ich",
    "letzteres",
    "das letzte",
    "wir nehmen 2 und fertig",
    "Die zweite Option gefällt mir besser",
    "Postgres, nicht Redis",
    "nicht Redis, sondern Postgres",
    "kein Redis, Postgres",
]

FIRST_PICKED = [
    "nein, redis",
    "ersteres, danke",
    "die erste, weil wir Redis schon haben",
]

NOTHING_PICKED = [
    "die letzte Option ist zu teuer",
    "die zweite Variante haben wir schon probiert",
    "die erste Option kenne ich nicht",
    "ich nehme Redis nicht",
    "2, aber höchstens 5 Versuche",
    "also Postgres",
    "kein Redis",
    "kein Redis bitte",
    "Kein Redis! Das dürfen wir nicht betreiben.",
    "nicht Redis",
    "bloß kein Redis",
    "nein, kein Redis",
    "Redis nicht, lieber Postgres",
    "Redis dürfen wir in Prod nicht, also das andere",
    "alles außer Redis",
    "das ohne neuen Server",
    "Redis für Dev, Postgres für Prod",
    "beides: Redis lokal, Postgres in Prod",
    "Redis ist mir zu viel",
    "Redis ist übertrieben",
    "weiß nicht, vielleicht Postgres?",
    "was würdest du nehmen?",
    "entscheide du",
    "das erste bitte nicht",
    "beide nicht",
    "keins von beiden",
    "Ist Postgres schnell genug?",
    "2 Fragen dazu",
    "2 geht nicht",
    "2 nicht",
    "die zweite fällt weg",
    "Redis: nein",
    "Redis, auf keinen Fall",
    "du entscheidest",
    "wie du meinst",
    "die letzte Zeile fehlt",
]

AGREED = [
    "ja",
    "ja, danach push",
    "ja bitte",
    "ja, mach",
    "mach das und öffne einen PR",
    "klingt gut, committe wenn fertig",
    "klar, dann weiter mit dem Login",
    "einverstanden. danach die Login-Seite",
    "jo und lass die Tests laufen",
    "perfekt, jetzt rebase",
    "super, mach weiter",
    "passt so",
]

AMENDED = [
    "ja, aber 50 MB",
    "ok, aber nicht in Postgres, sondern in Redis",
    "ja zur Queue, nein zum Limit",
    "ja, bis auf das Limit",
    "ja, außer dem Limit: kein Limit",
    "ok, aber logge jeden Versuch",
    "gerne, aber mit Limit 50",
    "gute Idee, aber mach das Limit konfigurierbar",
    "ja, nur ohne Limit",
    "gern, nur das Limit bitte auf 30",
]

NOT_AGREED = [
    "20 ist zu wenig, nimm 50",
    "20 MB ist zu wenig",
    "nein, lass die Uploads in Ruhe",
    "nein",
    "nicht nötig",
    "lieber 50",
    "noch nicht",
    "begrenz sie lieber auf 50, dann lass die Tests laufen",
    "nur die Queue",
    "nur die Queue bitte",
    "nur der erste Teil",
    "ok aber warum ist es langsam?",
    "ja, aber die Nutzer beschweren sich",
    "ok aber schau erst in die Logs",
    "das Limit brauchen wir nicht",
    "kein Limit",
    "ja aber redis ist langsam",
    "perfekt ist das nicht",
    "gut, aber später",
    "klar ist das langsam",
]

DECIDED = [
    (
        "Ab jetzt nie mehr auf main pushen, dann weiter",
        "Ab jetzt nie mehr auf main pushen",
    ),
    ("wir nutzen hier immer pnpm, jetzt installieren", "wir nutzen hier immer pnpm"),
    ("nie generierte Dateien committen", "nie generierte Dateien committen"),
    ("committe nie generierte Dateien", "committe nie generierte Dateien"),
    ("Benutze überall UTC und lass den Report nochmal laufen", "Benutze überall UTC"),
    (
        "Benenne das Flag in --dry um und lass die Tests laufen",
        "Benenne das Flag in --dry um",
    ),
    (
        "Speichere Beträge als ganze Cent, dann weiter mit den Rechnungen",
        "Speichere Beträge als ganze Cent",
    ),
    ("Ich will Daten als ISO-Strings", "Ich will Daten als ISO-Strings"),
    ("Datumsangaben müssen ISO-Strings sein", "Datumsangaben müssen ISO-Strings sein"),
    ("Keine Emojis in der UI.", "Keine Emojis in der UI."),
    ("keine Emojis in der UI, bitte", "keine Emojis in der UI, bitte"),
    ("Wir haben Windows-Support gestrichen", "Wir haben Windows-Support gestrichen"),
    ("Wir unterstützen Windows nicht mehr", "Wir unterstützen Windows nicht mehr"),
    (
        "die API muss abwärtskompatibel bleiben",
        "die API muss abwärtskompatibel bleiben",
    ),
    ("Preise sollen netto sein", "Preise sollen netto sein"),
    ("das Limit ist 50, nicht 20", "das Limit ist 50, nicht 20"),
    ("das Limit soll 50 sein, nicht 20", "das Limit soll 50 sein, nicht 20"),
    ("ändere das Limit auf 50", "ändere das Limit auf 50"),
    (
        "keine neuen Abhängigkeiten ohne zu fragen",
        "keine neuen Abhängigkeiten ohne zu fragen",
    ),
    (
        "füge keine Abhängigkeiten hinzu, ohne zu fragen",
        "füge keine Abhängigkeiten hinzu, ohne zu fragen",
    ),
    ("bitte keine Klassen dafür", "bitte keine Klassen dafür"),
    ("ich will keine Klassen", "ich will keine Klassen"),
    (
        "ich hätte lieber Funktionen als Klassen",
        "ich hätte lieber Funktionen als Klassen",
    ),
    ("Funktionen statt Klassen", "Funktionen statt Klassen"),
    ("lieber Funktionen als Klassen", "lieber Funktionen als Klassen"),
    ("wie besprochen nehmen wir UTC", "wie besprochen nehmen wir UTC"),
    ("wir haben uns auf UTC geeinigt", "wir haben uns auf UTC geeinigt"),
    ("deployen nur freitags", "deployen nur freitags"),
    ("nur freitags deployen bitte", "nur freitags deployen bitte"),
    ("Deployments nur am Freitag", "Deployments nur am Freitag"),
    (
        "die Versuche sollen konfigurierbar sein",
        "die Versuche sollen konfigurierbar sein",
    ),
    (
        "lass uns die Versuche konfigurierbar machen",
        "lass uns die Versuche konfigurierbar machen",
    ),
    ("lass uns nicht IE unterstützen, push", "lass uns nicht IE unterstützen"),
    (
        "nutze Redis statt Postgres, dann committen und pushen",
        "nutze Redis statt Postgres",
    ),
    (
        "Wir haben uns für SQLite entschieden, jetzt committen",
        "Wir haben uns für SQLite entschieden",
    ),
    ("hör auf any zu benutzen", "hör auf any zu benutzen"),
    ("verwende kein any mehr", "verwende kein any mehr"),
    ("wir lassen das Caching weg", "wir lassen das Caching weg"),
    ("das Caching brauchen wir nicht", "das Caching brauchen wir nicht"),
    ("lass das Caching weg", "lass das Caching weg"),
    (
        "nein, das muss in config/ liegen, nicht in src/",
        "nein, das muss in config/ liegen, nicht in src/",
    ),
    ("wir benutzen Conventional Commits", "wir benutzen Conventional Commits"),
    ("nie direkt auf main committen", "nie direkt auf main committen"),
    ("ich bevorzuge kleine PRs", "ich bevorzuge kleine PRs"),
    ("antworte bitte immer auf Deutsch", "antworte bitte immer auf Deutsch"),
    (
        "wir dürfen in Prod kein Redis nutzen, das Sicherheitsteam verbietet es",
        "wir dürfen in Prod kein Redis nutzen, das Sicherheitsteam verbietet es",
    ),
]

NOTED = [
    (
        "Ab jetzt nie mehr auf main pushen, dann weiter",
        "Ab jetzt nie mehr auf main pushen, dann weiter",
        "project-conventions",
    ),
    ("Preise sind immer netto", "Preise sind immer netto", "patterns"),
    ("das Limit ist 50, nicht 20", "Das Limit ist 50, nicht 20", "corrections"),
    ("ich will keine Klassen", "Ich will keine Klassen", "coding-preferences"),
    (
        "nein, das muss in config/ liegen, nicht in src/",
        "Nein, das muss in config/ liegen, nicht in src/",
        "corrections",
    ),
    (
        "die Staging-Datenbank liegt auf db7, nicht db3",
        "Die Staging-Datenbank liegt auf db7, nicht db3",
        "corrections",
    ),
    (
        "fyi die Staging-DB liegt auf db7",
        "Die Staging-DB liegt auf db7",
        "infrastructure",
    ),
    (
        "nur zur Info: die Staging-DB liegt auf db7",
        "Die Staging-DB liegt auf db7",
        "infrastructure",
    ),
    ("wir deployen freitags", "Wir deployen freitags", "project-conventions"),
    ("wir deployen nur freitags", "Wir deployen nur freitags", "project-conventions"),
    (
        "die Tests brauchen ein laufendes Docker",
        "Die Tests brauchen ein laufendes Docker",
        "gotchas",
    ),
    ("für die Tests muss Docker laufen", "für die Tests muss Docker laufen", "gotchas"),
    (
        "die CI läuft auf Node 18, also kein top-level await",
        "Die CI läuft auf Node 18, also kein top-level await",
        "infrastructure",
    ),
    (
        "unsere Prod-Secrets liegen in Vault",
        "Unsere Prod-Secrets liegen in Vault",
        "infrastructure",
    ),
    (
        "der API-Key wird jeden Monat rotiert",
        "Der API-Key wird jeden Monat rotiert",
        "infrastructure",
    ),
    (
        "der Linter ist ruff, nicht flake8",
        "Der Linter ist ruff, nicht flake8",
        "corrections",
    ),
    (
        "vor dem Commit immer make fmt laufen lassen",
        "Vor dem Commit immer make fmt laufen lassen",
        "project-conventions",
    ),
    (
        "nie direkt auf main committen",
        "Nie direkt auf main committen",
        "project-conventions",
    ),
    ("ich bevorzuge kleine PRs", "Ich bevorzuge kleine PRs", "coding-preferences"),
    (
        "antworte bitte immer auf Deutsch",
        "Antworte bitte immer auf Deutsch",
        "coding-preferences",
    ),
    (
        "Max ist für den Billing-Service zuständig",
        "Max ist für den Billing-Service zuständig",
        "infrastructure",
    ),
    (
        "frag Max, bevor du Billing anfasst",
        "Frag Max, bevor du Billing anfasst",
        "infrastructure",
    ),
    (
        "die Doku liegt in einem eigenen Repo",
        "Die Doku liegt in einem eigenen Repo",
        "infrastructure",
    ),
    (
        "die alte API ist veraltet und fällt im Juni weg",
        "Die alte API ist veraltet und fällt im Juni weg",
        "architectural-decisions",
    ),
    (
        "wir dürfen in Prod kein Redis nutzen, das Sicherheitsteam verbietet es",
        "Wir dürfen in Prod kein Redis nutzen, das Sicherheitsteam verbietet es",
        "architectural-decisions",
    ),
    (
        "Port 8080 ist auf meinem Rechner belegt, nimm 8081",
        "Port 8080 ist auf meinem Rechner belegt, nimm 8081",
        "user-facts",
    ),
    (
        "fass legacy/ nicht an, das ist generiert",
        "Fass legacy/ nicht an, das ist generiert",
        "project-conventions",
    ),
    (
        "generierte Dateien liegen in gen/, nicht bearbeiten",
        "Generierte Dateien liegen in gen/, nicht bearbeiten",
        "project-conventions",
    ),
    (
        "Beträge werden als ganze Cent gespeichert",
        "Beträge werden als ganze Cent gespeichert",
        "patterns",
    ),
    ("alle Zeitstempel sind UTC", "Alle Zeitstempel sind UTC", "patterns"),
    (
        "unser Geschäftsjahr beginnt im April",
        "Unser Geschäftsjahr beginnt im April",
        "infrastructure",
    ),
    (
        "Release ist jeden zweiten Dienstag",
        "Release ist jeden zweiten Dienstag",
        "infrastructure",
    ),
    (
        "Staging wird jede Nacht zurückgesetzt",
        "Staging wird jede Nacht zurückgesetzt",
        "infrastructure",
    ),
    ("ich bin auf Windows", "Ich bin auf Windows", "user-facts"),
    ("ich arbeite unter Windows", "Ich arbeite unter Windows", "user-facts"),
    ("dieses Repo nutzt poetry", "Dieses Repo nutzt poetry", "project-conventions"),
    (
        "denk dran, dass der Export monatlich läuft",
        "Der Export monatlich läuft",
        "architectural-decisions",
    ),
    ("merk dir, dass wir UTC nutzen", "Wir UTC nutzen", "architectural-decisions"),
    (
        "beachte, dass der Export monatlich läuft",
        "Der Export monatlich läuft",
        "architectural-decisions",
    ),
]

LEFT_OPEN = [
    "das mit dem Caching machen wir später",
    "Caching erst nächste Woche",
    "die Frage mit dem Caching lassen wir offen",
    "ob wir cachen, klären wir mit Max",
    "ich frag Max wegen dem Caching",
    "das Caching ist noch nicht entschieden",
]

SAYS_NOTHING = [
    "vielleicht sollten wir Redis nehmen",
    "könnten wir Redis nehmen?",
    "warum nutzen wir nicht Redis?",
    "ich bin nicht sicher, ob wir Redis brauchen",
    "lass die Tests laufen",
    "committe das und push",
    "mach weiter",
    "schau dir das Schema an",
    "lass uns das Schema anschauen",
    "lass uns sehen ob die Tests laufen",
    "jetzt kommt ein Fehler: KeyError 'id'",
    "die Seite lädt nicht",
    "der Button ist nicht da",
    "es geht immer noch nicht",
    "die Tests sind rot",
    "ich muss weg, bis später",
    "danke, super",
    "wir müssen noch die Tests schreiben",
    "das muss noch gemacht werden",
    "kannst du mir das erklären?",
    "was heißt das?",
    "wir haben immer noch den Fehler",
    "ich darf nicht vergessen, Max zu schreiben",
    "es darf eigentlich nicht sein, dass das so langsam ist",
    "das muss ein Fehler sein",
    "das kann nicht sein",
    "nie gesehen, komisch",
    "immer dieser Fehler, schau mal nach",
    "wir nehmen das so hin, oder?",
    "nimm dir Zeit",
    "lass mal sehen",
    "lass es uns versuchen",
    "nicht schlecht",
    "kein Problem",
    "keine Ahnung",
    "keine Eile bitte",
    "Wir brauchen einen Test für den Login",
    "bitte mach den Header blau",
    "wenn das nicht geht, nehmen wir Redis",
    "mach einen Commit, nicht pushen",
    "mach das bitte nochmal, das war nicht richtig",
    "bleiben wir noch kurz beim Login",
    "der Wert ist 50, keine Ahnung warum",
    "wir behalten das im Auge",
    "behalte das im Kopf",
    "wir verwenden gerade die alte Version, deshalb der Fehler",
    "Der Test muss grün werden",
    "das muss heute fertig werden",
    "da bin ich mir noch nicht sicher",
    "zur Info: der Build ist kaputt",
    "fyi ich hab den Branch gepusht",
    "nur damit du es weißt, die Tests sind rot",
    "unsere Login-Seite ist in einem komischen Zustand",
    "die alte Funktion ist veraltet, lösch sie",
    "die Doku liegt im falschen Ordner, verschieb sie",
    "nie im Leben",
    "immer mit der Ruhe",
    "der Button ist immer rot",
    "keine Änderung in der Liste",
    "kein Zugriff auf den Server",
    "nur in Firefox",
    "wir lassen den Server laufen",
    "die Datenbank läuft auf 100% CPU",
    "ab sofort bin ich im Urlaub",
    "künftig wird das anders",
    "denk dran, dass du noch pushen musst",
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
    return talk("Mach mit den Rechnungen weiter", "Die Rechnungsseite ist da.", message)


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
        "Uploads sind langsam und die Queue verliert Jobs.", PROPOSAL, message
    ) == [PROPOSED]


@pytest.mark.parametrize("message", AMENDED)
def test_a_yes_with_a_change_keeps_the_change(message: str) -> None:
    made = decided(
        "Uploads sind langsam und die Queue verliert Jobs.", PROPOSAL, message
    )
    assert made == [f"{PROPOSED} → {message}"]


@pytest.mark.parametrize("message", NOT_AGREED)
def test_a_no_and_an_objection_agree_to_nothing(message: str) -> None:
    made = decided(
        "Uploads sind langsam und die Queue verliert Jobs.", PROPOSAL, message
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
