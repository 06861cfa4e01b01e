"""The cue phrases by which a sentence is known for a note, as data: what it states, and of which
category.

Sources: what a sentence does is read from its form, as in J. Searle, "A taxonomy of illocutionary
acts" (1975): directives for good and commissives make rules and decisions, assertives of lasting
states make facts, and all are told from questions and from requests of the moment
(``note_doubts``). The lists are our own and lean to precision: a missing note can be read in its
conversation, a wrong one misleads.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from keeplore.capture.cues import cue_patterns
from keeplore.text.lazy_regex import pattern

DECISIONS = "architectural-decisions"
CONVENTIONS = "project-conventions"
PREFERENCES = "coding-preferences"
FACTS = "user-facts"
CORRECTIONS = "corrections"
PATTERNS = "patterns"
GOTCHAS = "gotchas"
INFRASTRUCTURE = "infrastructure"
SECURITY = "security"


class Rule(NamedTuple):
    """``category`` "" leaves it to the subject of the sentence; ``confidence`` before anything
    speaks against it.
    """

    category: str
    confidence: float
    pattern: re.Pattern[str]


def _rule(category: str, confidence: float, *patterns: str) -> Rule:
    return Rule(category, confidence, any_of(*patterns))


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern of all, the case ignored; names in capitals stand for the lists of the
    same name.
    """
    text = "|".join(patterns)
    for name, part in (
        ("CHOOSE", cue_patterns.CHOOSE),
        ("OPENER", cue_patterns.OPENER),
        ("SECRET", _CONFIDENTIAL),
        ("PLACE", _PLACE),
    ):
        text = text.replace(name, part)
    return pattern(text, re.IGNORECASE)


_CONFIDENTIAL = (
    r"(?:secrets?|credentials?|passwords?|passphrases?|api keys?|private keys?|(?:access|api|auth|"
    r"bearer|refresh|"
    r"signing|"
    r"session|deploy|service|bot|github|gitlab|npm|pypi) tokens?|tokens(?= (?:under|out of|in "
    r"(?:the |"
    r"our )?(?:repo|git|code|"
    r"logs?|env)))|pii|personal data|customer data)"
)
_PLACE = (
    r"(?:servers?|clusters?|(?:data)?bases?|dbs?|postgres\w*|mysql|redis|buckets?|regions?|"
    r"registry|"
    r"staging|production|prod|ci|pipelines?|runners?|deploy\w*|hosts?|ports?|dns|domains?|vpn|"
    r"proxy|nginx|docker\w*|"
    r"containers?|kubernetes|k8s|terraform|helm|backups?|vms?|cron\w*|"
    r"machines?|laptops?|environments?|"
    r"endpoints?|dashboards?|monitoring|releases?|goreleaser|homebrew|mirrors?|clones?|checkouts?)"
)

