"""Text that was escaped, coloured or broken over lines is read as what it says, and what is found
there is known where it stands.
"""

from __future__ import annotations

import pytest

from keeplore.redact import Redactor
from keeplore.redact.escapes import readable

WORD = b"Qz7rLm2x"


@pytest.mark.parametrize(
    ("text", "said", "standing"),
    [
        (b"is Qz7rLm2x!", b"is Qz7rLm2x!", WORD),
        (rb"\u0051z7rLm2\u0078!", b"Qz7rLm2x!", rb"\u0051z7rLm2\u0078"),
        (rb"\u0416\u0020Qz7rLm2x", "Ж Qz7rLm2x".encode(), WORD),
        # two halves are one character, however deep they are escaped
        (rb"\ud83d\ude00Qz7rLm2x", "😀Qz7rLm2x".encode(), WORD),
        (rb"\\uDBFF\\uDFFFQz7rLm2x", "\U0010ffffQz7rLm2x".encode(), WORD),
        # half a character, two that are none, and what cannot be printed stay
        (rb"\ud83dQz7rLm2x", rb"\ud83dQz7rLm2x", WORD),
        (rb"\u0041\ude00Qz7rLm2x", rb"\u0041\ude00Qz7rLm2x", WORD),
        (rb"\u001fQz7rLm2x", rb"\u001fQz7rLm2x", WORD),
        # a line's end takes as much room as its escape
        (rb"a\nQz7rLm2x", b"a \nQz7rLm2x", WORD),
        (rb"a\\rQz7rLm2x", b"a   Qz7rLm2x", WORD),
        # colours belong to no word, but to one that they divide
        (b"\x1b[36mQz7rLm2x\x1b[0m", b"Qz7rLm2x", WORD),
        (rb"\u001b[1mQz7r\x1b[0mLm2x\033[m", b"Qz7rLm2x", rb"Qz7r\x1b[0mLm2x"),
        # a line that goes on below
        (b"Qz7r\\\nLm2x", b"Qz7rLm2x", b"Qz7r\\\nLm2x"),
        (b"Qz7r\\\r\n| Lm2x", b"Qz7rLm2x", b"Qz7r\\\r\n| Lm2x"),
        (b"-p \\\n  Qz7rLm2x", b"-p  Qz7rLm2x", WORD),
        (b"Qz7rLm2x\\\n", b"Qz7rLm2x ", WORD),
    ],
    ids=ascii,
)
def test_a_text_is_read_as_what_it_says(
    text: bytes, said: bytes, standing: bytes
) -> None:
    read = readable(text)
    start = read.said.index(WORD)
    found = text[read.begin(start) : read.end(start + len(WORD))]
    assert (read.said, found) == (said, standing)


@pytest.mark.parametrize("broken", [b"\xff", b"\xc3", "é".encode()])
def test_bytes_that_are_no_text_are_part_of_the_secret(broken: bytes) -> None:
    secret = b"Qz7r" + broken + b"Lm2xWp9d"
    data = b'password: "' + secret + b'" # for ' + broken
    assert [data[a:b] for a, b, _ in Redactor().spans(data)] == [secret]
