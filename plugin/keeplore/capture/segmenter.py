"""Topic segmentation: is this turn still about the same topic? Asked once for each new turn, and
answered for good.

With the packaged embedding model the shift of subject is what ``topic_model`` makes of it, and
where an agent works, ``task_change``. With another one, or none, it is measured as in TextTiling
(M. Hearst, 1997), between the new turn and the block before it, but online: against what is usual
in this conversation so far and not against the valley that would follow. Alike means the cosine of
embeddings and shared words; without a model, shared words alone.
"""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from keeplore.capture import task_change, topic_model
from keeplore.capture.adjacency import told_answer
from keeplore.capture.cues import opens_with, pattern, says, word_list
from keeplore.capture.task_change import TaskEvidence, minutes_between
from keeplore.errors import ModelUnavailable
from keeplore.memory.conversation_body import NO_WORK
from keeplore.text.sentences import sentences
from keeplore.text.terms import count_terms, terms
from keeplore_hooks.events import Turn, Work
from keeplore_hooks.specs import hookimpl_last

if TYPE_CHECKING:
    from keeplore_hooks.contracts import Embedder

# minutes between a turn's end and the next prompt. Half an hour is the habit for web sessions;
# reading a long answer, trying it out and a meeting take longer, and of recorded pauses of an hour
# and more two thirds changed no subject
PAUSE = 60  # weaker evidence will do
LONG_PAUSE = 120  # none is needed
OPENING = 300  # characters of a message in which words open a subject
CONFIRMATION_CHARS = 80  # a go-ahead is shorter
MAX_EXCHANGES = 100  # a safety against files that nobody can read, not a habit
MAX_SIZE = 200_000  # characters, likewise
# exchanges: the habit. Below, a boundary needs strong evidence; above, weaker evidence will do
FEW, MANY = 3, 8
NEED_FEW, NEED_USUAL, NEED_MANY = (
    0.9,
    0.4,
    0.35,
)  # shift that makes a boundary, see ``shift_of``
NEED_MAYBE = 0.2  # the same beside words like "now let's build …"
NEED_TASK = 0.45  # of the probability that another task begins, where an agent works
# the same, of the model's probability: where people chat, and with an assistant
LIKELY, LIKELY_ASSISTED, LIKELY_MAYBE = 0.4, 0.35, 0.25
ALONE = 0.35  # what more it needs to leave a single exchange with an assistant behind
# content words from which a message to an assistant can open a subject by its shift alone
SUBJECT_TERMS = 5
# what more it needs when the message takes up what was said ("and …", "but why …", "commit that")
CONTINUING = 0.2
TAKEN_UP = (
    0.25  # likewise when it names an option of the last answer, or accepts its offer
)
LABELS_CHARS = 600  # of a message in which such a name counts
# words of a message that takes something of the reply before, and characters of that reply
ECHO_WORDS, ECHOED = 6, 4000
SAME_HEAD, SAME_LEAST = (
    60,
    15,
)  # characters from which a message is the one before again
# content words from which a message says enough to be measured; below, its shift counts in part
SURE_TERMS = 3
BLOCK = 3  # exchanges before the turn that it is compared with
PRIOR_WEIGHT = (
    6.0  # exchanges that the expectation counts for, until the conversation has its own
)
CACHED = 512  # embeddings kept
# characters of an exchange that are embedded; the model reads some 256 tokens
HEAD_USER, HEAD_ASSISTANT = 400, 300
LEXICAL = 0.5  # share of words against vectors
# shared words, as a share of the message's own: what is usual within a topic, and the way from
# there to unrelated
USUAL_WORDS, SPREAD_WORDS = 0.25, 0.35
# cosine, as shares of the way from the model's floor to 1
USUAL_COSINE, SPREAD_COSINE = 0.2, 0.3


class TopicShift(NamedTuple):
    """How far a turn is from the conversation, and from where on that makes a boundary."""

    size: float
    need: float
    need_maybe: float  # beside words that may open a subject
    task: TaskEvidence | None = None  # where an agent works: silence says nothing there


