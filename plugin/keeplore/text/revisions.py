"""Sentences by which something is put in the place of something else, and what they replace.

"Use pnpm instead of npm for the shop" rejects npm; "we move the queue to Redis after all" turns
from whatever the queue was on. Only the surest ways of saying so are read: what a sentence revises
is told beside older words, and a wrong one there is worse than none.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from keeplore.text.sentences import sentences
from keeplore.text.terms import stems, terms

READ_CHARS = 500
ENOUGH = 2  # content words that both sentences have, from which they are of one matter
MOST_ABOUT = 8  # content words of the matter; a sentence with more speaks of several
_END = r"(?=\s*(?:[,.;:()!?]|\bafter all\b|\b(?:for|in|on) the\b|$))"
_OLD, _NEW = (
    rf"(?P<old>[^,.;:()!?]{{2,60}}?){_END}",
    rf"(?P<new>[^,.;:()!?]{{2,60}}?){_END}",
)
_INSTEAD = (
    "instead of|rather than|in place of|anstatt|anstelle von|statt|en vez de|en lugar de|"
    "au lieu de|plutôt que"
)
_NO_LONGER = "no longer|not any ?more|nicht mehr|ya no|ne plus"
_REPLACE = "replac(?:e|ed|ing)|swap(?:ped)?|drop(?:ped)?|ditch(?:ed)?|abandon"
_MOVE = "move[ds]?|moving|migrat(?:e|ed|ing)|convert|port|go"
_TURN = "switch(?:ed|ing)?|revert(?:ed)?|go(?:ing)? back"
_TAKE = "use|using|take|pick|choose|go with|stay with"
# why it is so says nothing of what is replaced
_REASON = re.compile(
    r"\s*(?:[,;—–-]\s*)?\b(?:because|since|as (?:it|we|they|the)|so that|weil|denn|porque)\b.*"
    r"|\s+[—–]\s.*",
    re.IGNORECASE | re.DOTALL,
)
_WORDS = r"[\w./+#-]+(?:\s+[\w./+#-]+){0,2}"


# what is rejected; ``new`` is put in its place, else it is among the other words
_REJECTING = (
    (
        rf"\b(?:{_MOVE}|{_TURN}|chang\w+|renam\w+)\b[^,.;:]{{0,60}}?\bfrom\s+"
        rf"(?P<old>[^,.;:()!?]{{2,60}}?)\s+(?:back |over )?to\s+{_NEW}"
    ),
    rf"\b(?:{_REPLACE})\s+(?P<old>[^,.;:()!?]{{2,60}}?)\s+(?:with|by|for|in favou?r of)\s+{_NEW}",
    rf"\b(?:{_INSTEAD})\s+{_OLD}",
    rf"\b(?:{_NO_LONGER})\s+(?:in |on |with |use |using )?{_OLD}",
    rf",\s+(?:and )?not\s+(?:on |in |with |at )?(?P<old>{_WORDS})\s*[.!]?\s*\Z",
)
_BEFORE_IT = (
    r"\A\W*(?:(?:ok(?:ay)?|so|then|and|no|yes|alright|right|please|let['’]?s|ja|nein|gut|dann|also|"
    r"und|bitte|vale|bon)[\s,.]+)*(?:the |die |der |das |el |la |le )?"
)
_STOP = r"(?=\s*(?:[,;.!]|\Z))"
_RULE = r"(?:rule|ban|freeze|restriction|requirement|convention|policy)\b"
_LIFT = (
    r"\b(?:forget|scrap|drop|ditch|lift|ignore)\s+(?:about\s+)?(?:the|that|our|my)\s+"
    r"(?:(?:old|earlier)\s+)?+"
)
# a rule that holds no more, by what it is about
_LIFTING = (
    rf"{_LIFT}(?P<old>{_WORDS}?)\s+{_RULE}",
    rf"{_LIFT}{_RULE}\s+(?:about|on|against|for)\s+{_OLD}",
    (
        rf"\b{_RULE}\s+(?:on|against)\s+(?P<old>{_WORDS})\s+"
        r"(?:is|has been)\s+(?:lifted|off|over|gone)\b"
    ),
)
# what is taken away, by its name alone; what stands behind it may take its place
_ENDING = (
    (
        rf"{_BEFORE_IT}(?P<old>{_WORDS}?)\s+(?:goes|is out|is gone|has to go|must go|gets? dropped|"
        rf"raus|(?:ist|fliegt|kommt) (?:raus|weg|runter)|fuera|dehors)(?:{_STOP}|(?=\s+and\b))"
    ),
    rf"{_BEFORE_IT}(?:drop|ditch|get rid of|no more)\s+(?P<old>{_WORDS}){_STOP}",
    rf"{_BEFORE_IT}(?:remove|delete|undo|revert)\s+(?P<old>{_WORDS}?)(?: again)?{_STOP}",
    (
        rf"{_BEFORE_IT}(?:take|tear|rip|throw|pull|roll)\s+(?P<old>{_WORDS})\s+"
        rf"(?:down|out|off|back)(?: again)?{_STOP}"
    ),
)
_ALLOWED = r"(?:fine|ok(?:ay)?|allowed|permitted|erlaubt|in ordnung)"
_AGAIN = r"(?:again|now|jetzt|nun|wieder)"
# what may be done though it was forbidden; "the tests are fine now" says how they are
_PERMITTING = (
    (
        r"(?:\A|[,;]|\b(?:so|and)\b)\s*(?!(?:the|my|your|our|its?|this|that|these|those|they|all|"
        r"everything|things|die|der|das)\b)(?P<old>[^,.;:()!?]{2,60}?)\s+(?:is|are|ist|sind)\s+"
        rf"(?:{_AGAIN}\s+{_ALLOWED}|{_ALLOWED}\s+{_AGAIN})\b"
    ),
    rf"\b(?:you|we|everyone)\s+may\s+(?P<old>[^,.;:()!?]{{2,60}}?)\s+{_AGAIN}\b",
    rf"\b(?:you|we|everyone)\s+may\s+now\s+{_OLD}",
)
_FORBIDS = re.compile(
    r"\b(?:no|not|never|nothing|cannot|without|avoid|stop|forbid\w*|ban(?:ned)?|nicht|nie|"
    r"niemals|keine?n?)\b|n['’]t\b",
    re.IGNORECASE,
)
PERMITTED = 2 / 3  # share of the words of what is allowed that what forbade it has
# what is taken instead of what is not named
_TURNING = (
    rf"\b(?:{_TURN})\b[^,.;:]{{0,60}}?\bto\s+{_NEW}",
    rf"\b(?:{_MOVE})\b[^,.;:]{{1,60}}?\b(?:back |over )?to\s+{_NEW}",
    rf"\b(?:{_TAKE})\s+{_NEW}",
)
# before what is not taken: "let's not use Postgres after all"
_NOT_TO = re.compile(
    r"(?:\b(?:not|never|cannot|avoid|stop|without|nicht|nie)|n['’]t)\s+(?:\w+\s+)?\Z",
    re.IGNORECASE,
)
_TURNED = re.compile(
    r"\b(?:after all|chang\w+ (?:my|our|their) minds?|on second thought|scratch that|"
    rf"take that back|(?:{_TURN}) (?:\S+ ){{0,6}}?to)\b",
    re.IGNORECASE,
)
# how a message begins that puts something else in the place of what was said just before it
_CORRECTING = re.compile(
    r"\W*(?:(?:ok(?:ay)?|hm+|oh|sorry)[\s,.]+)*(?:no|nope|nah|actually|wait|hold on|scratch that|"
    r"on second thought|i(?:['’]ve| have)? changed my mind)\b"
    r"(?!,? (?:problem|worries|rush|also|and|one more|can|could|let['’]?s also)\b)",
    re.IGNORECASE,
)
# words of changing, which are no matter
CHANGING = frozenset(
    terms(
        "move migrate convert port switch revert replace swap drop ditch abandon change choose "
        "pick stay longer mind scratch thought statt anstatt anstelle vez lugar lieu "
        "plutôt"
    )
)


@dataclass(frozen=True, slots=True)
class Revision:
    """Stems of content words: of what holds no more, of what is put in its place (empty where it is
    not told apart from the matter), and of the matter (empty where only names are told).

    ``permits`` where what was forbidden may be done; the matter is what.
    """

    rejected: frozenset[str]
    chosen: frozenset[str]
    about: frozenset[str]
    permits: bool = False

    @property
    def key(self) -> frozenset[str]:
        """The words under which the revision is found: a sentence that it replaces has one of
        them.
        """
        return self.rejected | self.about


def is_correction(message: str) -> bool:
    """Does a message begin by taking back what was said just before it?"""
    return _CORRECTING.match(message) is not None


def revision_of(text: str, *, corrects: bool = False) -> Revision | None:
    """What a sentence replaces, None where it does not surely replace anything; ``corrects`` says
    that its message takes something back.
    """
    said = _REASON.sub("", text[:READ_CHARS])
    if said.rstrip().endswith("?"):
        return None
    for phrase in _compiled(_REJECTING):
        if found := phrase.search(said):
            old = found["old"]
            new = found.groupdict().get("new") or ""
            return _revision(said, old, new)
    if ending := _ending_revision(said) or _permission(said):
        return ending
    new = _taken_up(said) if corrects or _TURNED.search(said) else ""
    return _revision(said, "", new) if new else None


def lifts_rule(text: str) -> bool:
    """Does a sentence allow again what was forbidden?"""
    said = _REASON.sub("", text[:READ_CHARS])
    is_lifted = any(phrase.search(said) for phrase in _compiled(_LIFTING))
    return is_lifted or _permission(said) is not None


def is_choice(text: str) -> bool:
    """Does a sentence take one thing for a matter, so that taking another replaces it?"""
    return not text.rstrip().endswith("?") and bool(_taken_up(text[:READ_CHARS]))


def _taken_up(said: str) -> str:
    """The new choice that a sentence states; "" for none."""
    for phrase in _compiled(_TURNING):
        if found := phrase.search(said):
            is_taken = terms(found["new"]) and not _NOT_TO.search(said[: found.start()])
            return found["new"] if is_taken else ""
    return ""


@functools.cache
def _compiled(phrases: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Made when they are first needed: most commands read no sentence."""
    return tuple(re.compile(phrase, re.IGNORECASE) for phrase in phrases)


