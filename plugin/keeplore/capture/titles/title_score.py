"""How good a title a wording makes: how much it names of what the conversation is about, and how
well it stands alone.
"""

from __future__ import annotations

from keeplore.capture.titles.key_phrases import Profile
from keeplore.capture.titles.title_wording import Wording
from keeplore.capture.titles.title_words import (
    distinctive_stems,
    is_step,
    looseness,
    naming_stems,
)
from keeplore.text.terms import STOP, is_foreign, is_identifier, stems, words

THIN_ORDER = 4  # words up to which an order with one name in it says little
FEW_WORDS = 6  # of another language; pairs of characters in scripts without spaces
# what a form is worth
FORMS = {
    "order": 0.2,
    "choice": 0.2,
    "question": -0.3,
    "thing": -0.2,
    "statement": -0.6,
    "opening": -0.6,
}
NAMELESS = -0.9  # names no thing
UNSAID = -0.6  # names nothing of the conversation
THIN = -0.8  # a short order with one name
LOOSE = -1.0  # each word that leans on what only those know who were there
STEP = -0.7  # an order that only says what to do next
FOREIGN = 2.0  # words of another language, of which none is weighed
LENGTHY, SHORT = 0.02, 55  # what each character beyond a short title takes
# of the heaviest term that a phrase names, the second, …: a list of words is no title
COVERAGE = (1.0, 0.7, 0.5, 0.3)


def title_score(wording: Wording, about: Profile, spread: float) -> float:
    """How much of what the conversation is about a phrase names, times ``spread``, and how well it
    stands alone.
    """
    phrase, form = wording
    if is_foreign(phrase):
        return FOREIGN + FORMS[form] - (len(stems(phrase)) < FEW_WORDS)
    covered = _coverage(phrase, about)
    all_words = words(phrase)
    filler = sum(word.lower() in STOP for word in all_words) / max(len(all_words), 1)
    loose = 0 if form == "opening" else looseness(phrase)
    alone = 0.15 * min(len(stems(phrase)), 6) + LOOSE * loose
    alone += _vagueness(wording, covered)
    alone += STEP if form == "order" and is_step(phrase) else 0.0
    alone -= max(0.0, filler - 0.5) + LENGTHY * max(0, len(phrase) - SHORT)
    return spread * covered + FORMS[form] + alone


def _coverage(phrase: str, about: Profile) -> float:
    """The weight of the terms that a phrase names, the heaviest counting most."""
    named = (about.weights.get(term, 0.0) for term in distinctive_stems(phrase))
    heaviest = zip(COVERAGE, sorted(named, reverse=True), strict=False)
    return sum(share * weight for share, weight in heaviest)


def _vagueness(wording: Wording, covered: float) -> float:
    """What a phrase loses that names nothing, nothing of the conversation, or too little."""
    names = naming_stems(wording.text)
    if not names:
        return NAMELESS
    if not covered and wording.form != "opening":  # a program's error is no sentence
        return UNSAID
    is_short = wording.form == "order" and len(wording.text.split()) <= THIN_ORDER
    return THIN if is_short and len(names) == 1 and not _is_exact(wording.text) else 0.0


def _is_exact(phrase: str) -> bool:
    """True where it has a number or an identifier."""
    return any(map(str.isdigit, phrase)) or any(map(is_identifier, words(phrase)))
