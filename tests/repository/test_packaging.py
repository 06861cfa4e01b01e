"""What is installed is complete: the wheel is built, laid out elsewhere and used from there."""

from __future__ import annotations

import dataclasses
import email
import json
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from keeplore.config.settings import Settings
from keeplore.store.paths import FOLDERS
from keeplore.workspace.lifecycle.setup import template_dir

TEMPLATE = [
    ".gitattributes",
    ".gitignore",
    "AGENTS.md",
    "CLAUDE.md",
    "README.md",
    "keeplore.yaml",
]
GRAPH_PAGE = ("layout.js", "main.js", "page.css", "page.html", "panel.js", "view.js")
GRAPH_VENDORED = (
    "LICENSE",
    "d3-dispatch.min.js",
    "d3-force.min.js",
    "d3-quadtree.min.js",
    "d3-timer.min.js",
)
WINDOW = (
    *(f"static/{name}" for name in ("app.js", "htmx-LICENSE", "htmx.min.js")),
    *(f"static/{name}" for name in ("icon.svg", "style.css")),
    *(
        f"templates/{name}.html"
        for name in (
            "base", "cost", "edit", "forgotten", "graph", "health", "hits", "home", "memory", "parts",
            "places", "review", "search", "statistics", "thread", "threads", "timeline",
            "timeline_rows", "trouble", "trouble_piece", "waiting", "why",
        )
    ),
)  # fmt: skip
DATA = {
    "keeplore/index/graph/shell_programs.toml",
    "keeplore/redact/letter_pairs.txt",
    "keeplore/redact/likely_secrets.txt",
    "keeplore/redact/rules.yaml",
    "keeplore/redact/seed_words.txt",
    "keeplore/refine/cases.yaml",
    "keeplore/capture/cues/de.yaml",
    "keeplore/capture/cues/en.yaml",
    "keeplore/capture/cues/es.yaml",
    "keeplore/capture/cues/fr.yaml",
    "keeplore/capture/cues/ja.yaml",
    "keeplore/capture/cues/pt.yaml",
    "keeplore/capture/cues/zh.yaml",
    "keeplore/capture/notes/lasting_model.txt",
    "keeplore/capture/notable_commands.toml",
    "keeplore/capture/topic_model.txt",
    *(f"keeplore/viewer/page/{name}" for name in GRAPH_PAGE),
    *(f"keeplore/viewer/vendor/{name}" for name in GRAPH_VENDORED),
    *(f"keeplore/web/{name}" for name in WINDOW),
    "keeplore/client/client.sh",
    "keeplore/client/command.sh",
    "keeplore/client/mcp_offer.json",
    "keeplore/connect/hook_events.toml",
    "keeplore/connect/host_locations.toml",
    "keeplore/connect/payload_fields.toml",
    "keeplore/index/embedding/model/NOTICE",
    "keeplore/index/embedding/model/config.json",
    "keeplore/index/embedding/model/special_tokens_map.json",
    "keeplore/index/embedding/model/tokenizer.json",
    "keeplore/index/embedding/model/tokenizer_config.json",
    "keeplore/index/embedding/model/word_vectors.npz",
    "keeplore/sync/failures.toml",
    "keeplore/text/common_words.txt",
    "keeplore/py.typed",
    "keeplore/refine/prompts/aspects.md",
    "keeplore/refine/prompts/decide.md",
    "keeplore/refine/prompts/digest.md",
    "keeplore/refine/prompts/extract.md",
    "keeplore_hooks/py.typed",
    *(f"keeplore/workspace_template/{name}" for name in TEMPLATE),
}
MAX_DEPENDENCIES = 18
# what extras bring, and hnswlib, which cannot be compiled everywhere
NOT_NEEDED = (
    "babel",
    "charset_normalizer",
    "hnswlib",
    "jinja2",
    "lxml",
    "mcp",
    "pypdf",
    "starlette",
    "trafilatura",
    "uvicorn",
)
PARTS = (
    "skills",
    "gemini",
    "opencode",
    ".claude-plugin",
)  # of plugin/, which hosts are given


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(into),
        str(root),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = into.glob("*.whl")
    return built


