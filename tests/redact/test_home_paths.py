"""Sessions of other machines name other homes; those are nobody's business either."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from keeplore.capture.message_filter import filtered_exchange, observed_work
from keeplore.redact.home_paths import home_of, home_path_shortener
from keeplore_hooks.events import Origin, Question, Turn, Work


def _unchanged(text: str, _directory: str) -> str:
    return text


@pytest.mark.parametrize(
    ("directory", "home"),
    [
        ("/Users/ann/code/kasha", PurePosixPath("/Users/ann")),
        ("/home/ann", PurePosixPath("/home/ann")),
        ("/root", PurePosixPath("/root")),
        ("C:\\Users\\ann\\kasha", PureWindowsPath("C:\\Users\\ann")),
        ("d:/users/ann", PureWindowsPath("d:/users/ann")),
        ("/Users/Shared/kasha", None),
        ("C:\\Users\\Public\\kasha", None),
        ("/srv/home/ann", None),
        ("/rooted/kasha", None),
        ("/home", None),
        ("home/ann", None),
        ("", None),
    ],
)
def test_a_home_is_known_by_where_systems_have_them(directory, home):
    assert home_of(directory) == home


@pytest.mark.parametrize(
    ("directory", "text", "short"),
    [
        (
            "/Users/ann/kasha",
            "see /Users/ann/other/x.py, not /Users/bob/x.py",
            "see ~/other/x.py, not /Users/bob/x.py",
        ),
        ("C:\\Users\\ann\\kasha", "see C:\\Users\\ann\\x.py", "see ~\\x.py"),
        ("/srv/kasha", "see /home/ann/x.py", "see /home/ann/x.py"),
    ],
)
def test_paths_below_the_home_of_a_session_are_shortened_before_all_else(
    directory, text, short
):
    seen = []
    assert (
        home_path_shortener(
            lambda words, _: seen.append(words) or f"[{words}]", directory
        )(text)
        == f"[{short}]"
    )
    assert seen == [short]


def test_an_exchange_and_its_references_name_no_home():
    origin = Origin("codex", "one", cwd="/Users/ann/kasha")
    question = Question(
        "q",
        origin,
        "2026-02-09T14:00:00Z",
        "Keep /Users/ann/a?",
        "Yes, /Users/ann/a",
        ("/Users/ann/a",),
    )
    work = Work(
        ("/Users/ann/kasha/x.py", "/Users/ann/y.py"),
        ("make -C /Users/ann/z",),
        agents=("explore: /Users/ann",),
    )
    turn = Turn(
        "t",
        origin,
        "2026-02-09T14:00:00Z",
        "Look at /Users/ann/x",
        ("In /Users/ann/x.", question),
        work=work,
    )
    kept = filtered_exchange(turn, _unchanged), observed_work(turn, _unchanged)
    assert "Users" not in str(kept)
    assert kept[1].files == ("x.py", "~/y.py")
    assert kept[1].agents == ("explore: ~",)
