"""A conversation's substance as quotations: context, options, decisions, reasons, outcome, open
questions.

Extractive, without a model: a sentence is chosen by its cue phrases, by who said it and where it
stands (H. Edmundson, "New methods in automatic extracting", 1969), and where more qualify than a
part may hold, by how central it is among them (G. Erkan and D. Radev, "LexRank", 2004; over
embeddings when they are given, else over TF-IDF). It leans to precision: an empty part is better
than a wrong line. What may stand in a part is told by its module (``decisions``, ``options``,
``reasons``, ``outcomes``, ``left_open``, ``situation``); here is chosen among it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from keeplore.capture.adjacency import told_answers
from keeplore.capture.discourse import statements
from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.statements import Statement
from keeplore.capture.distill import outcomes
from keeplore.capture.distill.antecedents import stands_alone
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
from keeplore.capture.distill.options import MOST_OPTIONS, options
from keeplore.capture.distill.reasons import reasons
from keeplore.capture.distill.situation import situation
from keeplore.capture.distill.standing_decisions import Decision
from keeplore.capture.distill.unanswered import PUT_OFF, asked_before_plan, without_plan
from keeplore.memory import Exchange, Quote
from keeplore.memory.conversation_body import PARTS
from keeplore.text.sentences import clip

# lines of each part
CAPS = {
    "context": 3,
    "options": MOST_OPTIONS,
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
# what a decision in the person's own words weighs more than a proposal that they agreed to
OWN_WORDS = 0.5


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
    parts = {"decision": main, "also_decided": also, "options": options(source, taken)}
    candidates = {
        "open_questions": _open_questions(source, waiting),
        "reasoning": reasons(source),  # before the outcome, which holds causes too
        "outcome": _outcome_extracts(model),
        "context": situation(source, answers),
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
    told["context"] = _context_with_answers(told, answers, model.exchanges)
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
    # else a detail, but all that was decided
    main = main or rank_extracts(found, embed, 1)[:1]
    rest = strongest([f for f in found if f not in main], embed, CAPS["also_decided"])
    return in_order(main), in_order(rest)


def _open_questions(source: ExtractSource, waiting: Quote | None) -> Iterator[Extract]:
    """What is open, with what waits for its plan to be approved."""
    if waiting:
        yield Extract(waiting, PUT_OFF, len(source.said))
    yield from (found for found in open_questions(source) if found.quote != waiting)


def _context_with_answers(
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


def _outcome_extracts(model: ConversationModel) -> Iterator[Extract]:
    reports = outcomes.outcomes(model.exchanges, model.sent_back)
    ended = {
        (model.statements[n].exchange, model.statements[n].text) for n in model.ended
    }
    for order, (weight, at, _, sentence) in enumerate(reports):
        if (at, sentence.text) in ended:
            continue
        words = clip(statements.words_with_heading(sentence))
        yield Extract(Quote(words, "assistant", model.exchanges[at].id), weight, order)


def _select_quotes(
    part: str, extracts: Iterable[Extract], embed: Embed | None, taken: Sequence[str]
) -> Quotes:
    """The strongest of a part that say nothing which is ``taken``."""
    chosen: list[Extract] = []
    for candidate in rank_extracts(list(extracts), embed, CAPS[part]):
        texts = (*taken, *(f.text for f in chosen))
        if len(chosen) < CAPS[part] and not is_restated_in(candidate.text, texts):
            chosen.append(candidate)
    if part == "reasoning":  # the person's own reasons first
        chosen.sort(key=lambda f: (f.quote.speaker != "user", f.order))
        return tuple(f.quote for f in chosen)
    return in_order(chosen)