# what the person orders to be kept; ``what`` is the statement itself
REMEMBER = any_of(
    r"\AOPENER(?:(?:can|could|would|will) you (?:please |also )?|i(?:'d| would) like you to |i "
    r"want you to |"
    r"you (?:should|must|have to|need to) |always )?"
    r"(?:remember(?: this| the following| for (?:later|next time|the "
    r"future))?(?:\s*[:,–—-]+\s*(?:that\s+)?|"
    r"\s+that\s+|"
    r"\s+(?=(?:i|i'm|i'd|we|we're|our|my)\b(?! said| asked| told))|"
    r"\s+(?=the (?:\S+ ){1,5}?(?:is|are|must|should|lives?|runs?|uses?|has|needs?|cannot|can't|"
    r"does|doesn't)\b))|"
    r"(?:please )?(?:don'?t (?:ever )?forget|do not "
    r"forget|memori[sz]e)(?:\s*[:–—-]+\s*(?:that\s+)?|,?\s+(?:that|"
    r"of the fact that)\s+)|"
    r"(?:(?:add|save|store|write|put|commit) (?:this |that |it )?(?:to|in|into) (?:your |the "
    r")?(?:long-term )?memory)"
    r"\s*[:,–—-]+\s*(?:that\s+)?)(?P<what>\S.*)\Z",
    # the same order in some other languages
    r"\A(?:请|請)?(?:记住|記住|记得|記得)(?:[:：，,、\s]|(?=\w))+(?P<what_zh>\S.*)\Z",
    r"\A(?:bitte )?merk(?:e)? dir(?: bitte)?[:,]?(?: dass)?\s+(?P<what_de>\S.*)\Z",
    r"\A(?:por favor,? )?recuerda(?: que|:)\s+(?P<what_es>\S.*)\Z",
    r"\A(?:s'il te plaît,? )?(?:souviens-toi|retiens)(?: que| qu'|:)\s*(?P<what_fr>\S.*)\Z",
)
# the same as a remark: worth keeping, but not for ever
NOTE = any_of(
    r"\AOPENER(?:please )?(?:note|take note|make a note|keep in mind|bear in mind|be aware|fyi|"
    r"for your information|just so "
    r"you know)(?:\s*[:–—-]+\s*(?:that\s+)?|,?\s+(?:that|of the fact that)\s+)(?P<what>\S.*)\Z"
)
# an order that ends in a colon: the list or the sentence below it is what is meant
REMEMBER_LIST = any_of(
    r"\AOPENER(?:remember|note|keep in mind|bear in mind|memori[sz]e|don'?t forget)(?: this| "
    r"these| the following)?"
    r"(?: (?:rules?|points?|facts?|things?|notes?))?:\Z"
)
# what shall hold from now on
STANDING_ORDER = any_of(
    r"\AOPENER(?:from now on|from here on(?: out)?|going forward|henceforth)\b,?\s+\S+ \S+",
    r"\A(?!(?:i|you|he|she|they) (?:will|would|'ll))(?:\S+ ){2,30}?(?:from now on|going "
    r"forward)\W*\Z",
    r"\AOPENER(?:you (?:should|must|have to|need to) )?(?:always|never(?: ever)?|don'?t ever|do "
    r"not ever)\s+"
    r"(?!(?:mind|been|the|an?|had|have had|seen|saw|heard|worked|happen\w*|again|knew|know|"
    r"thought|said|did|got|"
    r"gets?|"
    r"fails?|nice|good|fun|great|ever|too|so|in|on|at|more|better|worse|less|true|wrong|"
    r"right|looked|came|comes|"
    r"there|here|possible|sure|happy|works?|trust a|say never|be sure|i|we|he|she|it|they|"
    r"you|this|that|these)\b)"
    r"(?!\w+(?:ed|ing)\b)[a-z]+\s+\S",
    r"\A(?:OPENER|please )i (?:never|don'?t ever|do not ever) want you to \S+",
    r"\AOPENERi want you to (?:always|never) \S+",
    r"\AOPENER(?:don'?t|do not|never)\s+\w+.{0,80}\b(?:unless (?:i|we)(?:'ve| have)? "
    r"(?:ask|tell|say|explicitly|told|"
    r"asked)|without (?:asking|my (?:ok|okay|approval|permission)|telling me|checking with me))\b",
    r"\AOPENER(?:(?:whenever|every time|each time) (?:you|we)\b.{4,120},\s*(?:always |please "
    r"|first |then |also )*"
    r"(?:run|use|add|write|update|check|ask|make|keep|create|put|include|format|test|bump|tell)\b)",
)

