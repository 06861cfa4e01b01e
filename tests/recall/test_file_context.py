"""Which texts name a file that is about to be edited."""

from __future__ import annotations

import pytest

from keeplore.recall.file_context import names_file

HERE = "/home/ann/shop"


@pytest.mark.parametrize(
    ("text", "path", "is_named"),
    [
        ("See queue.py there.", "src/queue.py", True),
        ("See `src/queue.py`.", "src/queue.py", True),
        ("See shop/src/queue.py", "src/queue.py", True),
        ("See /home/ann/shop/src/queue.py", "src/queue.py", True),
        ("See /home/ann/shop/src/queue.py", f"{HERE}/src/queue.py", True),
        ("See api/queue.py", "src/queue.py", False),
        ("See api/queue.py and src/queue.py", "src/queue.py", True),
        ("See my_queue.py", "src/queue.py", False),
        ("See queue.pyc", "src/queue.py", False),
        ("See queue", "src/queue.py", False),
        # another machine has the project elsewhere
        ("See /Users/ben/code/shop/src/queue.py", "src/queue.py", True),
        ("See /Users/ben/code/shop/src/queue.py", f"{HERE}/src/queue.py", True),
        ("See /Users/ben/code/shop/lib/queue.py", "src/queue.py", False),
        ("See /Users/ben/code/queue.py", "queue.py", False),
        ("See code/shop/src/queue.py", "src/queue.py", False),
        ("", "src/queue.py", False),
        ("See queue.py", "", False),
    ],
)
def test_a_file_is_named_by_its_name_or_the_end_of_its_path(
    text: str, path: str, is_named: bool
) -> None:
    assert names_file(text, path, HERE) == is_named
