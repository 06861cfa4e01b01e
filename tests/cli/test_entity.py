"""``keeplore entity``: what a person adds is committed, listed, and found under each of its
names.
"""

from __future__ import annotations

import json


def test_what_is_added_is_committed_and_listed_and_what_is_taken_is_refused_with_the_next_step(
    run, memory, git
):
    done = run(
        "entity", "add", "PostgreSQL", "--type", "system", "--alias", "pg", cwd=memory
    )
    assert (done.returncode, done.stdout) == (
        0,
        "PostgreSQL (system, also pg) is known in the whole workspace\n",
    )
    assert git("status", "--porcelain", cwd=memory) == ""
    assert git("log", "-1", "--format=%s", cwd=memory) == "Name the entity PostgreSQL"

    done = run("entity", "add", "pg", cwd=memory)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "keeplore: pg is an alias of PostgreSQL",
        (
            "  → Say PostgreSQL for it, or `keeplore entity remove PostgreSQL --alias pg` makes it "
            "free"
        ),
    ]

    listed = json.loads(run("entity", "list", "POST", "--json", cwd=memory).stdout)
    assert listed == [
        {
            "name": "postgresql",
            "spelling": "PostgreSQL",
            "type": "system",
            "place": "",
            "mentions": 0,
            "aliases": ["pg"],
        }
    ]
    found = run("entity", "list", "POST", cwd=memory)
    assert (found.stdout.splitlines()[-1], found.stderr) == (
        "PostgreSQL\tsystem\t-\t0\tpg",
        "",
    )
    nothing = run("entity", "list", "mysql", cwd=memory)
    assert (nothing.stdout, nothing.stderr) == (
        "",
        "note: none has 'mysql' in its name: `keeplore entity list` lists all\n",
    )
    assert (
        run("entity", "remove", "postgresql", cwd=memory).stdout
        == "PostgreSQL is taken away\n"
    )
    none = run("entity", "list", cwd=memory)
    assert (none.stdout, none.stderr) == (
        "",
        "note: none yet: `keeplore entity add NAME` names one, and memories show others\n",
    )
