import unicodedata

import pytest
from example_count import LONG, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from keeplore.capture.message_filter import (
    clean,
    filtered_exchange,
    without_split_private,
)
from keeplore.memory import Conversation, Exchange
from keeplore.text.fences import fence
from keeplore.text.folding import KEPT, SHOWN, fold
from keeplore_hooks.events import Origin, Turn


def log(lines: int) -> str:
    return "\n".join(
        f"2026-02-09 14:03:{i % 60:02} INFO worker: step {i}" for i in range(lines)
    )


def test_what_people_say_stays_as_it_is() -> None:
    text = (
        "Let's drop **Redis**:\n\n- one process less\n- `flock` is enough\n\n```python\nif a < "
        "b:\n    run()\n```"
    )
    assert clean(text) == text


def test_what_keeplore_injected_is_not_captured_again() -> None:
    block = fence("We chose SQLite for the queue.", "abcd1234efgh5678")
    assert clean(f"{block}\n\nWhy did we drop Redis?") == "Why did we drop Redis?"


@pytest.mark.parametrize(
    "wrapper",
    [
        "<system-reminder>\nThe file changed.\n</system-reminder>",
        "<local-command-stdout>Set model to opus</local-command-stdout>",
        "<local-command-caveat>Caveat: these messages</local-command-caveat>",
        "<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>x</command-args>",
        "<task-notification>\n<task-id>b1</task-id>\n<result>done</result>\n</task-notification>",
        "<ide_opened_file>The user opened /src/a.py</ide_opened_file>",
        '<ide_selection path="a.py">x = 1</ide_selection>',
        "<user-prompt-submit-hook>context</user-prompt-submit-hook>",
        "<environment_context>\n  <cwd>/src</cwd>\n</environment_context>",
        "<permissions instructions>ask first</permissions instructions>",
        "<bash-input>ls</bash-input><bash-stdout>a.py</bash-stdout>",
        "<tool_result>\nok\n</tool_result>",
        "<thinking>Perhaps the user means Redis.</thinking>",
        "<SYSTEM-REMINDER>a <system-reminder>b</system-reminder> c</SYSTEM-REMINDER>",
        "[Request interrupted by user for tool use]",
        "Stop hook feedback: run the tests",
        "PreToolUse:Bash hook success: ok",
        "UserPromptSubmit operation blocked by hook: no",
    ],
)
def test_the_words_of_the_host_are_dropped(wrapper: str) -> None:
    assert clean(f"before\n{wrapper}\nafter").split() == ["before", "after"]
    assert clean(wrapper) == ""


def test_the_hosts_wrapper_around_the_persons_own_words_goes_and_the_words_stay() -> (
    None
):
    assert clean("<user_query>\nWhy SQLite?\n</user_query>") == "Why SQLite?"


def test_talk_about_a_wrapper_stays() -> None:
    text = "What does `<system-reminder>` mean, and where is `</system-reminder>`?"
    assert clean(text) == text
    code = "```xml\n<system-reminder>an example</system-reminder>\n```"
    assert clean(code) == code
    assert clean("it prints <thinking> and stops") == "it prints <thinking> and stops"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a c"),
        ("a <private>b", "a"),
        ("a <PRIVATE>b</Private> c", "a c"),
        ('a <private reason="x">b</private> c', "a c"),
        ("a < private >b</ private > c", "a c"),
        ("a <private>b <private>c</private> d</private> e", "a e"),
        ("a <private>b <private>c</private> d", "a"),
        ("a <private>b</private x> c", "a"),
        ("a <private>b</pri\u200bvate> c", "a c"),
        ("a <pri\u200bvate>b", "a"),
        ("a <private/>b", "a"),
        ("a &lt;private&gt;b&lt;/private&gt; c", "a c"),
        ("a <private\nb", "a"),
        ("a ```\n<private>b\n``` c", "a ```"),
        ("a </private> b", "b"),
        ("a <private>b</private> c </private> d", "d"),
        ("the tag `</private>` ends it", "the tag `</private>` ends it"),
        ("a &#60;private&#62;b&#x3C;/private&#x3e; c", "a c"),
        ("a &amp;lt;private&amp;gt;b&ampc", "a"),
        ("a &ltprivate&gtb&lt/private&gt c", "a c"),
        ("a \\u003cprivate\\u003eb\\u003c/private\\u003e c", "a c"),
        ("a %3Cprivate%3Eb%3C/private%3E c", "a c"),
        ("a \\<private\\>b\\<\\/private\\> c", "a \\ c"),
        ("a <private>b<\\/private> c", "a c"),
        ("a <private:x>b", "a"),
        ("a ‹private›b", "a"),
        ("a 〈private〉b", "a"),
        ("a <ｐｒｉｖａｔｅ>b", "a"),  # full width is meant
        ("a <private\u00a0>b</private\u00a0> c", "a c"),
        ("a <privateer> b", "a <privateer> b"),
    ],
)
def test_private_fails_closed(text: str, kept: str) -> None:
    assert clean(text).split() == kept.split()


