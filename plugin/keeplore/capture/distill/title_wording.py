"""A sentence of talk in the words of a title: an order ("Add …"), a question, or the name of a
thing.

What people ask is led up to ("ok so, could you please …"), what agents did is told ("I've added
…"). The lead is taken off and the verb put as an order; what then does not begin with a verb of the
work, a word that asks or a name makes no title.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keeplore.capture.cues import opens_with, pattern, says, word_list, word_map
from keeplore.capture.discourse.instructions import is_instructions
from keeplore.capture.distill.key_phrases import without_markup
from keeplore.text.sentences import Sentence, sentences
from keeplore.text.terms import STOP, is_foreign, stems, terms

MAX_TITLE = 70  # characters
MAX_CLAUSES = 8  # of a sentence that are looked at
MAX_SENTENCE = 400  # characters
FEWEST_TOLD = 5  # words of a sentence of a head that stands as a title
ENOUGH = 2  # content words that a title may be cut down to
MAX_STATEMENT = 12  # words of one that stands as a title by itself
_EDGES = " .,;:!?-–—…|/`，。；：！、"
_QUOTES = "\"“”'‘’"
_LEADS = 8  # words of address and politeness that stand one before the other
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\A\(?(?:\d{1,2}|[A-E])[.):]\)?\s+")
# arrows and pictographs
_SIGNS = re.compile(
    r"\s*[\u2190-\u21ff\u2600-\u27bf\U0001f300-\U0001faff].*|\s+->.*|\s+<-.*"
)
_AGAIN = re.compile(r"\A(?:re|pre|un|de|auto)-?")
_ARTICLE = re.compile(
    r"\A(?:a (?:lot|bunch|couple) of(?: the)?|an?|(?:all )?(?:the|these|those|our|my)|some|any|"
    r"all)\s+",
    re.IGNORECASE,
)
_WAY = re.compile(r"\Away (?=(?:the|an?|our|each|every) )", re.IGNORECASE)
_DOCUMENT_CHARS = 20_000  # of a document in which its title is looked for
_COMMIT_KIND = re.compile(
    r"\A(?P<kind>[a-z]{2,10})(?:\([^)]{1,40}\))?!?:\s+", re.IGNORECASE
)
_ASKED_OF_US = re.compile(
    r"\A(how|where|when) (?:we|i|you) (?:can |could |should )?", re.IGNORECASE
)
_DASH = re.compile(r"\s+[-–—]\s+")
_FIELD = re.compile(r"(?:^|\s)title:[ \t]*[\"']?(\S.{7,150})$", re.MULTILINE)
_HASH = re.compile(r"\A[0-9a-f]{7,40} ")
_QUOTED_ARGUMENT = r"(?P<quote>[\"'])(?P<text>[^\"'$`]{8,120})(?P=quote)?"
_PULL_REQUEST = re.compile(
    rf"\b(?:gh|glab|hub) (?:pr|mr) create\b.{{0,200}}?(?:--title|-t)[ =]{_QUOTED_ARGUMENT}"
)
_QUOTED = re.compile(r"(?<!\w)(['\"])[^'\"]+\1(?!\w)|[‘“][^’”]+[’”]")
_OPEN_QUOTE = re.compile(r"\s+[‘'“][^’'”]*\Z")  # one that nothing closes
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
        rest = _without_lead(text.lstrip("¿¡"), "title_address")
        return Wording(fit_title(rest), "order" if rest != text else "thing")
    text = _without_phrases(text, "title_heading_label")
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
        bare = _without_lead(clause, "title_noise")
        rest = _without_lead(bare, "title_frame", "title_noise")
        is_led = rest != bare
        follows = n > 0 and clause.lower().startswith("so ")
        before = text.removesuffix(clause).rstrip()
        if _is_purpose(clause, before):
            continue
        is_main = n == 1 and before.endswith(",") and opens_with(text, "title_leaning")
        if n == 0 or is_led or is_main or follows:
            yield Wording(_order(rest, is_led=is_led), "order")
        yield Wording(_question(rest, is_led=is_led), "question")
        if is_led and len(stems(thing := _wanted_thing(rest))) > 1:
            yield Wording(thing, "thing")


def _is_purpose(clause: str, before: str) -> bool:
    """Does a clause only say what something is for, "…, to keep the file small"?"""
    return before.endswith(("-", "–", "—", ",")) and clause.lower().startswith("to ")


def report_as_order(sentence: Sentence) -> str:
    """What an agent's sentence says that it did, as an order; "" for any other sentence."""
    text = _without_lead(
        _NUMBER.sub("", without_markup(sentence.text)[:MAX_SENTENCE]), "title_noise"
    )
    rest = _without_phrases(
        _without_phrases(text, "title_heading_label"), "title_report"
    )
    verb, _, what = rest.partition(" ")
    base = _verbs_by_past_form().get(verb.lower(), "")
    # "set" tells only of somebody, and "shared" or "combined" may say of what kind a thing is
    is_told = opens_with(text, "title_teller") or opens_with(rest, "title_did")
    is_work = bool(base) and is_told and not _is_on_the_way(base)
    if not is_work or opens_with(what, "title_no_object"):
        return ""
    return _order(f"{base} {what}")


