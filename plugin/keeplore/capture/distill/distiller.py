"""A conversation's substance as quotations: context, options, decisions, reasons, outcome, open
questions.

Extractive, without a model: a sentence is chosen by its cue phrases, by who said it and where it
stands (H. Edmundson, "New methods in automatic extracting", 1969), and where more qualify than a
part may hold, by how central it is among them (G. Erkan and D. Radev, "LexRank", 2004; over
embeddings when they are given, else over TF-IDF). It leans to precision: an empty part is better
than a wrong line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keeplore.capture.cues import outcome_cues, talk_cues
from keeplore.capture.cues.outcome_cues import is_request
from keeplore.capture.distill import outcomes
from keeplore.capture.distill.decisions import (
    MAIN,
    Decision,
    answered,
    decisions,
    is_decided,
    is_step,
)
from keeplore.capture.distill.directives import stands_alone
from keeplore.capture.distill.key_phrases import TYPED_COMMANDS
from keeplore.capture.distill.title_wording import is_instructions
from keeplore.memory import AnsweredQuestion, Exchange, Quote
from keeplore.memory.conversation_body import PARTS
from keeplore.text.sentences import Sentence, clip, sentences
from keeplore.text.terms import cosine, is_prose, overlap, stems, terms, weighted

CAPS = {
    "context": 3,
    "options": 8,
    "decision": 2,
    "reasoning": 5,
    "also_decided": 6,
    "outcome": 5,
    "open_questions": 5,
}
DOUBT = 2.0  # weight up to which what a person says is open is only what they ask to be told
MAX_RANKED = 24  # sentences of one part that are compared with one another
CENTRALITY = 1.0  # what the most central sentence gains, in units of cue weight
ALIKE = 0.7  # share of terms from which two quotations say the same
DOCUMENT = 12  # sentences from which a message counts as a paste
PREAMBLE = 3  # its first sentences, which may be the person's own
MIN_TOLD = 3  # content words of a sentence of context
ASKED_WORDS = 3  # content words of a question that can be understood later
LAST_WORDS = 4  # sentences at the end of the last answer in which a question waits for the person
STATED = 0.8  # weight of a first sentence that is nothing but the request
RULED_OUT = 3.2  # weight of a reason why one of the options was not taken
OWN_WORDS = (
    0.5  # what a decision in the person's own words weighs more than a proposal that they agreed to
)
OWN_REASON = 1.0  # what a person's own reason weighs more than the agent's
EXPLAINED = 2.4  # weight from which a reason counts that has no word of a decision
STOPPING = 0.85  # damping of the random walk, as in LexRank

_BOILERPLATE = re.compile(
    r"\W*(?:if you (?:need|want|have)|please|note that|make sure|let me know)\b", re.IGNORECASE
)
_YES_OR_NO = re.compile(r"\W*(?:yes|no|cancel|skip)\b", re.IGNORECASE)

Embed = Callable[[Sequence[str]], Any]


@dataclass(frozen=True, slots=True)
class _Found:
    quote: Quote
    weight: float
    order: int


@dataclass(frozen=True, slots=True)
class _Said:
    sentence: Sentence
    speaker: str
    turn: str
    at: int  # number of the exchange
    n: int  # number of the sentence in its message
    left: int  # sentences after it in its message


def distill(
    exchanges: Sequence[Exchange], embed: Embed | None = None
) -> dict[str, tuple[Quote, ...]]:
    """The parts of ``memory.conversation.PARTS``, each a tuple of quotations in the order of the
    talk, often empty.

    ``embed`` turns n texts into n rows of L2-normalised vectors; it is asked only where a part has
    more candidates than room, for at most ``MAX_RANKED`` texts. Where no model can be had it gives
    None, and words are compared.
    """
    said = list(_said(exchanges))
    decided = [d for d in decisions(exchanges) if stands_alone(d.quote.text)]
    main, also = _split(decided, embed)
    taken = [quote.text for quote in (*main, *also)]
    parts = {"decision": main, "also_decided": also}
    parts["options"] = _options(said, exchanges, taken)
    for name, found in (
        ("open_questions", _open(said, exchanges, decided)),
        (
            "reasoning",
            _reasons(said, exchanges, decided),
        ),  # before the outcome, which holds causes too
        ("outcome", _outcome(exchanges)),
        ("context", _context(said, exchanges)),
    ):
        others = (f for f in found if f.quote not in parts["options"])
        parts[name] = _pick(name, others, embed, taken)
        taken += [quote.text for quote in parts[name]]
    return {name: parts[name] for name in PARTS}


def _said(exchanges: Sequence[Exchange]) -> Iterator[_Said]:
    for at, exchange in enumerate(exchanges):
        for speaker, message in (("user", exchange.user), ("assistant", exchange.assistant)):
            found = sentences(message)
            for n, sentence in enumerate(found):
                yield _Said(sentence, speaker, exchange.id, at, n, len(found) - n - 1)


def _split(
    decided: Sequence[Decision], embed: Embed | None
) -> tuple[tuple[Quote, ...], tuple[Quote, ...]]:
    """The one or two decisions that the talk was about, and the rest.

    What a person settles of their own accord is what they came for; an answer to a question is a
    detail beside it.
    """
    found = [_Found(d.quote, d.weight, n) for n, d in enumerate(decided)]
    own = [replace(f, weight=f.weight + OWN_WORDS * (f.quote.speaker == "user")) for f in found]
    strong = [(f, d.is_answer) for f, d in zip(own, decided, strict=True) if d.weight >= MAIN]
    main = _ranked(
        [f for f, is_answer in strong if not is_answer] or [f for f, _ in strong],
        embed,
        CAPS["decision"],
    )
    main = (
        main[: CAPS["decision"]] or _ranked(own, embed, 1)[:1]
    )  # a detail, but all that was decided
    rest = _ranked([f for f in own if f not in main], embed, CAPS["also_decided"])[
        : CAPS["also_decided"]
    ]
    return _in_order(main), _in_order(rest)


def _context(said: Sequence[_Said], exchanges: Sequence[Exchange]) -> Iterator[_Found]:
    """What the person told of the situation, in the first messages that tell anything."""
    written_for_agents = {e.id for e in exchanges if is_instructions(e.user)}
    own = (s for s in said if s.speaker == "user" and s.turn not in written_for_agents)
    opening = [s for s in own if not s.sentence.is_heading][:60]
    first = next((s for s in opening if _tells(s)), None)
    for order, s in enumerate(opening):
        if (
            not _tells(s)
            or (s.at > 2 and s is not first)
            or (_is_pasted(s) and not _is_preamble(s))
        ):
            continue
        weight = (
            talk_cues.weight_of(s.sentence.text, talk_cues.CONTEXT)
            if not s.sentence.is_question
            else 0.0
        )
        if s is first:
            weight = (
                max(weight, STATED) + 1.0
            )  # what they came with says what the talk is for, if nothing else does
        if talk_cues.CONTEXT_HEADING.search(s.sentence.heading):
            weight = max(weight, 2.0)
        if weight and (s is first or not is_decided(s.sentence)):
            yield _Found(_quote(s), weight - 0.6 * s.at - 0.05 * s.n, order)


def _tells(s: _Said) -> bool:
    text = TYPED_COMMANDS.sub("", s.sentence.text)
    leads_only = text.endswith((":", "：")) and not talk_cues.weight_of(
        text, talk_cues.CONTEXT
    )  # into a list, and not into a log
    if leads_only or len(stems(text)) < MIN_TOLD or _BOILERPLATE.match(text):
        return False
    return is_prose(text) and (" " in text or not text.isascii())


def _is_pasted(s: _Said) -> bool:
    return s.left + s.n > DOCUMENT


def _is_preamble(s: _Said) -> bool:
    """Of a pasted document its first lines and its section on the background count, not its every
    bullet.
    """
    return s.n < PREAMBLE or bool(talk_cues.CONTEXT_HEADING.search(s.sentence.heading))


def _outcome(exchanges: Sequence[Exchange]) -> Iterator[_Found]:
    for order, (weight, at, _, sentence) in enumerate(outcomes.outcomes(exchanges)):
        yield _Found(Quote(clip(sentence.text), "assistant", exchanges[at].id), weight, order)


def _reasons(
    said: Sequence[_Said], exchanges: Sequence[Exchange], decided: Sequence[Decision]
) -> Iterator[_Found]:
    """Sentences that give a reason and share a word with a decision; without decisions, causes that
    were found.
    """
    for order, s in enumerate(said):
        text = s.sentence.text
        if (
            s.sentence.is_question
            or s.sentence.is_heading
            or text.endswith((":", "..."))
            or len(stems(text)) < 4
        ):
            continue
        if not (
            _is_sure(s.sentence)
            if s.speaker == "assistant"
            else _is_preamble(s) or not _is_pasted(s)
        ):
            continue
        weight = talk_cues.weight_of(text, talk_cues.REASON)
        if s.speaker == "user" and talk_cues.RULED_OUT.search(text):
            weight = RULED_OUT
        if talk_cues.REASON_HEADING.search(s.sentence.heading) and s.sentence.is_first:
            weight = max(weight, 2.0)
        if not is_prose(text) or (s.speaker == "user" and is_request(text)):
            continue
        if (
            s.speaker == "assistant"
            and talk_cues.weight_of(text, talk_cues.PROPOSED)
            and not _is_taken(exchanges, s.at, decided)
        ):
            continue
        near = max((_nearness(s, d) for d in decided), default=0.0)
        cause = talk_cues.weight_of(text, outcome_cues.CAUSE) if s.speaker == "assistant" else 0.0
        if cause and not outcomes.is_sent_back(exchanges, s.at):
            yield _Found(_quote(s), cause + near, order)
        elif near and weight:
            yield _Found(
                _quote(s), weight + near + (OWN_REASON if s.speaker == "user" else 0.0), order
            )
        elif weight >= EXPLAINED and _is_explained(s, exchanges):
            yield _Found(_quote(s), weight - 1.0, order)


def _is_sure(sentence: Sentence) -> bool:
    is_claim = outcomes.is_claim(sentence) and not outcome_cues.GUESSED.search(sentence.text)
    return is_claim and not outcome_cues.LEANING.search(sentence.text)


def _is_taken(exchanges: Sequence[Exchange], at: int, decided: Sequence[Decision]) -> bool:
    """True where the person agreed to what the agent proposed in this exchange, or it stands among
    the decisions.
    """
    following = exchanges[at + 1].user if at + 1 < len(exchanges) else ""
    turn = exchanges[at].id
    is_agreed = bool(talk_cues.AFFIRMED.match(following) or talk_cues.PICKED.match(following))
    return is_agreed or any(
        d.quote.speaker == "assistant" and d.quote.turn == turn for d in decided
    )


def _is_explained(s: _Said, exchanges: Sequence[Exchange]) -> bool:
    """True for a cause that the agent reports and that the person let stand."""
    is_report = bool(s.sentence.heading) or s.n >= s.left  # before that it thinks aloud
    return s.speaker == "assistant" and is_report and not outcomes.is_sent_back(exchanges, s.at)


def _nearness(s: _Said, decision: Decision) -> float:
    """0 for a sentence that has nothing to do with the decision, up to 2."""
    shared = len(decision.terms & set(terms(s.sentence.text)))
    distance = abs(s.at - decision.at)
    if s.speaker == "user" == decision.quote.speaker and s.turn == decision.quote.turn:
        shared += 1  # the person goes on about what was just decided
    if not shared or distance > 3 or decision.quote.text == clip(s.sentence.text):
        return 0.0
    return min(shared, 3) * 0.5 + max(0.0, 0.5 - 0.2 * distance)


def _options(
    said: Sequence[_Said], exchanges: Sequence[Exchange], settled: Sequence[str]
) -> tuple[Quote, ...]:
    """Options in the order in which they were put: listed ones, else those of the main question,
    else those in prose.

    The labels of other questions stand in the exchange.
    """
    listed = [_quote(s) for s in said if _is_listed_option(s.sentence)]
    put = [
        Quote(clip(" ".join(option.split())), "assistant", exchange.id)
        for exchange in exchanges
        for reply in exchange.replies
        if isinstance(reply, AnsweredQuestion)
        and answered(reply) in settled
        and not any(_YES_OR_NO.match(option) for option in reply.options)
        for option in reply.options
        if (len(option.split()) > 1 or not option.isalnum()) and option.strip()
    ]
    prose = [_quote(s) for s in said if _is_prose_option(s.sentence)]
    asked = [
        _quote(s)
        for s in said
        if s.speaker == "assistant" and talk_cues.OPTIONS_ASKED.search(s.sentence.text)
    ]
    found: list[Quote] = []
    for quote in next((quotes for quotes in (listed, put, prose) if len(quotes) > 1), asked):
        if len(found) < CAPS["options"] and not _is_said(quote.text, (f.text for f in found)):
            found.append(quote)
    # one question can name several, one option is none
    return tuple(found) if len(found) > 1 or asked else ()


def _is_listed_option(sentence: Sentence) -> bool:
    if talk_cues.OPTION_LABELLED.match(sentence.text) and len(terms(sentence.text)) > 1:
        return not talk_cues.weight_of(
            sentence.text, talk_cues.PROPOSED
        )  # "option B is the safest": a view of it, not the option
    if not sentence.label or not sentence.is_first or len(terms(sentence.text)) < 1:
        return False
    if sentence.lead:
        return bool(talk_cues.OPTIONS_LEAD.search(sentence.lead))
    return bool(talk_cues.OPTIONS_HEADING.search(sentence.heading))


def _is_prose_option(sentence: Sentence) -> bool:
    return (
        len(terms(sentence.text)) > 2
        and not sentence.is_heading
        and bool(talk_cues.OPTION_PROSE.search(sentence.text))
    )


def _open(
    said: Sequence[_Said], exchanges: Sequence[Exchange], decided: Sequence[Decision]
) -> Iterator[_Found]:
    """What was put off, what a report leaves undone, and what was asked and never answered."""
    last = len(exchanges) - 1
    lines = [(s.at, s.speaker, s.sentence) for s in said]
    # where the agent asked in form and was answered, what it asked in prose has its answer too
    has_answers = any(
        isinstance(reply, AnsweredQuestion) and reply.answer.strip()
        for e in exchanges[-1:]
        for reply in e.replies
    )
    undone = {n: weight for weight, n in outcomes.left(lines)}
    for order, s in enumerate(said):
        text = s.sentence.text
        if s.sentence.is_heading or len(terms(text)) < 2 or _is_answered(s, decided):
            continue
        weight = 0.0 if _is_replied(s, last) else talk_cues.weight_of(text, talk_cues.OPEN)
        if s.speaker == "user" and weight <= DOUBT and exchanges[s.at].assistant:
            weight = 0.0
        if s.speaker == "user" and not s.sentence.is_question:
            weight = max(weight, talk_cues.weight_of(text, outcome_cues.PUT_OFF))
        weight = 0.0 if talk_cues.NOT_OPEN.search(text) else max(weight, undone.get(order, 0.0))
        if talk_cues.OPEN_HEADING.search(s.sentence.heading) and (
            s.sentence.label or s.sentence.is_question
        ):
            weight = max(weight, 2.5)
        is_last_word = (
            s.at == last and s.speaker == "assistant" and s.left < LAST_WORDS and not has_answers
        )
        is_unheard = s.speaker == "user" and not _replies_to(exchanges, s)
        if not weight and s.sentence.is_question and (is_last_word or is_unheard):
            weight = 0.0 if talk_cues.OFFER.search(text) or len(terms(text)) < ASKED_WORDS else 1.5
        if weight and not outcomes.is_settled(lines, order):
            yield _Found(_quote(s), weight, order)
    for n, exchange in enumerate(exchanges):
        for reply in exchange.replies:
            if not isinstance(reply, AnsweredQuestion) or reply.answer.strip() or is_step(reply):
                continue
            if reply.question.strip() and not _is_asked_again(reply, exchanges[n:]):
                yield _Found(
                    Quote(clip(" ".join(reply.question.split())), "assistant", exchange.id),
                    1.5,
                    len(said) + n,
                )


def _is_asked_again(asked: AnsweredQuestion, following: Sequence[Exchange]) -> bool:
    """True where a later question with one of the same answers was answered."""
    later = (
        reply
        for exchange in following
        for reply in exchange.replies
        if isinstance(reply, AnsweredQuestion)
    )
    return any(reply.answer.strip() and set(reply.options) & set(asked.options) for reply in later)


def _replies_to(exchanges: Sequence[Exchange], s: _Said) -> bool:
    """True where an answer came, be it as an exchange of its own, or to the same words sent
    again.
    """
    following = exchanges[s.at + 1 : s.at + 2]
    return bool(exchanges[s.at].replies) or any(
        not e.user or s.sentence.text in e.user for e in following
    )


def _is_replied(s: _Said, last: int) -> bool:
    """A doubt that the other side heard and answered is none any more; what came of it stands
    elsewhere.
    """
    return s.at < last or (s.speaker == "user" and s.sentence.is_question)


def _is_answered(s: _Said, decided: Sequence[Decision]) -> bool:
    asked = set(terms(s.sentence.text))
    return any(d.at >= s.at and overlap(asked, d.terms) >= ALIKE for d in decided)


def _pick(
    part: str, found: Iterable[_Found], embed: Embed | None, taken: Sequence[str]
) -> tuple[Quote, ...]:
    chosen: list[_Found] = []
    for candidate in _ranked(list(found), embed, CAPS[part]):
        texts = (*taken, *(f.quote.text for f in chosen))
        if len(chosen) < CAPS[part] and not _is_said(candidate.quote.text, texts):
            chosen.append(candidate)
    if part == "reasoning":  # the person's own reasons first
        chosen.sort(key=lambda f: (f.quote.speaker != "user", f.order))
        return tuple(f.quote for f in chosen)
    return _in_order(chosen)


def _ranked(found: list[_Found], embed: Embed | None, room: int) -> list[_Found]:
    """Strongest first; centrality is asked for those alone whose place among the first ``room`` it
    can change.
    """
    found = sorted(found, key=lambda f: (-f.weight, f.order))[:MAX_RANKED]
    if len(found) <= room:
        return found
    last_in, first_out = found[room - 1].weight, found[room].weight
    near = [f for f in found if last_in - CENTRALITY < f.weight < first_out + CENTRALITY]
    central = _centrality([f.quote.text for f in near], embed) if len(near) > 1 else []
    strength = {f.order: f.weight + CENTRALITY * c for f, c in zip(near, central, strict=False)}
    above = [f for f in found if f.weight >= first_out + CENTRALITY]
    contested = sorted(near, key=lambda f: (-strength.get(f.order, 0.0), f.order))
    return [*above, *contested, *(f for f in found if f.weight <= last_in - CENTRALITY)]


def _centrality(texts: Sequence[str], embed: Embed | None) -> list[float]:
    """LexRank: the stationary weight of each text in a random walk along their similarities, the
    largest being 1.
    """
    n = len(texts)
    vectors = embed(texts) if embed is not None else None
    if vectors is not None:
        alike = [[max(0.0, float(vectors[i] @ vectors[j])) for j in range(n)] for i in range(n)]
    else:
        bags = weighted(texts)
        alike = [[cosine(bags[i], bags[j]) for j in range(n)] for i in range(n)]
    sums = [sum(row) or 1.0 for row in alike]
    weights = [1.0 / n] * n
    for _ in range(20):
        weights = [
            (1 - STOPPING) / n
            + STOPPING * sum(weights[i] * alike[i][j] / sums[i] for i in range(n))
            for j in range(n)
        ]
    return [weight / max(weights) for weight in weights]


def _is_said(text: str, texts: Iterable[str]) -> bool:
    own = terms(text)
    return any(
        text == other or (len(own) > 1 and overlap(own, terms(other)) >= ALIKE) for other in texts
    )


def _in_order(found: Iterable[_Found]) -> tuple[Quote, ...]:
    return tuple(f.quote for f in sorted(found, key=lambda f: f.order))


def _quote(s: _Said) -> Quote:
    return Quote(clip(s.sentence.text), s.speaker, s.turn)
