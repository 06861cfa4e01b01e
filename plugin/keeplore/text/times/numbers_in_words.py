"""Small numbers as people write them: "3", "three", "a few"."""

from __future__ import annotations

_OTHER_WORDS = {"an": 1, "couple": 2, "few": 3, "several": 5}
_NUMBER = "a|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
NUMBERS = _NUMBER.split("|")  # in the order of what they say, from 1 on
# patterns of a regular expression
COUNT = rf"\d{{1,3}}|(?:a )?(?:couple of|few|several)|an|{_NUMBER}"
ANY_NUMBER = rf"(?P<number>{COUNT})"


def number_of(word: str) -> int:
    """The number of what COUNT matches."""
    word = word.lower().removeprefix("a ").removesuffix(" of")
    if word.isdigit():
        return int(word)
    return _OTHER_WORDS.get(word) or max(1, NUMBERS.index(word))
