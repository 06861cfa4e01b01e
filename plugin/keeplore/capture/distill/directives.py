"""Orders of a person's that settle how a thing shall be, told from those that only say what to do
next.

Weaker than the words of ``cues.DECIDED``, so they are read for a conversation's file alone and
never make a note.
"""

from __future__ import annotations

from keeplore.capture.cues import talk_cues
from keeplore.capture.cues.cue_patterns import Cue, any_of, cue
from keeplore.text.sentences import Sentence
from keeplore.text.terms import terms

MIN_TERMS = 3  # content words; "remove it" tells a later reader nothing
FEW_TERMS = 4  # likewise where the sentence says "this", "it", "them" of what it does not name

# verbs of the work itself: a request, and not a word on how the result shall be
_WORK = (
    r"(?:see|look|check|try|talk|discuss|start|begin|continue|proceed|go\b|run|commit|push|merge|"
    r"test|do (?:it|"
    r"that|this)"
    r"|get (?:started|back|going)|move on|think|figure|debug|review|investigate|explore|"
    r"wait|find|clarify|call it|say|"
    r"assume|focus|return to|work|fix|implement|build|write|create|open|"
    r"take|finish|explain|summari|recap|read|draft|"
    r"plan|ask|list|add (?:a |an |some )?(?:test|todo|linear)|document|describe|show|"
    r"give|tell|tackle|prepare|generate|"
    r"make a (?:commit|plan|pr)|update|address|verify|confirm|compact|polish|clean)"
)
_DIRECTIVES: tuple[Cue, ...] = (
    cue(
        1.9,
        r"\AOPENERlet(?:'|’)?s (?:just |also |then |please |now )*(?:be sure to |make sure (?:to "
        r"|that )?)?(?!" + _WORK + r")\w+\b",
    ),
    cue(
        1.9,
        r"\AOPENERplease (?:always |never |do not |don'?t |avoid |keep |only use |follow |stick )",
    ),
    cue(
        1.9,
        r"\AOPENER(?:you (?:can|could|should) (?:just |simply )?)(?!(?:see|find|check|"
        r"look|read|try|run|ask|use the "
        r"skill|tell)\b)\w+\b.*\b(?:less work|instead|simpler|easier|rather than|cleaner|no "
        r"need)\b",
    ),
    cue(1.9, r"\AOPENERjust (?:have|use|make|keep|put|show|return|drop|name|store|count|print)\b"),
    cue(
        1.9,
        r"\AOPENER(?:do not|don'?t|never) (?!worry|forget|fix|do\b|commit|push|start|stop|"
        r"think|know|see|"
        r"understand|have\b|"
        r"want|need|get\b|mind|be\b|run|tell|ask|you\b|i\b|we\b|they\b|let\b|care|remember|"
        r"bother|go\b|seem|"
        r"look|believe)\w+",
    ),
    cue(
        1.8,
        r"\AOPENER(?:preserve|avoid|make sure (?:that )?(?:the|it|we|all|every|each|no)\b|ensure "
        r"(?:that )?)\b",
    ),
    cue(1.8, r"\bi (?:don'?t|do not) want (?!to (?:know|see|hear|talk|discuss))"),
)
_LEANS = any_of(r"\b(?:it|this|that|these|those|them|first \d+)\b")
_FAR = any_of(r"\b(?:later|for now|tomorrow|another time|at some point)\b")


def directive(sentence: Sentence) -> float:
    """How much like a decision an order of the person's is, 0 for a question, a doubt and a
    task.
    """
    text = sentence.text
    if sentence.is_question or sentence.is_heading or text.endswith(":"):
        return 0.0
    if len(set(terms(text))) < MIN_TERMS or not stands_alone(text):
        return 0.0
    weight = talk_cues.weight_of(text, _DIRECTIVES)
    is_task = (
        talk_cues.UNDECIDED.search(text) or talk_cues.WORKFLOW.search(text) or _FAR.search(text)
    )
    return 0.0 if is_task else weight


def stands_alone(text: str) -> bool:
    """False where a decision is about "this" or "it" and says too little to tell a later reader
    what that was.
    """
    leaning = _LEANS.search(text)
    is_led = leaning is not None and not terms(
        text[: leaning.start()]
    )  # "sqlite, it is enough" names it first
    is_ending = (
        leaning is not None and not terms(text[leaning.end() :]) and len(terms(text)) < 2
    )  # "remove it"
    return not (is_led or is_ending) or len(set(terms(text))) >= FEW_TERMS
