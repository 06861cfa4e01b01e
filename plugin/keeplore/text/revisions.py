"""Sentences by which something is put in the place of something else, and what they replace.

"Use pnpm instead of npm for the shop" rejects npm; "we move the queue to Redis after all" turns
from whatever the queue was on. Only the surest ways of saying so are read: what a sentence revises
is told beside older words, and a wrong one there is worse than none.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from keeplore.text.sentences import ARROW, sentences
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
_TAKE = "use|using|take|took|pick|choose|chose|go with|going with|went with|stay with|settled? on"
_REFUSED = re.compile(r"\bno ([a-z][\w-]+)")
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
    (
        r"\A\W*(?:(?:sorry|no|actually|wait|ok(?:ay)?)[\s,.]+)*(?P<new>[\w./+#-]+)\s+not\s+"
        rf"(?P<old>{_WORDS})\s*[.!]?\s*\Z"
    ),
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
# a question that asks for a change: "can you move the queue to Redis?"
_REQUEST = re.compile(
    r"\W*(?:please\s+)?(?:can|could|would|will)\s+you\b", re.IGNORECASE
)
# what is said against, while something else is taken: "Redis was a mistake, RabbitMQ please"
_NAME = r"[\w./+#-]+(?:\s+[\w./+#-]+)?"
_SUBJECT = (
    r"(?:\A|[,;.]|\bbecause|\bsince|\bok(?:ay)?)\s*(?:the |hm+,? |but )?"
    rf"(?P<old>{_NAME}?)\s+"
)
_AGAINST = (
    (
        rf"{_SUBJECT}(?:is|are|was|were|turned out(?: to be)?|proved(?: to be)?)\s+"
        r"(?:far |way |just |simply |really )*(?:too\s+\w+|a mistake|a bad \w+|the wrong \w+|"
        r"(?:not|n['’]t) \w+ enough|flaky|unreliable)\b"
    ),
    (
        rf"{_SUBJECT}(?:loses?|lost|fails?|crashes|breaks|leaks|keeps?\s+\w+ing|can['’]?t|"
        r"cannot|doesn['’]?t|does not|won['’]?t)\s+\w+"
    ),
)
_BARE = (
    (
        rf"(?:\A|[,;.→]|\bso)\s*(?:then |please )*(?P<new>{_NAME}?)\s+"
        r"(?:please|then|instead|it is)(?: please)?\W*\Z"
    ),
)
# what is taken away, by its name alone; what stands behind it may take its place
_ENDING = (
    (
        rf"{_BEFORE_IT}(?P<old>{_WORDS}?)\s+(?:goes|is out|is gone|has to go|must go|gets? dropped|"
        rf"raus|(?:ist|fliegt|kommt) (?:raus|weg|runter)|fuera|dehors)(?:{_STOP}|(?=\s+and\b))"
    ),
    (
        rf"{_BEFORE_IT}(?:we(?:['’]re| are)?\s+)?(?:drop|ditch|get rid of|no more|"
        r"forget(?: about)?|scrap|mov(?:e|ing|ed) off(?: of)?)\s+(?!(?:it|that|this|what)\b)"
        rf"(?P<old>{_WORDS}){_STOP}"
    ),
    rf"{_BEFORE_IT}i was wrong about\s+(?P<old>{_WORDS}){_STOP}",
    (
        rf"{_BEFORE_IT}(?P<old>{_WORDS}?)(?:\s+for\s+{_WORDS})?\s+(?:is|was|were)\s+"
        rf"(?:a mistake|the wrong (?:call|choice|way|tool)|a bad (?:idea|call|choice)){_STOP}"
    ),
    (
        rf"{_BEFORE_IT}we\s+(?:can['’]?t|cannot|can not|may not|must not)\s+use\s+"
        rf"(?!(?:it|that|this)\b)(?P<old>{_WORDS}){_STOP}"
    ),
    rf"{_BEFORE_IT}(?:remove|delete|undo|revert|replace)\s+(?P<old>{_WORDS}?)(?: again)?{_STOP}",
    (
        rf"{_BEFORE_IT}(?:take|tear|rip|throw|kick|pull|roll)\s+(?P<old>{_WORDS})\s+"
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
    rf"\b(?:{_MOVE}|change)\b[^,.;:]{{1,60}}?\b(?:back |over )?to\s+{_NEW}",
    rf"\b(?:{_TAKE})\s+{_NEW}",
    rf"{_BEFORE_IT}(?P<new>{_WORDS}?)\s+(?:instead|(?:it is )?after all)(?=\s*(?:[,;.!]|\Z))",
    rf"{_BEFORE_IT}back to\s+(?P<new>{_WORDS}?)(?:\s+please)?(?=\s*(?:[,;.!]|\Z))",
    (
        r"\A\W*(?:(?:actually|sorry|wait|no|scrap that|scratch that|forget that)[\s,.]+)+(?P<new>"
        r"[\w./+#-]+)(?:\s+please)?\W*\Z"
    ),
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
# a name of code's, with "_" or a capital within
_CODE_NAME = re.compile(
    r"(?<![\w./-])(?=\w*?(?:[^\W_]_|[a-z][A-Z]))[^\W\d]\w+(?![\w/(.-])"
)
# the figure that it is set to: "`HOLD_TTL = 20 min`", "{'CH': 60}", "max_age is 30 now"
_SET_TO = re.compile(
    r"(?:\[['\"]?(?P<key>\w+)['\"]?\])?(?::|`?\s*(?::?=|\bis(?: now)?\b|\bto\b))\s*"
    r"(?:\{\s*['\"]?(?P<item>\w+)['\"]?:\s*)?`?(?P<value>\d+(?:[.,]\d+)*)"
)
# what a setting is of: "for `stg_returns`", "in `rules.py`"
_SET_FOR = re.compile(r"\b(?:for|of|in|on)\s+(?:the\s+)?`([^`]+)`")
# words of changing, which are no matter
CHANGING = frozenset(
    terms(
        "move migrate convert port switch revert replace swap drop ditch abandon change choose "
        "pick stay longer mind scratch scrap forget thought statt anstatt anstelle vez lugar lieu "
        "plutôt"
    )
)


@dataclass(frozen=True, slots=True)
class Revision:
    """Stems of content words: of what holds no more, of what is put in its place (empty where it is
    not told apart from the matter), and of the matter (empty where only names are told).

    ``permits`` where what was forbidden may be done; the matter is what. ``settings`` are the
    figures that names of code's are set to, ``set_for`` names what for; the matter is the names.
    """

    rejected: frozenset[str]
    chosen: frozenset[str]
    about: frozenset[str]
    permits: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    set_for: frozenset[str] = frozenset()

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
    text = text[:READ_CHARS].rstrip()
    if text.endswith("?") and not _REQUEST.match(text):
        return None
    said = _REASON.sub("", text).rstrip("? ")
    for phrase in _compiled(_REJECTING):
        if found := phrase.search(said):
            old = found["old"]
            new = found.groupdict().get("new") or ""
            return _revision(said, old, new)
    if ending := _outdone(text) or _ending_revision(said) or _permission(said):
        return ending
    if settings := settings_in(said):
        return _setting_revision(said, settings)
    new = _taken_up(said) if corrects or _TURNED.search(said) else ""
    return _revision(said, "", new) if new else None


def settings_in(text: str) -> dict[str, str]:
    """The names of code's that a text sets to a figure, each with that figure."""
    found: dict[str, str] = {}
    for name in _CODE_NAME.finditer(text):
        if value := _SET_TO.match(text, name.end()):
            key = value["key"] or value["item"] or ""
            found[f"{name[0]} {key}".strip().casefold()] = value["value"]
    return found


