"""A conversation's substance as quotations: context, options, decisions, reasons, outcome, open
questions.

Extractive, without a model: a sentence is chosen by its cue phrases, by who said it and where it
stands (H. Edmundson, "New methods in automatic extracting", 1969), and where more qualify than a
part may hold, by how central it is among them (G. Erkan and D. Radev, "LexRank", 2004; over
embeddings when they are given, else over TF-IDF). It leans to precision: an empty part is better
than a wrong line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from keeplore.capture.adjacency import told_answers
from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.discourse import statements
from keeplore.capture.discourse.conversation_model import ERRAND, ConversationModel
from keeplore.capture.discourse.instructions import TYPED_COMMANDS
from keeplore.capture.discourse.statements import Statement
from keeplore.capture.distill import outcomes
from keeplore.capture.distill.antecedents import stands_alone
from keeplore.capture.distill.decision_weights import decision_weight
from keeplore.capture.distill.decisions import MAIN, decisions
from keeplore.capture.distill.extracts import (
    Embed,
    Extract,
    ExtractSource,
    Quotes,
    in_order,
    is_restated_in,
    rank_extracts,
    strongest,
)
from keeplore.capture.distill.left_open import open_questions
from keeplore.capture.distill.standing_decisions import Decision
from keeplore.capture.distill.unanswered import PUT_OFF, asked_before_plan, without_plan
from keeplore.memory import Exchange, Quote
from keeplore.memory.conversation_body import PARTS
from keeplore.text.sentences import Sentence, answer_line, clip
from keeplore.text.terms import is_prose, stems, terms

CAPS = {
    "context": 3,
    "options": 8,
    "decision": 2,
    "reasoning": 5,
    "also_decided": 10,
    "outcome": 5,
    "open_questions": 5,
}
FEWEST_LINES = 4  # of a head; it grows with what was said
STATEMENTS_A_LINE = 7
FEWEST_STATEMENTS = 12  # of a conversation where a choice among them is worth making
MOST_LINES = 30
LEAST_TELLING = -2.2  # log-odds below which a statement is worth no line
MIN_TOLD = 3  # content words of a sentence of context
OPENING = 60  # sentences of a person's in which the situation is told
CONTEXT_EXCHANGES = 3  # likewise exchanges
STATED = 0.8  # weight of a first sentence that is nothing but the request
RULED_OUT = 3.2  # weight of a reason why one of the options was not taken
# what a decision in the person's own words weighs more than a proposal that they agreed to
OWN_WORDS = 0.5
HEADED = 2.0  # weight of a heading
OWN_REASON = 1.0  # what a person's own reason weighs more than the agent's
EXPLAINED = 2.4  # weight from which a reason counts that has no word of a decision


def distill(
    exchanges: Sequence[Exchange], embed: Embed | None = None
) -> dict[str, Quotes]:
    """The parts of ``memory.conversation_body.PARTS``, each a tuple of quotations in the order of
    the conversation, often empty.

    ``embed`` turns n texts into n rows of L2-normalised vectors; it is asked only where a part has
    more candidates than room, for at most ``MAX_RANKED`` texts. Where no model can be had it gives
    None, and words are compared.
    """
    waiting = asked_before_plan(exchanges)
    if waiting:
        exchanges = [*exchanges[:-1], without_plan(exchanges[-1])]
    alone = [d for d in decisions(exchanges) if stands_alone(d.quote.text)]
    decided = [decision for decision in alone if decision.quote != waiting]
    model = ConversationModel.of(exchanges)
    said = [s for s in model.statements if not s.is_answer]
    source = ExtractSource(model, said, decided)
    answers = told_answers(exchanges)
    main, also = _main_and_other_decisions(decided, embed)
    taken = [quote.text for quote in (*main, *also)]
    parts = {"decision": main, "also_decided": also, "options": _options(source, taken)}
    candidates = {
        "open_questions": _open_questions(source, waiting),
        "reasoning": _reasons(source),  # before the outcome, which holds causes too
        "outcome": _outcome_extracts(model),
        "context": _context(source, answers),
    }
    for name, found in candidates.items():
        others = (f for f in found if f.quote not in parts["options"])
        parts[name] = _select_quotes(name, others, embed, taken)
        taken += [quote.text for quote in parts[name]]
    return _completed(model, parts, answers)


def _completed(
    model: ConversationModel, parts: Mapping[str, Quotes], answers: Mapping[str, str]
) -> dict[str, Quotes]:
    """All parts, with what tells most beside them and with what was answered."""
    told = {**parts, **_with_telling_statements(model, parts)}
    told["context"] = _with_answers(told, answers, model.exchanges)
    told["outcome"] = outcomes.with_one_check(told["outcome"])
    return {name: told[name] for name in PARTS}


def _with_telling_statements(
    model: ConversationModel, parts: Mapping[str, Quotes]
) -> Mapping[str, Quotes]:
    """Context and outcome with the statements that tell most, until the head has as many lines as
    the conversation is long.
    """
    if len(model.statements) < FEWEST_STATEMENTS:
        return {}
    taken = [quote.text for found in parts.values() for quote in found]
    room = min(MOST_LINES, FEWEST_LINES + len(model.statements) // STATEMENTS_A_LINE)
    added: list[tuple[int, Statement]] = []
    most_first = sorted(model.salient_statements(), key=lambda s: (-s.odds, s.number))
    for odds, number, statement in most_first:
        if len(taken) >= room or odds < LEAST_TELLING:
            break
        if not is_restated_in(statement.quote.text, taken):
            taken.append(statement.quote.text)
            added.append((number, statement))
    places = {s.quote: n for n, s in reversed([*enumerate(model.statements)])}

    def with_added(part: str, *, of_person: bool) -> Quotes:
        found = {quote: places.get(quote, -1) for quote in parts[part]}
        found |= {s.quote: n for n, s in added if s.is_of_person is of_person}
        return tuple(sorted(found, key=lambda quote: found[quote]))

    return {
        "context": with_added("context", of_person=True),
        "outcome": with_added("outcome", of_person=False),
    }


def _main_and_other_decisions(
    decided: Sequence[Decision], embed: Embed | None
) -> tuple[Quotes, Quotes]:
    """The one or two decisions that the conversation was about, and the rest.

    What a person settles of their own accord is what they came for; an answer to a question is a
    detail beside it.
    """
    found: list[Extract] = []
    answers: list[Extract] = []
    own_accord: list[Extract] = []
    for n, decision in enumerate(decided):
        bonus = OWN_WORDS if decision.quote.speaker == "user" else 0.0
        extract = Extract(decision.quote, decision.weight + bonus, n)
        found.append(extract)
        if decision.weight >= MAIN:
            (answers if decision.is_answer else own_accord).append(extract)
    main = strongest(own_accord or answers, embed, CAPS["decision"])
    main = (
        main or rank_extracts(found, embed, 1)[:1]
    )  # a detail, but all that was decided
    rest = strongest([f for f in found if f not in main], embed, CAPS["also_decided"])
    return in_order(main), in_order(rest)


def _open_questions(source: ExtractSource, waiting: Quote | None) -> Iterator[Extract]:
    """What is open, with what waits for its plan to be approved."""
    if waiting:
        yield Extract(waiting, PUT_OFF, len(source.said))
    yield from (found for found in open_questions(source) if found.quote != waiting)


def _context(source: ExtractSource, answers: Mapping[str, str]) -> Iterator[Extract]:
    """What the person told of the situation, in the first messages that tell anything, but for
    ``answers``, which are told with their questions.
    """
    own = (s for s in source.said if s.is_of_person and not s.is_foreign)
    opening = [s for s in own if not s.sentence.is_heading][:OPENING]
    telling = [(order, s) for order, s in enumerate(opening) if _is_informative(s)]
    for order, s in telling:
        is_first = order == telling[0][0]
        is_early = s.exchange < CONTEXT_EXCHANGES
        tells_situation = is_first or (is_early and not decision_weight(s.sentence))
        if s.is_pasted or not tells_situation or s.turn in answers:
            continue
        if weight := _context_weight(s, is_first=is_first):
            yield Extract(s.quote, weight - 0.6 * s.exchange - 0.05 * s.place, order)


def _with_answers(
    parts: Mapping[str, Quotes],
    answers: Mapping[str, str],
    exchanges: Sequence[Exchange],
) -> Quotes:
    """The context with what the person answered to the agent in messages of which no line tells."""
    quotes = chain.from_iterable(parts.values())
    told = {quote.turn for quote in quotes if quote.speaker == "user"}
    untold = (
        Quote(line, "user", turn) for turn, line in answers.items() if turn not in told
    )
    places = {exchange.id: n for n, exchange in enumerate(exchanges)}
    context = (*parts["context"], *islice(untold, CAPS["context"]))
    return tuple(sorted(context, key=lambda quote: places[quote.turn]))


def _context_weight(s: Statement, *, is_first: bool) -> float:
    weight = 0.0 if s.sentence.is_question else weight_of(s.text, "context")
    if is_first:  # what they came with says what it is all for, if nothing else does
        weight = max(weight, STATED) + 1.0
    is_headed = says(s.sentence.heading, "context_heading")
    return max(weight, HEADED) if is_headed else weight


def _is_informative(s: Statement) -> bool:
    """Is it prose that tells a later reader something, and no order of the moment or set phrase?"""
    text = TYPED_COMMANDS.sub("", s.text)
    if len(s.terms) < ERRAND and opens_with(text.lstrip(), "next_step"):
        return False  # an order of the moment
    if len(stems(text)) < MIN_TOLD or opens_with(text, "boilerplate"):
        return False
    if text.endswith((":", "：")) and not weight_of(text, "context"):
        return False  # it leads into a list, and not into a log
    return is_prose(text) and (" " in text or not text.isascii())


def _outcome_extracts(model: ConversationModel) -> Iterator[Extract]:
    reports = outcomes.outcomes(model.exchanges, model.sent_back)
    for order, (weight, at, _, sentence) in enumerate(reports):
        words = clip(statements.words_with_heading(sentence))
        yield Extract(Quote(words, "assistant", model.exchanges[at].id), weight, order)


def _reasons(source: ExtractSource) -> Iterator[Extract]:
    """Sentences that give a reason and share a word with a decision; without decisions, causes that
    were found.
    """
    for order, s in enumerate(source.said):
        if not _may_reason(s, source):
            continue
        near = max((_decision_closeness(s, d) for d in source.decided), default=0.0)
        weight = _reason_weight(s, source)
        # before that it thinks aloud
        is_report = bool(s.sentence.heading) or s.place >= s.left
        cause = weight_of(s.text, "cause")
        if cause and _is_let_stand(s, source):
            yield Extract(s.quote, cause + near, order)
        elif near and weight:
            yield Extract(s.quote, weight + near + OWN_REASON * s.is_of_person, order)
        elif weight >= EXPLAINED and is_report and _is_let_stand(s, source):
            yield Extract(s.quote, weight - 1.0, order)


def _is_let_stand(s: Statement, source: ExtractSource) -> bool:
    """True for what the agent reports and the person did not send back."""
    return not s.is_of_person and s.exchange not in source.model.sent_back


def _may_reason(s: Statement, source: ExtractSource) -> bool:
    """False for what only asks, leads on or guesses, and for a proposal that was not taken."""
    sentence = s.sentence
    if sentence.is_question or sentence.is_heading or s.text.endswith((":", "...")):
        return False
    least = 2 if _is_why_not(s, source) else 4
    if len(stems(s.text)) < least or not is_prose(s.text):
        return False
    if s.is_of_person:
        is_asking = says(s.text, "asks_for_work") or opens_with(s.text, "asks_opinion")
        return not (s.is_pasted or is_asking)
    if (
        not outcomes.is_claim(sentence)
        or says(s.text, "guessed")
        or says(s.text, "leaning")
    ):
        return False
    return not weight_of(s.text, "proposed") or _is_taken(source, s.exchange)


def _is_why_not(s: Statement, source: ExtractSource) -> bool:
    """Does it tell of an option beside the one that is taken, after the options were put?"""
    return any(
        s.turn == d.quote.turn
        and d.rejects(s.terms)
        and not (s.is_of_person and d.quote.speaker == "assistant")
        for d in source.decided
    )


def _reason_weight(s: Statement, source: ExtractSource) -> float:
    weight = weight_of(s.text, "reason")
    if s.is_of_person and (says(s.text, "ruled_out") or _is_why_not(s, source)):
        weight = RULED_OUT
    is_headed = s.sentence.is_first and says(s.sentence.heading, "reason_heading")
    return max(weight, HEADED) if is_headed else weight


def _is_taken(source: ExtractSource, at: int) -> bool:
    """True where the person agreed to what the agent proposed in this exchange, or where it is
    among the decisions.
    """
    exchanges = source.exchanges
    following = exchanges[at + 1].user if at + 1 < len(exchanges) else ""
    if opens_with(following, "affirmed") or opens_with(following, "picked"):
        return True
    place = ("assistant", exchanges[at].id)
    return any((d.quote.speaker, d.quote.turn) == place for d in source.decided)


def _decision_closeness(s: Statement, decision: Decision) -> float:
    """0 for a sentence that has nothing to do with the decision, up to 2."""
    quote = decision.quote
    shared = len(decision.terms.intersection(terms(s.text)))
    distance = abs(s.exchange - decision.at)
    if s.is_of_person and (quote.speaker, quote.turn) == (s.speaker, s.turn):
        shared += 1  # the person goes on about what was just decided
    if not shared or distance > 3 or quote.text == clip(s.text):
        return 0.0
    return min(shared, 3) * 0.5 + max(0.0, 0.5 - 0.2 * distance)


def _options(source: ExtractSource, settled: Sequence[str]) -> Quotes:
    """Options in the order in which they were put: listed ones, else those of the main question,
    else those in prose.

    The labels of other questions stand in the exchange.
    """
    listed = [_named(s.quote) for s in source.said if _is_listed_option(s.sentence)]
    put = [*_options_put(source, settled)]
    prose = [s.quote for s in source.said if _is_prose_option(s.sentence)]
    # one question can name several
    asked = [
        s.quote
        for s in source.said
        if not s.is_of_person and says(s.text, "options_asked")
    ]
    several = [quotes for quotes in (listed, put, prose) if len(quotes) > 1]
    found: list[Quote] = []
    for quote in (*several, asked)[0]:
        if len(found) < CAPS["options"] and not is_restated_in(
            quote.text, [f.text for f in found]
        ):
            found.append(quote)
    return tuple(found) if len(found) > 1 or asked else ()  # one option is none


def _options_put(source: ExtractSource, settled: Sequence[str]) -> Iterator[Quote]:
    """The options of the questions whose answers are decisions, but for a mere yes or no."""
    for at, asked in source.model.questions():
        if answer_line(asked.question, asked.answer) not in settled:
            continue
        if any(opens_with(option, "yes_or_no") for option in asked.options):
            continue
        for option in asked.options:
            if option.strip() and (len(option.split()) > 1 or not option.isalnum()):
                text = clip(" ".join(option.split()))
                yield Quote(text, "assistant", source.exchanges[at].id)


def _named(option: Quote) -> Quote:
    """An option without the colon behind which a list tells more of it."""
    return replace(option, text=option.text.rstrip(":："))


def _is_listed_option(sentence: Sentence) -> bool:
    count = len(terms(sentence.text))
    if count > 1 and opens_with(sentence.text, "option_labelled"):
        # "option B is the safest": a view of it, not the option
        return not weight_of(sentence.text, "proposed")
    if not sentence.label or not sentence.is_first or not count:
        return False
    if sentence.lead:
        return says(sentence.lead, "options_lead")
    return says(sentence.heading, "options_heading")


def _is_prose_option(sentence: Sentence) -> bool:
    is_told = len(terms(sentence.text)) > 2 and not sentence.is_heading
    return is_told and says(sentence.text, "option_prose")


def _select_quotes(
    part: str, extracts: Iterable[Extract], embed: Embed | None, taken: Sequence[str]
) -> Quotes:
    chosen: list[Extract] = []
    for candidate in rank_extracts(list(extracts), embed, CAPS[part]):
        texts = (*taken, *(f.text for f in chosen))
        if len(chosen) < CAPS[part] and not is_restated_in(candidate.text, texts):
            chosen.append(candidate)
    if part == "reasoning":  # the person's own reasons first
        chosen.sort(key=lambda f: (f.quote.speaker != "user", f.order))
        return tuple(f.quote for f in chosen)
    return in_order(chosen)
