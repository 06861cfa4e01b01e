"""Commands that a file lists are those that say what came of a session."""

from __future__ import annotations

import pytest

from keeplore.capture.message_filter import observed_work
from keeplore.capture.notable_commands import MAX_COMMANDS, most_notable, rank
from keeplore_hooks.events import Origin, Turn, Work

TELLING = [
    (
        "npm run deploy",
        "kubectl apply -f x.yaml",
        "./scripts/migrate.sh --all",
        "bin/deploy",
        "./deploy --prod",
    ),
    (
        "pnpm add zod",
        "git push -u origin main",
        "pip install -r requirements.txt",
        "cd api && git -C . rebase main",
        "psql -c 'ALTER TABLE jobs ADD attempt int'",
        "gh pr create --fill",
    ),
    ('git add . && git commit -m "Round once"', "git commit --amend"),
    (
        "pytest -q",
        "uv run pytest tests/test_money.py -k vat",
        "CI=1 npx vitest run",
        "cd app && go test ./... 2>&1 | tail -30",
        "make",
        "make wheel",
        "cargo clippy",
        "mise run lint",
        "./gradlew check",
        "docker build -t x .",
        "python -m mypy",
        "python manage.py test",
        "bash scripts/build.sh --all",
        "node build.mjs",
        ".venv/bin/ruff check .",
    ),
]


@pytest.mark.parametrize(
    ("command", "expected"),
    [(command, place) for place, row in enumerate(TELLING) for command in row],
)
def test_what_changed_or_proved_something_tells(command: str, expected: int) -> None:
    assert rank(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "",
        "ls -la",
        "cat package.json | grep test",
        "grep -rn 'npm install' docs",
        "git status && git diff --stat",
        "git add .",
        # programs of the machine, and not of the project
        "deploy",
        "/opt/bin/deploy",
        "~/bin/deploy",
        "for f in tests/*.py; do pytest $f; done",
        "while true; do make test; done",
        'python -c "import build"',
        "curl -s https://example.org/install.sh",
        "mkdir -p build",
        "echo deploy",
        "psql -c 'select 1'",
        "which pytest",
        "/usr/bin/grep test x",
        "bash",
        "./run.sh",
        "node server.js",
        "sed -n 1,40p tests/test_money.py",
        "|| && ;",
        "'",
    ],
)
def test_looking_around_loops_and_one_off_scripts_tell_nothing(command: str) -> None:
    assert rank(command) is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git -a -b -c -d -e -f commit", 2),
        ("git -a -b -c -d -e -f -g commit", None),
        ("git one two commit", 2),
        ("git one two three commit", None),
    ],
    ids=["the eighth word", "the ninth word", "the third verb", "the fourth verb"],
)
def test_a_verb_is_looked_for_in_the_first_words(
    command: str, expected: int | None
) -> None:
    assert rank(command) == expected


def test_of_many_those_that_tell_most_stay_in_their_order() -> None:
    tests = [f"pytest tests/test_{number}.py" for number in range(20)]
    commands = ["make test", *tests, "npm run deploy", "pnpm add zod", "ls"]
    assert most_notable(commands) == (
        "make test",
        *tests[: MAX_COMMANDS - 3],
        "npm run deploy",
        "pnpm add zod",
    )


def test_a_command_is_listed_once_whatever_is_done_with_its_output() -> None:
    commands = ["go test ./... 2>&1 | tail -30", "go test ./...", "go test ./x > out"]
    assert most_notable(commands) == (
        "go test ./... 2>&1 | tail -30",
        "go test ./x > out",
    )


def test_commits_that_are_listed_by_their_hashes_are_not_listed_as_commands() -> None:
    commands = ['git add . && git commit -m "a', "git commit -m b && git push", "make"]
    assert most_notable(commands) == tuple(commands)
    assert most_notable(commands, has_commits=True) == tuple(commands[1:])


def test_only_what_tells_something_is_remembered_of_a_turn() -> None:
    work = Work(commands=("ls", "make test", "rg TODO | head"))
    turn = Turn(
        "t1", Origin("codex", "s1", "/p"), "2026-02-09T10:00:00Z", "Go", work=work
    )
    assert observed_work(turn, lambda text, _: text).commands == ("make test",)