def boundary(
    exchanges: Sequence[Mapping[str, Any]], turn: Turn, shift: TopicShift
) -> str:
    """Why the turn opens a new topic: ``pause``, ``words``, ``shift`` or ``size``, and ``""`` where
    it does not.

    ``exchanges`` are those of the open conversation, oldest first, with ``at``, ``user``,
    ``assistant`` and, if known, ``ended_at``.
    """
    if not exchanges:
        return ""
    if is_confirmation(turn.user):
        return _size(exchanges, 2 * MAX_EXCHANGES)
    last = exchanges[-1]
    minutes = minutes_between(str(last.get("ended_at") or last["at"]), turn.at)
    if shift.task is None and _is_pause(minutes, shift):
        return "pause"
    if is_again(turn.user, str(last["user"])):
        return ""
    opening = turn.user[:OPENING]
    if opens_with(opening, "new_topic"):
        return "words"
    if shift.task and is_reply(exchanges, turn.user, minutes):
        return ""
    if shift.size >= shift.need_maybe and opens_with(opening, "maybe_topic"):
        return "words"
    return "shift" if shift.size >= shift.need else _size(exchanges, MAX_EXCHANGES)


def _is_pause(minutes: float, shift: TopicShift) -> bool:
    is_likely = shift.size >= shift.need_maybe
    return minutes >= LONG_PAUSE or (minutes >= PAUSE and is_likely)


def _size(exchanges: Sequence[Mapping[str, Any]], most: int) -> str:
    characters = sum(len(e["user"]) + len(e["assistant"]) for e in exchanges)
    is_full = characters >= MAX_SIZE * most / MAX_EXCHANGES
    return "size" if len(exchanges) >= most or is_full else ""


def is_reply(
    exchanges: Sequence[Mapping[str, Any]], message: str, minutes: float
) -> bool:
    """True where a message answers at once what was asked last, amends what was proposed or takes
    something of it, and however late where it says yes to what was asked, takes an item of a list
    by its number, or quotes a recent answer.
    """
    answers = [str(exchange["assistant"]) for exchange in exchanges[-BLOCK:]]
    is_asked = ends_with_question(answers[-1])
    is_invited = is_asked or amends_proposal(message)
    is_at_once = minutes < PAUSE and (is_invited or echoes_reply(message, answers[-1]))
    is_yes = is_asked and opens_with(message, "affirmed")
    is_answer = is_at_once or is_yes or opens_with(message, "picks")
    return is_answer or task_change.quotes(message, answers)


def ends_with_question(answer: str) -> bool:
    """True where an answer ends in a question or an offer: what comes next replies to it."""
    return answer.rstrip("*_) \n").endswith(("?", "？"))


def is_confirmation(message: str) -> bool:
    """True for a bare go-ahead, pick or greeting ("yes", "go on", "1"): it answers the last
    message, whatever topic its words are close to.
    """
    if len(message) >= CONFIRMATION_CHARS:
        return False
    plain = message.lower().replace("’", "'").replace(",", " ")
    said = (word.strip('.!?;:()"*`…') for word in plain.split())
    return all(
        not word or word.isdigit() or word in word_list("confirmations")
        for word in said
    )


def amends_proposal(message: str) -> bool:
    """True where a message takes what was proposed with a change, or with another value ("yes, but
    60 days", "make it three")."""
    opening = message[:OPENING].partition("\n")[0]
    affirmed = pattern("affirmed").match(opening)
    if affirmed and says(opening[affirmed.end() :], "with_change"):
        return True
    return opens_with(opening, "another_value")


def echoes_reply(message: str, reply: str) -> bool:
    """True for a few words, no command or question, half of them of the reply before: they take
    something of it ("mattermost, channel alarms").
    """
    own = {*terms(message.replace("-", " "))}
    if (
        "?" in message
        or message.startswith("/")
        or not own
        or len(message.split()) > ECHO_WORDS
    ):
        return False
    said = terms(reply[-ECHOED:].replace("-", " "))
    return 2 * len(own.intersection(said)) >= len(own)


def is_again(message: str, before: str) -> bool:
    """True where the message is the one before once more, whole or changed after its head: that one
    was interrupted.
    """
    one, other = _message_start(message), _message_start(before)
    is_same = one.startswith(other) or other.startswith(one)
    return is_same and min(len(one), len(other)) >= SAME_LEAST