def promise_as_order(sentence: Sentence) -> str:
    """What an agent's sentence says that it will do, "" for a step on the way."""
    text = _without_lead(without_markup(sentence.text)[:MAX_SENTENCE], "title_noise")
    rest = _without_phrases(text, "title_promise")
    verb = rest.partition(" ")[0].lower()
    base = _gerunds().get(verb, verb)
    is_promised = rest != text or base != verb
    return _order(rest) if is_promised and not _is_on_the_way(base) else ""


def retold_wish(sentence: Sentence) -> str:
    """What one who tells of a conversation says that the person wanted in it, else ""."""
    text = without_markup(sentence.text)[:MAX_SENTENCE]
    rest = _without_phrases(text, "title_wanted")
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
    text = _without_lead(
        without_markup(message[: 2 * MAX_TITLE]), "title_noise", "title_address"
    )
    question, mark, _ = text.partition("?")
    is_asked = opens_with(text, "title_question") or bool(subject_of(text))
    if mark and is_asked and len(question) < MAX_TITLE:
        return f"{question.strip(_EDGES)}?"
    line = fit_title(text)
    is_whole = f"{line}?" in text and len(line) < MAX_TITLE
    return f"{line}?" if is_whole else line


def opening_wording(message: str) -> Wording | None:
    """What a message begins with, in its own words, where that stands by itself; behind the name of
    its subject ("loans table: soft delete or hard?") whatever is said of that.
    """
    said = sentences(message)
    if not said or is_pasted(message):
        return None
    first, more = said[0].text, [] if subject_of(said[0].text) else _paragraph(said)
    line = without_small_talk(" ".join([first, *more]))
    line = _NUMBER.sub("", _without_phrases(line, "title_heading_label"))
    line = _ARTICLE.sub("", line)
    if subject_of(line):
        return Wording(line, "opening")
    clauses = (line, pattern("title_clause").split(line)[0])
    whole = (
        c
        for c in clauses
        if len(distinctive_stems(c)) > 1 and not _count_loose_words(c)
    )
    return next((Wording(clause, "opening") for clause in whole), None)


def _paragraph(message: Sequence[Sentence]) -> Iterator[str]:
    """What stands behind the first sentence in its paragraph."""
    more = itertools.takewhile(lambda sentence: not sentence.is_first, message[1:])
    return (sentence.text for sentence in more)


def subject_of(line: str) -> str:
    """The name of its subject that a line begins with, "" for none."""
    found = pattern("title_subject").match(line)
    name = found[1] if found else ""
    is_name = not says(name, "title_wanting") and not says(name, "title_leaning")
    return name if is_name and naming_stems(name) else ""


def short_statement(text: str) -> str:
    """What a sentence of a conversation's head tells, in few words that can be understood alone."""
    whole = without_markup(text)
    if len(_WORD.findall(text)) > len(_WORD.findall(whole)):
        return ""  # without an address or a hash the sentence says something else
    rest = _without_lead(_NUMBER.sub("", whole), "title_noise", "title_told_label")
    title = _ARTICLE.sub("", fit_title(rest))
    is_told = len(naming_stems(title)) > 1 and not says(title, "title_leaning")
    is_short = FEWEST_TOLD <= len(title.split()) <= MAX_STATEMENT
    if not is_told or not is_short or looseness(title):
        return ""
    _, kept, after = whole.partition(title)
    return title if kept and opens_with(after, "title_end") else ""


