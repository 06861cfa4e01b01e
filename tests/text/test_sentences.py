"""What of a message counts as sentences."""

from __future__ import annotations

import pytest

from keeplore.text.sentences import (
    answer_in,
    answer_line,
    bare,
    clip,
    question_and_answer,
    sentences,
)

TAKEN = tuple(f"worker took job {number} from the queue" for number in range(8))


@pytest.mark.parametrize("before", [(), ("We look at the log.",)])
@pytest.mark.parametrize("after", [(), ("It is fine.",)])
def test_eight_lines_that_begin_alike_were_written_by_a_program(
    before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    def told(*lines: str) -> list[str]:
        return [one.text for one in sentences("\n".join((*before, *lines, *after)))]

    assert told(*TAKEN) == [*before, *after]
    assert told(*TAKEN[:7]) == [*before, " ".join(TAKEN[:7]), *after]


@pytest.mark.parametrize(
    ("line", "label", "told"),
    [
        ("**2. Names** - each is kept.", "2", "**Names** - each is kept."),
        ("__2. Names__ are kept.", "2", "__Names__ are kept."),
        ("**2.** Each name is kept.", "2", "Each name is kept."),
        ("2. **Names**: each is kept.", "2", "**Names**: each is kept."),
        ("2.名称：前端解析", "2", "名称：前端解析"),
        ("**3.0 is out** and in use.", "", "**3.0 is out** and in use."),
        ("3.5倍的速度", "", "3.5倍的速度"),
        ("- **A. Names**: each is kept.", "A", "**Names**: each is kept."),
        ("**B) Names** are kept.", "B", "**Names** are kept."),
        ("* C. Names are kept.", "C", "Names are kept."),
        ("- A name is kept.", "-", "A name is kept."),
        ("- **(a)** Names are kept.", "A", "Names are kept."),
        ("- (b) Names are kept.", "B", "Names are kept."),
        ("**(c)** Names are kept.", "C", "Names are kept."),
        ("- **D**: names are kept.", "D", "names are kept."),
        ("- **E** — names are kept.", "E", "names are kept."),
        ("- A: names are kept.", "A", "names are kept."),
    ],
)
def test_the_number_of_an_item_stands_in_its_emphasis_or_before_it(
    line: str, label: str, told: str
) -> None:
    (found,) = sentences(f"It is done:\n\n{line}")[1:]
    assert (found.label, found.text) == (label, told)


@pytest.mark.parametrize(
    "sentence",
    [
        "Ran `./run-local.sh` with success.",
        'The pattern `^(?:\\w+\\s+)?["]([^"]+)["]` means lines of an import.',
        '`TestNames`: `!= "a"` is `== "a"` now.',
        "A tokenizer takes each sign, `.` too, for an end.",
        "Sizes come as `[]store.Entry`, one a file.",
    ],
)
def test_nothing_in_code_ends_a_sentence(sentence: str) -> None:
    message = f"All is done. {sentence} `Name` is next."
    found = [one.text for one in sentences(message)]
    assert found == ["All is done.", sentence, "`Name` is next."]


def test_a_unit_behind_a_figure_is_no_initial() -> None:
    said = "It takes up to 40 s. I raised it to 5 h. Plan A. Berg wrote it."
    assert [s.text for s in sentences(said)][:2] == [
        "It takes up to 40 s.",
        "I raised it to 5 h.",
    ]


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("No. I left it.", "No."),
        ("No. I've left it.", "No."),
        ("No. A test needs it.", "No."),
        ("See No. I of the list.", "See No. I of the list."),
        ("See No. 5 of the list.", "See No. 5 of the list."),
    ],
)
def test_a_no_by_itself_is_a_sentence(said: str, first: str) -> None:
    assert sentences(said)[0].text == first


def test_the_number_of_an_item_that_a_line_names_ends_no_sentence() -> None:
    message = "Fix:   2. The parser stops. We are on version 2. It works."
    assert [one.text for one in sentences(message)] == [
        "Fix: 2. The parser stops.",
        "We are on version 2.",
        "It works.",
    ]
    assert [one.text for one in sentences("Fix: 2.")] == ["Fix: 2."]


