"""What a person asks for beside the rules: patterns to deny, marks to allow, and no path of the
home directory.
"""

from __future__ import annotations

import random
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.redact import Redactor
from keeplore.redact.home_paths import Homes
from keeplore.redact.rules import RedactionLists, redact

KEY = bytes(range(32))
ANN = Homes(PurePosixPath("/home/ann"))
WINDOWS = Homes(PureWindowsPath("C:\\Users\\ann"))


def redacted(text: str, **lists) -> str:
    clean = Redactor(KEY, **lists).keeplore_redact(text, "")
    return text if clean is None else clean


def test_what_is_denied_is_replaced_and_equal_words_have_equal_marks() -> None:
    clean = redacted(
        "Acme Müller, then acme MÜLLER, then Acme Müller", deny=["(?i)acme müller"]
    )
    first, second, third = clean.split(", then ")
    assert first == third != second
    assert first.startswith("[REDACTED:denied:") and len(first) == len(
        "[REDACTED:denied:123456]"
    )


def test_what_is_no_pattern_is_denied_letter_by_letter() -> None:
    lists = RedactionLists.of(["a+"], []).also(["b{2}", "(ü[", "x*", "", "[A-"])
    said = "aa bb b (ü[ (ü] ü x* xx (Ü[ [A-"
    hidden = "[REDACTED:denied]"
    expected = f"{hidden} {hidden} b {hidden} (ü] ü {hidden} xx (Ü[ {hidden}"
    assert redact(said, lists=lists) == expected
    marked = redact("aa", KEY, lists)
    allowed = RedactionLists.of(["a+"], [marked.removeprefix("[REDACTED:")[:-1]]).also(
        ["b"]
    )
    assert (
        redact("aa a b", KEY, allowed) == f"aa {redact('a b', KEY, lists.also(['b']))}"
    )


def test_both_steps_and_the_look_before_a_push_deny_the_same() -> None:
    plugin = Redactor(KEY, deny=["K-[0-9]{5}"])
    clean = plugin.keeplore_redact("customer K-12345", "")
    assert clean == plugin.keeplore_before_write({}, "customer K-12345")
    ((start, name),) = plugin.scan(b"customer K-12345")
    assert start == len("customer ") and f"[REDACTED:{name}]" in str(clean)
    assert list(plugin.scan(str(clean).encode())) == []


@pytest.mark.parametrize(
    "pattern", [".+", "REDACTED", "[a-z0-9]+", "denied", "\\]", "(?s).*x?.+"]
)
def test_a_pattern_that_meets_our_own_marks_changes_nothing_the_second_time(
    pattern: str,
) -> None:
    once = redacted("one line\nand a denied one: [x]", deny=[pattern])
    assert redacted(once, deny=[pattern]) == once


@given(st.text(max_size=80))
def test_denying_never_fails_whatever_the_text(text: str) -> None:
    once = redacted(f"{text}\ud800hunter{text}", deny=["hunter", "[é-ü]+", "\\s{3,}"])
    assert "hunter" not in once
    assert redacted(once, deny=["hunter", "[é-ü]+", "\\s{3,}"]) == once


def test_an_allowed_secret_stays_and_others_of_its_kind_go() -> None:
    rng = random.Random(5)
    sample, other = (
        "gh" + "p_" + "".join(rng.choices("abcdefghijkmnpqrstuvwxyz23456789", k=36))
        for _ in range(2)
    )
    ((_, name),) = Redactor(KEY).scan(sample.encode())
    clean = redacted(f"{sample} and {other}", allow=[name])
    assert (
        clean.startswith(f"{sample} and [REDACTED:github-token:") and other not in clean
    )


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("see /home/ann/code/x.py:3", "see ~/code/x.py:3"),
        ("cd /home/ann", "cd ~"),
        ("It is in /home/ann.", "It is in ~."),
        ("`/home/ann/a`, '/home/ann/b', (/home/ann/c)", "`~/a`, '~/b', (~/c)"),
        ("PATH=/usr/bin:/home/ann/bin", "PATH=/usr/bin:~/bin"),
        (
            "/home/anna /home/ann-b /home/ann_c /home/ann.old/x",
            "/home/anna /home/ann-b /home/ann_c /home/ann.old/x",
        ),
        ("/mnt/home/ann/x and ./home/ann/x", "/mnt/home/ann/x and ./home/ann/x"),
        (
            "https://example.com/home/ann/x?p=/home/ann/y",
            "https://example.com/home/ann/x?p=/home/ann/y",
        ),
        ("/Home/Ann/x", "/Home/Ann/x"),
    ],
)
def test_the_home_directory_is_written_as_a_tilde_outside_of_urls(
    text: str, short: str
) -> None:
    assert ANN.shorten(text) == short
    assert ANN.shorten(short) == short


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (r"C:\Users\ann\code", r"~\code"),
        (r"c:/Users/Ann/code", "~/code"),
        (r'{"path": "C:\\Users\\ann\\code"}', r'{"path": "~\\code"}'),
        (r"C:\Users\anna and D:\Users\ann", r"C:\Users\anna and D:\Users\ann"),
        ("file:///C:/Users/ann/x", "file:///C:/Users/ann/x"),
    ],
)
def test_a_home_directory_of_windows_is_found_however_it_is_written(
    text: str, short: str
) -> None:
    assert WINDOWS.shorten(text) == short


@pytest.mark.parametrize(
    "home",
    [None, PurePosixPath("/"), PureWindowsPath("C:\\"), PurePosixPath("home/ann")],
)
def test_what_is_no_home_directory_shortens_nothing(home) -> None:
    assert (
        Homes(home).shorten("/ /x C:\\ C:\\x home/ann/x")
        == "/ /x C:\\ C:\\x home/ann/x"
    )


def test_both_steps_shorten_and_secrets_in_such_a_path_go_too() -> None:
    plugin = Redactor(KEY, home=PurePosixPath("/home/ann"))
    assert (
        plugin.keeplore_redact("in /home/ann/a", "")
        == plugin.keeplore_before_write({}, "in /home/ann/a")
        == "in ~/a"
    )
    token = "ghp_" + "".join(
        random.Random(5).choices("abcdefghijkmnpqrstuvwxyz23456789", k=36)
    )
    assert token not in str(plugin.keeplore_redact(f"/home/ann/{token}", ""))


@pytest.mark.timeout(20)  # the square of this size would take hours
@pytest.mark.parametrize(
    "piece", ["a", "/home/ann", "http", "://", "/", "\\", "a:", "C:\\Users\\ann"]
)
def test_hostile_text_is_shortened_in_linear_time(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    assert len(ANN.shorten(text)) <= len(text) and len(WINDOWS.shorten(text)) <= len(
        text
    )