RULES: tuple[Rule, ...] = (
    _rule(
        SECURITY,
        0.86,
        r"\b(?:never|always|must|don'?t|do not|cannot|may not|only|not allowed to|no)\b(?: "
        r"\S+){0,7} SECRET\b",
        r"\bSECRET (?:\S+ ){0,3}?(?:must|may|can only|should|never|always|only|lives?|are "
        r"(?:kept|stored|rotated|"
        r"read|"
        r"injected|encrypted)|is (?:kept|stored|rotated|read|injected|encrypted)|comes? from|goes? "
        r"(?:in|into|"
        r"through))\b",
        r"\b(?:must|has to|have to|needs? to|should) (?:always |all )?be "
        r"(?:encrypted|hashed|signed|escaped|"
        r"sanitised|"
        r"sanitized|authenticated|validated server-side|redacted|rate-limited)\b",
    ),
    _rule(
        CORRECTIONS,
        0.86,
        r"\b(?:we|i) (?:already |clearly |explicitly )?(?:decided|agreed|said|settled|asked "
        r"for|told you)(?: on|"
        r" for| we"
        r"(?: all)? want| to use| that| you)? .{2,80}(?:, not|,? (?:and )?not) \S+",
        r"\A\W*(?:no+|nope|nah|wrong|actually|correction|sorry)\b[\s,.:;!…-]+(?!i\b|we "
        r"(?:can|could|should)|"
        r"you (?:can|"
        r"could)|let)(?:the |our |my |its )?\S+(?: \S+){0,5}? (?:is|are|should "
        r"be|runs?|uses?|lives?|goes|needs?)\b"
        r"(?=.*(?:\bnot\b|n't\b|\binstead\b|\brather than\b|\bso (?:it|that)\b))",
        r"\b(?:is|are) (?:not|n't) (?:correct|right|true|what we (?:want|agreed))\b[,;.–—-]+ "
        r"?(?:it|that|they|the|we|"
        r"this|those)\b",
        r"\A\W*(?:that'?s|you(?:'re| are)|this is|that is) (?:wrong|incorrect|mistaken|"
        r"not right)\b[\s,.:;!–—-]+\S+ \S+ \S+",
        r"\A\W*actually,? (?:you|we|it|the|our|my) (?:\S+ ){0,8}?(?:installed|moved|"
        r"renamed|uses?|runs?|lives?|is|"
        r"are|"
        r"was|were) (?!\w+ing\b)\S+",
        r"\b(?:doesn'?t|does not|don'?t|do not) belong (?:in|on|to|there)\b(?=.*\b(?:only|"
        r"but|it|they|rather|"
        r"instead)\b)",
    ),
    _rule(
        CONVENTIONS,
        0.9,
        r"\AOPENERwe (?:also |all )?(?:use|follow) (?!(?:it|this|that|these|"
        r"those|them|the|an?|some|one|two)\b)\S+",
        r"\bwe (?:never|don'?t|do not) (?:use|mock|allow|commit|ship|support|write|rely on)\b(?! "
        r"(?:it|this|that|"
        r"them)\b)",
        r"\b(?:all|every|each) \S+(?: \S+)? needs? (?:an?|its|their)\b",
        r"\b(?:the|our|a) (?:\w+ )?(?:convention|rule|policy|standard|house style) (?:here |"
        r"for \S+(?: \S+)? )?(?:is|says)\b",
        r"\bwe (?:always |never |only )?(?:use|run|write|name|test|build) .{2,60} in this "
        r"(?:repo|repository|"
        r"project|codebase)\b",
        r"\bin this (?:repo|repository|project|codebase|team|org|company),? (?:we|use|never|always|"
        r"all|every|no|"
        r"only)\b",
    ),
    _rule(
        CONVENTIONS,
        0.82,
        r"\bwe (?:explicitly |always |never |only |generally |usually |normally |consistently "
        r"|don'?t |do not |all )*"
        r"(?:use|name|prefix|squash|rebase|pin|version|tag|format|lint|follow|target|support|"
        r"ship|deploy|document|"
        r"mock|"
        r"store|write|run|put|keep|rely on|avoid|prefer|stick to)\b(?! (?:it|this|that|them|to)\b)",
        r"\b(?:all|every|each|any|no) (?:new |public |single |our )?(?:\S+ "
        r"){1,3}(?:must|should|needs? to|has to|"
        r"have to|"
        r"go(?:es)? (?:in|into|to|under)|lives? in|gets? an?|starts? with|ends? with|may|is "
        r"allowed|are allowed)\b",
        r"\b(?:commit messages?|branch(?: name)?s|branch names?|prs|pull requests|tests|unit "
        r"tests|changelogs?|"
        r"docstrings|"
        r"comments|imports|file ?names|migrations|error messages|endpoints|handlers|"
        r"modules|fixtures|type hints) "
        r"(?:must|should|need to|have to|always|never|go (?:in|into|under)|live in|belong|start "
        r"with|end with|are "
        r"written)\b",
        r"\AOPENER(?:/\S+ )?(?:please )?(?:keep|leave) (?:each|every) \S+ \S+",
    ),
    _rule(
        PREFERENCES,
        0.84,
        r"\bi (?:really |much |strongly |generally |always |personally |usually |do |would |"
        r"'d )*prefer (?!to (?:know|see|"
        r"hear|talk|discuss|wait|start)\b)\S+ \S+",
        r"\bi(?:'d| would)? (?:much |really |strongly )?rather (?:you |we |have |use |keep "
        r"|implement |not |see )\S+",
        r"\bi (?:really |explicitly |personally |generally |still |definitely |just )*(?:don'?t|do "
        r"not|"
        r"never) want (?!you "
        r"to (?:do|fix|change|touch) (?:it|that|this)|to (?:waste|lose|wait|talk|"
        r"discuss|argue))\S+ \S+ \S+",
        r"\bi (?:really |strongly |personally |absolutely )*(?:hate|dislike|can'?t stand|don'?t "
        r"like|do not like)\s+"
        r"(?!(?:this|that|it|these|those|the (?:idea|look|result|color|"
        r"colour|way|first|second))\b)\S+ ?\S*",
        r"\bi (?:always|never|usually|only) (?:use|write|want|read|commit|work|run|keep|format|"
        r"name)\b \S+",
        r"\bmy (?:preferred|favou?rite|preference)\b.* (?:is|are)\b",
        r"\AOPENERlet(?:'|’)?s not (?:leave|put off|postpone|skip) .*\b(?:end|tests?|docs|"
        r"review)\b",
    ),
    _rule(
        GOTCHAS,
        0.8,
        r"\b(?:gotcha|caveat|pitfall|footgun)(?: (?:here|with \S+))?(?: is|:)",
        r"\A\W*(?:beware|watch out|be careful|careful)\b(?: of| with| when|[:,])?\s+\S+ \S+",
        r"\b(?:the|real|actual|root) (?:issue|problem|cause|culprit|bug) (?:was|turned out to "
        r"be|is) (?!that (?:i|"
        r"we|you)\b)"
        r"\S+ .*(?:because|which|that|when|ignored|since|only)\b",
        r"\b(?:it )?turns out(?: that)? (?!i\b|you\b|we\b)\S+ \S+ \S+",
        r"\b(?:silently|only) (?:fails?|ignores?|drops?|truncates?|breaks?|works?) "
        r"(?:if|when|with|on|unless|"
        r"after)\b",
        r"\b(?:breaks?|fails?|hangs?|crashes) (?:if|when|unless|whenever) "
        r"(?:you|the|a|an|it|there)\b",
    ),
    _rule(
        INFRASTRUCTURE,
        0.82,
        r"\bPLACE (?:\S+ ){0,4}?(?:runs?|lives?|is hosted|are hosted|is deployed|deploys?|listens?|"
        r"is checked out|"
        r"points?|"
        r"sits|is served|is reachable|is (?:at|on|in|behind)|are (?:at|on|in|behind)) "
        r"(?:on|in|at|to|from|under|"
        r"behind|via|"
        r"through|port|https?|with|as|\S*[.:/]\S*)",
        r"\b(?:is|are) (?:checked out|cloned|hosted|deployed|mounted|installed) "
        r"(?:in|on|at|to|under|with|via|as|"
        r"by)\b",
        r"\b(?:runs?|lives?|listens?|deploys?|deployed|hosted) (?:on|in|at|to|behind|via|as) "
        r"(?:\S+ ){0,3}?PLACE\b",
        r"\b(?:the|our) (?:\S+ ){0,3}?(?:port|host(?:name)?|url|region|namespace|bucket|"
        r"cluster|account|"
        r"domain)(?: for \S+| "
        r"of \S+| name)? is (?!not\b|down\b|slow\b|full\b|locked\b|broken\b|\w+ing\b)\S+",
        r"\bwe(?:'re| are)? (?:deploy\w*|host\w*|run(?:ning)?) (?:\S+ ){0,4}?(?:on|to|in|with|via) "
        r"\S+",
    ),
    _rule(
        FACTS,
        0.84,
        r"\A\W*(?:(?:also|and|btw|fyi|by the way|note|for context),? )?i (?:use|work "
        r"(?:on|at|in|as|with|from)|"
        r"live in|am "
        r"based in|speak|run|own|maintain|develop on|am on) (?!(?:it|this|that|the|a few)\b)\S+",
        r"\A\W*(?:(?:also|and|btw|fyi|by the way|note|for context),? )?my (?:name|role|timezone|"
        r"time zone|team|job|"
        r"editor|"
        r"shell|machine|laptop|os|terminal|github (?:user|handle|account)|email|native language|"
        r"pronouns)\b.* (?:is|are)\b",
        r"\A\W*(?:(?:also|btw|fyi|by the way),? )?(?:i'm|i am) (?:an? \S+(?: \S+)? "
        r"(?:engineer|developer|designer|"
        r"manager|"
        r"scientist|student|maintainer|founder|lead)|colou?r-?blind|dyslexic|new to \S+|based "
        r"in|left-handed)",
        r"\bis exposed (?:as|to|via)\b|\balready have an? \S+ .*\bthat\b",
    ),
    _rule(
        DECISIONS,
        0.86,
        r"\b(?:i|we)(?:'ve| have)? (?:now |finally |just |all |both )*(?:decided|settled|agreed|"
        r"opted) (?:on|to|"
        r"for|that|"
        r"against|not)\b",
        r"\A\W*(?:final |the )?(?:decision|decided|agreed|conclusion|verdict)\b ?(?:is|:|—|–|- )",
        r"\b(?:the|our|my) (?:final )?(?:decision|choice) (?:is|was)\b",
        r"\bwe (?:explicitly |definitely |really |deliberately )*(?:don'?t|do not|never) want "
        r"(?!you|to (?:do|"
        r"touch|go) "
        r"(?:it|that|this|there)|this|that|it\b)\S+ \S+",
        r"\bwe (?:do|don'?t do|are|go|build) [\w-]+-(?:first|only|free|side|based|native)\b",
        r"\b(?:we|i)(?:'re| are|'m)? (?:going with|sticking with|staying with|not concerned "
        r"(?:about|with)|"
        r"dropping support|"
        r"standardi[sz]ing on)\b",
        r"\AOPENER[\w.`'\"-]+(?: [\w.`'\"-]+)? it is\b(?=[,.;!]|\Z)",
    ),
    _rule(
        "",
        0.82,
        r"\AOPENERlet(?:'|’)?s (?:just |also |then |please )*(?:use|go with|go for|stick "
        r"(?:with|to)|adopt|"
        r"switch to|drop|"
        r"keep|stay (?:with|on)|standardi[sz]e on|settle on|pick|choose|store|default to|rely "
        r"on|avoid|not|put|"
        r"have|leave|"
        r"change|rename|split|merge|move (?:\S+ ){1,4}to|call)\b",
        r"\AOPENER(?:we|i)(?:'ll|’ll| will| shall) (?:not |always |only |just )*(?:use|go "
        r"with|keep|stick|adopt|"
        r"switch to|"
        r"drop|store|support|target|stay|pin|default to)\b",
        r"\AOPENER(?:please )?(?:use|take|choose|pick|prefer|stick with|go "
        r"with|adopt)\s.{2,90}\b(?:instead of|"
        r"rather than|"
        r"in place of|not|over)\b",
        r"\AOPENER(?:i think )?we (?:explicitly |definitely |really |do )?(?:want|need) (?!to "
        r"(?:know|see|talk|"
        r"discuss|look|"
        r"check|test|commit|come|fix|figure|decide|understand|think|be (?:sure|careful)|make "
        r"sure|find|wait|write|"
        r"get (?:it|"
        r"this|that))\b|(?:it|this|that|them|a (?:new|plan|list|test|way))\b)\S+ \S+ \S+",
        r"\bi (?:do |definitely |explicitly )+want (?:to (?:use|keep|support|stay|"
        r"have)|an?|the|my) \S+ \S+",
        r"\AOPENERi want (?:the|all|our|every) .{2,80}\b(?:instead of|rather than)\b",
        r"\b(?:i know|i'm sure) we want \S+ \S+",
        r"\b(?:should|must|will|shall) (?:always|never|only|by default)\b",
        r"\bby default\b",
    ),
    # requirements: what a thing shall do, whatever is being worked on
    _rule(
        DECISIONS,
        0.76,
        r"\b(?:should|must|has to|have to|needs? to) (?:not |just |also |still |initially "
        r")*(?:be|stay|remain|live|"
        r"go|use|"
        r"return|fail|keep|support|run|show|pre-?select|have|default|accept|reject|"
        r"require|survive|ignore|"
        r"come from|read|"
        r"write|store|start|error|exit|log|contain|include)\b",
        r"\b(?:is|are) append[- ]only\b|\b(?:stays?|remains?) (?:on its own|separate|as[- ]is|in "
        r"(?:its|the) own)\b",
        r"\A(?:yes,? |no,? |so,? |and )?(?:if|when) (?:the|an?|there) [^?]{4,120}, (?:then "
        r")?(?:just |always |"
        r"don'?t |do not "
        r")*(?:run|show|use|return|fail|go|fall back|skip|ignore|keep|shouldn'?t|should|must)\b",
    ),
)