@pytest.mark.parametrize(
    ("line", "question", "answer"),
    [
        ("Which store? → SQLite", "Which store?", "SQLite"),
        (
            "Take `a → b`? → yes (a → c), not [b → c]",
            "Take `a → b`?",
            "yes (a → c), not [b → c]",
        ),
        ("Names → one each → yup", "Names → one each", "yup"),
        ("Rename (`a` → `b`) at once", "", "Rename (`a` → `b`) at once"),
        ("Which? → it (a → b was cut", "Which? → it (a", "b was cut"),
    ],
)
def test_an_arrow_in_code_or_brackets_parts_no_question_from_its_answer(
    line: str, question: str, answer: str
) -> None:
    assert question_and_answer(line) == (question, answer)
    assert answer_in(line) == answer


def test_an_item_of_a_list_in_a_list_knows_the_item_that_introduces_it() -> None:
    message = """Done:

- Made `a.sh` to:
  - start the database
  - start the server. It waits.
    - for a minute
- **Made `b.sh`**:
  1. stop both
- Made both executable
  - for all

Files are:
- a.sh and b.sh"""
    assert [(one.lead, one.within, one.text) for one in sentences(message)] == [
        ("", "", "Done:"),
        ("Done:", "", "Made `a.sh` to:"),
        ("Done:", "Made `a.sh` to:", "start the database"),
        ("Done:", "Made `a.sh` to:", "start the server."),
        ("Done:", "Made `a.sh` to:", "It waits."),
        ("Done:", "", "for a minute"),
        ("Done:", "", "**Made `b.sh`**:"),
        ("Done:", "**Made `b.sh`**:", "stop both"),
        ("Done:", "", "Made both executable"),
        ("Done:", "", "for all"),
        ("", "", "Files are:"),
        ("Files are:", "", "a.sh and b.sh"),
    ]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "looks right\none more thing is the timeout, which is too long for the tests",
            [
                "looks right",
                "one more thing is the timeout, which is too long for the tests",
            ],
        ),
        (
            "the queue must survive a restart, and the\njobs that ran are to be taken up again",
            [
                "the queue must survive a restart, and the jobs that ran are to be taken up again"
            ],
        ),
        (
            "if it fails,\nthe whole import is to be taken back and started again",
            ["if it fails, the whole import is to be taken back and started again"],
        ),
        (
            "I saw https://example.org/a\nand the page after it, which is much longer than that",
            [
                "I saw https://example.org/a and the page after it, which is much longer than that"
            ],
        ),
        (
            "- one item\n  that goes on in a line of its own which is much longer",
            ["one item that goes on in a line of its own which is much longer"],
        ),
    ],
)
def test_a_line_with_room_for_more_was_ended_by_its_writer(
    message: str, told: list[str]
) -> None:
    assert [one.text for one in sentences(message)] == told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Please rename all of the open() => start()", True),
        ("let the whole thing go on; now || never; then stop it.", True),
        ("const open = () => start()", False),
        ("items.map(item => item.name)", False),
    ],
)
def test_a_sign_of_code_in_what_people_tell_makes_it_no_code(
    line: str, *, told: bool
) -> None:
    assert bool(sentences(line)) is told