def commit_subject(commit: str) -> str:
    """The subject of a commit ("hash Subject", or that alone) without the kind in front; "" for a
    chore.
    """
    subject = without_markup(_HASH.sub("", commit))
    kind = _COMMIT_KIND.match(subject)
    if kind and kind["kind"].lower() in word_list("chores"):
        return ""
    subject = _without_phrases(_without_commit_kind(subject), "title_heading_label")
    subject = re.sub(r"\s*\(#\d+\)\Z", "", subject).strip(_EDGES)
    return subject if len(subject) <= MAX_TITLE else fit_title(subject)


def _without_commit_kind(subject: str) -> str:
    kind = _COMMIT_KIND.match(subject)
    return subject[kind.end() :] if kind else subject


def pull_request_title(command: str) -> str:
    """The title that a command gives a pull request, "" for any other command."""
    found = _PULL_REQUEST.search(command[:MAX_SENTENCE])
    return commit_subject(found["text"]) if found else ""


def heading_wording(text: str) -> str:
    """A heading without its label ("Plan:"), "" for one that would head any page."""
    text = _DASH.sub(": ", _NUMBER.sub("", without_markup(text)))
    text = _without_lead(text, "title_noise")
    head = _without_phrases(text, "title_heading_label")
    first = head.partition(" ")[0].lower()
    if opens_with(head, "title_generic_heading") or len(terms(head)) < 2:
        return ""
    return fit_title(head) if first not in STOP or _is_verb(first) else ""


def document_title(document: str) -> str:
    """What a document or a command's output says that its title is, "" where it does not."""
    found = _FIELD.search(document[:_DOCUMENT_CHARS])
    return fit_title(_without_commit_kind(without_markup(found[1]))) if found else ""


def is_pasted(message: str) -> bool:
    """True where a message is a document: a plan, a skill, a page."""
    is_page = message.lstrip().startswith("#")
    return is_page or opens_with(message, "title_pasted") or is_instructions(message)


def distinctive_stems(phrase: str) -> set[str]:
    """Stems of the words that tell one conversation from another, and not only that there is a
    change, a file, a test.
    """
    return stems(phrase) - _generic_stems()


def naming_stems(phrase: str) -> set[str]:
    """The words of a phrase that say which thing is meant, so not the verb of an order."""
    verb, _, rest = phrase.partition(" ")
    return distinctive_stems(rest if _is_verb(verb.lower()) else phrase)


@functools.cache
def _generic_stems() -> set[str]:
    return stems(" ".join(word_list("generic")))


def is_step(phrase: str) -> bool:
    """True for an order that only says what to do next."""
    return phrase.partition(" ")[0].lower() in word_list("title_steps")


def looseness(title: str) -> int:
    """How many of its words lean on what only those know who were there, or on who speaks."""
    return _count_loose_words(title) + len(pattern("title_personal").findall(title))


def _count_loose_words(title: str) -> int:
    return len(pattern("title_loose").findall(_QUOTED.sub("", title)))


def fit_title(text: str) -> str:
    """Cut at a clause, then between words, without a dangling small word."""
    head = _SIGNS.sub("", text)
    text = _without_phrases(
        head if len(stems(head)) > 1 else text, "title_asides"
    ).strip(_EDGES)
    text = _cut_between_words(_cut_at_clause(text))
    text = _without_phrases(text, "title_asides")
    for opening, closing in ("()", "[]", "{}"):
        if text.count(opening) > text.count(closing):
            text = text[: text.rfind(opening)]
    if _OPEN_QUOTE.search(text):
        text = _without_torn_end(_OPEN_QUOTE.sub("", text))
    text = text.strip(_EDGES)
    if not says(text, "title_closed"):
        text = _without_phrases(text, "title_dangling").strip(_EDGES)
    inner = text.strip(_QUOTES)
    if text[:1] not in _QUOTES and inner.count(text[-1]) % 2:
        return text
    if not any(quote in inner for quote in _QUOTES[:3]):
        return inner.strip(_EDGES)
    return text.replace('"', "") if text.count('"') % 2 else text


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
    if verb == "do":
        return _wanted_thing(rest) if _ARTICLE.match(rest) else ""
    if is_led and not _is_verb(verb) and _DETERMINED.match(rest):
        verb = _gerunds().get(verb, "")
        text = f"{verb} {rest}"
    if not _is_verb(verb) or opens_with(rest, "title_unnamed"):
        return ""
    if opens_with(text, "title_statement") or opens_with(text, "title_torn"):
        return ""
    text = _LED_VERB.sub(r"\1", pattern("title_for_me").sub(r"\1 ", text))
    title = fit_title(text)
    is_label = title.partition(" ")[0].endswith(":")
    return "" if is_label or opens_with(title, "title_torn") else title


