"""Commands of Keeplore's own are known in every form in which hosts hand them on."""

from pathlib import Path

import pytest

from keeplore_hooks.hosts.base import COMMANDS
from keeplore_hooks.hosts.gemini.gemini_lines import prompt_from
from keeplore_hooks.hosts.prompt_text import (
    called_in,
    own_command,
    without_shell_quotes,
)

PLUGIN = Path(__file__).parents[3] / "plugin"
TEXTS = PLUGIN / "gemini" / "commands" / "keeplore"
FORMS = (
    "/keeplore:{}",
    "/keeplore-{}",
    "/keeplore/{}",
    "$keeplore-{}",
    "$keeplore:{}",
    "${}",
)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("form", FORMS)
def test_a_command_with_our_name_is_ours(form: str, name: str) -> None:
    typed = form.format(name)
    assert (
        own_command(typed)
        == own_command(f"  {typed} the CSV separator\nor so")
        == "named"
    )
    assert own_command(f"[{typed}](skill.md) the CSV separator") == "named"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_short_name_may_be_anothers(name: str) -> None:
    assert own_command(f"/{name} the CSV separator") == "bare"


@pytest.mark.parametrize(
    "prompt",
    [
        "recall the CSV separator",
        "/recall/notes.txt",
        "/other:recall x",
        "/recalled",
        "What is /keeplore:recall?",
        "",
    ],
)
def test_talk_about_commands_is_talk(prompt: str) -> None:
    assert own_command(prompt) == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_text_of_a_command_that_a_host_sends_is_what_was_typed(name: str) -> None:
    text = (
        (TEXTS / f"{name}.toml")
        .read_text()
        .partition("prompt = '''\n")[2]
        .removesuffix("'''\n")
    )
    assert (
        prompt_from(f"{text}\n\n/keeplore:{name} the CSV separator")
        == f"/keeplore:{name} the CSV separator"
    )
    assert prompt_from(text) == f"/keeplore:{name}"
    other = text.replace("Keeplore", "Grep").replace("keeplore", "grep")
    assert prompt_from(other) == other.strip()


@pytest.mark.parametrize("name", COMMANDS)
def test_words_that_a_host_puts_behind_the_text_of_a_command_are_its_words(
    name: str,
) -> None:
    file = PLUGIN / "opencode" / "commands" / "keeplore" / f"{name}.md"
    text = file.read_text().split("---\n", 2)[2].strip()
    takes_words = name != "memory"
    typed = f"{text}\n\nthe CSV separator\nis ;" if takes_words else text
    words = " the CSV separator\nis ;" if takes_words else ""
    assert called_in(typed) == f"/keeplore:{name}{words}"
    assert called_in(text) == f"/keeplore:{name}"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('"which index do we take?"', "which index do we take?"),
        (r'"call it \"kasha\" then"', 'call it "kasha" then'),
        ('"kasha"', '"kasha"'),
        ('"one two" and "three four"', '"one two" and "three four"'),
        ('say "one two"', 'say "one two"'),
        ('"', '"'),
        ("", ""),
    ],
)
def test_quotation_marks_of_a_shell_are_no_words(words: str, expected: str) -> None:
    assert without_shell_quotes(words) == expected
