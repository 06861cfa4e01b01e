"""A conversation's title: the task and its object, in the words that were used.

Candidates are the headings of pasted plans, the subjects of commits and pull requests, what the
person asked for, what was decided, and what the agent says it will do or did. Each is an order, a
question or the name of a thing (``title_wording``); the one that names most of what the
conversation is about (``key_phrases.profile``) is taken, and where none names enough, what the head
tells or the first words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain

from keeplore.capture.cues import opens_with, says
from keeplore.capture.discourse.instructions import is_instructions
from keeplore.capture.distill.choices import Choice, named_choice
from keeplore.capture.distill.decision_weights import decision_weight
from keeplore.capture.distill.key_phrases import (
    SECRET,
    Profile,
    capitalised,
    profile,
    typed_verb,
    without_markup,
)
from keeplore.capture.distill.title_wording import (
    MAX_TITLE,
    Wording,
    commit_subject,
    decision_wording,
    distinctive_stems,
    document_title,
    fit_title,
    heading_wording,
    is_pasted,
    is_step,
    looseness,
    naming_stems,
    opening_wording,
    promise_as_order,
    pull_request_title,
    report_as_order,
    request_wording,
    retold_wish,
    short_statement,
    subject_of,
    without_small_talk,
)
from keeplore.capture.follow_ups import amends_proposal
from keeplore.memory import Exchange, Quote
from keeplore.text.folding import LEFT_OUT
from keeplore.text.sentences import (
    Sentence,
    answer_in,
    clip,
    question_and_answer,
    sentences,
)
from keeplore.text.terms import STOP, is_foreign, is_identifier, stems, terms, words
from keeplore_hooks.events import Work

FALLBACK = "Conversation without words"
REDACTED = "[REDACTED"  # what a marker of a secret begins with
DECIDED_PARTS = ("decision", "also_decided")
# weight of a sentence that makes a decision by its words alone
SURELY_DECIDED = 2.6
HEAD = ("decision", "outcome", "reasoning")  # parts that tell what came of a talk
LEAST_TOLD = 0.3  # score of a line of them that can name it
MIN_SCORE = 0.6  # below it a candidate says too little, and the key phrases speak
LONG_MESSAGE = 30  # sentences from which a first message counts as a document
OPENING = 2  # exchanges, and sentences of the agent's, that say what a talk is about
THIN_ORDER = 4  # words up to which an order with one name in it says little
LAST_WORDS = 4  # sentences at the end of an answer in which an offer stands
MAX_ASKED, MAX_TOLD = 12, 200  # sentences of a message that are looked at
# what a source is worth, in units of the weight of the heaviest term
PLAN, PULL_REQUEST, COMMITTED, COMMITTED_AMONG_MANY = 1.8, 1.6, 1.4, 0.4
REQUESTED, DECIDED, REPORTED, HEADED, PROMISED = 0.9, 0.9, -0.3, -0.4, 0.2
OPENED = 0.3  # what a request is worth more that the talk begins with
OPENING_WORDS = 0.9  # what the talk begins with, whatever it is
LABELLED = 1.8  # likewise, with the name of its subject
PRINTED = 2.7  # likewise, with an error that a program printed
TAKEN_UP = 0.3  # an order of the agent's with the verb that the person used
RETOLD = 0.3  # of what somebody else says that the person wanted
REPORT_HEAD = 1.5  # what the first heading of the first answer is worth more
DETACHED = -0.8  # of a later request that names nothing of what the talk begins with
TENTATIVE = -1.5  # of a way that a later message asks about with a "maybe"
LATER, MOST_LATER = 0.3, 0.9  # what each message before a request takes from it
LATER_SENTENCE = 0.3
FEW_COMMITS = 2
FEW_WORDS = 6  # of another language; pairs of characters in scripts without spaces
# what each exchange beyond the first takes from the claim of one decision or report to name all
DETAIL, MOST_DETAIL = 0.1, 8
# what a form is worth
FORMS = {
    "order": 0.2,
    "choice": 0.2,
    "question": -0.3,
    "thing": -0.2,
    "statement": -0.6,
    "opening": -0.6,
}
NAMELESS, UNSAID, THIN, LOOSE, STEP, FOREIGN = -0.9, -0.6, -0.8, -1.0, -0.7, 2.0
LENGTHY, SHORT = 0.02, 55  # what each character beyond a short title takes
# of the heaviest term that a phrase names, the second, …: a list of words is no title
COVERAGE = (1.0, 0.7, 0.5, 0.3)

ERROR_CHARS = 20_000  # of a message in which an error is looked for
# what a program says went wrong
_ERROR = re.compile(
    r"^[^\w\n]*(?:[\w./:,@()\[\]-]+ ){0,4}?(?:\w*(?:Error|Exception)|fatal|panic|ERR|conflict)"
    r"(?: ?\([^)\n]*\)| \w+)?[:!]\s+(?!(?:code|assert|process|command)\b)(?P<told>\w.{10,200})$|"
    r"^(?P<denied>(?:permission denied|cannot|could not|unable to|failed to)\b.{10,200})$",
    re.IGNORECASE | re.MULTILINE,
)

Parts = Mapping[str, tuple[Quote, ...]]
Candidate = tuple[Wording, float]  # with what its source is worth


def title_of(
    exchanges: Sequence[Exchange], parts: Parts, work: Work | None = None
) -> str:
    """At most ``MAX_TITLE`` characters on one line, never empty; the same conversation and work
    always give the same title.
    """
    if exchanges and (found := _pasted_heading(exchanges[0].user)):
        return capitalised(found)
    about = profile(exchanges)
    spread = 1.0 + min(len(exchanges) - 1, MOST_DETAIL) / MOST_DETAIL
    chosen = [named_choice(quote.text) for quote in parts.get("decision", ())]
    replaced = {*_replaced_titles(exchanges, parts)}
    scored = [
        (_score(wording, about, spread) + worth, wording.text)
        for wording, worth in _candidates(exchanges, parts, work or Work(), about)
        if wording.text not in replaced and _may_be_title(wording.text, chosen)
    ]
    # the shorter of equals, and then the alphabet, so that no order of dictionaries shows
    best = min(scored, key=lambda c: (-c[0], len(c[1]), c[1]), default=(0.0, ""))
    if best[0] >= MIN_SCORE:
        return capitalised(best[1])
    found = _told_in_head(parts, about, replaced) or _first_words(exchanges, replaced)
    found = found or best[1]
    return capitalised(found) or FALLBACK


def _replaced_titles(exchanges: Sequence[Exchange], parts: Parts) -> Iterator[str]:
    """The titles that decisions would make which the head does not tell: they hold no more. One
    that was given another value is still of the same matter.
    """
    told = [quote.text for part in DECIDED_PARTS for quote in parts.get(part, ())]
    answers = [answer_in(text) for text in told]
    for exchange in exchanges:
        for sentence in sentences(exchange.user)[:MAX_ASKED]:
            text = sentence.text
            is_told = any(clip(text) in answer for answer in answers)
            if not is_told and _decides_surely(sentence):
                yield without_small_talk(text)
                if wording := request_wording(sentence):
                    yield wording.text


def _decides_surely(sentence: Sentence) -> bool:
    is_sure = decision_weight(sentence) >= SURELY_DECIDED
    return is_sure and not says(sentence.text, "value")


def _may_be_title(text: str, chosen: Sequence[tuple[Choice, str]]) -> bool:
    if not 0 < len(text) <= MAX_TITLE or _has_mark(text):
        return False
    return not any(choice.names_another(text, taken) for choice, taken in chosen)


def _has_mark(text: str) -> bool:
    """Whether something stands in it for a secret, or for what was left out."""
    return REDACTED in text or LEFT_OUT.search(text) is not None


def _candidates(
    exchanges: Sequence[Exchange], parts: Parts, work: Work, about: Profile
) -> Iterator[Candidate]:
    """Every wording that may be the title, each with its worth: of work, decisions and messages."""
    yield from _work_titles(work)
    detail = DETAIL * min(len(exchanges) - 1, MOST_DETAIL)
    for quote in parts.get("decision", ()):
        if found := _decision_title(quote, exchanges, about):
            yield found, DECIDED - detail
    late, opening = 0.0, _opening(exchanges)
    subject = set(terms(exchanges[opening].user)) if exchanges else set[str]()
    for n, exchange in enumerate(exchanges):
        if n == opening:
            yield from _opening_titles(exchange.user, is_first=not n)
        elif n:
            for found, worth in _later_message_titles(
                exchange.user, exchanges[n - 1].assistant, late
            ):
                is_about = not subject.isdisjoint(terms(found.text))
                yield found, worth + DETACHED * (not is_about)
        is_bare = not terms(typed_verb(exchange.user))
        for found, worth in _agent_titles(
            exchange.assistant, is_first=not n, is_bare=is_bare
        ):
            yield found, worth - detail + TAKEN_UP * _takes_up(found, exchange.user)
        if n >= opening and len(terms(exchange.user)) > 2:
            late = min(late + LATER, MOST_LATER)


def _opening_titles(message: str, *, is_first: bool) -> Iterator[Candidate]:
    """Titles of the message that opens a conversation: its requests, else a name or an error."""
    for found, worth in _person_titles(message, REQUESTED + OPENED):
        yield found, worth if is_first else worth + _doubt(found, message)
    opening = opening_wording(message) if is_first else None
    if opening and subject_of(opening.text):
        yield opening, LABELLED
    elif error := error_wording(message):
        yield error, PRINTED
    elif opening and not _is_informative(request_wording(sentences(message)[0])):
        yield opening, OPENING_WORDS


def error_wording(message: str) -> Wording | None:
    """The first error in what a program printed, as a message hands it over."""
    found = None if is_pasted(message) else _ERROR.search(message[:ERROR_CHARS])
    line = fit_title(without_markup(found["told"] or found["denied"])) if found else ""
    return Wording(line, "opening") if len(naming_stems(line)) > 1 else None


def _is_informative(asked: Wording | None) -> bool:
    return asked is not None and bool(naming_stems(asked.text))


def _opening(exchanges: Sequence[Exchange]) -> int:
    """The exchange whose message is the first that says what the conversation is about."""
    return next((n for n, exchange in enumerate(exchanges) if _names(exchange.user)), 0)


def _names(message: str) -> bool:
    """True where a message names something by itself."""
    return is_pasted(message) or len(distinctive_stems(without_small_talk(message))) > 1


def _later_message_titles(
    message: str, before: str, late: float
) -> Iterator[Candidate]:
    """Titles out of a message that is not the first, and out of what the agent offered
    before it; none where it only changes a part of that.
    """
    if amends_proposal(message):
        return
    for found, worth in _person_titles(message, REQUESTED - late):
        yield found, worth + _doubt(found, message)
    if opens_with(message, "affirmed"):
        yield from _offer_titles(before, REQUESTED - late)
    yield Wording(_pasted_heading(message), "order"), PLAN - late


def _doubt(title: Wording, message: str) -> float:
    """What a title loses that a message only asks about as one way, "maybe we can just …?"."""
    asked = (s.text for s in sentences(message)[:MAX_ASKED] if s.is_question)
    is_tentative = any(title.text in s and says(s, "tentative") for s in asked)
    return TENTATIVE if is_tentative else 0.0


def _takes_up(report: Wording, message: str) -> bool:
    """True for an order with a verb that the message has."""
    verb = report.text.partition(" ")[0]
    return report.form == "order" and not set(terms(message)).isdisjoint(terms(verb))


def _decision_title(
    decision: Quote, exchanges: Sequence[Exchange], about: Profile
) -> Wording | None:
    """A decision; a choice with what it was made for, as its question or the conversation's opening
    names it.
    """
    question, answer = question_and_answer(decision.text)
    if decision.speaker != "user" and not question.endswith("?"):
        question, answer = "", decision.text  # an arrow of the agent's is no answer
    if question and amends_proposal(answer):
        return None
    found = decision_wording(answer, is_answer=bool(question))
    if found and found.form == "statement":
        is_about = not set(terms(found.text)).isdisjoint(terms(exchanges[0].user))
        return found if is_about else None
    if found is None or found.form != "choice":
        return found
    if question and any(question in exchange.user for exchange in exchanges):
        return request_wording(Sentence(question))
    rest = set(terms(question or exchanges[0].user)).difference(terms(found.text))
    for subject in about.phrases:
        if " " in subject and rest.issuperset(terms(subject)):
            return _choice_title(found.text, subject, is_answer=bool(question))
    return None if question else found


def _choice_title(choice: str, subject: str, *, is_answer: bool) -> Wording:
    if is_answer:
        return Wording(f"{subject}: {choice}", "choice")
    whole = f"{choice} for the {subject}"
    is_whole = " for " in choice or not subject.islower() or len(whole) > MAX_TITLE
    return Wording(choice if is_whole else whole, "choice")


def _work_titles(work: Work) -> Iterator[Candidate]:
    """The subjects of commits and pull requests; each of many sums up its own part alone."""
    for command in work.commands:
        if title := pull_request_title(command):
            yield Wording(title, "order"), PULL_REQUEST
    subjects = {commit_subject(commit) for commit in work.commits}
    subjects = {subject for subject in subjects if len(naming_stems(subject)) > 1}
    worth = COMMITTED if len(subjects) <= FEW_COMMITS else COMMITTED_AMONG_MANY
    for subject in subjects:
        yield Wording(subject, "order"), worth


def _person_titles(message: str, worth: float) -> Iterator[Candidate]:
    """The person's requests, earlier ones worth more; of a pasted message what it wishes for."""
    if is_pasted(message):
        for sentence in sentences(message)[:MAX_TOLD]:
            yield Wording(retold_wish(sentence), "order"), worth + RETOLD - REQUESTED
        return
    for n, sentence in enumerate(sentences(typed_verb(message))[:MAX_ASKED]):
        if found := request_wording(sentence):
            yield found, worth - LATER_SENTENCE * n