MESSAGE = """# Where jobs live ##
We looked at three ways. The **queue** must survive a restart
and this line goes on.
But this one begins anew.

**Options weighed**:
There are two options:
- **Redis** with persistence. It is fast.
* [x] Postgres 🎉
+ _nothing_ at all
1) SQS
(b) a file
C. memory
**4. Kafka**: too much.
5、日本語の選択

> quoted by somebody
| cell | cell |
```py
x = 1
```
    indented = code
$ ls -la
file listed by it

"key": 1,
2026-02-09T14:03:11 started
at run (main.js)
return x;
call(a);
✓ passed
{"a": 1}
=====
a  b  c
Typed in a terminal\\
and ended there.

✅ Done! Is that so?
__Not__ **so**
Use `a && b`, please.
1234567890 !!! 12
"""
READ = [
    ("Where jobs live ##", "", "", "", True, True),
    ("We looked at three ways.", "Where jobs live ##", "", "", False, True),
    (
        "The **queue** must survive a restart and this line goes on.",
        "Where jobs live ##",
        "",
        "",
        False,
        False,
    ),
    ("But this one begins anew.", "Where jobs live ##", "", "", False, True),
    ("Options weighed", "", "", "", True, True),
    ("There are two options:", "Options weighed", "", "", False, True),
    (
        "**Redis** with persistence.",
        "Options weighed",
        "There are two options:",
        "-",
        False,
        True,
    ),
    ("It is fast.", "Options weighed", "There are two options:", "-", False, False),
    ("Postgres", "Options weighed", "There are two options:", "-", False, True),
    ("_nothing_ at all", "Options weighed", "There are two options:", "-", False, True),
    ("SQS", "Options weighed", "There are two options:", "1", False, True),
    ("a file", "Options weighed", "There are two options:", "B", False, True),
    ("memory", "Options weighed", "There are two options:", "C", False, True),
    (
        "**Kafka**: too much.",
        "Options weighed",
        "There are two options:",
        "4",
        False,
        True,
    ),
    ("日本語の選択", "Options weighed", "There are two options:", "5", False, True),
    ("Typed in a terminal", "Options weighed", "", "", False, True),
    ("and ended there.", "Options weighed", "", "", False, True),
    ("Done!", "Options weighed", "", "", False, True),
    ("Is that so?", "Options weighed", "", "", False, False),
    ("Use `a && b`, please.", "Options weighed", "", "", False, True),
]


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("8081, 8080 is taken", True),
        ("3 at 11:08, 2 at 12:40", True),
        ("8081 8080 443 80", False),
        ("9f3a 11:08 12:40 1 204", False),
        ("82c2c4495629bd585a0a11807b4e0ede9a99753 was lost there", False),
    ],
)
def test_figures_among_words_are_told_and_no_output(line: str, is_told: bool) -> None:
    assert bool(sentences(line)) is is_told


def test_a_message_is_read_as_sentences_with_what_stands_above_them() -> None:
    read = [
        (one.text, one.heading, one.lead, one.label, one.is_heading, one.is_first)
        for one in sentences(MESSAGE)
    ]
    assert read == READ
    assert [one.text for one in sentences(MESSAGE) if one.is_question] == [
        "Is that so?"
    ]


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 5, "short"),
        ("one two three", 12, "one two"),
        ("unbroken", 4, "unbr"),
        ("We take it, because it is safe and sound", 20, "We take it,"),
        ("We take it because it is safe", 20, "We take it"),
        ("We, take it for what it is worth", 24, "We, take it for what it"),
        ("**It** is: good, or not so", 17, "It is: good"),
        ("**Fix** it in **two** steps", 80, "Fix it in two steps"),
        ("call `f(**kw, **more)` with **all**", 80, "call `f(**kw, **more)` with all"),
        ("2 ** 3 ** 4 and a**b**c", 80, "2 ** 3 ** 4 and a**b**c"),
        ("an open **end", 80, "an open **end"),
        ("an **end → that** is open", 80, "an **end → that** is open"),
        (
            "[app/pay.py](/home/ada/app/pay.py:27): no retry",
            80,
            "app/pay.py:27: no retry",
        ),
        ("see [pay.py:9](~/shop/app/pay.py:9:2)", 80, "see pay.py:9"),
        ("**[`pay.py`](app/pay.py)** waits", 80, "pay.py waits"),
        ("[here](app/pay.py) it waits", 80, "[here](app/pay.py) it waits"),
        ("`[pay.py](pay.py)` is code", 80, "`[pay.py](pay.py)` is code"),
        ("![pay.gif](pay.gif) moves", 80, "![pay.gif](pay.gif) moves"),
        ("[pay.py](https://a.b/pay.py)", 80, "[pay.py](https://a.b/pay.py)"),
    ],
)
def test_a_quotation_is_cut_at_a_clause_or_a_word(
    text: str, limit: int, expected: str
) -> None:
    assert clip(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- **Bold** words**", "Bold** words**"),
        ("**all of it**", "all of it"),
        ("__a__ and __b__", "__a__ and __b__"),
        ("🎉 ## Done 🎉", "Done"),
        ("* + - deep", "deep"),
        ("*italic*", "*italic*"),
        ("🎉", ""),
    ],
)
def test_a_text_loses_the_marks_at_its_ends(text: str, expected: str) -> None:
    assert bare(text) == expected