def _message_start(message: str) -> str:
    return " ".join(message[: 4 * SAME_HEAD].lower().split())[:SAME_HEAD]


def learned_shift(
    chance: float, units: Sequence[topic_model.EmbeddedExchange]
) -> TopicShift:
    """The model's probability of a shift, and the threshold for it: that of a conversation with an
    assistant and that of a conversation between people, mixed by how much this is the former.
    """
    message = units[-1].user
    too_short = max(0.0, 1 - len(units[-1].own) / SUBJECT_TERMS)
    alone = ALONE if len(units) == 2 else 0.0
    assistant_threshold = (
        LIKELY_ASSISTED + _continuation_weight(message) + too_short + alone
    )
    taken_up = (
        TAKEN_UP if takes_up(message, [unit.assistant for unit in units[:-1]]) else 0.0
    )
    assistant_share = topic_model.assistant_likeness(units)
    return TopicShift(
        chance,
        LIKELY * (1 - assistant_share)
        + assistant_threshold * assistant_share
        + taken_up,
        LIKELY_MAYBE,
    )


def takes_up(message: str, replies: Sequence[str]) -> bool:
    """True where the message speaks of an option or a point by the letter or number that one of the
    replies gave it, amends what was proposed or takes something of it, or answers, accepts or puts
    off what the last one asks at its end: the words may be new then, the subject is not."""
    if amends_proposal(message) or any(
        echoes_reply(message, reply) or told_answer(reply, message)
        for reply in replies[-1:]
    ):
        return True
    labels = _labels("labels", message[:LABELS_CHARS])
    if labels and any(labels & _labels("labelled", reply) for reply in replies):
        return True
    if any(_answers_by_number(message, reply) for reply in replies[-1:]):
        return True
    is_asked = bool(replies) and ends_with_question(replies[-1])
    return is_asked and (
        opens_with(message, "accepts") or opens_with(message, "defers")
    )


def _labels(name: str, text: str) -> set[str]:
    labels: set[str] = set()
    for found in pattern(name).finditer(text):
        labels.update(label.upper() for label in found.groups() if label)
    return labels


def _answers_by_number(message: str, reply: str) -> bool:
    """Does it begin with the number of a point of a reply that asks, and go on to another?"""
    opening = message[:LABELS_CHARS]
    if "?" not in reply or not opening[:1].isdigit():
        return False
    return len(_labels("numbers", opening) & _labels("labelled", reply)) > 1


def _continuation_weight(message: str) -> float:
    going_on = ("continues", "finishes", "affirmed")
    opening = message[:OPENING]
    return CONTINUING if any(opens_with(opening, name) for name in going_on) else 0.0


