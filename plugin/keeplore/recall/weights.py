"""Every number that decides what is recalled, with where it comes from.

"Measured" means docs/benchmarks.md, section Recall, which also names the command.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from keeplore.config.feedback_settings import FeedbackSettings


@dataclass(frozen=True, slots=True)
class Weights:
    # --- how likely a passage answers: logistic in what each search says, see ranking/fuse.py ---
    # Measured: fitted on questions with and without an answer in the store; their ratio is what
    # orders turns best (.6 to 1 is a plateau).
    # times how far the cosine is above the model's floor, as a share of what is above it
    vector: float = 8.0
    # times the share of the query's words in the best match and the BM25 relative to that match
    text: float = 5.6
    doubt: float = 2.6
    # the same without vectors to confirm it; measured: words in common alone mislead up to two in
    # five
    text_alone: float = 8.0
    doubt_alone: float = 4.0

    # --- what a passage's own words show, in the same log-odds; measured on LoCoMo, see
    # docs/benchmarks.md ---
    telling: float = 0.4  # a passage of forty words against one of ten
    asking: float = 0.8  # it ends with a question: what answers it stands elsewhere
    speaker: float = 0.8  # said by somebody whom the question names
    # times the share of the question's words in a statement itself; measured on the labelled
    # sessions, where 4 to 8 is a plateau
    own_words: float = 6.0
    decision: float = 0.7  # one, where what was decided is asked for
    # how far, in log-odds, a statement may be behind the best one to be shown with it;
    # measured on invented projects, where 5 leaves out answers of short talks
    beside_best: float = 8.0
    # how much likelier an exchange must be than all statements to be shown before them
    before_statements: float = 2.5
    # share that the mean of the memory's three best passages has in each of them
    memory: float = 0.23
    # what a memory whose other passages speak of the question gains at most over one whose do not;
    # measured on the labelled sessions, no difference on LoCoMo
    whole: float = 2.0
    when: float = 1.5  # said at a time that the question names; judgement
    # more than all that can raise a score together, graph and feedback too
    most_bonus: float = 4.0
    # what an exchange's second best piece counts beside its best one; half as sure, it changes
    # nothing
    turn: float = 0.6

    # --- what holds now: of statements that are about as close to the question, the newest comes
    # first ---
    current_among: int = 15  # best passages
    current_from: float = 0.6  # of the sureness of the best one
    current_close: float = 0.4  # share of the question's words in two sentences of it
    current_within: float = 0.35  # of the closest one's share

    # --- what stands beside the match, in the same log-odds: .8 is what a tenth of the vector's
    # range is worth --- workspace and user scope: twins differ by this much in BM25 through their
    # length alone
    inherited: float = 0.3
    sibling: float = 0.8  # another project's memory must be clearly better; judgement
    impermanent: float = 0.2  # whatever nobody marked as permanent; judgement
    # what age can cost at most; judgement: seldom more than one place
    oldest: float = 0.4
    half_life_days: float = 90.0  # after which half of that is lost; judgement
    # about what the question names, or what is related to it: .15 of the likelihood at the middle
    graph: float = 0.6
    graph_related: float = 0.5  # of that, for what is only related to it; judgement
    # what its use has shown can give or take at most; measured: with .4 chance does harm
    feedback: float = 0.3
    # how counters become that
    use: FeedbackSettings = field(default_factory=FeedbackSettings)
    archived: float = 1.5  # found when asked for, rarely first; judgement
    # a host's summary of a conversation, which is kept itself; measured on the labelled sessions
    summary: float = 1.5
    # superseded by a memory that may not be shown here; judgement
    outdated: float = 4.0
    repeated: float = 1.5  # says nearly what a better hit says; judgement
    # times the logarithm of how many passages of its memory come before one, where several answer
    # together; measured on LoCoMo
    same_memory: float = 0.8
    # share of common words at which a hit says nothing beside a better one of its place
    same_from: float = 0.9
    # share of common words (Jaccard) at which two passages say the same; judgement
    repeated_from: float = 0.8

    # --- asked for a time alone: log-odds by what is from then; judgement: place and age bridge no
    # step ---
    then_decision: float = 3.2
    then_note: float = 2.4
    then_decided: float = 1.8  # a talk that led to a decision
    then_talk: float = 1.2
    then_document: float = 0.8

    # --- thresholds on the score ---
    # of the best memory, for anything to be shown; measured: most unrelated questions stay below,
    # most paraphrases above
    nothing_below: float = 0.2
    # the same for pairs of letters alone: much of such a question is grammar; measured on
    # benchmarks/other_scripts.yaml
    unread_below: float = 0.1
    # of memories that are named where none is shown: what is unrelated stays below half of it
    near_from: float = 0.1
    # of each memory that is shown behind it
    hidden_below: float = 0.05
    # a memory below the second is not shown behind one from the first on; measured on the labelled
    # sessions, where no answer is lost
    likely_from: float = 0.6
    unlikely_below: float = 0.4
    # how far, in log-odds, the first hit must be ahead of the second to be told alone, at length;
    # measured there: the first is right in 46 of 51, another in none
    stands_out_from: float = 2.0
    # how far, in log-odds, a memory may be behind the best one to be told unasked with it; measured
    # on the prompts of recorded sessions
    beside_told: float = 0.5
    # of what is told unasked: in how many words its passage must agree with the prompt, counted as
    # words that no other passage has; measured on the prompts of recorded sessions
    told_from: float = 2.2
    told_near: float = 1.8  # as so many words counts a cosine of 1; fitted there
    told_alone_from: float = 1.3  # the same by words alone; judgement
    # passages from which on they show which words are rare; judgement
    counted_from: int = 30
    # of what is told unasked in the place of a memory that it contradicts and is newer than;
    # judgement
    in_place_from: float = 0.5
    # where nothing is surer than this, the other projects are asked too; judgement
    widen_below: float = 0.5

    # --- sizes ---
    candidates: int = 200  # passages taken from each search
    covering: int = 20  # best text matches in which the query's words are looked for
    weighed: int = 40  # best memories whose other words are counted
    # likeliest passages whose memories are looked up; measured: with 100 recall@10 is the same
    looked_up: int = 150
    read: int = 60  # best passages of both searches whose own words are looked at


WEIGHTS = Weights()
# of a hit's passage, and of the first one's where it stands out; measured on the labelled sessions
EXCERPT_CHARS, LONG_EXCERPT_CHARS = 380, 850
WITHIN_CHARS = 1_600  # where one memory alone is asked; measured there
DIGEST_CHARS = 1_200  # of a digest's, which is told in place of several memories
PROMPT_HITS = 3  # unasked memories for one prompt; contract
# looked at for it; one may say what a better one says, or may not be told
PROMPT_CANDIDATES = 4
# of a prompt: its beginning and its end; the model reads some 1,000
QUERY_CHARS = 2_000
