"""Patterns that are compiled when they are first used: most commands read no talk, and some hundred
cues take 0.1 s.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Pattern:
    """Stands for the compiled pattern, and takes its place at the first use of any attribute."""

    def __init__(self, text: str, flags: re.RegexFlag) -> None:
        self._made = (text, flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._made), name)
        setattr(self, name, value)  # the next use does not come here
        return value


def pattern(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """As ``re.compile``, later: its methods and attributes are all there; a faulty text raises at
    the first use.
    """
    return cast("re.Pattern[str]", _Pattern(text, flags))