def test_a_remark_of_a_review_is_read_without_what_its_window_needs() -> None:
    message = r"""Two findings.
::code-comment{title="[P1] Keep the lease" body="It ends in \"idle\" too. Renew it." file="a.py"}
::code-comment{title="Name it" body="`x` says nothing."}
::git-push{cwd="~/shop" branch="lease"}"""
    assert [sentence.text for sentence in sentences(message)] == [
        "Two findings.",
        r"P1 Keep the lease: It ends in \"idle\" too.",
        "Renew it.",
        "Name it: `x` says nothing.",
    ]


def test_question_and_answer_share_the_room_of_a_quotation() -> None:
    assert answer_line("Which  one?", "The\nfirst.") == "Which one? → The first."
    question, answer = "why " * 100, "so " * 100
    line = answer_line(question, answer)
    assert len(line) <= 300
    assert answer_in(line) == ("so " * 50).strip()
    assert line.startswith("why " * 30)
    assert answer_in(answer_line("Why?", answer)) == ("so " * 98).strip()
    assert answer_in("no arrow") == "no arrow"


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("**Options**:", "Options"),
        ("**Options:**", "Options:"),
        ("__Ways__:", "Ways"),
    ],
)
def test_a_short_bold_line_is_the_heading_of_what_follows(
    heading: str, name: str
) -> None:
    read = sentences(f"{heading}\n- floats are easy\n- cents are exact")
    assert [(s.text, s.heading, s.is_heading) for s in read] == [
        (name, "", True),
        ("floats are easy", name, False),
        ("cents are exact", name, False),
    ]


def test_what_stands_behind_60_000_characters_is_nobodys_sentence() -> None:
    line, last = "Nobody reads on.\n\n", "The end."
    before = (line * 3_400)[: 60_000 - len(last) - 2]
    assert sentences(f"{before}\n\n{last}")[-1].text == last
    assert sentences(f"{before}.\n\n{last}")[-1].text == last[:-1]


WAYS = """You have three ways:

1. **Shared package** (the usual one):
Each site imports it.

2. **Icon service**:
Sites load icons over HTTP, which means:
- one copy
- one build

3. **Inline**:
The build copies them.

To set it up:

4. Run the build"""


def test_items_of_a_numbered_list_keep_its_lead_over_what_is_told_of_each() -> None:
    leads = {s.label: s.lead for s in sentences(WAYS) if s.label}
    assert leads == {
        "1": "You have three ways:",
        "2": "You have three ways:",
        "-": "Sites load icons over HTTP, which means:",
        "3": "You have three ways:",
        "4": "To set it up:",
    }


def test_two_points_that_stand_alone_end_a_sentence() -> None:
    said = "we plan it in docs/plan.md .. the rest is for later ... I think docs/ stays"
    assert [one.text for one in sentences(said)] == [
        "we plan it in docs/plan.md",
        "the rest is for later",
        "I think docs/ stays",
    ]


def test_a_list_that_begins_anew_or_below_another_heading_has_its_own_lead() -> None:
    said = sentences("Two ways:\n\n1. A queue\n\nIt is fast.\n\n## Later\n\n2. A job")
    assert [s.lead for s in said if s.label] == ["Two ways:", ""]


def test_an_error_that_a_program_printed_is_a_line_of_its_own() -> None:
    message = "npm install broke for me\nnpm error code 1\nnpm error path x\nwhat now"
    assert [s.text for s in sentences(message)] == message.splitlines()