@pytest.mark.parametrize(
    "before", ["\x1b", "\x1b[", "\x9b", "\x1b]", "\x1b]0;a", "\x1b(", "\x1b[1;", "\x9d"]
)
def test_no_escape_sequence_hides_where_something_private_begins(before: str) -> None:
    assert "hunter" not in clean(f"a {before}<private>hunter\x07 hunter</private> b")


def test_what_is_private_over_several_replies_is_dropped_with_those_between() -> None:
    replies = [
        "one <private> two",
        "hunter in between",
        "hunter </private> three",
        "four",
    ]
    origin = Origin("claude-code", "s1")
    exchange = filtered_exchange(
        Turn("t1", origin, "", "hello", tuple(replies)), lambda text, _: text
    )
    assert exchange and exchange.replies == ("one", "three", "four")
    assert without_split_private(["a <private> b", "c", "d"]) == [
        "a <private> b",
        "c",
        "d",
    ]
    twice = ["a <private> b", "c", "d </private> e <private> f", "g", "h </private>"]
    assert without_split_private(twice) == [
        "a <private> b",
        "",
        "d </private> e <private> f",
        "",
        "h </private>",
    ]


def test_nothing_private_survives_whatever_stands_inside() -> None:
    for inside in (
        "```\n",
        "<system-reminder>",
        "</system-reminder>",
        "<private",
        "`",
        "\x1b[31m",
        "\r\n",
        "<!--",
    ):
        assert "hunter" not in clean(f"a <private>{inside} hunter {inside}</private> b")


def test_unseen_characters_go_and_text_is_composed() -> None:
    assert clean("a\u202eb\u200bc\x1b[31md\r\ne\x00") == "abcd\ne"
    assert clean("u\u0308ber") == unicodedata.normalize("NFC", "über")


def test_encoded_data_becomes_a_line_that_says_so() -> None:
    picture = "data:image/png;base64," + "iVBORw0KGgo" * 600
    assert (
        clean(f"see ![]({picture}) here") == "see ![]([image/png left out: 4 KB]) here"
    )
    assert clean("A1b2" * 500) == "[base64 data left out: 1 KB]"
    assert clean("A1b2" * 50) == "A1b2" * 50


def test_a_pasted_log_is_cut_to_head_and_tail_with_the_count() -> None:
    text = clean(f"it fails with\n\n{log(500)}\n\nany idea?")
    lines = text.split("\n")
    assert lines[0] == "it fails with" and lines[-1] == "any idea?"
    assert f"[{500 - KEPT.head_lines - KEPT.tail_lines} lines left out]" in lines
    assert len(lines) == KEPT.head_lines + KEPT.tail_lines + 1 + 4
    assert "step 0" in text and "step 499" in text and "step 250" not in text


def test_a_short_log_and_a_sane_code_block_survive() -> None:
    short = f"look:\n{log(KEPT.log_lines)}"
    assert clean(short) == short
    code = (
        "```python\n"
        + "\n".join(f"x{i} = {i}" for i in range(KEPT.code_lines))
        + "\n```"
    )
    assert clean(code) == code


def test_a_dumped_file_in_a_code_block_keeps_its_fences() -> None:
    lines = clean(
        "```json\n" + "\n".join(f'"k{i}": {i},' for i in range(5000)) + "\n```"
    ).split("\n")
    assert lines[0] == "```json" and lines[-1] == "```"
    assert (
        lines[KEPT.head_lines + 1]
        == f"[{5000 - KEPT.head_lines - KEPT.tail_lines} lines left out]"
    )


