"""What the manifests of each ecosystem name; whatever else stands in such a file."""

from __future__ import annotations

import json

import pytest

from keeplore.workspace.importing.manifest_formats import names_in

PYPROJECT = """
[build-system]
requires = ["hatchling>=1.27"]
[project]
name = "shop-api"
requires-python = ">=3.11"
dependencies = ["fastembed>=0.7", "uvicorn[standard] ; python_version > '3'", "lib @ https://host.example/lib.whl"]
[project.optional-dependencies]
dev = ["pytest", "types-PyYAML"]
[dependency-groups]
docs = ["mkdocs", {include-group = "dev"}]
[tool.ruff]
line-length = 100
[tool.poetry.dependencies]
python = "^3.11"
httpx = "*"
[tool.poetry.group.test.dependencies]
hypothesis = "*"
"""
POM = """<?xml version="1.0"?>
<!DOCTYPE project [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>
<project xmlns="http://maven.apache.org/POM/4.0.0"><artifactId>shop</artifactId>
<parent><artifactId>parent-of-all</artifactId></parent>
<dependencies><dependency><groupId>g</groupId><artifactId>jackson-core</artifactId></dependency>
<dependency><artifactId>&f;</artifactId></dependency></dependencies>
<build><plugins><plugin><artifactId>spotless-maven-plugin</artifactId></plugin></plugins></build></project>
"""
GO = """module github.com/acme/shop/v2

go 1.22
require github.com/jackc/pgx/v5 v5.6.0
require (
\tgopkg.in/yaml.v3 v3.0.1
\tgolang.org/x/net v0.30.0
\tgithub.com/some/thing v1.0.0 // indirect
)
"""
SETUP_CFG = """[metadata]
name = shop
[options]
install_requires =
    click>=8
    attrs
[options.extras_require]
x = lxml; %(none)s
"""
CARGO = """[package]
name = "shop"
[dependencies]
serde = "1"
foo = {package = "tokio"}
[target.'cfg(unix)'.dependencies]
nix = "0.29"
[workspace.dependencies]
clap = "4"
"""
PACKAGE = {
    "name": "@shop/web",
    "packageManager": "pnpm@9.1.0",
    "engines": {"node": ">=20"},
    "dependencies": {"@tanstack/react-query": "5", "next": "14"},
    "devDependencies": {"@types/node": "20", "vitest": "1"},
    "peerDependencies": ["no table"],
}
DOCKERFILE = """FROM --platform=linux/amd64 ghcr.io/astral-sh/uv:latest AS tools
FROM python:3.12-slim@sha256:0000 as base
from base
FROM ${IMAGE}
FROM mcr.microsoft.com/dotnet/sdk:8.0
FROM scratch
"""
COMPOSE = """services:
  db: &db
    image: "docker.io/library/postgres:16"
  cache: {<<: *db}
  queue:
    image: rabbitmq:3-management # the broker
"""


