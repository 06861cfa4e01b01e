"""Words at the start of a message that open a subject, go on with one, or only say yes: as data,
for the segmenter.
"""

from __future__ import annotations

import re

_OPENER = (
    r"\W*(?:(?:ok(?:ay)?|alright|right|great|cool|good|perfect|nice|thanks?|thank "
    r"you|done|yes|awesome|"
    r"excellent|so|now|and|then)"
    r"[\s,.!—–-]+)*"
)


def _starts(pattern: str) -> re.Pattern[str]:
    """The pattern after any number of "ok", "thanks", "so"."""
    return re.compile(rf"\A{_OPENER}{pattern}", re.IGNORECASE)


# words that open a new subject by themselves, at the start of a message
NEW_TOPIC = _starts(
    r"(?:next(?: up| task| topic| item| thing| issue| question| feedback item| feature| "
    r"step)?\s*(?:[,.!:—–]|is\b|-\s|\Z)|"
    r"moving on\b|on to the next|let(?:'|’)?s move on|(?:a |on a |i have a )?(?:completely "
    r"|totally |"
    r"somewhat |slightly )?"
    r"(?:different|new|separate|unrelated) (?:topic|subject|task|question|issue|matter|"
    r"feature|problem|note|bug)\b|"
    r"change of (?:topic|subject)|switching (?:gears|topics|to)|unrelated[,:]|implement the "
    r"following plan|"
    r"another (?:topic|subject|task|issue|bug|matter|feature)\b|(?:let(?:'|’)?s )?(?:turn|get) "
    r"(?:now "
    r")?to (?:the )?(?:next|other)\b)"
)
# words that may open one, or only the next step of the same
MAYBE_TOPIC = _starts(
    r"(?:let(?:'|’)?s (?:now |start |begin |also )?(?:build|implement|write|design|plan|"
    r"work on|tackle|start (?:on|with|work)|"
    r"focus on|talk about|discuss|look into|turn to|go to)\b(?! (?:it|this|that|those|these)\b)|"
    r"(?:now|next)[, ]+(?:let(?:'|’)?s|i(?:'d| would)? (?:like|want|need)|we "
    r"(?:need|should|have)|can "
    r"(?:you|we)|could (?:you|we))\b|"
    r"by the way\b|btw\b|separately[,:]|another (?:thing|question|one)\b|"
    r"(?:that'?s|this is) (?:done|fixed|sorted|out of the way|working now)[,.!;]?\s+(?:now|next|"
    r"let|can|"
    r"could|please|we)\b)"
)
# the talk is over and the work begins: a boundary where there was a talk
NEXT_PHASE = _starts(
    r"(?:let(?:'|’)?s|we can|time to|please|go ahead and)?\s*(?:now |start "
    r")*(?:build|implement|code|"
    r"write|create)"
    r"(?:ing)? (?:it|this|that|the (?:plan|design|spec|whole thing))\b"
)
# a message that takes up what was just said
CONTINUES = re.compile(
    r"\A\W*(?:(?:ok(?:ay)?|oh|hm+|so|well|right|yes|yeah|no|ah|wait|sorry|huh)[\s,.!…]+)*(?:and|"
    r"but|or|it|"
    r"its|it's|that|that's|this|these|those|they|them|he|she|then|also|because|"
    r"why|how come|which|what about|how about|what if|in that case|does (?:it|that|this)|is "
    r"(?:it|that|"
    r"this)|did (?:it|that|you)|are (?:they|those|you)|can (?:it|that)|so|still|same|"
    r"again|instead|except|actually|you|your|i (?:mean|meant)|not|where is (?:it|that)|the "
    r"(?:above|same|"
    r"first|second|last|other)|now it|try again|makes sense|to be (?:precise|exact|clear|"
    r"fair)|(?:just )?to clarify|"
    r"in other words|for (?:context|reference)|one more(?: thing| question)? (?:on|about|for) "
    r"(?:it|that|this))\b",
    re.IGNORECASE,
)
# the names by which people speak of options and points: a letter alone, or either after its noun
_NAMED = (
    r"(?:option|variant|approach|alternative|plan|point|item|finding|number|variante|punkt|"
    r"方案|选项)s?"
)
LABELS = re.compile(
    rf"(?i:\b{_NAMED}\s*#?([A-Ea-e]|\d{{1,2}})(?![\w.]))|(?<![\w.'’/-])([B-E])(?![\w'’/+#-]|\.\w)"
)
# how an answer gives them
LABELLED = re.compile(
    rf"(?i:\b{_NAMED}\s*#?([A-Ea-e]|\d{{1,2}})(?![\w.]))|(?<![\w.'’/-])([B-E])(?![\w'’/+#-]|\.\w)|"
    r"^\s{0,4}(?:\*\*)?(\d{1,2}|[A-E])[.)]\s",
    re.MULTILINE,
)
ACCEPTS = _starts(r"(?:please|bitte|por favor|s'il te plaît|请)\b")
# the work so far is handed in: its end, and no subject of its own
FINISHES = _starts(
    r"(?:(?:please|sorry|let(?:'|’)?s|can|could|you|we|i|go ahead and|it (?:seems to "
    r")?works?)[\s,.!]+)*"
    r"(?:(?:commit|push|rebase|merge|submit)\b|"
    r"(?:open|make|create|send|raise|put up)\s+(?:(?:a|an|the|another|new|draft)\s+)*"
    r"(?:pr|mr|pull request|merge request|commit)\b)"
)
# bare go-aheads and picks: they answer what was said, and never open a subject
_CONFIRMING = """
+1 a absolutely again agree agreed ahead all and approve approved are b both c carry coming continue cool correct
course d definitely do done e exactly fine first for former go going good great hello hey hi how how's i is it k
keep latter let's lets lgtm looks me n next nice no nope now of ok okay oky on one option perfect please proceed
resume retry right second ship sounds start sure thank thanks that the them third this three try two we with works y
ye yea yeah yep yes you yup 👍
"""
CONFIRMATION_WORDS = frozenset(_CONFIRMING.split())
