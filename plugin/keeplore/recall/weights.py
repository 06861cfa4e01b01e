"""Every number that decides what is recalled, with where it comes from.

"Measured" means docs/benchmarks.md, section Recall, which also names the command.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    # --- how sure each search is: both become a likelihood, joined as 1 - (1 - text)(1 - vector) ---
    # the best text match of a query that has all its words; measured: .6 to .7 is a plateau
    text: float = 0.65
    # the same for a text match when there are no vectors to confirm it; measured: what abstains on nine of ten
    text_alone: float = 0.9
    # the cosine of a passage that only the text search found, as a part of the lowest the vector search gave: a guess
    unseen_cosine: float = 0.5

    # --- what stands beside the match; each only lowers, so that a score never exceeds what was matched ---
    inherited: float = 0.98  # workspace and user scope: enough to put the own project first on near ties
    sibling: float = 0.9  # another project's memory must be clearly better; judgement
    impermanent: float = 0.97  # whatever nobody marked as permanent; judgement
    oldest: float = 0.94  # what recency can cost at most; judgement: less than a third of a rank's usual distance
    half_life_days: float = 90.0  # after which half of that is lost; judgement
    archived: float = 0.75  # found when asked for, rarely first; judgement
    outdated: float = 0.6  # superseded by a memory that may not be shown here; judgement
    repeated: float = 0.7  # says nearly what a better hit says; judgement
    repeated_from: float = 0.8  # share of common words (Jaccard) at which two passages say the same; judgement

    # --- thresholds on the score ---
    nothing_below: float = 0.3  # measured: unrelated questions stay below, paraphrases above
    prompt_from: float = 0.5  # what is put before a person's agent unasked must be surer; measured
    # a query this short of good hits is asked of the other projects too
    few_hits: int = 2

    # --- sizes ---
    candidates: int = 200  # passages taken from each search; measured: 100 loses .002 of recall@10 in 500 passages


WEIGHTS = Weights()
EXCERPT_CHARS = 400  # of a hit's passage; contract
PROMPT_HITS = 3  # unasked memories for one prompt; contract
QUERY_CHARS = 2_000  # of a prompt: its beginning and its end; the model reads some 1,000