def _offer_titles(message: str, worth: float) -> Iterator[Candidate]:
    """What the agent offered to do, and the person then agreed to."""
    for sentence in sentences(message)[-LAST_WORDS:]:
        if sentence.is_question and (found := request_wording(sentence)):
            yield found, worth


def _agent_titles(
    message: str, *, is_first: bool, is_bare: bool
) -> Iterator[Candidate]:
    """Titles out of the agent's reply; ``is_first`` for the first one, ``is_bare`` where it answers
    a command without words.
    """
    said = sentences(message)[:MAX_TOLD]
    heads = [heading_wording(sentence.text) for sentence in said if sentence.is_heading]
    for n, head in enumerate(heads):
        is_title = is_first and n == 0 and (is_bare or len(heads) > 1)
        yield Wording(head, "thing"), HEADED + REPORT_HEAD * is_title
    for n, sentence in enumerate(said):
        yield Wording(report_as_order(sentence), "order"), REPORTED
        worth = PROMISED if is_first and n < OPENING else PROMISED + REPORTED
        yield Wording(promise_as_order(sentence), "order"), worth


def _pasted_heading(message: str) -> str:
    """The heading of a plan or document that a message is made of."""
    said = sentences(message)
    is_document = len(said) > LONG_MESSAGE and not request_wording(said[0])
    if not is_document and not is_pasted(message):
        return ""
    if (title := document_title(message)) or is_instructions(message):
        return title
    heads = (heading_wording(s.text) for s in said[:LONG_MESSAGE] if s.is_heading)
    return next(filter(None, heads), "")


