"""Which programs command lines run, and which packages they install."""

from __future__ import annotations

import pytest

from keeplore.index.graph.shell_programs import MAX_COMMAND, programs


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("", ""),
        ("A=1", ""),
        ("A=1 B=2 { ( ! $ ruff check", "ruff"),
        ("n=$(gh pr view) rg x", "gh"),
        ("(rg x); $(fd y)", "rg fd"),
        ("terraform plan|jq . ; jq -r x && yq y || git x & make", "terraform jq yq git make"),
        ("git\nls\nmake", "git make"),
        # a name is one of lower-case letters, of two to 41 characters, and of no script
        ("""'"/usr/local/bin/Terraform" plan'""", ""),
        ("/usr/bin/terraform.exe plan; ./deploy.sh; run.py; a x; ab x", "terraform ab"),
        (f"{'x' * 41}; {'y' * 42}", "x" * 41),
        # what is quoted ends no command, even where nothing ends the quotation
        ('psql -c "select 1; drop" && \'node\' -e \'a;b\nc\'; pg_dump', "psql node pg_dump"),
        ('psql -c "never ends; jq', "psql"),
        ("psql -c 'never ends; jq", "psql"),
    ],
)  # fmt: skip
def test_the_programs_of_a_line(command: str, found: str) -> None:
    assert programs(command) == found.split()


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("python3.11 -O -m mypy.stubgen x", "python3.11 mypy"),
        ("python -W x y -m mypy", "python mypy"),
        ("python -W x y z -m mypy", "python"),
        ("python -m", "python"),
        ("ruff -m mypy", "ruff"),
        (
            "sudo -u ada -g ops env -u X -i A=1 timeout -k 5 10m nice -n 5 make",
            "sudo timeout nice make",
        ),
        ("sudo " * 4 + "make", "sudo make"),
        ("sudo " * 5 + "make", "sudo"),
        ("sudo env time nice nohup make", "sudo nice nohup"),
        ("npx", "npx"),
        ("npx -y @scope/kit@2 run", "npx"),
        ("npx -p typescript tsc@5 --x", "npx tsc"),
        ("npm run build", "npm"),
        ("yarn dlx create-vite@1 app", "yarn create-vite"),
        ("yarn create-vite", "yarn"),
        ("pnpm exec vite@2", "pnpm vite"),
        ("pipx run", "pipx"),
        ("uv run --with rich --python 3.12 mypy x", "uv mypy"),
        ("mise exec node -- npm ci", "mise node"),
        ("xargs -I {} -n 1 -P4 tar xf {}", "tar"),
        ("stdbuf -oL -e 0 make", "stdbuf make"),
    ],
)
def test_what_runs_another_program_is_followed_to_it(command: str, found: str) -> None:
    assert programs(command) == found.split()


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (
            "uv pip install rich[all]==13 'httpx>=0.2' \"anyio<4\" trio!=1 attrs~=2 pluggy^1",
            "uv rich httpx anyio trio attrs pluggy",
        ),
        ("uv pip list", "uv"),
        ("uv add -p 3.11 --dev rich -r x.txt httpx", "uv rich httpx"),
        ("pip install -r x.txt -e . ./local git+https://x.org/y.git rich", "pip rich"),
        ("pip install -r -e rich", "pip rich"),
        ("pip download rich", "pip"),
        ("pip", "pip"),
        ("npm i -D @scope/kit@2 vite@5 --package a b", "npm @scope/kit vite b"),
        ("go install golang.org/x/cmd/stress@latest github.com/a/kit/v2@v2.1 ./...", "go stress kit"),
        ("go get /", "go"),
        ("brew install hashicorp/tap/terraform jq", "brew terraform jq"),
        ("npm install a/b", "npm"),
        ("cargo add serde --features derive -F full tokio", "cargo serde tokio"),
        ("apt-get install -t bookworm libpq-dev 7zip", "apt-get libpq-dev"),
    ],
)  # fmt: skip
def test_what_is_installed_is_named_without_its_version(
    command: str, found: str
) -> None:
    assert programs(command) == found.split()


def test_of_a_long_command_its_beginning_is_read() -> None:
    start = "ls; ".ljust(MAX_COMMAND - 4, " ")
    assert programs(f"{start}make; git") == ["make"]
    assert programs(f"{start} make; git") == ["mak"]
