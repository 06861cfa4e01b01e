"""Small numbers as people write them: "3", "three", "a few"."""

from __future__ import annotations

_FEW = {"couple": 2, "few": 3, "several": 5}
_NUMBER = "an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
NUMBERS = _NUMBER.replace("an?", "a").split(
    "|"
)  # in the order of what they say, from 1 on
# patterns of a regular expression
COUNT = rf"\d{{1,3}}|(?:a )?(?:couple of|few|several)|{_NUMBER}"
ANY_NUMBER = rf"(?P<number>{COUNT})"


def number_of(word: str) -> int:
    """The number of what COUNT matches."""
    word = word.lower().removeprefix("a ").removesuffix(" of")
    if word.isdigit():
        return int(word)
    return 1 if word == "an" else _FEW.get(word) or max(1, NUMBERS.index(word))