def test_a_long_talk_is_not_a_log() -> None:
    talk = "\n\n".join(
        f"We looked at option {i} and found that it costs more than it gives."
        for i in range(150)
    )
    assert clean(talk) == talk
    bullets = "\n".join(f"- option {i} is what the team asked for" for i in range(200))
    assert clean(bullets) == bullets


def test_an_unfenced_dump_is_cut_whatever_its_lines_look_like() -> None:
    lines = clean(
        "\n".join(
            f"and then there was line {i} of it" for i in range(KEPT.stretch_lines * 2)
        )
    ).split("\n")
    assert len(lines) == KEPT.head_lines + KEPT.tail_lines + 1


def test_an_endless_line_is_cut_to_its_ends() -> None:
    text = clean("word " * KEPT.line_chars)
    assert len(text) < KEPT.line_chars / 2
    assert "characters left out]" in text


_PIECES = [
    "<private>",
    "</private>",
    "<system-reminder>",
    "</system-reminder>",
    "```",
    "\n",
    "\r",
    "`",
    "<",
    ">",
    "a",
]
_PIECES += [
    "<thinking>",
    "</thinking>",
    " ",
    "\u200b",
    "é",
    "[Request interrupted by user]",
    "&lt;private&gt;",
    "hook ",
]


@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(_PIECES), max_size=40).map("".join),
    )
)
@settings(max_examples=examples(300), deadline=None)
def test_cleaning_never_fails_and_nothing_after_an_open_private_is_left(
    text: str,
) -> None:
    marked = text + "<private>secretword"
    assert "secretword" not in clean(marked)
    assert "\r" not in clean(text)


@given(st.text(alphabet="ab\n`-+ {", max_size=300))
@settings(max_examples=examples(100), deadline=None)
def test_folding_leaves_what_is_small(text: str) -> None:
    assert fold(text) == text


_HOSTILE = [
    "<",
    "< ",
    "<private>",
    "</private>",
    "<system-reminder>",
    "</system-reminder>",
    "<thinking ",
    "`",
    "```\n",
]
_HOSTILE += [
    "a=",
    "\n ",
    "data:image/png;base64,",
    "A" * 799 + " ",
    "hook ",
    "\u0301",
    "\x1b[",
    "\\",
    "a\n",
]


@pytest.mark.timeout(100)  # the square of this size would take longer
@pytest.mark.parametrize("piece", _HOSTILE, ids=ascii)
@LONG
def test_hostile_text_costs_linear_time(piece: str, size: int) -> None:
    text = piece * (size // len(piece))
    assert len(clean(text)) <= len(text) + 100


@pytest.mark.parametrize(
    "block",
    [
        "```py\nimport os\n\n\n\ndef main():\n\n\n    pass   \n```",
        "~~~\n\n\n\n~~~",
        "1. Run\n\n   ```sh\n   make\n\n\n   make check\n   ```",
    ],
)
def test_a_code_block_keeps_its_empty_lines_and_gaps_around_it_are_closed(
    block: str,
) -> None:
    assert (
        clean(f"Before\n\n\n\n\n{block}\n \n\n\nAfter") == f"Before\n\n{block}\n\nAfter"
    )
    exchange = Exchange("t1", "2026-02-09T14:00:00Z", clean(block), (clean(block),))
    body = Conversation("Title", (exchange,)).to_markdown()
    assert Conversation.from_markdown(body).exchanges == (exchange,)


def test_who_reads_one_turn_is_shown_less_of_what_was_pasted() -> None:
    text = f"Why does it fail?\n\n{log(40)}\n\nIt did not yesterday."
    assert fold(text) == text
    lines = fold(text, SHOWN).split("\n")
    left_out = 40 - SHOWN.head_lines - SHOWN.tail_lines
    assert lines == [
        "Why does it fail?",
        "",
        *log(40).split("\n")[: SHOWN.head_lines],
        f"[{left_out} lines left out]",
        *log(40).split("\n")[-SHOWN.tail_lines :],
        "",
        "It did not yesterday.",
    ]
