"""Refining one conversation: ask, check, decide, and change the workspace in one step that is done
whole or not at all.

Nothing is written before the last step, and every id follows from the words: whatever ends the
process, the same can be done again and comes to the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from keeplore.errors import LlmRefused
from keeplore.index.graph.graph_values import EntityAspect
from keeplore.llm.account import Account
from keeplore.llm.base import TransientFailure
from keeplore.memory import Memory, Trust
from keeplore.refine import aspects, decide, extract
from keeplore.refine.aspects import AspectQuestion
from keeplore.refine.candidates import CandidateNote, fitting_notes
from keeplore.refine.changes import JudgedProposal, RefineRun, changes_of, note_id
from keeplore.refine.classify import ConversationPlace, FactClaim, NoteKind, kind_of
from keeplore.refine.decide import ComparedFact, Proposal
from keeplore.refine.deps import RefineDeps
from keeplore.refine.entity_facts import EntityFacts
from keeplore.refine.extract import Extraction, Fact
from keeplore.refine.gates import FROZEN, GateContext, ProposalOutcome, verdict
from keeplore.refine.model_client import JobTakenOver, ModelClient
from keeplore.refine.pending import PendingPart, pending_part, refined_exchanges
from keeplore.refine.shared_extraction import SharedExtraction, notes_near
from keeplore.refine.triples import Triple, known_names, named_in, triples
from keeplore.refine.window import exchange_key
from keeplore.store.transaction import TransactionChanges
from keeplore.text.similarity import content_hash
from keeplore_hooks.contracts import Usage

NEAR_SHARE = 0.1  # as ``KNOWN_SHARE``, of the notes with which facts are compared


@dataclass(slots=True)
class RefineResult:
    """What came of a conversation; ``why`` says why nothing was asked.

    ``dropped`` counts what the answers held and was not sound.
    """

    conversation: str
    why: str = ""
    outcomes: Counter[str] = field(default_factory=Counter)  # "ADD applied" → how many
    dropped: Counter[str] = field(default_factory=Counter)
    said_tokens: int = 0
    usage: Usage = field(default_factory=lambda: Usage(0, 0))


def refine(
    deps: RefineDeps,
    account: Account,
    memory_id: str,
    mode: str,
    *,
    anywhere: bool = False,
    has_aspects: bool = False,
    keep: Callable[[], bool] = lambda: True,
    shared: SharedExtraction | None = None,
) -> RefineResult:
    """Refine what of a conversation was not refined before, and write down what was decided of each
    proposal.

    Only what this machine captured, unless ``anywhere``. ``has_aspects`` asks in which respect the
    facts speak of their entities, too. ``keep`` is asked before each call, and before the change,
    whether this process still may. ``shared`` is what the first stage gave already. Raises
    LlmUnavailable and RepositoryBusy where it should be tried later, LlmRefused for an answer that
    is none, NotFound for a conversation that is gone: nothing has changed then.
    """
    if mode == FROZEN:
        return RefineResult(memory_id, "refining is frozen")
    deps.search.index.refresh()
    asked = refined_exchanges(deps.store.records(), mode)
    part = (
        shared.part
        if shared
        else pending_part(deps, memory_id, asked, anywhere=anywhere)
    )
    if part.why:
        return RefineResult(memory_id, part.why)
    deps.commit("")  # what was said is in git before anybody is asked about it
    result = RefineResult(memory_id, said_tokens=part.said_tokens)
    asker = ModelClient(account, keep)
    try:
        refinement = _Refinement(deps, asker, part, mode, result)
        refinement.carry_out(shared, has_aspects=has_aspects)
    except JobTakenOver:
        result.why = "another process has taken this over"
    result.usage = asker.usage
    return result


class _Refinement:
    """The stages over one part of a conversation, in their order."""

    def __init__(
        self,
        deps: RefineDeps,
        asker: ModelClient,
        part: PendingPart,
        mode: str,
        result: RefineResult,
    ) -> None:
        self._deps = deps
        self._asker = asker
        self._part = part
        self._mode = mode
        self._result = result
        # as the audit names them
        self._prompts = [extract.PROMPT.label, decide.PROMPT.label]
        self._place = ConversationPlace(*part.memory.place, deps.has_user_scope)

    def carry_out(self, shared: SharedExtraction | None, *, has_aspects: bool) -> None:
        found = self._take_shared(shared) if shared else self._extracted()
        proposals = self._proposals([self._compared_fact(fact) for fact in found.facts])
        facts = self._entities(found, proposals, has_aspects=has_aspects)
        self._asker.check_lease()
        with self._deps.store.exclusive:
            self._deps.search.index.refresh()
            if self._deps.store.is_forgotten(self._part.memory.id):
                self._result.why = "it was forgotten meanwhile"
                return
            self._change(proposals, facts)
        # that there was nothing to note goes into the next commit of whatever changes
        if self._result.outcomes:
            self._deps.commit(
                f"Refine a conversation: {outcome_summary(self._result.outcomes)}"
            )

    def _take_shared(self, shared: SharedExtraction) -> Extraction:
        self._asker.count(shared.usage)
        self._result.dropped.update(shared.dropped)
        return extract.join_parts([shared.found], self._result.dropped)

    def _extracted(self) -> Extraction:
        part, dropped = self._part, self._result.dropped
        found = []
        for window in part.windows:
            near = notes_near(self._deps, part, window.text)
            fitted = fitting_notes(near, extract.listing_room(len(window.text)))
            found.append(self._extracted_of(extract.question(window, fitted), fitted))
        return extract.join_parts(found, dropped)

    def _extracted_of(
        self, question: str, known: Sequence[CandidateNote]
    ) -> Extraction:
        def read(answer: Any) -> Extraction:
            return extract.extraction(
                answer, self._part.segments, known, self._redact, self._result.dropped
            )

        return self._asker.ask(extract.PROMPT, question, extract.SCHEMA, read)

    def _compared_fact(self, fact: Fact) -> ComparedFact:
        """The fact with the notes near it, the one that it is said to be about first."""
        kind = self._kind(fact)
        deps = self._deps
        near = deps.search.near(fact.statement, deps.here(kind.scope, kind.project))
        if fact.about is not None:
            near = (fact.about, *(note for note in near if note.id != fact.about.id))
        return ComparedFact(fact, near, self._same_note(fact, kind))

    def _same_note(self, fact: Fact, kind: NoteKind) -> CandidateNote | None:
        """A current note that says exactly the same."""
        search = self._deps.search
        hashed = content_hash(fact.statement)
        twins = search.index.ids_saying(hashed, kind.scope, kind.project)
        for row in search.index.memories(twins).values():
            twin = None if row.superseded_by else search.note(row)
            # another person's words do not stand for the same ones said here
            if twin and (twin.trust != Trust.FOREIGN or fact.trust == Trust.FOREIGN):
                return twin
        return None

    def _proposals(self, compared: Sequence[ComparedFact]) -> list[Proposal]:
        made = {
            id(fact): proposal
            for fact in compared
            if (proposal := decide.decided_without_model(fact))
        }
        open_ones = [fact for fact in compared if id(fact) not in made]
        decided = self._decide_by_model(open_ones) if open_ones else ()
        return [*made.values(), *decided]

    def _decide_by_model(
        self, open_ones: Sequence[ComparedFact]
    ) -> tuple[Proposal, ...]:
        """What a model says of the facts that are left open."""
        shown = sum(len(window.text) for window in self._part.windows)
        notes = decide.notes_to_show(open_ones, extract.listing_room(shown, NEAR_SHARE))

        def read(answer: Any) -> tuple[Proposal, ...]:
            return decide.proposals(
                answer, open_ones, notes, self._redact, self._result.dropped
            )

        question = decide.question(open_ones, notes)
        return self._asker.ask(decide.PROMPT, question, decide.SCHEMA, read)

    def _entities(
        self,
        extraction: Extraction,
        proposals: Sequence[Proposal],
        *,
        has_aspects: bool,
    ) -> EntityFacts:
        said = " ".join(segment.text for segment in self._part.segments)
        near: dict[str, Memory] = {}
        for proposal in proposals:
            near |= {note.id: note.memory for note in proposal.near}
        names = known_names(near.values())
        sound = triples(extraction.triples, said, names, self._result.dropped)
        if not has_aspects:
            return EntityFacts(sound)
        self._prompts.append(aspects.PROMPT.label)
        asked = self._about_entities(proposals, sound, names.values())
        return EntityFacts(sound, self._aspects(asked))

    def _about_entities(
        self,
        proposals: Sequence[Proposal],
        sound: Sequence[Triple],
        names: Iterable[str],
    ) -> AspectQuestion:
        """The question about the entities that the statements of possible notes name."""
        stated = self._possible_notes(proposals)
        ends = [(triple.source, triple.target) for triple in sound]
        spelt = dict.fromkeys((*chain.from_iterable(ends), *names))
        graph, project = self._deps.search.index.graph, self._place.project
        for proposal in stated:
            statement = proposal.statement
            if not named_in(statement, spelt):
                known = aspects.names_known_in(statement, graph, project)
                spelt |= dict.fromkeys(known)
        return aspects.question_about(stated, spelt, aspects.known_to(graph, project))

    def _possible_notes(self, proposals: Sequence[Proposal]) -> list[Proposal]:
        """The proposals that may become a note."""
        return [
            item.proposal
            for item in self._judged(proposals)
            if item.verdict.outcome != ProposalOutcome.BLOCKED
            and item.proposal.makes_note
        ]

    def _aspects(self, question: AspectQuestion) -> dict[str, tuple[EntityAspect, ...]]:
        """What a model says of these, by statement.

        A note is good without, so that a question that was paid for and came to nothing costs its
        aspects alone: to try it again would be to pay for all stages once more.
        """
        if not question.groups:
            return {}
        dropped = self._result.dropped
        read = partial(
            aspects.aspects_of, question=question, redact=self._redact, dropped=dropped
        )
        try:
            return self._asker.ask(aspects.PROMPT, question.text, aspects.SCHEMA, read)
        except LlmRefused:
            dropped["aspects: no answer"] += 1
        except TransientFailure as e:
            if not e.is_billed:
                raise
            dropped["aspects: no answer"] += 1
        return {}

    def _judged(self, proposals: Sequence[Proposal]) -> list[JudgedProposal]:
        """Proposals with what becomes of them as things stand."""
        ground = GateContext(
            self._mode,
            self._part.segments,
            self._said_at,
            self._deps.store.tombstones.content_hashes().__contains__,
            self._deps.least_confidence,
        )
        taken: set[str] = set()
        id_ = self._part.memory.id
        return [
            JudgedProposal(
                p, self._kind(p.fact), verdict(p, ground), note_id(id_, p, taken)
            )
            for p in proposals
        ]

    def _change(self, proposals: Sequence[Proposal], facts: EntityFacts) -> None:
        deps, result = self._deps, self._result
        renewed = (self._if_still_valid(proposal) for proposal in proposals)
        fresh = [proposal for proposal in renewed if proposal]
        result.dropped["decisions: the note has changed"] += len(proposals) - len(fresh)
        changes = self._changes(self._judged(fresh), facts)
        result.outcomes.update(_outcomes(changes.entries))
        paths = deps.store.write_together(deps.machine, changes)
        for memory, path in zip(changes.memories, paths, strict=True):
            deps.written(memory.id, path)

    def _changes(
        self, judged: Sequence[JudgedProposal], facts: EntityFacts
    ) -> TransactionChanges:
        """What is to be written of the proposals that were judged."""
        known = {item.note_id for item in judged if self._is_known(item.note_id)}
        stated = [
            item.proposal.statement
            for item in judged
            if item.verdict.outcome != ProposalOutcome.BLOCKED
        ]
        self._result.dropped["entities: in no note"] += len(facts.unstated(stated))
        return changes_of(self._run(), judged, facts, self._summary(), known)

    def _run(self) -> RefineRun:
        """What all that is written now says of this refinement."""
        return RefineRun(
            self._part.memory,
            self._said_at,
            self._deps.machine,
            self._deps.now(),
            self._asker.model,
            tuple(self._prompts),
            self._mode,
        )

    def _is_known(self, note_id: str) -> bool:
        is_there = self._deps.search.index.path_of(note_id) is not None
        return is_there or self._deps.store.is_forgotten(note_id)

    @property
    def _said_at(self) -> dict[str, str]:
        return {exchange.id: exchange.at for exchange in self._part.exchanges}

    def _if_still_valid(self, proposal: Proposal) -> Proposal | None:
        """The proposal, or None where its note was changed, replaced or taken away while the model
        thought.
        """
        target = proposal.target
        if target is None:
            return proposal
        row = self._deps.search.index.memories([target.id]).get(target.id)
        if row is None or row.superseded_by or row.path != target.path:
            return None
        return proposal if self._deps.search.load(row.path) == target.memory else None

    def _summary(self) -> Mapping[str, Any]:
        dropped = sorted(self._result.dropped.items())
        return {
            "exchanges": [*map(exchange_key, self._part.wanted)],
            "dropped": {key: count for key, count in dropped if count},
            "tokens": {"said": self._result.said_tokens, **self._asker.tokens},
        }

    def _kind(self, fact: Fact) -> NoteKind:
        said = FactClaim(
            fact.type,
            fact.scope,
            fact.category,
            fact.confidence,
            fact.lasting,
            fact.trust,
        )
        return kind_of(said, self._place, self._deps.least_lasting)

    def _redact(self, text: str) -> str:
        return self._deps.sanitised(text, self._part.memory.project)


def _outcomes(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """The outcome that each audit line of a proposal records, such as "ADD applied"."""
    return [
        f"{entry['proposal']} {entry['outcome']}"
        for entry in entries
        if "proposal" in entry
    ]


def outcome_summary(outcomes: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