def _score(wording: Wording, about: Profile, spread: float) -> float:
    """How much of what the conversation is about a phrase names, and how well it stands alone."""
    phrase, form = wording
    if is_foreign(phrase):
        return FOREIGN + FORMS[form] - (len(stems(phrase)) < FEW_WORDS)
    heavy = sorted(
        (about.weights.get(term, 0.0) for term in distinctive_stems(phrase)),
        reverse=True,
    )
    covered = sum(
        share * weight for share, weight in zip(COVERAGE, heavy, strict=False)
    )
    all_words = words(phrase)
    filler = sum(word.lower() in STOP for word in all_words) / max(len(all_words), 1)
    loose = 0 if form == "opening" else looseness(phrase)
    alone = 0.15 * min(len(stems(phrase)), 6) + LOOSE * loose
    alone += _vagueness(wording, covered)
    alone += STEP if form == "order" and is_step(phrase) else 0.0
    alone -= max(0.0, filler - 0.5) + LENGTHY * max(0, len(phrase) - SHORT)
    return spread * covered + FORMS[form] + alone


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


def _told_in_head(parts: Parts, about: Profile, replaced: Set[str]) -> str:
    """The sentence of the head that tells most of what the conversation is about, "" where none
    tells enough.
    """
    lines = chain.from_iterable(parts.get(part, ()) for part in HEAD)
    statements = {short_statement(quote.text) for quote in lines}
    lines_told = sorted(
        line for line in statements - replaced if line and not _has_mark(line)
    )
    scores = {
        line: _score(Wording(line, "statement"), about, 1.0) for line in lines_told
    }
    best = max(lines_told, key=scores.__getitem__, default="")
    return best if scores.get(best, 0.0) >= LEAST_TOLD else ""


def _without_marks(text: str) -> str:
    return SECRET.sub(" ", LEFT_OUT.sub(" ", text))


def _first_words(exchanges: Sequence[Exchange], replaced: Set[str]) -> str:
    """The beginning of the first message that says something, the person's before the agent's."""
    said = (*(e.user for e in exchanges), *(e.assistant for e in exchanges))
    texts = chain.from_iterable(
        (*(sentence.text for sentence in sentences(message)[:OPENING]), message)
        for message in said
    )
    lines = [
        line
        for line in map(without_small_talk, map(_without_marks, texts))
        if line not in replaced and any(map(str.isalnum, line))
    ]
    return next((line for line in lines if len(stems(line)) > 1), "".join(lines[:1]))