class Segmenter:
    """The built-in plugin for ``keeplore_segment``. ``embedder`` may be None; one that fails is not
    asked again.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[bytes, Any] = OrderedDict()

    @hookimpl_last
    def keeplore_segment(
        self, exchanges: Sequence[Mapping[str, Any]], turn: Turn, work: Work
    ) -> str | None:
        return boundary(exchanges, turn, self.shift_of(exchanges, turn, work))

    def shift_of(
        self, exchanges: Sequence[Mapping[str, Any]], turn: Turn, work: Work
    ) -> TopicShift:
        """The turn's shift of subject against the open conversation: learned where that is
        possible, else by rule.
        """
        recent = exchanges[-topic_model.SPAN :]
        said = [(str(e["user"]), str(e["assistant"])) for e in recent]
        said.append((turn.user, turn.assistant))
        texts = [compact(user, assistant) for user, assistant in said]
        vectors = self._embedded(texts) if recent else None
        model = (
            topic_model.model_for(self._embedder.fingerprint)
            if self._embedder
            else None
        )
        if vectors is None or model is None:
            need = _usual_need(len(exchanges)) + _continuation_weight(turn.user)
            return TopicShift(self._by_rule(said, vectors), need, NEED_MAYBE)
        pairs = zip(said, vectors, strict=True)
        units = [topic_model.EmbeddedExchange(*both, vector) for both, vector in pairs]
        if work == turn.work == NO_WORK:
            return learned_shift(model.chance(units), units)
        found = task_change.evidence(model.score(units), exchanges, turn, work)
        return TopicShift(task_change.chance(found), NEED_TASK, NEED_TASK, found)

    def _by_rule(
        self, exchanges: Sequence[tuple[str, str]], vectors: Sequence[Any] | None
    ) -> float:
        """How much less the last exchange is like the block before it than those of the
        conversation usually are.

        0: as usual; 1: unrelated; below 0: closer than usual. Counts in part where the message has
        few content words.
        """
        if len(exchanges) < 2:
            return 0.0
        shift = _lexical_shift(exchanges)
        if vectors is not None:
            floor = self._embedder.floor if self._embedder else 0.0
            shift = LEXICAL * shift + (1 - LEXICAL) * _vector_shift(vectors, floor)
        return (
            shift
            * min(1.0, count_terms(exchanges[-1][0][:HEAD_USER]) / SURE_TERMS) ** 2
        )

    def _embedded(self, texts: Sequence[str]) -> list[Any] | None:
        """A vector for each text, or None without a model."""
        if self._embedder is None:
            return None
        keys = [
            hashlib.sha256(text.encode(errors="replace")).digest() for text in texts
        ]
        missing = dict(zip(keys, texts, strict=True))
        for key in missing.keys() & self._vectors.keys():
            del missing[key]
        if missing:
            try:
                vectors = self._embedder.embed(list(missing.values()))
            except ModelUnavailable:
                self._embedder = None
                return None
            self._vectors.update(zip(missing, vectors, strict=True))
        for key in keys:
            self._vectors.move_to_end(key)
        found = [self._vectors[key] for key in keys]
        while len(self._vectors) > CACHED:
            self._vectors.popitem(last=False)
        return found


def _usual_need(count: int) -> float:
    if count < FEW:
        return NEED_FEW
    return NEED_USUAL if count <= MANY else NEED_MANY


def _vector_shift(vectors: Sequence[Any], floor: float) -> float:
    """The last vector's shift; vectors are L2-normalised."""
    alike = []
    for n in range(1, len(vectors)):
        block = vectors[max(0, n - BLOCK) : n]
        alike.append(
            _block_nearness([float(vectors[n] @ earlier) for earlier in block])
        )
    return _below_usual(
        alike, floor + USUAL_COSINE * (1 - floor), SPREAD_COSINE * (1 - floor)
    )


def _lexical_shift(exchanges: Sequence[tuple[str, str]]) -> float:
    """How many fewer words the last message shares with the block before it than is usual here."""
    bags = [_head_terms(user, assistant) for user, assistant in exchanges]
    alike = []
    for n in range(1, len(exchanges)):
        own = set(terms(exchanges[n][0][: 2 * HEAD_USER]))
        before = set().union(*bags[max(0, n - BLOCK) : n])
        alike.append(len(own & before) / max(len(own), 1))
    return _below_usual(alike, USUAL_WORDS, SPREAD_WORDS)


def _head_terms(user: str, assistant: str) -> set[str]:
    return {*terms(user[: 2 * HEAD_USER]), *terms(assistant[: 4 * HEAD_ASSISTANT])}


def _block_nearness(cosines: Sequence[float]) -> float:
    """Nearness to a block, its last exchange counting most: a topic may be taken up again two turns
    later.
    """
    return (cosines[-1] + max(cosines)) / 2


def _below_usual(alike: Sequence[float], usual: float, spread: float) -> float:
    """How far the last value lies below the mean of those before it, in units of ``spread``;
    ``usual`` is the mean to begin with.
    """
    mean = (PRIOR_WEIGHT * usual + sum(alike[:-1])) / (PRIOR_WEIGHT + len(alike) - 1)
    return (mean - alike[-1]) / spread


@functools.lru_cache(
    maxsize=256
)  # the open conversation's are asked for again at every turn
def compact(user: str, assistant: str) -> str:
    """What an exchange is about in as many words as the model reads: the message's head and the
    answer's beginning.
    """
    question = " ".join(user[: 2 * HEAD_USER].split())[:HEAD_USER]
    answer = " ".join(sentence.text for sentence in sentences(assistant)[:3])
    return f"{question}\n{answer[:HEAD_ASSISTANT]}".strip()