def _revision(said: str, old: str, new: str) -> Revision | None:
    rejected, chosen = frozenset(stems(old)), frozenset(stems(new)) - CHANGING
    about = frozenset(stems(said)) - rejected - chosen - CHANGING
    if (old and not rejected) or len(about) > MOST_ABOUT:
        return None
    return Revision(rejected, chosen, about)


def _ending_revision(said: str) -> Revision | None:
    for phrase in _compiled(_LIFTING + _ENDING):
        if found := phrase.search(said):
            rejected = frozenset(stems(found["old"])) - CHANGING
            chosen = frozenset(stems(said[found.end() :])) - CHANGING
            is_short = rejected and len(chosen) <= MOST_ABOUT
            return Revision(rejected, chosen, frozenset()) if is_short else None
    return None


def _permission(said: str) -> Revision | None:
    for phrase in _compiled(_PERMITTING):
        if found := phrase.search(said):
            about = frozenset(stems(found["old"]))
            revision = Revision(frozenset(), frozenset(), about, permits=True)
            return revision if about else None
    return None


def replaces(
    revision: Revision,
    statement: str,
    around: Set[str],
    *,
    decides: bool,
    talk: Set[str] | None = None,
) -> bool:
    """Does a revision replace what an earlier sentence said? ``around`` are stems of what was
    spoken of, ``decides`` says that the sentence is known to settle its matter; ``talk`` are the
    stems of what the revision is said in, None where that is the sentence's own talk.
    """
    earlier = revision_of(statement)
    statement_words = frozenset(stems(statement)) - (
        earlier.rejected if earlier else frozenset()
    )
    if not statement_words or revision.chosen & statement_words:
        return False
    if revision.permits:
        shared = len(revision.about & statement_words)
        is_of_it = shared >= PERMITTED * len(revision.about)
        return is_of_it and _FORBIDS.search(statement) is not None
    if revision.rejected and not revision.about:
        is_near = (
            talk is None
            or len(talk & (statement_words | around) - revision.rejected) >= ENOUGH
        )
        return revision.rejected <= statement_words and is_near
    if not revision.rejected:
        return (
            decides
            and bool(revision.about)
            and revision.about <= (statement_words | around)
        )
    shared = len(revision.about & (statement_words | around))
    # of what is named one word may be what is new
    enough = min(ENOUGH, len(revision.about) - (not revision.chosen))
    says_new = bool(revision.chosen or revision.about - statement_words)
    return (
        revision.rejected <= statement_words and says_new and shared >= max(1, enough)
    )


def revisions_in(
    text: str, *, corrects: bool = False
) -> Iterator[tuple[str, Revision]]:
    """The sentences of a text that replace something, with what they replace."""
    for sentence in sentences(text):
        if found := revision_of(sentence.text, corrects=corrects):
            yield sentence.text, found