# the subject of a statement, the first that matches; what fits none is a fact about the user
SUBJECTS: tuple[Rule, ...] = (
    _rule(
        SECURITY,
        1,
        r"\bSECRET\b",
        r"\b(?:encrypt\w*|vulnerab\w*|csrf|xss|sql injection|gdpr|permissions?|"
        r"authenticat\w*|authori[sz]\w*|oauth\w*|tls|mtls|sso|2fa|mfa|least "
        r"privilege|sandbox\w*|saniti[sz]\w*|"
        r"cve-\S+)\b",
    ),
    _rule(
        GOTCHAS,
        1,
        r"\b(?:gotchas?|caveat|pitfall|footgun|beware|watch out|careful|workaround|known "
        r"(?:bug|issue)|"
        r"silently|turns out|breaks? (?:if|when)|fails? (?:if|when)|hangs? (?:if|when)|doesn'?t "
        r"work (?:with|on|"
        r"when))\b",
    ),
    _rule(
        CORRECTIONS,
        1,
        r"\A\W*(?:correction|no,|actually,|wrong)\b",
        r"\b(?:is not|isn't|was never) .*\b(?:it is|it's|but)\b",
    ),
    _rule(
        PREFERENCES,
        1,
        r"\b(?:i|user|the user) (?:\w+ )?(?:prefers?|likes?|dislikes?|hates?|wants?|do(?:es)?n'?t "
        r"(?:like|"
        r"want)|would rather)\b",
        r"\bi'd (?:rather|prefer)\b",
        r"\A\W*(?:please )?(?:don'?t|do not|never|always|avoid|keep|use|write|be|answer|"
        r"reply)\b.*\b(?:comments?|"
        r"docstrings?|tabs|spaces|indent\w*|emoji\w*|type hints?|one-liners?|verbos\w*|"
        r"terse|concise|answers?|"
        r"replies|"
        r"summar\w+|british|american|variable names?|early returns?|comprehensions?|"
        r"semicolons?|quotes)\b",
    ),
    _rule(
        CONVENTIONS,
        1,
        r"\b(?:conventions?|commit messages?|branch(?:es| names?)?|pull requests?|prs?|changelog|"
        r"code "
        r"review|naming|house style|linter|lint|formatter|ruff|eslint|prettier|pre-commit|test "
        r"files?|tests (?:go|"
        r"live|"
        r"must|should)|semver|directory layout|folder structure)\b",
        r"\bwe (?:always|never|only|all) \w+",
        r"\b(?:every|each|all) \S+(?: \S+)? (?:must|should|needs? to|has to|have to)\b",
        r"\A\W*(?:always|never|don'?t ever)\b",
    ),
    _rule(
        INFRASTRUCTURE,
        1,
        r"\bPLACE\b",
        r"\b(?:\d{1,3}(?:\.\d{1,3}){3}|localhost|checked out in|installed "
        r"(?:on|in|under)|https?://\S+|s3://\S+|"
        r"port \d+)\b",
    ),
    _rule(
        DECISIONS,
        1,
        r"\b(?:decided|decision|chose|architecture|design|instead of|rather than|we "
        r"(?:use|picked|went|"
        r"want|need|keep|store|will)|let'?s|go with|schema|api|protocol|library|framework|module|"
        r"component|"
        r"service)\b",
    ),
    _rule(
        PATTERNS,
        1,
        r"\b(?:pattern|recipe|idiom|boilerplate|the way (?:we|to)|how (?:we|to)|whenever "
        r"we|typically|"
        r"steps? to)\b",
    ),
)
