"""Whatever a person can use has its paragraph, every link leads somewhere, and one word is used for
one thing.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from keeplore.cli.main import cli
from keeplore.config.settings import Settings
from keeplore_hooks import specs

ROOT = Path(__file__).resolve().parents[2]
POINTS = [name for name in specs.__all__ if name.startswith("keeplore_")]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# what the glossary calls otherwise; "git hook" is a word of its own
WRONG_WORDS = {
    r"(?<!git )\bhooks?\b": "host event, extension point or git hook",
    r"\bchunks?\b": "passage, or conversation",
    r"\bdaemon\b": "worker",
    r"\binfra repo\b": "workspace",
    r"\bknowledge base\b": "workspace",
}


def sections(name: str) -> dict[str, str]:
    """Heading → text below it, up to the next heading of any level; code marks in headings left
    out.
    """
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    parts = re.split(
        r"^#{1,6} (.+)$", without_fences(text, keep_lines=True), flags=re.MULTILINE
    )
    return {
        heading.replace("`", ""): body
        for heading, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def without_fences(text: str, *, keep_lines: bool = False) -> str:
    def neutral(match: re.Match[str]) -> str:
        return match[0].replace("\n#", "\n #") if keep_lines else ""

    return re.sub(r"^```.*?^```$", neutral, text, flags=re.MULTILINE | re.DOTALL)


def commands(
    command: click.Command = cli, name: str = "keeplore"
) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for child in command.list_commands(context):
        found = command.get_command(context, child)
        assert found is not None, f"{name} {child} is listed and cannot be loaded"
        yield from commands(found, f"{name} {child}")


def settings(section: Any = Settings(), prefix: str = "") -> Iterator[str]:  # noqa: B008  # a frozen value
    for field in dataclasses.fields(section):
        value = getattr(section, field.name)
        if dataclasses.is_dataclass(value):
            yield from settings(value, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}"


@pytest.mark.parametrize("point", POINTS)
def test_an_extension_point_has_its_paragraph(point: str) -> None:
    paragraph = sections("extension-points.md")[point]
    assert len(paragraph.split()) >= 25
    function = getattr(specs, point)
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
    assert [name for name in arguments if f"`{name}`" not in paragraph] == []


def test_no_paragraph_is_about_an_extension_point_that_is_gone() -> None:
    told = {
        heading
        for heading in sections("extension-points.md")
        if heading.startswith("keeplore_")
    }
    assert told == set(POINTS)


def test_every_extension_point_has_a_built_in_implementation(
    product: list[Any],
) -> None:
    implemented = {
        node.name
        for source in product
        if source.name.startswith(("plugin/keeplore/", "hooks/keeplore_hooks/"))
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef)
        and any(
            ast.unparse(decorator).startswith("hookimpl")
            for decorator in node.decorator_list
        )
    }
    assert set(POINTS) - implemented == set()


@pytest.mark.parametrize(
    ("name", "command"),
    list(commands()),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_command_and_its_options_are_documented(
    name: str, command: click.Command
) -> None:
    paragraph = sections("commands.md")[name]
    assert len(paragraph.split()) >= 15
    options = [
        parameter.opts[-1]
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    assert [option for option in options if f"`{option}" not in paragraph] == []


@pytest.mark.parametrize(
    ("name", "command"),
    list(commands()),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_commands_help_says_what_it_and_its_options_do(
    name: str, command: click.Command
) -> None:
    assert command.help and command.help.strip().split("\n\n")[0].rstrip().endswith(
        (".", ":")
    )
    silent = [
        p.name for p in command.params if isinstance(p, click.Option) and not p.help
    ]
    assert silent == []
    assert wrong_words(command.get_help(click.Context(command))) == []


@pytest.mark.parametrize("name", list(settings()))
def test_a_setting_is_documented(name: str) -> None:
    assert re.search(
        rf"^\| `{re.escape(name)}` \|",
        (ROOT / "docs" / "commands.md").read_text(),
        re.MULTILINE,
    )


def test_every_variable_of_the_environment_is_documented(product: list[Any]) -> None:
    clients = [
        (ROOT / "plugin" / "keeplore" / "client" / "client.sh").read_text(
            encoding="utf-8"
        )
    ]
    used = {
        name
        for text in [*(source.text for source in product), *clients]
        for name in re.findall(r"\bKEEPLORE_[A-Z_]+\b", text)
    }
    told = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert {name for name in used if f"`{name}`" not in told} == set()


def test_every_link_leads_somewhere(files: list[Path]) -> None:
    broken = []
    for page in (
        path for path in files if path.suffix == ".md" and "golden" not in path.parts
    ):
        for target in LINK.findall(without_fences(page.read_text(encoding="utf-8"))):
            place, _, anchor = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            to = (page.parent / place).resolve() if place else page
            if not to.exists() or (anchor and anchor not in anchors(to)):
                broken.append(f"{page.name}: {target}")
    assert broken == []


def anchors(page: Path) -> set[str]:
    headings = re.findall(
        r"^#{1,6} (.+)$", without_fences(page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in headings
    }


def test_every_page_of_the_docs_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = LINK.findall(without_fences(page.read_text(encoding="utf-8")))
        waiting += [
            (page.parent / t.partition("#")[0]).resolve()
            for t in targets
            if "://" not in t and t[0] != "#"
        ]
    assert set((ROOT / "docs").rglob("*.md")) - reached == set()


def test_one_word_is_used_for_one_thing(files: list[Path]) -> None:
    pages = [
        path for path in files if path.suffix == ".md" and "tests" not in path.parts
    ]
    wrong = {path.name: wrong_words(path.read_text(encoding="utf-8")) for path in pages}
    assert {name: words for name, words in wrong.items() if words} == {}


def wrong_words(text: str) -> list[str]:
    """Words that the glossary replaces, outside of code and of what links lead to."""
    prose = re.sub(r"`[^`\n]*`|\]\([^)]*\)", " ", without_fences(text))
    return [
        f"{match[0]!r} in {prose[max(0, match.start() - 30) : match.end() + 30]!r}: say {better}"
        for pattern, better in WRONG_WORDS.items()
        for match in re.finditer(pattern, prose, re.IGNORECASE)
    ]