def _setting_revision(said: str, settings: Mapping[str, str]) -> Revision:
    about = frozenset(stems(" ".join(settings)))
    nothing = frozenset[str]()
    set_for = frozenset(_SET_FOR.findall(said))
    pairs = tuple(settings.items())
    return Revision(nothing, nothing, about, settings=pairs, set_for=set_for)


def _is_reset(revision: Revision, statement: str) -> bool:
    """Did a statement set one of the names to another figure, and for nothing else?"""
    earlier, set_for = settings_in(statement), {*_SET_FOR.findall(statement)}
    if set_for and revision.set_for and set_for.isdisjoint(revision.set_for):
        return False
    return any(earlier.get(name, value) != value for name, value in revision.settings)


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


def _outdone(text: str) -> Revision | None:
    """What a sentence speaks against, where another part of it takes something else."""
    for phrase in _compiled(_AGAINST):
        if found := phrase.search(text):
            rejected = frozenset(stems(found["old"])) - CHANGING
            others = f"{text[: found.start()]} {text[found.end() :]}"
            chosen = (
                frozenset(stems(_taken_up(others) or _named_alone(others))) - CHANGING
            )
            if rejected and chosen - rejected:
                return Revision(rejected, chosen, frozenset())
    return None


def _named_alone(said: str) -> str:
    """What a part of a sentence names and says nothing else of; "" for none."""
    [phrase] = _compiled(_BARE)
    found = phrase.search(said)
    return found["new"] if found else ""


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
    if revision.settings:
        return _is_reset(revision, statement)
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
    """The sentences of a text that replace something, with what they replace; of a line that tells
    what was taken behind what was said against another thing the whole.
    """
    told = [sentence.text for sentence in sentences(text)]
    if ARROW in text and _outdone(text):
        told = [text]
    for words in told:
        if found := revision_of(words, corrects=corrects):
            yield words, found


def refused_in(text: str) -> set[str]:
    """What a text says no to by its name, as in "no zip"."""
    return {*_REFUSED.findall(text.lower())}
