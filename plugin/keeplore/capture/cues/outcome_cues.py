"""The cue phrases of outcomes and of what is left: what a report says was found, done and not done,
as data.
"""

from __future__ import annotations

import re

from keeplore.capture.cues import foreign_cues
from keeplore.capture.cues.cue_patterns import Cue, any_of, cue

# past forms that a report of work begins with
_DID = (
    r"(?:added|fixed|updated|created|implemented|removed|replaced|refactored|renamed|cleaned "
    r"up|moved|wrote|switched|"
    r"changed|extracted|configured|set up|built|improved|migrated|merged|simplified|documented|"
    r"deleted|dropped|"
    r"consolidated|converted|committed|pushed|reverted|restored|enabled|disabled|drafted|filed|"
    r"inlined|introduced|"
    r"corrected|resolved|verified|upgraded|bumped|reduced|split|applied|"
    r"registered|exported|expanded|patched|pinned|"
    r"installed|deployed|published|written|released|closed|opened|rewrote|reworked|unified|"
    r"deduplicated|wired|hardened|"
    r"rebuilt|rewired|cached|cleared|"
    r"made|ran|kept|tightened|limited|raised|lowered|normali[sz]ed|mapped|scoped|tested|handled|"
    r"stored|swapped|turned|"
    r"adjusted|aligned|ported|trimmed|wrapped|inserted|allowed|blocked|included|excluded|"
    r"generated|synced|tagged|reran|"
    r"repaired|recovered|relaxed|stripped|hardcoded|parameteri[sz]ed|centrali[sz]ed|decoupled|"
    r"detected|traced)"
)
_START = r"\A(?:(?:done|all done|perfect|great|good|fixed|ok(?:ay)?)[\s.!:,—–-]+)?[*_~`✅✓ ]*"

