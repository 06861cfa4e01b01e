"""A sentence of talk in the words of a title: an order ("Add …"), a question, or the name of a
thing.

What people ask is led up to ("ok so, could you please …"), what agents did is told ("I've added
…"). The lead is taken off and the verb put as an order; what then does not begin with a verb of the
work, a word that asks or a name makes no title.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keeplore.capture.cues import opens_with, pattern, says
from keeplore.capture.discourse.instructions import is_document
from keeplore.capture.titles.markup_removal import without_markup
from keeplore.capture.titles.title_cutting import (
    EDGES,
    MAX_TITLE,
    cut_at_clause,
    fit_title,
)
from keeplore.capture.titles.title_words import (
    ARTICLE,
    MAX_SENTENCE,
    NUMBER,
    count_loose_words,
    distinctive_stems,
    is_on_the_way,
    is_verb,
    looseness,
    naming_stems,
    subject_of,
    verbs_by_gerund,
    verbs_by_past_form,
    without_lead,
    without_phrases,
)
from keeplore.text.sentences import Sentence, sentences
from keeplore.text.terms import STOP, is_foreign, stems

MAX_CLAUSES = 8  # of a sentence that are looked at
FEWEST_TOLD = 5  # words of a sentence of a head that stands as a title
MAX_STATEMENT = 12  # words of one that stands as a title by itself
_WORD = re.compile(r"\w+")
_WAY = re.compile(r"\Away (?=(?:the|an?|our|each|every) )", re.IGNORECASE)
_ASKED_OF_US = re.compile(
    r"\A(how|where|when) (?:we|i|you) (?:can |could |should )?", re.IGNORECASE
)
_LED_VERB = re.compile(
    r"\A(\w+)(?: (?:also|now|just|maybe|first|simply|properly))*"
    r"(?: that(?= [\w-]+ [\w-]+))?(?=\s)",
    re.IGNORECASE,
)
_DETERMINED = re.compile(
    r"(?:the|an?|our|my|your|all|each|every|this|these|those|some|any|its|\S*[_./()`]\S*)\s",
    re.IGNORECASE,
)


class Wording(NamedTuple):
    """A phrase that could be a title, and what it is: "order", "question", "thing", "statement",
    "opening" (first words that stand alone) or "choice" (which may leave out what it is for).
    """

    text: str
    form: str


def request_wording(sentence: Sentence) -> Wording | None:
    """What a person's sentence asks for; None where it asks for nothing that can be named."""
    text = without_markup(sentence.text)[:MAX_SENTENCE]
    if is_foreign(text):
        rest = without_lead(text.lstrip("¿¡"), "title_address")
        return Wording(fit_title(rest), "order" if rest != text else "thing")
    text = without_phrases(text, "title_heading_label")
    found = [wording for wording in _clause_requests(text) if wording.text]
    wanting = (_complaint(clause) for clause in _clauses(text))
    found += [Wording(title, "statement") for title in wanting if title][:1]
    return min(
        found,
        key=lambda w: looseness(w.text) + (not naming_stems(w.text)),
        default=None,
    )


def _clause_requests(text: str) -> Iterator[Wording]:
    """What each clause of a sentence asks for."""
    for n, clause in enumerate(_clauses(text)):
        bare = without_lead(clause, "title_noise")
        rest = without_lead(bare, "title_frame", "title_noise")
        is_led = rest != bare
        follows = n > 0 and clause.lower().startswith("so ")
        before = text.removesuffix(clause).rstrip()
        if _is_purpose(clause, before):
            continue
        is_main = n == 1 and before.endswith(",") and _tells_situation(before)
        if n == 0 or is_led or is_main or follows:
            yield Wording(_order(rest, is_led=is_led), "order")
        yield Wording(_question(rest, is_led=is_led), "question")
        if is_led and len(stems(thing := _wanted_thing(rest))) > 1:
            yield Wording(thing, "thing")


def _tells_situation(text: str) -> bool:
    """Does a text only lead up to a request, as in "that helps, now …" or "it is red, fix …"?"""
    return opens_with(text, "title_leaning") or says(text, "states_fact")