def _is_on_the_way(verb: str) -> bool:
    return verb in word_list("title_steps") or verb in word_list("title_looking")


def _is_verb(word: str) -> bool:
    verbs = word_list("title_verbs")
    return word in verbs or _AGAIN.sub("", word) in verbs


def _wanted_thing(text: str) -> str:
    """A noun phrase after "I want …", without its article."""
    if opens_with(text, "title_torn") or text.startswith("("):
        return ""
    is_noun = _ARTICLE.match(text) or text.partition(" ")[0].lower() not in STOP
    if not is_noun or opens_with(text, "title_statement"):
        return ""
    title = _WAY.sub("How ", _ARTICLE.sub("", fit_title(text)))
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
    return "" if looseness(_cut_at_clause(asked)) else fit_title(asked)


def _whole_question(text: str) -> str:
    """A question that stays one: cut short it would ask something else."""
    whole = text.partition("?")[0].strip(_EDGES)
    is_asked = "?" in text and opens_with(text, "title_question")
    return f"{whole}?" if is_asked and _stands_alone(whole) else ""


def _complaint(text: str) -> str:
    """A short sentence that says what is wrong with what, or how it should be."""
    title = _ARTICLE.sub("", fit_title(_without_lead(text, "title_noise")))
    found = pattern("title_wanting").search(title)
    is_of_something = found is not None and bool(naming_stems(title[: found.start()]))
    return title if is_of_something and _stands_alone(title) else ""


def _stands_alone(title: str) -> bool:
    """True for a short sentence that nothing before it is needed for."""
    is_short = len(title) < MAX_TITLE and len(title.split()) <= MAX_STATEMENT
    return is_short and not looseness(title)


def _without_lead(text: str, *names: str) -> str:
    """The text from its point on: leads stand one before the other ("ok, so could you please")."""
    for _ in range(_LEADS):
        shorter = text
        for name in names:
            shorter = _without_phrases(shorter, name)
        if shorter == text:
            break
        text = shorter
    return text


def _without_phrases(text: str, name: str) -> str:
    """The text without the phrases of this name."""
    return pattern(name).sub("", text)


@functools.cache
def _verbs_by_past_form() -> dict[str, str]:
    """Verbs by their past forms."""
    regular = {form: verb for verb in _verbs() for form in _with_ending(verb, "ed")}
    return regular | {past: str(verb) for past, verb in word_map("title_past").items()}


@functools.cache
def _gerunds() -> dict[str, str]:
    return {form: verb for verb in _verbs() for form in _with_ending(verb, "ing")}


def _verbs() -> list[str]:
    return sorted(word_list("title_verbs"))


def _with_ending(verb: str, ending: str) -> Iterator[str]:
    """How a form may be written: "added", "cached", "copied", "dropped"."""
    yield verb + ending
    yield verb.removesuffix("e") + ending
    yield verb + verb[-1] + ending
    if ending == "ed" and verb.endswith("y"):
        yield verb[:-1] + "ied"


def _cut_at_clause(text: str) -> str:
    """The text before its first clause that need not be in a title, where that says enough."""
    subject = subject_of(text)
    room = MAX_TITLE if subject else MAX_TITLE // 3
    for clause in pattern("title_cut").finditer(text, len(subject) + 1):
        if len(stems(text[: clause.start()])) > 1:
            is_far = len(text) > MAX_TITLE or clause.start() > room
            return text[: clause.start()] if is_far else text
    return text


def _cut_between_words(text: str) -> str:
    """At most ``MAX_TITLE`` characters, cut before a late "and" or else at a space."""
    if len(text) <= MAX_TITLE:
        return text
    head = text[: MAX_TITLE + 1]
    softer = [found.start() for found in pattern("title_and").finditer(head)]
    is_soft = softer and softer[-1] > MAX_TITLE // 2
    end = softer[-1] if is_soft else max(head.rfind(" "), 0) or MAX_TITLE
    return _without_torn_end(text[:end])


def _without_torn_end(text: str) -> str:
    """The text without a clause that a cut has left incomplete, where enough is said before it."""
    whole = _without_phrases(text, "title_torn_end")
    return whole if len(stems(whole)) > ENOUGH else text