# why something was as it was
CAUSE: tuple[Cue, ...] = (
    *foreign_cues.CAUSE,
    cue(
        3.0,
        r"\b(?:root cause|the (?:(?:real|actual|underlying|core|main|whole|exact) "
        r")?(?:culprit|cause|bug|issue|"
        r"problem|error|failure|crash) (?:was|turned out|came|happened|were)\b|(?:was|"
        r"were) caused by|turn(?:s|ed) out)",
        r"\A\W*(?:bug|cause|root cause)\W*[:—–]\s*\S",
    ),
    cue(
        2.0,
        r"\b(?:the (?:(?:real|actual|underlying|core|main|whole|exact) )?(?:culprit|cause|bug|"
        r"issue|problem|error) "
        r"(?:is|comes|happens|lies)\b|(?:is|are) caused by)",
    ),
)
DONE: tuple[Cue, ...] = (
    *foreign_cues.DONE,
    cue(
        2.6,
        _START
        + r"(?:(?:i|we)(?:'ve|’ve| have)?(?: now| also| successfully| just)* )"
        + _DID
        + r"\b",
    ),
    cue(2.4, _START + _DID + r"\b(?!,? (?:let|i'll|now let|next))"),
)
# how things are now: an outcome only of one who did something
STATE: tuple[Cue, ...] = (
    cue(
        2.0,
        r"\b(?:no longer|now (?:correctly |properly |also |only |always "
        r"|uses?\b|returns?\b|shows?\b|works?\b|"
        r"supports?\b|handles?\b|covers?\b|runs?\b|reads?\b|writes?\b|falls?\b|"
        r"tracks?\b|lists?\b|fails? fast)|"
        r"(?:is|are) now\b|(?:was|were|has been|have been) " + _DID + r")",
    ),
)
OUTCOME: tuple[Cue, ...] = (
    *CAUSE,
    *DONE,
    cue(
        3.0,
        r"\A\W*(?:found|fix|finding|conclusion|bottom line|short "
        r"answer|answer|verdict)\W*[:—–]\s*\S",
    ),
    cue(
        2.2,
        r"\A\W*(?:done|fixed|changed|erledigt|fertig|hecho|listo|fait|terminé)\s*[:—–]\s+\S.{15,}",
    ),
    cue(2.4, r"\b(?:the )?(?:fix|solution) (?:is|was|turned out)\b(?! to be)"),
    cue(
        2.2,
        r"\b(?:tests?|suites?|build|lint(?:er)?|checks?|everything|packages?|"
        r"targets?)\b[^.]{0,40}\b(?:pass(?:es|ed|ing)?"
        r"(?: locally)?|(?:is|are) (?:green|clean)|succeed(?:s|ed)?)\b",
        r"\A\W*(?:all|everything) (?:green|clean|\d* ?tests? pass)",
    ),
    *STATE,
    cue(
        1.8,
        r"\b(?:this|which|that) (?:confirms?|means|explains?|proves?)\b",
        r"\b(?:measured|benchmarks? show)\b",
    ),
)
# headings and leads under which a report lists what was done or found
REPORT_HEADING = re.compile(
    r"\A\W*(?:\d+[.)]\s*)?(?:(?:here(?:'s| is) )?(?:a |the )?(?:quick |short |final )?(?:summary|"
    r"changes|results?|outcome|"
    r"findings|verification|verified|implemented|fixe[sd]|done|completed|what (?:changed|i "
    r"(?:did|changed|found|fixed)|"
    r"was)\b|root cause|bottom line|conclusion|changed|added|removed|updated|created|deleted|new "
    r"files?|"
    r"batch complete)\b(?! plan)|" + _DID + r"\b)",
    re.IGNORECASE,
)
# under these stands what shall be done, whatever else the heading says
PLANNED = any_of(
    r"\b(?:changes?|fix(?:es)?|results?|summary|updates?|work|steps?)\b.{0,20}\b(?:needed|"
    r"required|proposed|planned|"
    r"suggested|recommended|to (?:make|do|apply|come))\b|"
    r"\b(?:proposed|planned|suggested|recommended|required|possible|potential) "
    r"(?:changes?|fix(?:es)?|updates?)\b"
)
REPORT_LEAD = any_of(
    r"\b(?:summary|what(?:'s| was| i| has)? (?:changed|did|found|fixed|wrong|done)|changes(?: i| "
    r"made)?|"
    r"both fixes|the (?:full )?(?:sweep|result|changes|picture|fix)|changed|updated|"
    r"fixed|implemented|drafted|"
    r"verification|verified)\b.{0,80}:\Z",
    r"\A\W*(?:erledigt|fertig|umgesetzt|geändert|hecho|listo|cambios|fait|terminé|(?:已|都)?(?:完成|"
    r"修改|改好)了?)\b.{0,40}[:：]\Z",
)
# items under such a heading that tell what is and not what to do
REPORTED = any_of(
    _START + _DID + r"\b",
    r"\A(?:\*\*)?(?:`[^`]+`(?:\*\*)?(?: \([^)]*\))?|\[[^\]]+\]\([^)]*\)|"
    r"[\w.-]+/[\w./-]+)(?:\*\*)?\s*"
    r"(?:(?:—|–|-|→|:)\s|[：:](?=[^\x00-\x7f]))",
    r"\b(?:jetzt|neue[nr]?|wird|werden|ahora|maintenant)\b",
    r"\b(?:now|no longer|was|were|has been|have been|is|are|pass(?:es|ed)?|→|instead of)\b",
)
# under it stands what is to be done
PLAN_HEADING = re.compile(r"\A\W*(?:implementation |the |revised |updated )?plan\b", re.IGNORECASE)
# what somebody else is to do, or what only code says
TO_DO = any_of(
    r"\A\W*(?:check|verify|create|test|run|add|update|make|ensure|confirm|remove|install|"
    r"push|commit|open|write|use|"
    r"user\b|plan\b|waiting|pending|start|stop|read|track|parse|extract|replace|"
    r"match|emit|build|deploy|review)\b",
    r":=|\A[“\"'→]|\A\w+ing\b(?! (?:was|were|is|now))",
)
# a step on the way, told while it is taken
ON_THE_WAY = any_of(
    r"\A\W*(?:ok(?:ay)?[,.]? |good[,.]? |perfect[,.!]? |great[,.!]? |now[,]? |and |so |but |then "
    r"|next,? |first,? |"
    r"interesting[,.:]? |excellent[,.!]? |alright[,.]? )*"
    r"(?:let me|let's|let us|lets|i'll|i’ll|i will|i'm|i’m|i am|i need|i should|i can|i want|i'd|"
    r"i could|i see|i understand|"
    r"i have|i found the|we need|we should|checking|looking|running|reading|trying|moving "
    r"on|continuing|next|now|"
    r"first|step \d|time to|found (?:it|the)\b|here(?:'s| is| are)|there it is|you(?:'re|’re| are|"
    r" can| could| may| might|"
    r"'ll| should| want| need)|to (?:verify|check|fix|test|run|see)|try|run|if|want|"
    r"would|should|could|shall|ready)\b"
)
GUESSED = any_of(
    r"\b(?:my|the|our) (?:first|initial|next|best|current|working) (?:suspicion|guess|idea|"
    r"theory|hunch|suspect|thing|"
    r"candidate|place)\b|\bsuspicion\b|\bi(?:'d|’d) look\b",
    r"\b(?:maybe|perhaps|possibly|probably|might|likely|seems?|appears?|not sure|unclear|i think|i "
    r"guess|could be|"
    r"would|should|suspect|hypothesis|presumably|assum\w+|suggests?|hopefully|once you|planned)\b",
)
# begins with what only the sentence before tells
LEANING = any_of(
    r"\A\W*(?:and|but|so|or|also|this|that|these|those|it|its|they|them|he(?! \w+[ai]do\b)|"
    r"she|which|both|same|such|there|then|"
    r"(?:one|two|three|a few|some|quick|small)? ?side notes?|only|"
    r"no|not|yes|right|exactly|however|instead|otherwise|still|the (?:latter|former|same|other))\b"
)
# with what a person sends a result back
OBJECTED = any_of(
    r"\A\W*(?:(?:hm+|ok(?:ay)?|well|oh|ah|uh|wait|sorry|hey|yeah|and)[\s,.!]+)*(?:no+\b|"
    r"nope|not\b|but\b|still\b|wrong|"
    r"that(?:'s| is) (?:not|wrong)|it(?:'s| is)? (?:still|not|doesn'?t|does not|didn'?t)|doesn'?t|"
    r"didn'?t|"
    r"i (?:still|don'?t) (?:see|get|think|have)|isn'?t|aren'?t|why (?:is|are|does|do|did|not)|"
    r"stop\b|revert|undo|actually)",
    r"\b(?:still (?:fail|broken|get|see|not|doesn|happen)\w*|(?:doesn'?t|does not|didn'?t|not) "
    r"work\w*|unhappy|"
    r"same error|failed again|you (?:missed|forgot|broke))\b",
    r"\b(?:dead end|red herring|not the (?:cause|reason|culprit|problem|issue)|(?:already )?ruled "
    r"(?:\w+ )?out)\b",
)
# the agent takes back what it said before
TAKEN_BACK = any_of(
    r"\A\W*(?:ok(?:ay)?[,.]? |hm+[,.]? )*(?:(?:that|this|it)(?:'s| is| was) not (?:it|the "
    r"(?:cause|reason|problem|"
    r"issue|culprit))\b|(?:that|this|it) (?:wasn'?t|isn'?t) (?:it|the (?:cause|reason|problem|"
    r"issue|culprit))\b|"
    r"i was wrong\b|"
    r"my (?:earlier|previous|first|initial) (?:\w+ )?(?:was|is) (?:wrong|incorrect|mistaken))"
)

