"""What speaks against a note, as data: doubt, the moment, trouble, words that point elsewhere.

Hedges as in K. Hyland, "Metadiscourse" (2005); words that point to what was said before as in R.
Mitkov, "Anaphora resolution" (2002). The lists are our own.
"""

from __future__ import annotations

import re

from keeplore.capture.cues import note_cues
from keeplore.capture.cues.note_cues import any_of

# clauses that a decision of the user gains by
FIRM = any_of(
    r"\b(?:instead of|rather than|in place of|because|so that|since|as opposed to|in order to|, "
    r"not|always|never)\b"
)
HEDGED = any_of(
    r"\b(?:i think|i guess|i suppose|i believe|i feel like|kind of|sort "
    r"of|seems?|probably|presumably|ideally|"
    r"i'd say|"
    r"could|would be|strawman|for the sake of|temporar\w+|tentative\w*|i'd love|hopefully|should "
    r"probably|"
    r"looks like)\b"
)
OPINION = any_of(
    r"\A(?:and |but |so )?i (?:think|guess|believe|know)(?: that)?,?\s+(?=(?:we|the|our|it)\b)"
)
# what is not the person's own conviction
DOUBTED = any_of(
    r"\b(?:don'?t|do not|can'?t|didn'?t) (?:remember|recall|think|believe)\b|"
    r"\b(?:linter|docs?|documentation|readme|compiler|reviewer|guide|article|page|log|message|"
    r"error|it|he|she|they) "
    r"(?:says?|said|claims?|complains?|wants|thinks|reports?)\b|\bnot (?:really )?(?:convinced|"
    r"certain)\b",
)
# how a statement is led up to; nothing in it points elsewhere
LED_IN = any_of(
    r"\A(?:it )?turns out(?: that)?\s+|\A(?:the|one|another) (?:\w+ )?(?:gotcha|caveat|pitfall|"
    r"footgun|trap|"
    r"convention|rule|"
    r"policy) (?:here |there )?is(?: that)?[:,]?\s+"
)
# what is true or wanted only now, in this task
MOMENT = any_of(
    r"\b(?:for now|right now|at the moment|at this point|just yet|not yet|yet|today|tonight|"
    r"tomorrow|yesterday|this "
    r"(?:time|week|morning|session|branch|pr|commit|file|task|ticket|issue|card|review|scope)|"
    r"(?:next|"
    r"last) (?:week|time|"
    r"step)|later|again|(?<!-)first(?!-)|(?<!-)next|afterwards|meanwhile|still "
    r"(?:get|see|fail)\w*|currently|"
    r"already (?:ran|did|fixed)|the "
    r"(?:review(?:er)?|pr|diff|branch|commit|changes?) (?:above|below|comments?)|while "
    r"(?:you|we)(?:'re| are)|"
    r"(?<!from )now)\b"
)
# "fix 4": a number of a list of findings, and nothing that was chosen
ERRAND = any_of(r"\AOPENER(?:fix|address|do|implement|investigate|explain|show|revert|redo|skip)\b")
# a task: what the sentence states besides is what the task is about
TASK = any_of(
    r"\AOPENER(?:add|write|create|implement|build|fix|update|check|test|verify|refactor|remove|"
    r"delete|find|review|"
    r"generate|document|investigate|ensure|run)\b"
)
# a report of trouble, not of how things are
TROUBLE = any_of(
    r"\b(?:frozen|slow|dead|is down|not responding|error|errors|exception|traceback|failed|"
    r"failing|fails|broke|"
    r"broken|crash(?:ed|es|ing)?|bug|wrong|weird|"
    r"stuck|"
    r"doesn'?t work|not working|didn'?t|hasn'?t|wasn'?t|weren'?t|i (?:still "
    r")?(?:see|get|got|saw|noticed|tried|"
    r"ran)|why|"
    r"wth|wtf|huh)\b"
)
TROUBLE_EXEMPT = frozenset((note_cues.GOTCHAS, note_cues.CORRECTIONS))
# what only those understand who were there
POINTER = any_of(
    r"\b(?:option|step|point|item|issue|problem|comment|fix|finding|line|lines|lin|stage|phase|"
    r"part|number|"
    r"suggestion|"
    r"approach|scenario|address|commit|checkpoint|worktree)s? (?:#?\d+\b|[A-E]\b)",
    r"\b(?:the|these|those) (?:other|first|second|third|remaining|above|below|previous|former|"
    r"latter|same (?:one|"
    r"way|thing|file|approach|idea)|last|rest|two|2|3|"
    r"three)\b(?! (?:rule|principle))",
    r"\b(?:as|like) (?:you|i) (?:said|say|suggested|described|proposed|mentioned)\b|\byour "
    r"(?:suggestion|"
    r"recommendation|"
    r"proposal|idea|plan|first|second)\b",
    r"\b(?:do|did|doing) (?:so|it|that|this)\b",
    r"\blet(?:'|’)?s .*\bhere\W*\Z|\bone by one\b",
)
DEMONSTRATIVE = any_of(
    r"\b(?:this|these|those)\b(?! (?:[\w-]+ )?(?:project|repo|repository|codebase|app|application|"
    r"workspace|"
    r"machine|team|service|"
    r"package|company|org|product|library|module|package)\b)",
    r"\b(?:do|like|for|of|about|on|with|want|need|to|fix|in|than|than|from|at|handle|use|"
    r"keep|make|put|call|drop|"
    r"change|"
    r"leave|have|add|move) that\b(?! \w+ (?:is|are|can|will|does|has|was))",
    r"\AOPENERthat\b(?!\s+said\b)",
)
# stands for something named before, or for nothing
PRONOUN = any_of(
    r"\b(?:it|its|it's|they|them|their|there|here|he|she|him|her|one|ones|both|either)\b"
)
SUBJECTLESS = any_of(
    r"\AOPENER(?:fails|breaks|hangs|crashes|works|returns|runs|shows|gets|should|must|needs?|need|"
    r"has|have|can|"
    r"could|would|will|was|were|is|are|doesn'?t|and|or|but|because|"
    r"which|"
    r"rather|instead|not|also|than|so|like|similar|based|same|only|except|then|as|with|without)\b"
)
# what the person says about the talk itself, or asks to be done with it
TALK = any_of(
    r"\b(?:let me|tell me|show me|give me|explain|ask me|remind me|help me|i'll|i will|i'm going "
    r"to|i mean|"
    r"you know|what i "
    r"meant|my (?:question|point|suggestion)|thoughts|wdyt|can we|can you|could you|could we|would "
    r"you|"
    r"please (?:update|fix|"
    r"add|check|run|read|include|look|verify|create|make))\b"
)
VAGUE = any_of(
    r"\b(?:something (?!that\b)|anything (?!not\b)|stuff|things|somehow|somewhere|whatever|etc)\b",
    r"\Ahttps?://",
)
QUOTED = re.compile(r"\A[\"“”'‘«「『>]")

