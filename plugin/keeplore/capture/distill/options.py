"""The options that were put, of which one was taken or is still to be chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.distill.extracts import ExtractSource, Quotes, is_restated_in
from keeplore.memory import Quote
from keeplore.text.sentences import Sentence, answer_line, clip
from keeplore.text.terms import terms

MOST_OPTIONS = 8  # lines of this part of a head


def options(source: ExtractSource, settled: Sequence[str]) -> Quotes:
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
        if len(found) < MOST_OPTIONS and not is_restated_in(
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
