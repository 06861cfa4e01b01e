"""Digests by the language model of the workspace, where one is set and may be asked: the rules,
budget and audit are those of refining.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from keeplore.errors import KeeploreError, LlmRefused, LlmUnavailable
from keeplore.llm.base import tokens
from keeplore.llm.open_model import open_account
from keeplore.memory import Memory, serialise
from keeplore.memory.digest import CHANGED, DECIDED, HEADINGS, OPEN, OUTCOME, DigestLine
from keeplore.refine import digest_writing
from keeplore.refine.digest_writing import DigestSource, LineGates, WrittenLine
from keeplore.refine.gates import FROZEN, SHADOW, ProposalOutcome
from keeplore.refine.model_client import ModelClient
from keeplore.refine.window import segments_of
from keeplore.text.dates import now
from keeplore.text.similarity import content_hash
from keeplore.workspace.tidying.digest_maker import (
    DigestDraft,
    DigestedConversation,
    line_of,
    ordered,
)
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.refinery import one_at_a_time, refine_deps

EVENT = "digest"  # of an audit line: a digest that a model was asked for
REFUSED, EMPTY = "no answer", "nothing"  # what became of it, beside what refining knows
ATTEMPTS = 3  # at an answer that can be read
_PARTS = {"decided": DECIDED, "outcome": OUTCOME, "open": OPEN}


@dataclass(frozen=True, slots=True)
class MadeDigest:
    """``by`` says of a model's whose it is, "" for the model of the conversation; ``entries`` are
    lines for the audit.
    """

    memory: Memory
    by: str = ""
    entries: tuple[dict[str, Any], ...] = ()


class DigestModel:
    """Asks the workspace's model, if there is one, about what it was not asked about before.

    Those of ``left`` are the person's. ``problem`` says why it is not asked, "" for nothing.
    """

    def __init__(self, workspace: Workspace, left: Collection[str]) -> None:
        self.problem = ""
        self._workspace = workspace
        self._left = left
        self._mode = workspace.settings.refine_mode
        self._account = None
        settings = workspace.settings.llm
        if settings.provider and self._mode != FROZEN:
            find = workspace.plugins.hook.keeplore_llm
            try:
                self._account = open_account(
                    settings, workspace.root, workspace.places, find
                )
            except LlmUnavailable as e:
                self.problem = str(e)

    def make_digest(
        self, draft: DigestDraft, known: Memory | None, *, is_dry: bool
    ) -> MadeDigest:
        """The digest that a draft comes to; where ``is_dry``, one that nobody was asked for."""
        memory = draft.memory
        of = content_hash(serialise(memory))[:16]
        if known and known.source.get("of") == of:
            return MadeDigest(known)
        if not self._account or self.problem or not self._is_new(draft, memory.id, of):
            return MadeDigest(memory)
        asker = ModelClient(self._account)
        mark = {"model": asker.model, "of": of}
        if is_dry:
            by = f"by {asker.model}, which reads about {_cost(draft):,} tokens"
            return MadeDigest(memory.with_meta(source=mark), by)
        return self._ask_model(draft, asker, mark)

    def _is_new(self, draft: DigestDraft, id_: str, of: str) -> bool:
        """Whether this machine is the one to ask, and has not asked before."""
        workspace = self._workspace
        machine = draft.talks[-1].memory.source.get("machine")
        if id_ in self._left or machine not in workspace.own_machines:
            return False
        asked = Counter(
            entry.get("outcome")
            for entry in workspace.store.records()
            if (entry.get("event"), entry.get("id"), entry.get("of"))
            == (EVENT, id_, of)
        )
        is_tried = self._mode == SHADOW and asked[ProposalOutcome.SHADOWED]
        return not asked[EMPTY] and not is_tried and asked[REFUSED] < ATTEMPTS

    def _ask_model(
        self, draft: DigestDraft, asker: ModelClient, mark: dict[str, str]
    ) -> MadeDigest:
        """The digest with lines by the model; as it was drafted where none was applied."""
        dropped: Counter[str] = Counter()
        try:
            with one_at_a_time(self._workspace.places.state):
                lines = self._lines(draft, asker, dropped)
        except LlmRefused:
            lines, outcome = [], REFUSED
        except (KeeploreError, OSError) as e:
            self.problem = str(e)
            return MadeDigest(draft.memory)
        else:
            outcome = self._outcome_of(lines)
        entry = {
            "at": now(),
            "event": EVENT,
            "id": draft.memory.id,
            **mark,
            "outcome": outcome,
            "lines": len(lines),
            **_cost_fields(asker, dropped),
            "mode": self._mode,
        }
        if outcome != ProposalOutcome.APPLIED:
            # it goes into the next commit of whatever changes
            self._workspace.store.record(self._workspace.machine, entry)
            return MadeDigest(draft.memory)
        memory = _with_lines(draft, lines).memory.with_meta(source=mark)
        return MadeDigest(memory, f"by {asker.model}", (entry,))

    def _outcome_of(self, lines: Sequence[WrittenLine]) -> str:
        """What becomes of an answer that could be read."""
        if not lines:
            return EMPTY
        is_shadow = self._mode == SHADOW
        return str(ProposalOutcome.SHADOWED if is_shadow else ProposalOutcome.APPLIED)

    def _lines(
        self, draft: DigestDraft, asker: ModelClient, dropped: Counter[str]
    ) -> list[WrittenLine]:
        """The lines that a model writes of the conversations and that pass the gates."""
        deps = refine_deps(self._workspace)
        project = draft.talks[0].memory.project

        gates = LineGates(
            lambda text: deps.sanitised(text, project),
            deps.store.tombstones.content_hashes().__contains__,
            deps.least_confidence,
        )
        talks = [
            _conversation_for_model(talk, deps.is_document) for talk in draft.talks
        ]
        read = partial(
            digest_writing.written_lines, talks=talks, gates=gates, dropped=dropped
        )
        prompt, schema = digest_writing.PROMPT, digest_writing.SCHEMA
        found: list[WrittenLine] = []
        for question in digest_writing.questions(talks):
            found += asker.ask(prompt, question, schema, read)
        return found


def _cost_fields(asker: ModelClient, dropped: Counter[str]) -> dict[str, Any]:
    """What asking took, and what was left out, as the audit has it."""
    return {
        "dropped": {what: count for what, count in sorted(dropped.items()) if count},
        "tokens": asker.tokens,
        "prompts": [digest_writing.PROMPT.label],
    }


def _conversation_for_model(
    talk: DigestedConversation, is_document: Callable[[str], bool]
) -> DigestSource:
    """A conversation as a model is shown it, and as its lines are checked."""
    exchanges = talk.said.exchanges
    return DigestSource(
        talk.row.created_at[:10],
        talk.row.title,
        tuple(f"{quote.speaker}: {quote.text}" for quote in talk.own(talk.said.quotes)),
        segments_of(exchanges, exchanges, is_document),
    )


def _cost(draft: DigestDraft) -> int:
    """Tokens that a model would read."""
    instructions = f"{digest_writing.PROMPT.text}{digest_writing.SCHEMA}"
    shown = [_conversation_for_model(talk, lambda _: False) for talk in draft.talks]
    return sum(
        tokens(instructions) + tokens(question)
        for question in digest_writing.questions(shown)
    )


def _with_lines(draft: DigestDraft, lines: Sequence[WrittenLine]) -> DigestDraft:
    """The draft with a model's lines in the place of those of the same conversations; one of which
    the model has nothing keeps its own.
    """
    talks = draft.talks
    places = {place for line in lines for place in line.talks}
    joined_ids = {talks[place].row.id for place in places}
    parts: dict[str, list[DigestLine]] = {heading: [] for heading in HEADINGS}
    for heading, own in draft.sections:
        parts[heading] += [
            line for line in own if (line.before or line).memory_id not in joined_ids
        ]
    for line in lines:
        heading = CHANGED if line.instead else _PARTS[line.part]
        parts[heading].append(_digest_line(talks, line))
    return replace(draft, sections=tuple(ordered(parts)))


def _digest_line(
    talks: Sequence[DigestedConversation], line: WrittenLine
) -> DigestLine:
    made = line_of(talks[line.talk], line.receipt.quote)
    before = None
    if line.instead:
        place, receipt = line.instead
        before = line_of(talks[place], receipt.quote)
    return replace(made, before=before, statement=line.statement)
