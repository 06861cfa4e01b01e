"""What is printed, asked and written: on a terminal, into a pipe, into a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner
from unwritable import unwritable

from keeplore.cli import output
from keeplore.errors import KeeploreError

MOST = 200_000  # characters of Markdown that are laid out
Printed = tuple[int, str, str]  # exit status, stdout, stderr
Prints = Callable[..., Printed]
ROWS = [
    ["a\x1b[31m\nb", 1, "x"],
    ["[red]long", " ".join(["narrow"] * 9), "some words of a memory that is wide"],
]


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False
    )
    monkeypatch.setenv("TERM", "dumb")  # 80 columns, no colours


def printed(action: Callable[[], object], typed: str = "") -> Printed:
    """What an action of a command prints to a person who types this."""
    command = click.command()(lambda: action() and None)
    done = CliRunner().invoke(command, input=typed)
    assert done.exception is None or done.exit_code == 1, done.exception
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def test_lines_hold_no_control_characters() -> None:
    def action() -> None:
        output.say("a\tb\x1b[31m\nc  d", bold=True)
        output.say()
        output.say("aside", err=True)
        output.say_labelled([("id", "1"), ("title", "x\ry"), ("longest", "")])
        output.note("so\nit is\x07")
        output.emit_json({"ä": [1, None]})
        output.table(["what", "n", "where"], ROWS, wide=["where"])
        output.markdown("# Title\x1b[0m\n\n[a](https://a.example)\n\n\n")

    assert printed(action) == (
        0,
        (
            "a b c  d\n"
            "\n"
            "id:      1\n"
            "title:   x y\n"
            "longest: \n"
            '{\n  "ä": [\n    1,\n    null\n  ]\n}\n'
            "a b\t1\tx\n"
            f"[red]long\t{' '.join(['narrow'] * 9)}\tsome words of a memory that is wide\n"
            "# Title\n"
            "\n"
            "[a](https://a.example)\n"
        ),
        "aside\nnote: so it is\n",
    )


@pytest.mark.usefixtures("on_terminal")
def test_a_terminal_gets_tables_and_markdown_that_is_laid_out() -> None:
    def action() -> None:
        output.table(["what", "n", "where"], ROWS, wide=["where"])
        output.markdown("# Title\n\n[a](https://a.example) :smile: 12\n")
        output.markdown("*" + "y" * (MOST - 1) + "*")

    code, out, err = printed(action)
    narrow = " ".join(["narrow"] * 9)
    assert (code, err) == (0, "")
    assert [line.rstrip() for line in out.splitlines()] == [
        f"what       n{' ' * 63}where",
        f"a b        1{' ' * 63}x",
        f"[red]long  {narrow}  some",
        *(
            f"{' ' * 75}{word}"
            for word in ("words", "of a", "memo…", "that", "is", "wide")
        ),
        f"{' ' * 37}Title",
        "",
        "a (https://a.example) :smile: 12",
        f"*{'y' * (MOST - 1)}*",
    ]


@pytest.mark.usefixtures("on_terminal")
def test_markdown_is_laid_out_up_to_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MAX_RENDERED", 3)
    _, out, _ = printed(lambda: [output.markdown("*a*"), output.markdown("*ab*")])
    assert [line.rstrip() for line in out.splitlines()] == ["a", "*ab*"]


def test_a_terminal_gets_what_is_styled(monkeypatch: pytest.MonkeyPatch) -> None:
    echoed = []
    monkeypatch.setattr(click, "echo", lambda text, err: echoed.append((text, err)))
    output.say("a", fg="red")
    output.say("b", err=True)
    output.say_labelled([("a", "1")], fg="red")
    assert echoed == [
        ("\x1b[31ma\x1b[0m", False),
        ("b", True),
        ("\x1b[31ma: 1\x1b[0m", False),
    ]


def test_a_console_shows_a_text_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm-256color", "FORCE_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    console = output.console()
    with console.capture() as shown:
        console.print("[red]12[/red] :smile: 'a'")
    assert shown.get() == "[red]12[/red] :smile: 'a'\n"


@pytest.mark.parametrize("typed", ["y\n", "n\n"])
@pytest.mark.usefixtures("on_terminal")
def test_a_person_is_asked(typed: str) -> None:
    def action() -> None:
        output.confirm("Delete it?", yes=False, refusal="no one is here")
        output.say("deleted")

    code, out, err = printed(action, typed)
    gone = (0, "deleted\n") if typed == "y\n" else (1, "")
    assert (code, out) == gone
    assert err.startswith("Delete it? [y/N]: ")
    code, out, err = printed(lambda: output.confirm_risk(yes=False), typed)
    assert (code, out) == (int(typed == "n\n"), "")
    assert err.startswith("Accept that on this machine, for this workspace? [y/N]: ")


def test_where_nobody_can_be_asked_it_is_refused() -> None:
    refused = "nobody is here to accept that"
    with pytest.raises(KeeploreError, match=refused) as caught:
        printed(lambda: output.confirm_risk(yes=False))
    assert caught.value.remedy == "Add --yes where you do"
    with pytest.raises(KeeploreError, match="no one is here") as caught:
        printed(lambda: output.confirm("So?", yes=False, refusal="no one is here"))
    assert caught.value.remedy == "Add --yes to go on"
    assert printed(lambda: output.confirm_risk(yes=True)) == (0, "", "")


def test_a_letter_is_chosen_and_asked_for_again() -> None:
    choices = {"k": "keep it", "s": "leave it for later"}
    typed = "what\n KEEP\n\n"

    def action() -> None:
        chosen = [output.choose("What now?", choices) for _ in range(2)]
        output.say(" ".join(chosen))

    assert printed(action, typed) == (
        0,
        (
            "  What now? [k/s]: what\n"
            "  k keep it, s leave it for later\n"
            "  What now? [k/s]:  KEEP\n"
            "  What now? [k/s]: \n"
            "k s\n"
        ),
        "",
    )


def test_attributes_are_picked() -> None:
    thing = SimpleNamespace(a=1, b=2, c=3)
    assert output.attributes_of(thing, "c", "a") == {"c": 3, "a": 1}


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "half"
        raise RuntimeError("broken off")

    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    output.write_file(link, ["ä\n", "b\ud800\n"])
    assert (file.read_bytes(), link.is_symlink()) == ("ä\nb?\n".encode(), True)
    with pytest.raises(RuntimeError):
        output.write_file(file, pieces())
    assert file.read_bytes() == "ä\nb?\n".encode()
    assert sorted(tmp_path.iterdir()) == [file, link]


def test_where_the_disk_refuses_the_file_that_was_asked_for_is_named(
    tmp_path: Path,
) -> None:
    file = tmp_path / "file"
    with unwritable(tmp_path), pytest.raises(OSError, match=r"/file'\Z") as error:
        output.write_file(file, ["words"])
    assert error.value.filename == str(file)


def test_a_device_gets_the_text_itself() -> None:
    ours, theirs = os.openpty()
    output.write_file(Path(os.ttyname(theirs)), ["ä", "\ud800"])
    assert os.read(ours, 9) == "ä?".encode()
    os.close(ours)
    os.close(theirs)


def test_a_path_is_told_as_one_would_type_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, here = tmp_path / "home", tmp_path / "home" / "here"
    here.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    told = [output.near(place) for place in (here / "a\nb", home / "c", here, home)]
    assert told == ["a b", "~/c", "~/here", str(home)]
    assert output.near(tmp_path / "d") == str(tmp_path / "d")
