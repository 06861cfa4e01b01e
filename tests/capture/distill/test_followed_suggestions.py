"""Ways that a person puts as a question, decided where the reply says that they were gone."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
FIRST = Exchange(
    "t-0", AT, "Have a look at the nightly job.", ("It writes to a bucket.",)
)


FOLLOWED = [
    (
        "Can we have the sprites in one atlas?",
        "The sprites are in one atlas now, built by `make atlas`.",
        "The sprites are in one atlas now, built by `make atlas`.",
    ),
    (
        "can we put the feature flags into a table",
        "The feature flags are in the table `flags` now.",
        "The feature flags are in the table `flags` now.",
    ),
    (
        "ugh why dont we just use docker compose for this",
        "Added a compose file for docker with the app and Redis.",
        "Added a compose file for docker with the app and Redis.",
    ),
    (
        "hmm what if we made the player sprite 32x32",
        "I changed the player sprite to 32x32 and scaled the hitbox.",
        "I changed the player sprite to 32x32 and scaled the hitbox.",
    ),
    (
        "isnt it cleaner if the driver owns the buffer",
        "Agreed. The driver owns the buffer now.",
        "The driver owns the buffer now.",
    ),
    (
        "Would it make sense to split the config by environment?",
        "Yes, it does. I split the config into three files.",
        "I split the config into three files.",
    ),
    (
        "do you think we could drop python 3.8?",
        "Dropped Python 3.8 from the matrix.",
        "Dropped Python 3.8 from the matrix.",
    ),
    (
        "any reason not to use sqlite for the tests?",
        "No reason. The tests run against SQLite now.",
        "The tests run against SQLite now.",
    ),
    (
        "what do you think about moving the physics to a fixed step?",
        "Good idea. I moved the physics to a fixed step of 16 ms.",
        "I moved the physics to a fixed step of 16 ms.",
    ),
    (
        "I wonder if we should use UUIDs for the order ids",
        "Switched the order ids to UUIDs.",
        "Switched the order ids to UUIDs.",
    ),
    (
        "might be worth to compress the backups with zstd",
        "Backups are compressed with zstd now.",
        "Backups are compressed with zstd now.",
    ),
    (
        "we could also just cap the uploads at 10 MB i guess",
        "Uploads are capped at 10 MB now.",
        "Uploads are capped at 10 MB now.",
    ),
    (
        "perhaps a feature flag would be safer for the rollout?",
        "Added a feature flag for the rollout, off by default.",
        "Added a feature flag for the rollout, off by default.",
    ),
    (
        "should we perhaps batch the inserts?",
        "I batch the inserts now, 500 rows at a time.",
        "I batch the inserts now, 500 rows at a time.",
    ),
    (
        "shouldn’t we store the times in UTC?",
        "You’re right. All times are stored in UTC now.",
        "All times are stored in UTC now.",
    ),
    (
        "do we still need the polyfills?",
        "No. I removed the polyfills.",
        "I removed the polyfills.",
    ),
    (
        "could the report be weekly instead?",
        "The report is weekly now.",
        "The report is weekly now.",
    ),
    (
        "do we even need the cache then?",
        "No, we don't. I removed the cache; the tests pass.",
        "I removed the cache; the tests pass.",
    ),
    (
        "shouldn't the lock be taken before the read?",
        "You're right, it should. The lock is taken before the read now.",
        "The lock is taken before the read now.",
    ),
    (
        "shouldn't we store the times in UTC?",
        "Good catch. All times are stored in UTC now.",
        "All times are stored in UTC now.",
    ),
    (
        "why not csv?",
        "CSV would do as well, and it is smaller. I changed the export to CSV.",
        "I changed the export to CSV.",
    ),
    (
        "why don't we put the retries in the client?",
        "That's simpler. I moved the retries to the client.",
        "I moved the retries to the client.",
    ),
    (
        "wouldn't csv be simpler?",
        "You are right. The export writes CSV now.",
        "The export writes CSV now.",
    ),
    (
        "isn't it better to fail early?",
        "Yes. It fails at start now where the key is missing.",
        "It fails at start now where the key is missing.",
    ),
    (
        "can't we use the same key for both?",
        "We can. Both services use the key `shared` now.",
        "Both services use the key `shared` now.",
    ),
    (
        "can we make the timeout configurable?",
        "Done, `--timeout` sets it.",
        "Done, `--timeout` sets it.",
    ),
    (
        "and the state updates inside the transaction perhaps?",
        "Done: the state is updated inside the transaction.",
        "Done: the state is updated inside the transaction.",
    ),
    (
        "maybe we can drop the second index?",
        "Dropped the second index, queries take as long as before.",
        "Dropped the second index, queries take as long as before.",
    ),
    ("maybe use a set here?", "Changed to a set.", "Changed to a set."),
    ("what about making the limit 50?", "The limit is 50 now.", "The limit is 50 now."),
    (
        "how about we only keep the last ten?",
        "Only the last ten are kept now.",
        "Only the last ten are kept now.",
    ),
    (
        "what if we keep the ids in the file name?",
        "That works. Ids are part of the file name now.",
        "Ids are part of the file name now.",
    ),
    (
        "is it possible to have the ids in the file name?",
        "Yes. Ids are part of the file name now.",
        "Ids are part of the file name now.",
    ),
    (
        "I don't think we need the cron job, the hook does it?",
        "Right. I removed the cron job.",
        "I removed the cron job.",
    ),
    (
        "the executor and the judge need to be the same process?",
        "Yes, they are one process now.",
        "Yes, they are one process now.",
    ),
    (
        "could you use the git cli here instead of libgit2?",
        "Done. `has_changes` runs `git status --porcelain` now.",
        "`has_changes` runs `git status --porcelain` now.",
    ),
    (
        "can you name it `rows_seen` rather than `count`?",
        "Renamed to `rows_seen`.",
        "Renamed to `rows_seen`.",
    ),
    (
        "könnten wir den Bericht wöchentlich verschicken?",
        "Der Bericht wird jetzt wöchentlich verschickt.",
        "Der Bericht wird jetzt wöchentlich verschickt.",
    ),
    (
        "brauchen wir den Cache überhaupt noch?",
        "Nein. Ich habe den Cache entfernt.",
        "Ich habe den Cache entfernt.",
    ),
    (
        "warum nehmen wir nicht csv?",
        "Der Export schreibt jetzt CSV.",
        "Der Export schreibt jetzt CSV.",
    ),
    (
        "sollte der Lock nicht vor dem Lesen genommen werden?",
        "Stimmt. Der Lock wird jetzt vor dem Lesen genommen.",
        "Der Lock wird jetzt vor dem Lesen genommen.",
    ),
    (
        "pouvons-nous envoyer le rapport chaque semaine ?",
        "Le rapport est désormais envoyé chaque semaine.",
        "Le rapport est désormais envoyé chaque semaine.",
    ),
    (
        "est-ce qu'on a encore besoin du cache ?",
        "Non. J'ai supprimé le cache.",
        "J'ai supprimé le cache.",
    ),
    (
        "¿podemos enviar el informe cada semana?",
        "El informe se envía ahora cada semana.",
        "El informe se envía ahora cada semana.",
    ),
    (
        "¿necesitamos todavía la caché?",
        "No. He eliminado la caché.",
        "He eliminado la caché.",
    ),
    (
        "podemos enviar o relatório toda semana?",
        "O relatório é enviado agora toda semana.",
        "O relatório é enviado agora toda semana.",
    ),
    (
        "レポートは週一回にできますか？",
        "レポートは週一回に変更しました。",
        "レポートは週一回に変更しました。",
    ),
    ("报告可以改成每周一次吗？", "报告现在每周发送一次。", "报告现在每周发送一次。"),
]
NOT = [
    ("why is the report weekly?", "Because finance asked for it in March."),
    (
        "could the slow query have anything to do with the missing index?",
        "Yes. I added the missing index, the query takes 4 ms now.",
    ),
    (
        "could the gateway be the one dropping the headers?",
        "Yes, the gateway dropped the headers. It passes the headers now.",
    ),
    (
        "shouldn't the button be blue already?",
        "Right, the style sheet was not loaded. The button is blue now.",
    ),
    (
        "can't you just read the log yourself?",
        "You're right. I read the log: the disk is full.",
    ),
    (
        "maybe you should run the linter first?",
        "You're right. I ran the linter and fixed two warnings.",
    ),
    ("how about the docs, are they updated?", "Updated the docs."),
    (
        "do we still need the polyfills?",
        "Yes, Safari needs them. I added a comment on the polyfills.",
    ),
    (
        "is there any point in keeping both suites?",
        "Yes, they test other things. I moved both suites to one folder.",
    ),
    ("can we deploy", "Yes. I deployed it to staging."),
    ("could we be missing an await?", "Yes. I added the missing await."),
    ("can it handle 10k rows?", "It could not. It handles 10k rows now."),
    (
        "maybe I'm blind but where is the export button",
        "The export button is in the toolbar now.",
    ),
    (
        "could we have the same problem in the worker?",
        "Yes. I fixed the same problem in the worker.",
    ),
    (
        "what if we already have a user with that mail",
        "The insert failed. It updates the user with that mail now.",
    ),
    ("maybe later we can add oauth", "Ok. I added a note on oauth to the roadmap."),
    ("maybe its the font", "It is. The font was not loaded. I added the font."),
    (
        "what about the 3 skipped tests",
        "I enabled the skipped tests, all pass now.",
    ),
    (
        "how does the login token get refreshed",
        "The login token is refreshed by a timer now.",
    ),
    ("maybe", "The report is weekly now."),
    (
        "Brauchen wir den Index wirklich noch?",
        "Ja, die Suche nutzt ihn. Ich habe den Index dokumentiert.",
    ),
    ("could the report be the problem?", "No. The report runs after the import."),
    ("do we need the cache?", "Yes. Without it each page asks the database 40 times."),
    (
        "shouldn't the lock be taken before the read?",
        "No, the read is done on a snapshot, so that the lock is not needed.",
    ),
    ("isn't that the same bug as last week?", "It is. I fixed it in both places."),
    (
        "why don't the tests run on CI?",
        "The runner had no Docker. I added it to the image.",
    ),
    ("can you check whether the lock is taken?", "It is taken in `open()`."),
    (
        "what about the other table?",
        "It has the same index. I checked it with EXPLAIN.",
    ),
    ("is it possible that the cron job runs twice?", "Yes, if the clock goes back."),
    ("can we ship?", "Yes, all checks are green."),
    ("could it be the proxy?", "Yes. The proxy cuts connections after 60 s."),
    ("what if the server is down?", "Then the client tries three times."),
    ("wouldn't that break the old clients?", "No, they ignore unknown fields."),
    (
        "could it be the proxy?",
        "Yes, it was the proxy. I raised the proxy's timeout to 90 s.",
    ),
    ("can we see which key is used?", "Yes. I ran it with `-v`: the key is `id_rsa`."),
    (
        "should I restart the server?",
        "Yes. I updated the server's unit file, so it has to be restarted.",
    ),
    (
        "can I delete the old bucket?",
        "Yes. I moved all files out of the old bucket yesterday.",
    ),
    ("do we need to migrate the data?", "No, the data is migrated at start now."),
    (
        "can we be sure that the lock is released?",
        "Yes. I added a test which kills the process that has the lock.",
    ),
    (
        "could you look why the lock is not released?",
        "The lock is released in a `finally` now.",
    ),
    (
        "can you explain the second query?",
        "The second query has been changed to use the index.",
    ),
    (
        "isn't the lock released already?",
        "It is. I added a log line where the lock is released.",
    ),
    ("why can't we see the rows?", "The filter hid the rows. I removed the filter."),
    (
        "maybe the lock is not released?",
        "Right, it wasn't. I fixed it: the lock is released in `finally` now.",
    ),
    (
        "perhaps the rows are filtered?",
        "Yes, they are. I removed the filter on the rows.",
    ),
    (
        "is it possible to see the rows somewhere?",
        'Yes. I opened the admin page, the rows are below "Data".',
    ),
    (
        "what if the queue is full?",
        "Then `put` waits. I added a test for a full queue.",
    ),
    (
        "what if we lose the connection in between?",
        "I added a retry: the connection is opened again.",
    ),
    ("can we run the tests on this machine?", "Yes. I ran the tests, 41 pass."),
    (
        "could you also add a test for the empty list?",
        "I added a test for the empty list.",
    ),
    ("can you update the README too?", "I updated the README."),
    ("do we even test that?", "No. I added a test for that."),
    (
        "do we really need to wait for the review?",
        "The review has been moved to Thursday.",
    ),
    (
        "can we get the numbers of last week?",
        "Done: the numbers of last week are in `out/w12.csv`.",
    ),
    (
        "shouldn't the test fail then?",
        "It should. I fixed the test: it fails without the patch now.",
    ),
    ("how about lunch?", "Enjoy your meal."),
    (
        "should we worry about the warning?",
        "No. I silenced the warning in the test setup.",
    ),
    ("wouldn't it be better to ask Anna?", "Anna has been added to the review."),
    (
        "can we finish this today?",
        "Done with the parser, the printer is left for today.",
    ),
    (
        "kann ich den alten Bucket löschen?",
        "Ja. Ich habe alle Dateien aus dem alten Bucket verschoben.",
    ),
    (
        "könnte es der Proxy sein?",
        "Ja, es war der Proxy. Ich habe den Timeout des Proxys erhöht.",
    ),
    (
        "können wir sehen, welcher Schlüssel benutzt wird?",
        "Ja. Ich habe es mit -v gestartet, der Schlüssel ist jetzt im Log.",
    ),
    (
        "peut-on voir quelle clé est utilisée ?",
        "Oui. La clé est maintenant dans le log.",
    ),
]


def decided(message: str, reply: str) -> list[str]:
    exchange = Exchange("t-1", AT, message, (reply,))
    return [one.quote.text for one in decisions([FIRST, exchange])]


@pytest.mark.parametrize(("message", "reply", "report"), FOLLOWED)
def test_a_suggestion_that_was_followed_is_decided(
    message: str, reply: str, report: str
) -> None:
    assert decided(message, reply) == [f"{message} → {report}"]


@pytest.mark.parametrize(("message", "reply"), NOT)
def test_what_only_asks_decides_nothing(message: str, reply: str) -> None:
    assert decided(message, reply) == []


def test_each_of_two_suggestions_is_told_with_its_own_report() -> None:
    message = "Could the report be weekly? And could we drop the totals?"
    reply = "Both done. The report is weekly now. I dropped the totals."

    assert decided(message, reply) == [
        "Could the report be weekly? → The report is weekly now.",
        "And could we drop the totals? → I dropped the totals.",
    ]


def test_a_suggestion_that_the_person_sends_back_is_not_decided() -> None:
    exchange = Exchange(
        "t-1", AT, "could the report be weekly?", ("It is weekly now.",)
    )
    later = Exchange("t-2", AT, "no, keep it daily", ("The report is daily.",))

    texts = [one.quote.text for one in decisions([FIRST, exchange, later])]

    assert all("weekly now" not in text for text in texts)


POINTS = """Can you look at this idea:

- we keep one file per customer
- the number is stored in the index
- if there is only one, it works as now
"""


@pytest.mark.parametrize(
    ("lead", "reply", "kept"),
    [
        ("Can you look at this idea:", "This is a clever approach. Two remarks.", 2),
        ("How about this:", "I like it.", 2),
        ("Can you look at this idea:", "The index is rebuilt each night.", 0),
        ("What do you think of the idea?", "That works, but it is slow.", 0),
        ("Here is what the log says:", "Good plan.", 0),
    ],
)
def test_the_points_of_an_idea_are_decided_that_the_agent_finds_right(
    lead: str, reply: str, kept: int
) -> None:
    points = ["we keep one file per customer", "the number is stored in the index"]
    message = POINTS.replace("Can you look at this idea:", lead)

    assert decided(message, reply) == points[:kept]
