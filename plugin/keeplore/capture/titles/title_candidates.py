"""What could be the title of a conversation, each with what its source is worth: the subjects of
commits, what the person asked for, what was decided, what the agent said that it would do or did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from keeplore.capture.cues import opens_with, says, word_list
from keeplore.capture.discourse.instructions import (
    TYPED_COMMANDS,
    is_document,
    is_instructions,
)
from keeplore.capture.follow_ups import amends_proposal
from keeplore.capture.titles.document_titles import (
    commit_subject,
    document_title,
    heading_wording,
    pull_request_title,
)
from keeplore.capture.titles.key_phrases import Profile
from keeplore.capture.titles.markup_removal import without_markup
from keeplore.capture.titles.title_cutting import MAX_TITLE, fit_title
from keeplore.capture.titles.title_wording import (
    Wording,
    decision_wording,
    opening_wording,
    promise_as_order,
    report_as_order,
    request_wording,
    retold_wish,
    without_small_talk,
)
from keeplore.capture.titles.title_words import (
    distinctive_stems,
    naming_stems,
    subject_of,
)
from keeplore.memory import Exchange, Quote
from keeplore.text.sentences import Sentence, question_and_answer, sentences
from keeplore.text.terms import terms
from keeplore_hooks.events import Work

LONG_MESSAGE = 30  # sentences from which a first message counts as a document
OPENING = 2  # exchanges, and sentences of the agent's, that say what a talk is about
LAST_WORDS = 4  # sentences at the end of an answer in which an offer stands
MAX_ASKED, MAX_TOLD = 12, 200  # sentences of a message that are looked at
# what a source is worth, in units of the weight of the heaviest term
PLAN = 1.8  # the heading of a plan that was pasted
PULL_REQUEST = 1.6
COMMITTED = 1.4  # the subject of one of FEW_COMMITS
COMMITTED_AMONG_MANY = 0.4
REQUESTED = 0.9  # what the person asks for
DECIDED = 0.9
PROMISED = 0.2  # what the agent says that it will do
REPORTED = -0.3  # and what it did
HEADED = -0.4  # a heading of its answer
FEW_COMMITS = 2
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
LATER_SENTENCE = 0.3  # what each sentence of a message before it takes
MATERIAL = -0.9  # of what the person has at hand, before what they want of it
# what each exchange beyond the first takes from the claim of one decision or report to name all
DETAIL, MOST_DETAIL = 0.1, 8
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


def title_candidates(
    exchanges: Sequence[Exchange], parts: Parts, work: Work, about: Profile
) -> Iterator[Candidate]:
    """Every wording that may be the title, each with its worth: of work, decisions and messages."""
    yield from _work_titles(work)
    detail = DETAIL * min(len(exchanges) - 1, MOST_DETAIL)
    for quote in parts.get("decision", ()):
        if found := _decision_title(quote, exchanges, about):
            yield found, DECIDED - detail
    late, opening = 0.0, _opening_exchange(exchanges)
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
            yield (
                found,
                worth - detail + TAKEN_UP * _takes_up_verb(found, exchange.user),
            )
        if n >= opening and len(terms(exchange.user)) > 2:
            late = min(late + LATER, MOST_LATER)


def _opening_titles(message: str, *, is_first: bool) -> Iterator[Candidate]:
    """Titles of the message that opens a conversation: its requests, else a name or an error."""
    for found, worth in _person_titles(message, REQUESTED + OPENED):
        yield found, worth if is_first else worth + _loss_of_doubt(found, message)
    opening = opening_wording(message) if is_first else None
    if opening and subject_of(opening.text):
        yield opening, LABELLED
    elif error := error_wording(message):
        yield error, PRINTED
    elif opening and not _is_informative(request_wording(sentences(message)[0])):
        yield opening, OPENING_WORDS


def error_wording(message: str) -> Wording | None:
    """The first error in what a program printed, as a message hands it over."""
    found = None if is_document(message) else _ERROR.search(message[:ERROR_CHARS])
    line = fit_title(without_markup(found["told"] or found["denied"])) if found else ""
    return Wording(line, "opening") if len(naming_stems(line)) > 1 else None


def _is_informative(asked: Wording | None) -> bool:
    return asked is not None and bool(naming_stems(asked.text))


def _opening_exchange(exchanges: Sequence[Exchange]) -> int:
    """The exchange whose message is the first that says what the conversation is about."""
    return next(
        (n for n, exchange in enumerate(exchanges) if _names_a_subject(exchange.user)),
        0,
    )


def _names_a_subject(message: str) -> bool:
    """True where a message names something by itself."""
    return (
        is_document(message) or len(distinctive_stems(without_small_talk(message))) > 1
    )


def _later_message_titles(
    message: str, before: str, late: float
) -> Iterator[Candidate]:
    """Titles out of a message that is not the first, and out of what the agent offered
    before it; none where it only changes a part of that.
    """
    if amends_proposal(message):
        return
    for found, worth in _person_titles(message, REQUESTED - late):
        yield found, worth + _loss_of_doubt(found, message)
    if opens_with(message, "affirmed"):
        yield from _offer_titles(before, REQUESTED - late)
    yield Wording(pasted_heading(message), "order"), PLAN - late


def _loss_of_doubt(title: Wording, message: str) -> float:
    """What a title loses that a message only asks about as one way, "maybe we can just …?"."""
    asked = (s.text for s in sentences(message)[:MAX_ASKED] if s.is_question)
    is_tentative = any(title.text in s and says(s, "tentative") for s in asked)
    return TENTATIVE if is_tentative else 0.0


def _takes_up_verb(report: Wording, message: str) -> bool:
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
    """The person's requests, earlier ones worth more; of a document what it wishes for."""
    if is_document(message):
        for sentence in sentences(message)[:MAX_TOLD]:
            yield Wording(retold_wish(sentence), "order"), worth + RETOLD - REQUESTED
        return
    for n, sentence in enumerate(sentences(typed_verb(message))[:MAX_ASKED]):
        found = request_wording(sentence)
        if found and not opens_with(sentence.text, "asks_means"):
            is_material = opens_with(sentence.text, "has_at_hand")
            yield found, worth - LATER_SENTENCE * n + MATERIAL * is_material


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
    named = (s.text for s in said if s.is_heading and not says(s.text, "states_status"))
    heads = [*map(heading_wording, named)]
    for n, head in enumerate(heads):
        is_title = is_first and n == 0 and (is_bare or len(heads) > 1)
        yield Wording(head, "thing"), HEADED + REPORT_HEAD * is_title
    for n, sentence in enumerate(said):
        yield Wording(report_as_order(sentence), "order"), REPORTED
        worth = PROMISED if is_first and n < OPENING else PROMISED + REPORTED
        yield Wording(promise_as_order(sentence), "order"), worth


def pasted_heading(message: str) -> str:
    """The heading of a plan or document that a message is made of."""
    said = sentences(message)
    is_long = len(said) > LONG_MESSAGE and not request_wording(said[0])
    if not is_long and not is_document(message):
        return ""
    if (title := document_title(message)) or is_instructions(message):
        return title
    heads = (heading_wording(s.text) for s in said[:LONG_MESSAGE] if s.is_heading)
    return next(filter(None, heads), "")


def typed_verb(message: str) -> str:
    """The message without slash commands before it; the name of one that is a verb stays."""
    found = TYPED_COMMANDS.match(message)
    if not found:
        return message
    verbs = word_list("title_verbs")
    names = [name.strip("/") for name in found[0].split()]
    is_led = "\n" not in found[0]  # a verb and its object stand on one line
    kept = [name for name in names if is_led and name in verbs][:1]
    return " ".join((*kept, message[found.end() :]))
