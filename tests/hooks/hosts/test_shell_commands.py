"""What a shell command did: its telling line, commits and pull requests."""

from __future__ import annotations

import pytest

from keeplore_hooks.events import Work
from keeplore_hooks.hosts.shell_commands import _subjects, telling_line
from keeplore_hooks.hosts.work_log import WorkLog

REPORT = "[main 1a2b3c4] Drop Redis\n 1 file changed"


def work_of(*calls: tuple[str, str]) -> Work:
    log = WorkLog()
    for number, (command, output) in enumerate(calls):
        log.add_command(str(number), command)
        log.add_output(command, output)
    return log.work()


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("pytest -q", "pytest -q"),
        ("\n  pytest -q\nls", "pytest -q"),
        (
            "# see what is wrong\nset -euo pipefail\n\ncd /srv/kasha\npytest -q",
            "pytest -q",
        ),
        ("OUT=/tmp/x\nexport PAGER=cat\nmake > $OUT", "make > $OUT"),
        ("cd /srv/kasha && make", "cd /srv/kasha && make"),
        ("cat > notes.md <<'EOF'\n# Notes\nEOF", "cat > notes.md <<'EOF'"),
        ("# nothing but a remark", "# nothing but a remark"),
        ("x" * 1000, "x" * 200),
        ("", ""),
    ],
)
def test_of_a_script_the_first_line_that_does_something_is_kept(
    script: str, line: str
) -> None:
    assert telling_line(script) == line


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'Drop Redis'",
        "git add -A && git -C /srv/kasha -c user.name=Ann commit --no-verify -am 'Drop Redis'",
        "git commit -m \"$(cat <<'EOF'\nDrop Redis\n\nIt is not needed.\nEOF\n)\"",
        "git commit -F - <<'EOF'\nDrop Redis\nEOF",
        "git cherry-pick 9999999",
        "git revert --no-edit HEAD",
        "git rebase --continue",
    ],
)
def test_a_commit_that_git_reports_is_named(command: str) -> None:
    assert work_of((command, f"hook ran\n{REPORT}")).commits == ("1a2b3c4 Drop Redis",)


@pytest.mark.parametrize(
    "head", ["main (root-commit)", "detached HEAD", "ann/drop-redis"]
)
def test_whatever_branch_it_is_on(head: str) -> None:
    assert work_of(("git commit -m x", f"[{head} 1a2b3c4] Drop Redis")).commits == (
        "1a2b3c4 Drop Redis",
    )


@pytest.mark.parametrize(
    "command",
    [
        "pytest -k test_commit",
        "git log --oneline",
        "cat .git/hooks/post-commit",
        "git show --stat commit-graph",
        "git init -q . && git commit -m 'Drop Redis'",
        "git clone -q --local . /tmp/try && cd /tmp/try && git commit -m 'Drop Redis'",
        "cd $(mktemp -d) && git commit -m 'Drop Redis'",
    ],
)
def test_what_only_speaks_of_commits_or_tries_them_elsewhere_makes_none(
    command: str,
) -> None:
    assert work_of((command, REPORT)).commits == ()


@pytest.mark.parametrize(
    "command",
    [
        "git commit -q -m 'Drop Redis'",
        'git commit -qm "Drop Redis\n\nIt is not needed."',
        'git commit --quiet --message="Drop Redis"',
        "git add -A && git commit -q -m \"$(cat <<'EOF'\nDrop Redis\n\nBody.\nEOF\n)\"",
        "git commit -q -F - <<EOF\nDrop Redis\nEOF",
    ],
)
def test_of_a_quiet_git_the_message_is_kept_and_the_hash_that_a_log_names(
    command: str,
) -> None:
    assert work_of((command, "")).commits == ("Drop Redis",)
    logged = "abc1234 (HEAD -> main) Drop Redis\n9999999 What came before"
    assert work_of((f"{command}\ngit log --oneline -2", logged)).commits == (
        "abc1234 Drop Redis",
    )


@pytest.mark.parametrize(
    "output",
    [
        "fatal: not a git repository",
        "error: hook failed",
        "nothing to commit",
        "Exit code 1",
    ],
)
def test_a_quiet_commit_that_failed_is_none(output: str) -> None:
    assert work_of(("git commit -q -m 'Drop Redis'", output)).commits == ()


def test_an_amended_commit_takes_the_place_of_the_one_before() -> None:
    first = ("git commit -m 'Drop Redis'", REPORT)
    amended = (
        "git commit --amend --no-edit",
        "[main 5d6e7f8] Drop Redis\n Date: today",
    )
    assert work_of(first, amended).commits == ("5d6e7f8 Drop Redis",)


def test_a_commit_that_is_told_of_twice_counts_once() -> None:
    quiet, told = (
        ("git commit -q -m 'Drop Redis'", ""),
        ("git commit -m 'Drop Redis'", REPORT),
    )
    assert work_of(quiet, told, quiet, told).commits == ("1a2b3c4 Drop Redis",)


@pytest.mark.parametrize(
    "command",
    ["gh pr create --fill", "git push && gh pr create --title x", "glab mr create"],
)
def test_a_pull_request_is_the_address_alone_on_its_line(command: str) -> None:
    output = (
        "Creating pull request\nsee "
        "https://forge.example/kasha/issues/1\nhttps://forge.example/ann/kasha/pull/7\n"
    )
    assert work_of((command, output)).links == (
        "https://forge.example/ann/kasha/pull/7",
    )
    assert work_of(("gh pr list", output)).links == ()


@pytest.mark.parametrize(
    ("command", "subjects"),
    [
        ("git commit -m 'Drop Redis'", ("Drop Redis",)),
        ('git commit -am "Drop \\"Redis\\""', ('Drop "Redis"',)),
        ("git commit --message='Drop Redis'", ("Drop Redis",)),
        (
            "git commit -m \"$(cat <<'EOF'\nDrop Redis\n\nWhy.\nEOF\n)\"",
            ("Drop Redis",),
        ),
        ("git commit -F - <<EOF\nDrop Redis\nEOF", ("Drop Redis",)),
        ("git commit -m ' '", ()),
        ("git commit -m ''", ()),
        ("git commit", ()),
        ("git log -m 'x'", ()),
    ],
)
def test_the_subject_of_a_commit_is_the_first_line_of_its_message(
    command: str, subjects: tuple[str, ...]
) -> None:
    assert tuple(_subjects(command)) == subjects