def of(file_name: str, text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for kind, name in sorted(names_in(file_name, text)):
        found.setdefault(kind, []).append(name)
    return found


@pytest.mark.parametrize(
    ("file_name", "text", "expected"),
    [
        (
            "pyproject.toml",
            PYPROJECT,
            {
                "own": ["shop-api"],
                "packages": [
                    "fastembed",
                    "hatchling",
                    "httpx",
                    "hypothesis",
                    "lib",
                    "mkdocs",
                    "pytest",
                    "uvicorn",
                ],
                "tools": ["poetry", "python", "ruff"],
            },
        ),
        (
            "requirements-dev.txt",
            (
                "# all\n-r base.txt\n--hash=sha256:0\nDjango==5.0  # "
                "web\n./local\nhttps://host.example/x.whl\n"
            ),
            {"packages": ["Django"]},
        ),
        (
            "setup.cfg",
            SETUP_CFG,
            {"own": ["shop"], "packages": ["attrs", "click", "lxml"]},
        ),
        (
            "package.json",
            json.dumps(PACKAGE),
            {
                "own": ["@shop/web"],
                "packages": ["@tanstack/react-query", "next", "vitest"],
                "tools": ["node", "pnpm"],
            },
        ),
        (
            "Cargo.toml",
            CARGO,
            {"own": ["shop"], "packages": ["clap", "nix", "serde", "tokio"]},
        ),
        (
            "go.mod",
            GO,
            {"own": ["shop"], "packages": ["golang.org/x/net", "pgx", "yaml"]},
        ),
        (
            "Gemfile",
            "source 'x'\ngem 'rails', '~> 7'\n  gem(\"sidekiq\")\n# gem 'old'\n",
            {"packages": ["rails", "sidekiq"]},
        ),
        (
            "composer.json",
            (
                '{"name": "acme/shop", "require": {"php": "8", "ext-json": "*", '
                '"laravel/framework": '
                '"11"}}'
            ),
            {"own": ["acme/shop"], "packages": ["laravel/framework"], "tools": ["php"]},
        ),
        (
            "pom.xml",
            POM,
            {
                "own": ["shop"],
                "packages": ["jackson-core"],
                "tools": ["spotless-maven-plugin"],
            },
        ),
        (
            "pom.xml",
            (
                '<m:project xmlns:m="http://maven.apache.org/POM/4.0.0"><m:artifactId>shop'
                "</m:artifactId><m:dependencies><m:dependency><m:artifactId>jackson-core"
                "</m:artifactId></m:dependency></m:dependencies></m:project>"
            ),
            {"own": ["shop"], "packages": ["jackson-core"]},
        ),
        (
            "build.gradle.kts",
            'implementation("org.jetbrains.kotlinx:kotlinx-coroutines-core:1.8")\ntestImplementation(platform("o:junit-bom"))\n',
            {"packages": ["junit-bom", "kotlinx-coroutines-core"]},
        ),
        (
            "Shop.csproj",
            (
                '<Project><ItemGroup><PackageReference Include="Newtonsoft.Json" Version="13" '
                "/></ItemGroup></Project>"
            ),
            {"packages": ["Newtonsoft.Json"]},
        ),
        ("Dockerfile", DOCKERFILE, {"tools": ["dotnet", "python", "uv"]}),
        ("docker-compose.yml", COMPOSE, {"systems": ["postgres", "rabbitmq"]}),
        (
            ".tool-versions",
            "# asdf\nterraform 1.9\nnodejs 20.1\n",
            {"tools": ["nodejs", "terraform"]},
        ),
        ("package-lock.json", json.dumps(PACKAGE), {}),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_a_manifest_names_what_its_project_is_made_of(file_name, text, expected):
    assert of(file_name, text) == expected


def test_a_manifest_that_is_something_else_names_nothing():
    names = (
        "pyproject.toml",
        "setup.cfg",
        "package.json",
        "Cargo.toml",
        "composer.json",
        "pom.xml",
        "a.csproj",
        "go.mod",
    )
    bombs = (
        "[" * 20_000,
        "{" * 20_000,
        '"' * 20_000,
        "<a>" * 20_000,
        "\x00\x1b[2J",
        "= = =\n" * 2_000,
        "a." * 100_000,
        "[]",
        "0",
        "",
    )
    assert [
        (name, text[:9]) for name in names for text in bombs if names_in(name, text)
    ] == []


def test_a_name_is_a_name():
    texts = [
        "x",
        "1.2.3",
        "a" * 200,
        "\x1b[31mred",
        "two words",
        "\u202eevil",
        "<b>",
        "../../etc/passwd",
        "-rf",
    ]
    data = {"dependencies": dict.fromkeys([*texts, "left-pad"])}
    assert of("package.json", json.dumps(data)) == {"packages": ["left-pad"]}


DEPENDENCY = "<dependencies><dependency><artifactId>junit</artifactId></dependency></dependencies>"


@pytest.mark.parametrize(
    ("filename", "text", "is_read"),
    [
        ("requirements.txt", "fastembed".ljust(1000) + "\n", True),
        ("requirements.txt", "fastembed".ljust(1001) + "\n", False),
        (
            "pyproject.toml",
            '[project]\ndependencies = ["fastembed"]\n#' + "." * 200,
            True,
        ),
        (
            "pyproject.toml",
            '[project]\ndependencies = ["fastembed"]\n#' + "." * 201,
            False,
        ),
        ("pom.xml", "<a>" * 247 + DEPENDENCY + "</a>" * 247, True),
        ("pom.xml", "<a>" * 248 + DEPENDENCY + "</a>" * 248, False),
        ("requirements.txt", "x" * 100, True),
        ("requirements.txt", "x" * 101, False),
        ("requirements.txt", "xy", True),
        ("requirements.txt", "x", False),
    ],
)
def test_a_manifest_is_read_as_far_as_a_person_would_write_it(
    filename: str, text: str, is_read: bool
) -> None:
    assert bool(names_in(filename, text)) is is_read


def test_what_an_entity_of_a_manifest_stands_for_is_left_out() -> None:
    declared = '<!DOCTYPE p [<!ENTITY lib "junit"><!ENTITY f SYSTEM "/etc/passwd">]>'
    named, of_file = (DEPENDENCY.replace("junit", one) for one in ("&lib;", "&f;"))
    assert names_in("pom.xml", f"{declared}<p>{named}{of_file}</p>") == set()
    both = f"{declared}<p>{named}{DEPENDENCY}</p>"
    assert {name for _, name in names_in("pom.xml", both)} == {"junit"}
    dashed = DEPENDENCY.replace("junit", "a-&lib;-b")
    assert {name for _, name in names_in("pom.xml", f"{declared}<p>{dashed}</p>")} == {
        "a--b"
    }
