"""Records as their types say: one that is made with nothing where its type names something fails
at once.

Where a test sees only a part of what a record holds, the rest is looked at all the same.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

OWN = ("keeplore", "keeplore_hooks")
MAY_BE_NOTHING = re.compile(r"\b(?:None|Any|object|Optional)\b")


_decorate = dataclasses.dataclass


@functools.wraps(_decorate)
def _watched(cls: Any = None, /, **options: Any) -> Any:
    if cls is None:
        return functools.partial(_watched, **options)
    made = _decorate(cls, **options)
    return _checked(made) if made.__module__.split(".")[0] in OWN else made


def _checked(made: Any) -> Any:
    named = [
        field.name
        for field in dataclasses.fields(made)
        if field.init and not MAY_BE_NOTHING.search(str(field.type))
    ]
    unsound = [f.name for f in dataclasses.fields(made) if f.default is None]
    assert not {*unsound}.intersection(named), (
        f"{made.__name__}: {unsound} may be nothing"
    )
    build = made.__init__

    @functools.wraps(build)
    def init(record: Any, *values: Any, **more: Any) -> None:
        build(record, *values, **more)
        for name in named:
            assert getattr(record, name) is not None, f"{made.__name__}: no {name}"

    made.__init__ = init
    return made


# each one of ours that is made from now on is looked after
dataclasses.dataclass = _watched  # type: ignore[assignment]
