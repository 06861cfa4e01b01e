"""What is said to a person holds nothing where something should stand, whatever a test looks at."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import click
from sound_errors import in_words

# a word of its own, and neither quoted nor code
NOTHING = re.compile(r"(?<![\w`'\"“.=-])None(?![\w`'\"”.=(-])")


def look_after(put: Callable[..., None] = setattr) -> None:
    """Look at errors and at lines of commands from now on; ``put(owner, name, value)`` may take it
    back.
    """
    from keeplore import errors
    from keeplore.cli import output

    put(errors.KeeploreError, "__init__", in_words(errors.KeeploreError.__init__))
    told = _told(click.ClickException.__init__)
    put(click.ClickException, "__init__", told)
    for name in ("sanitise", "one_plain_line"):
        put(output, name, _saying_something(getattr(output, name)))


def _told(build: Callable[..., None]) -> Callable[..., None]:
    """The ``__init__`` of an error of use, which fails where it is given anything but words."""

    @functools.wraps(build)
    def checked(error: Any, message: Any) -> None:
        assert isinstance(message, str), f"{message!r} are no words"
        build(error, message)

    return checked


def _saying_something(clean: Callable[[Any], str]) -> Callable[[Any], str]:
    """What makes a text safe to print, which fails where the text says that there is nothing."""

    @functools.wraps(clean)
    def checked(text: Any) -> str:
        said = clean(text)
        assert not NOTHING.search(said), f"{said!r} says that something is nothing"
        return said

    return checked
