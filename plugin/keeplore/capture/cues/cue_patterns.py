"""How cue phrases are written down: a weight and patterns, in which CHOOSE and OPENER stand for
lists of words.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from keeplore.text.lazy_regex import pattern


class Cue(NamedTuple):
    weight: float
    pattern: re.Pattern[str]


def cue(weight: float, *patterns: str) -> Cue:
    return Cue(weight, any_of(*patterns))


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern of all, the case ignored; CHOOSE and OPENER stand for the lists below."""
    return pattern(
        "|".join(patterns).replace("CHOOSE", CHOOSE).replace("OPENER", OPENER), re.IGNORECASE
    )


# verbs that settle how a thing shall be; verbs that only say what to do next ("run", "commit",
# "check") are left out
CHOOSE = (
    r"(?:(?:just|also|only|then|simply|now|always|never|not|instead|definitely|probably|please|"
    r"still) "
    r")*(?:use|using|go(?: back)? (?:with|for|to)|"
    r"keep|drop|switch|stick(?: with| to)|stay (?:with|on|at)|move (?:\S+ ){1,3}(?:to|into|out)|"
    r"store|"
    r"adopt|avoid|skip|ditch|"
    r"get rid of|replace|default to|pin|settle (?:on|for)|pick|choose|"
    r"support|target|standardi[sz]e on|"
    r"treat|reuse|rely on|"
    r"call (?:it|them|this|that)|name (?:it|them|this|that)|rename|put|leave|limit|"
    r"cap|require|forbid|ban|"
    r"disable|enable|"
    r"split|merge|separate|return|base (?:it|this|that) on|start with|do (?:it|this|that) "
    r"(?:with|in|by|as)|"
    r"make (?:it|them|this|that|the \w+) \w+|allow|drop|defer|postpone|write (?:it|them|this) "
    r"in|build "
    r"(?:it|this|that) (?:on|with|in|as)|"
    r"have (?:it|them|one|a single|the))"
)
# small words before the point of a sentence
OPENER = (
    r"(?:(?:ok(?:ay|y)?|yes|yeah|yep|yup|right|alright|great|fine|cool|good|sure|hm+|so|then|"
    r"and|but|"
    r"actually|no|nah|nope|well|wait|"
    r"please|also|oh|ah|agreed|perfect|exactly|nice|in that case|for now|of course|on second "
    r"thought|"
    r"(?:i(?:'ve| have)? )?changed my mind|scratch that|sorry|hey|"
    r"you'?re right|fair enough|good (?:point|call|idea|catch)|sounds good|makes sense|let me "
    r"think|i "
    r"think|i guess|that works)"
    r"[,.;:!—–-]*\s+)*"
)