# a question of the agent about what to do next settles nothing that lasts
MOMENTARY_QUESTION = any_of(
    r"\b(?:right now|next|first|today|continue|proceed|go ahead|start with|begin "
    r"with|resume|retry|try again|"
    r"which (?:issue|ticket|task|pr|branch|commit|file|bug|finding|fix|step|test)s?\b|"
    r"(?:what|which|how) (?:\S+ ){0,3}(?:would|do) you (?:like|want) (?:me )?to "
    r"(?:do|work|focus|proceed|continue|"
    r"handle (?:it|"
    r"this|that)|see|tackle)|(?:want|like) me to\b|shall i\b|should i\b|ready to\b|is "
    r"(?:this|that) (?:ok|okay|"
    r"correct|right|"
    r"what)|does (?:this|that|it) (?:look|sound|work|match)|what(?:'s| is) (?:the "
    r")?(?:problem|error|wrong)|can you "
    r"(?:share|paste|confirm|describe|tell))\b"
)
UNSETTLED_ANSWER = any_of(
    r"\?",
    r"\A\W*(?:(?:i )?(?:don'?t|do not) (?:know|care|mind|understand)|not sure|no idea|no "
    r"preference|you (?:decide|"
    r"choose|pick)|"
    r"up to you|whatever|your call|either(?: is fine| works| one)?|any|maybe|let'?s "
    r"(?:talk|discuss|see|wait)|skip|"
    r"none|n/?a|"
    r"other|later|let me|can you|could you|what|why|how|wait|hold on|explain|continue|go ahead|i "
    r"need to|"
    r"chat about this)\b",
)