@dataclass(frozen=True)
class Environment:
    """A virtual environment that has the wheel, and sees what it depends on, but no extra."""

    modules: Path
    program: Path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    place = tmp_path_factory.mktemp("installed")
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    command = [*pip, "--no-deps", "--no-index", str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    (modules,) = place.glob("lib/python3*/site-packages")
    (modules / "no_extras.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({NOT_NEEDED}))\n"
    )
    ours = sysconfig.get_paths()["purelib"]
    (modules / "depends.pth").write_text(f"{ours}\nimport no_extras\n")
    return Environment(modules, place / "bin" / "keeplore")


def test_what_is_installed_remembers_and_recalls_without_any_extra(
    installed: Environment, home: Path
) -> None:
    def run(*arguments: str) -> str:
        command = [str(installed.program), *arguments]
        done = subprocess.run(command, cwd=home, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("init", "memory")
    run("remember", "We use pnpm, never npm: the lockfile broke twice.")
    answer = json.loads(
        run("recall", "--json", "Which package manager do we use, and why never npm?")
    )
    assert [hit["title"] for hit in answer["hits"]] == ["We use pnpm, never npm"]
    assert answer["legs"] == ["text", "vectors"]
    found = json.loads(run("doctor", "--json"))
    told = [one["message"] for one in found if one["part"] == "vectors"]
    assert len(told) == 1 and "hnswlib cannot be imported" in told[0]
    assert [one for one in found if one["level"] == "wrong"] == []
    assert json.loads(run("embedding", "--json"))["problem"] == ""


def test_the_wheel_holds_every_module_and_data_file_and_nothing_else(
    wheel: Path, root: Path
) -> None:
    names = {
        name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name
    }
    modules = {
        path.relative_to(root / folder).as_posix()
        for folder, package in (("hooks", "keeplore_hooks"), ("plugin", "keeplore"))
        for path in (root / folder / package).rglob("*.py")
    }
    parts = {
        f"keeplore/connect/plugin/{path.relative_to(root / 'plugin').as_posix()}"
        for part in PARTS
        for path in (root / "plugin" / part).rglob("*")
        if path.is_file()
    }
    assert len(parts) > 10
    assert names == modules | DATA | parts


def test_the_wheel_carries_the_licence_and_the_notice(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (
            name for name in archive.namelist() if name.endswith("/METADATA")
        )
        about = email.message_from_bytes(archive.read(metadata))
    assert about["License-Expression"] == "Apache-2.0"
    assert about.get_all("License-File") == ["LICENSE", "NOTICE"]


def test_an_installed_wheel_finds_its_template_and_starts(
    installed: Environment, tmp_path: Path
) -> None:
    modules = installed.modules
    program = f"""
import sys
sys.path.insert(0, {str(modules)!r})
import keeplore, keeplore_hooks
from keeplore.workspace.lifecycle.setup import template_dir
print(keeplore.__file__, keeplore_hooks.__file__, template_dir(), sep="\\n")
from keeplore.connect import assets
for host in ("claude-code", "codex", "cursor", "copilot", "gemini-cli", "opencode"):
    assert all(assets.host_files(host).values()) and len(assets.host_files(host)) >= 4, host
assert len(assets.client_files()) == 10
from keeplore.cli.main import cli
cli(["--version"])
"""
    command = [sys.executable, "-I", "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    *places, version = done.stdout.splitlines()
    assert places == [
        str(modules / "keeplore" / "__init__.py"),
        str(modules / "keeplore_hooks" / "__init__.py"),
        str(modules / "keeplore" / "workspace_template"),
    ]
    assert version == "keeplore, version 0.1.0"
    assert (
        sorted(
            path.name
            for path in (modules / "keeplore" / "workspace_template").iterdir()
        )
        == TEMPLATE
    )


def test_a_checkout_finds_its_template(root: Path) -> None:
    assert template_dir() == root / "workspace_template"
    assert sorted(path.name for path in template_dir().iterdir()) == TEMPLATE


def test_the_template_shows_every_setting_with_its_default_and_a_comment(
    root: Path,
) -> None:
    text = (root / "workspace_template" / "keeplore.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == json.loads(
        json.dumps(dataclasses.asdict(Settings()))
    )
    lines = [line for line in text.splitlines() if line and not line.endswith(":")]
    assert [line for line in lines if "  # " not in line] == []


def test_the_templates_instructions_for_agents_stand_in_one_file(root: Path) -> None:
    assert (root / "workspace_template" / "CLAUDE.md").read_text(
        encoding="utf-8"
    ) == "@AGENTS.md\n"


def test_the_template_mixes_no_lines_of_two_files(root: Path) -> None:
    """A union merge of two front matters loses data."""
    rules = (
        (root / "workspace_template" / ".gitattributes")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    assert [
        rule
        for rule in rules
        if "merge=" in rule and not rule.endswith(" merge=keeplore")
    ] == []
    assert {f"{folder}/**" for folder in FOLDERS} == {
        rule.split()[0] for rule in rules if "merge=" in rule
    }
    assert "*.md    text eol=lf" in rules


def test_every_dependency_is_pinned(root: Path) -> None:
    pins = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in pins
        if not line.startswith("#")
    }
    assert all(
        "==" in line and "@" not in line and "/" not in line
        for line in pins
        if not line.startswith("#")
    )
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {name.partition(">")[0].partition("=")[0].lower() for name in wanted}
    assert names - pinned == set()


def test_each_core_dependency_has_its_reason_and_there_are_few(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    names = {re.match(r"[\w-]+", one)[0] for one in project["project"]["dependencies"]}
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Dependencies\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line[:2] == "| "]
    told = {name.strip() for row in rows[1:] for name in row.split(",")}
    assert told == names
    assert len(names) <= MAX_DEPENDENCIES