def _is_purpose(clause: str, before: str) -> bool:
    """Does a clause only say what something is for, "…, to keep the file small"?"""
    return before.endswith(("-", "–", "—", ",")) and clause.lower().startswith("to ")


def report_as_order(sentence: Sentence) -> str:
    """What an agent's sentence says that it did, as an order; "" for any other sentence."""
    text = without_lead(
        NUMBER.sub("", without_markup(sentence.text)[:MAX_SENTENCE]), "title_noise"
    )
    rest = without_phrases(without_phrases(text, "title_heading_label"), "title_report")
    verb, _, what = rest.partition(" ")
    base = verbs_by_past_form().get(verb.lower(), "")
    # "set" tells only of somebody, and "shared" or "combined" may say of what kind a thing is
    is_told = opens_with(text, "title_teller") or opens_with(rest, "title_did")
    is_work = bool(base) and is_told and not is_on_the_way(base)
    if not is_work or opens_with(what, "title_no_object"):
        return ""
    return _order(f"{base} {what}")


def promise_as_order(sentence: Sentence) -> str:
    """What an agent's sentence says that it will do, "" for a step on the way."""
    text = without_lead(without_markup(sentence.text)[:MAX_SENTENCE], "title_noise")
    rest = without_phrases(text, "title_promise")
    verb = rest.partition(" ")[0].lower()
    base = verbs_by_gerund().get(verb, verb)
    is_promised = rest != text or base != verb
    return _order(rest) if is_promised and not is_on_the_way(base) else ""


def retold_wish(sentence: Sentence) -> str:
    """What one who tells of a conversation says that the person wanted in it, else ""."""
    text = without_markup(sentence.text)[:MAX_SENTENCE]
    rest = without_phrases(text, "title_wanted")
    return _order(rest) if rest != text else ""


def decision_wording(text: str, *, is_answer: bool) -> Wording | None:
    """What a decision says: the order in it, else its statement where that is short; of the answer
    to a question its choice.
    """
    if is_answer:
        choice = _wanted_thing(without_markup(text))
        return Wording(choice, "choice") if choice else None
    if found := request_wording(Sentence(text)):
        is_choice = opens_with(found.text, "title_choice")
        return Wording(found.text, "choice") if is_choice else found
    whole = without_markup(text)
    title = fit_title(whole)
    is_short = len(whole.split()) <= MAX_STATEMENT and len(title) + 2 > len(whole)
    return Wording(title, "statement") if is_short else None


def without_small_talk(message: str) -> str:
    """The beginning of a message, without small talk before it; a short question whole."""
    text = without_lead(
        without_markup(message[: 2 * MAX_TITLE]), "title_noise", "title_address"
    )
    question, mark, _ = text.partition("?")
    is_asked = opens_with(text, "title_question") or bool(subject_of(text))
    if mark and is_asked and len(question) < MAX_TITLE:
        return f"{question.strip(EDGES)}?"
    line = fit_title(text)
    is_whole = f"{line}?" in text and len(line) < MAX_TITLE
    return f"{line}?" if is_whole else line


def opening_wording(message: str) -> Wording | None:
    """What a message begins with, in its own words, where that stands by itself; behind the name of
    its subject ("loans table: soft delete or hard?") whatever is said of that.
    """
    said = sentences(message)
    if not said or is_document(message):
        return None
    first, more = said[0].text, [] if subject_of(said[0].text) else _paragraph(said)
    line = without_small_talk(" ".join([first, *more]))
    line = NUMBER.sub("", without_phrases(line, "title_heading_label"))
    line = ARTICLE.sub("", line)
    if subject_of(line):
        return Wording(line, "opening")
    clauses = (line, pattern("title_clause").split(line)[0])
    whole = (
        c for c in clauses if len(distinctive_stems(c)) > 1 and not count_loose_words(c)
    )
    return next((Wording(clause, "opening") for clause in whole), None)


def _paragraph(message: Sequence[Sentence]) -> Iterator[str]:
    """What stands behind the first sentence in its paragraph."""
    more = itertools.takewhile(lambda sentence: not sentence.is_first, message[1:])
    return (sentence.text for sentence in more)