# what a person leaves for another day, or for somebody else to answer
PUT_OFF: tuple[Cue, ...] = (
    *foreign_cues.PUT_OFF,
    cue(
        2.6,
        r"\b(?:can|will have to|has to) wait\b(?! for)",
        r"\b(?:leave|park|postpone|defer|punt)\b(?: \S+){1,6} (?:for|to|until|till) "
        r"(?:later|another|next|tomorrow|a )",
        r"\bi(?:'ll| will| still)? (?:have to|need to|must|should|'ll|will)? ?(?:ask|check "
        r"with|clarify (?:\S+ )?with|"
        r"talk to|hear from) (?!(?:you|it)\b)\w.{2,80}\b(?:whether|if|about|first|how|what|"
        r"which)\b",
    ),
)
LEFT: tuple[Cue, ...] = (
    cue(
        3.0,
        r"\b(?:unfixed|unresolved|(?:not|(?:is|are|was|were)n'?t) (?:yet "
        r")?(?:fixed|solved|resolved|handled|"
        r"implemented|covered|addressed|migrated|tested|supported|wired up|done|deployed))\b",
    ),
    cue(
        2.6,
        r"\b(?:won'?t|will not|does(?: not|n'?t)|not sufficient to|doesn'?t) (?:fully |completely "
        r"|yet |entirely )?"
        r"(?:solve|fix|cover|address|handle)\b.{0,40}\b(?:yet|complete\w*|fully|that "
        r"needs|entirely)\b|"
        r"\b(?:fully|completely) (?:solve|fix)\b.{0,30}\b(?:yet|not)\b",
        r"\b(?:left as[- ]is|remains? to be|for (?:a )?(?:later|another|separate) "
        r"(?:pr|change|session|issue)|"
        r"(?:as|in a) (?:future work|follow-?up)|out of scope|future work)\b",
        r"\b(?:possibly|maybe|probably|potentially|might be) a separate (?:bug|issue|problem)\b",
    ),
    cue(
        2.2,
        r"\A\W*(?:i(?:'d| would)? )?(?:defer|revisit|reassess|postpone)\b.{10,}",
        r"\A\W*if (?:this|it) (?:still )?(?:fails|breaks|does(?:n'?t| not) work)\b",
        r"\b(?:were|was|are|is) (?:\W*not\W*) (?:included|committed|pushed|tested|migrated)\b",
        r"\b(?:currently|still) (?:untracked|uncommitted|untested|unmerged)\b",
    ),
)

# a person who asks for work gives no reason by it
_REQUEST = any_of(
    r"\A\W*(?:(?:hey|hi|ok(?:ay)?|so|now|and|also|claude)[\s,.!]+)*(?:please\b|can you|could "
    r"you|would you|will you|"
    r"i(?:'d|’d| would) like|i want you|i need you|help\b|let's (?:see|look|check))"
)


def is_request(text: str) -> bool:
    return bool(_REQUEST.search(text))