def short_statement(text: str) -> str:
    """What a sentence of a conversation's head tells, in few words that can be understood alone."""
    whole = without_markup(text)
    if len(_WORD.findall(text)) > len(_WORD.findall(whole)):
        return ""  # without an address or a hash the sentence says something else
    rest = without_lead(NUMBER.sub("", whole), "title_noise", "title_told_label")
    title = ARTICLE.sub("", fit_title(rest))
    is_told = len(naming_stems(title)) > 1 and not says(title, "title_leaning")
    is_short = FEWEST_TOLD <= len(title.split()) <= MAX_STATEMENT
    if not is_told or not is_short or looseness(title):
        return ""
    _, kept, after = whole.partition(title)
    return title if kept and opens_with(after, "title_end") else ""


def _clauses(text: str) -> Iterator[str]:
    """The text from its beginning, and from each further clause on."""
    yield text
    for n, clause in enumerate(pattern("title_clause").finditer(text)):
        if n == MAX_CLAUSES:
            return
        yield text[clause.end() :]


def _order(text: str, *, is_led: bool = True) -> str:
    """The text as an order, "" where it is none: its first word is no verb, or it tells
    something. "Adding a test" is one only after words that lead up to it.
    """
    verb, _, rest = text.partition(" ")
    verb = verb.lower().rstrip(",:")
    if rest.lower().startswith(f"{verb} "):  # typed twice
        return _order(rest, is_led=is_led)
    if verb == "do":
        return _wanted_thing(rest) if ARTICLE.match(rest) else ""
    if is_led and not is_verb(verb) and _DETERMINED.match(rest):
        verb = verbs_by_gerund().get(verb, "")
        text = f"{verb} {rest}"
    if not is_verb(verb) or opens_with(rest, "title_unnamed"):
        return ""
    if opens_with(text, "title_statement") or opens_with(text, "title_torn"):
        return ""
    text = _LED_VERB.sub(r"\1", pattern("title_for_me").sub(r"\1 ", text))
    title = fit_title(text)
    is_label = title.partition(" ")[0].endswith(":")
    return "" if is_label or opens_with(title, "title_torn") else title


def _wanted_thing(text: str) -> str:
    """A noun phrase after "I want …", without its article."""
    if opens_with(text, "title_torn") or text.startswith("("):
        return ""
    is_noun = ARTICLE.match(text) or text.partition(" ")[0].lower() not in STOP
    if not is_noun or opens_with(text, "title_statement"):
        return ""
    title = _WAY.sub("How ", ARTICLE.sub("", fit_title(text)))
    return "" if looseness(title) else title


def _question(text: str, *, is_led: bool) -> str:
    """A question as a title asks it, "" for one that only those understand who were there."""
    whether = pattern("title_whether").match(text)
    if whether and (whether["to"] or whether["word"].lower() == "how"):
        text = f"{whether['word']} to {text[whether.end() :]}"
    elif is_led and opens_with(text, "title_indirect"):
        text = _ASKED_OF_US.sub(r"\1 to ", text).replace(" we ", " ", 1)
    else:
        return _whole_question(text)
    asked = text.partition("?")[0]
    return "" if looseness(cut_at_clause(asked)) else fit_title(asked)


def _whole_question(text: str) -> str:
    """A question that stays one: cut short it would ask something else."""
    whole = text.partition("?")[0].strip(EDGES)
    is_asked = "?" in text and opens_with(text, "title_question")
    return f"{whole}?" if is_asked and _stands_alone(whole) else ""


def _complaint(text: str) -> str:
    """A short sentence that says what is wrong with what, or how it should be."""
    title = ARTICLE.sub("", fit_title(without_lead(text, "title_noise")))
    found = pattern("title_wanting").search(title)
    is_of_something = found is not None and bool(naming_stems(title[: found.start()]))
    if opens_with(title, "title_subordinate"):
        return ""
    return title if is_of_something and _stands_alone(title) else ""


def _stands_alone(title: str) -> bool:
    """True for a short sentence that nothing before it is needed for."""
    is_short = len(title) < MAX_TITLE and len(title.split()) <= MAX_STATEMENT
    return is_short and not looseness(title)
