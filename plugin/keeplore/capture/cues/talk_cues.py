"""The cue phrases that capture reads by, as data: what a sentence does in a talk, shown by the
words people use for it.

Sources: the habit of marking decisions, proposals and reasons is described in M. Purver et al.,
"Detecting and summarizing action items in multi-party dialogue" (2007), and J. Hirschberg and D.
Litman, "Empirical studies on the disambiguation of cue phrases" (1993); the lists are our own and
lean to precision: a missing quotation is better than a wrong one.
"""

from __future__ import annotations

import functools
import re

from keeplore.capture.cues import foreign_cues
from keeplore.capture.cues.cue_patterns import Cue, any_of, cue

DECIDED: tuple[Cue, ...] = (
    *foreign_cues.DECIDED,
    cue(
        3.0,
        r"\A(?:final |the )?(?:decision|decided|agreed|conclusion|verdict)\b ?(?:is|:|—|–|- "
        r")(?!.*\bpending\b)",
    ),
    cue(
        3.0,
        r"\b(?:i|we)(?:'ve|’ve| have)? (?:now |finally |just |all |both "
        r")*(?:decided|settled|agreed|opted|"
        r"resolved) (?:on|to|for|that|against|not)\b",
    ),
    cue(3.0, r"\b(?:the|our|my) (?:final )?(?:decision|choice) (?:is|was)\b"),
    cue(2.8, r"\AOPENERlet(?:'|’)?s (?:just |also |then |please )*CHOOSE\b"),
    cue(2.8, r"\AOPENERlet(?:'|’)?s not (?!\w* ?(?:worry|forget|get ahead|rush))\w+"),
    cue(
        2.6,
        r"\AOPENER(?:we|i)(?:'ll|’ll| will| shall|'re going to|’re going to| are going to|'m going "
        r"to| am "
        r"going to) (?:not )?CHOOSE\b",
    ),
    cue(
        2.6,
        r"\AOPENER(?:we|i)(?: are|'re|'m)? (?:going with|sticking with|dropping|keeping|switching "
        r"to|choosing|"
        r"picking)\b",
    ),
    cue(2.6, r"\AOPENER(?:go with|go for|pick|choose|stick with|settle on)\s+\S"),
    cue(
        2.4,
        r"\AOPENER(?:do )?(?:use|keep|do|want|take|put|store|write|make|call|name|i want|we "
        r"want)\b.{2,90}\b(?:instead(?: of)?|rather than|in place of|not|over)\b",
    ),
    cue(
        2.4,
        r"\A(?:ok(?:ay)?,? |so,? |good,? |right,? )?then we(?:'ll|’ll| will)? "
        r"(?!could|can|might|may|should|"
        r"would|need|have|had|get|are|were|see|saw|also|just|got|still|look|run|check|"
        r"wait|talk|tell|discuss|"
        r"move on|start|continue|proceed|finish|commit|push|merge|test|ask|try|go "
        r"on|know|want|find|found)\w+",
    ),
    cue(
        2.4,
        r"\b(?:i|we)(?:'d|’d| would)? (?:much |strongly |really )?(?:prefer|rather)\b(?!.*\bif\b)",
    ),
    cue(2.2, r"\AOPENER(?:always|never|don'?t ever|do not ever|only ever|from now on)\b.{4,}"),
    cue(
        2.0,
        r"\AOPENER(?:don'?t|do not|no need to|stop|we don'?t|we do not) (?:use|using|add|adding|"
        r"introduc\w+|"
        r"rely\w*|touch|support\w*|store|cache|mock\w*|change|break|depend\w*|keep|need (?!to "
        r"know|to see))\b",
    ),
    cue(
        2.0,
        r"\b(?:we|it|that|this|they|there|which|\w+s?) (?:explicitly |definitely |really "
        r"|absolutely "
        r")?(?:needs? to|has to|have to|must|should) (?:not |never |always |only |just "
        r")*(?:be|stay|remain|"
        r"live|go|use|return|fail|keep|come(?! up)|support|run)\b",
    ),
    cue(
        1.8,
        r"\b(?:i|we) (?:explicitly |definitely |really |do )?(?:don'?t )?want (?:an?|the|to "
        r"(?:use|keep|drop|"
        r"have|avoid|store|stay|support|make|be able|let|solve|ship|build)|it to|them to|this "
        r"to|something)\b",
    ),
    cue(
        1.6,
        r"\bwe (?:explicitly |always |never |only )?(?:do|don'?t) [\w-]+-(?:first|only|free|"
        r"side|based)\b",
    ),
)
# an order that settles something when it answers the agent; as a first message it is only a task
SETTLED_IN_REPLY: tuple[Cue, ...] = (
    *foreign_cues.SETTLED_IN_REPLY,
    cue(
        2.2,
        r"\AOPENER(?:so[:,]? )?(?:option |variant )?[A-E1-5]\s*(?:[,:–—-]|it is\b)\s*(?!(?-i:[A-E]|"
        r"[1-5])\b)\w.{10,}",
        r"\AOPENER[\w`][\w`. -]{1,40} it is(?:[.!]|\Z)",
        r"\AOPENERonly (?:on|for|if|when|in|with|the|those)\b.{4,}",
        r"\AOPENER(?:no|without) [\w .`-]{2,40}[, ]please\b",
    ),
    cue(
        1.8,
        r"\AOPENER(?:we (?:can|could) )?(?:put|use|keep|store|name|call|leave|drop|skip|"
        r"ignore|remove|replace|"
        r"rename|make (?:it|them|this|that)|return|default to|move|raise|lower|set|"
        r"limit|cap)\s+\S+.*\Z",
    ),
    cue(
        1.6,
        r"\AOPENER(?!(?:\S+ )?(?:commits?|prs?|code|diff|tests?|build|changes?|"
        r"work|output|result|page|this|that|it|"
        r"all|everything)\b)(?:an? |the )?[\w.`'-]+(?: [\w.`'-]+){0,4} (?:is|are|sounds?|looks?|"
        r"would be) (?:great|"
        r"fine|"
        r"good|perfect|better|best|enough|ok|okay)\b",
    ),
)
# a sentence that any of these matches decides nothing
UNDECIDED = any_of(
    *foreign_cues.UNDECIDED,
    r"\A(?:\W*(?:and|but|so|ok|okay|hm+|oh|well|also|wait),?\s+)*(?:should|"
    r"could|can|would|will|shall|do|"
    r"does|did|is|are|was|were|what|why|how|when|where|who|which|what if|has|have|am|isn'?t|"
    r"aren'?t|"
    r"don'?t we|doesn'?t|wouldn'?t|couldn'?t|shouldn'?t)\b(?! not)(?:.*\?|\s+(?:we|i|"
    r"you|it|they|that|"
    r"this|there|the)\b)",
    r"\b(?:maybe|perhaps|possibly|might|not sure|unsure|wonder(?:ing)?|no idea|don'?t "
    r"know|dunno|unclear|"
    r"undecided|considering|thinking (?:about|of)|leaning|tempted|toying|curious|theoretically|"
    r"hypothetically|(?:would|might) be (?:great|nice|good|cool) (?:if|to)|"
    r"for example|e\.g\.|suppose|imagine|assum(?:e|ing)|in theory)\b",
    r"\b(?:have|has|had)(?:n'?t| not)(?: yet)? (?:been )?(?:decided|settled|agreed|chosen)\b|\bnot "
    r"(?:yet "
    r")?(?:decided|settled|agreed)\b|\bbefore (?:we|i|you) (?:decide|choose|settle|"
    r"agree)\b|\b(?:to be|"
    r"still|yet to be) (?:decided|discussed|determined)\b|\bTBD\b",
    r"\A(?:if|when|unless|once|in case|suppose|say|whether)\b(?!.*\bthen (?:let|we'll|use)\b)",
    r"\b(?:we|i|it|they|you|he|she) (?:used to|were using|was using|had been|could|can also|could "
    r"also)\b",
    r"\b(?:one|another|first|second|third|other|an?) (?:option|alternative|"
    r"possibility|approach|idea) "
    r"(?:is|would|might|could)\b",
    r"\b(?:they|he|she|someone|people|everyone|the (?:docs|doc|article|readme|author|reviewer|team "
    r"lead)) "
    r"(?:say|says|said|suggest\w*|recommend\w*|claim\w*|want\w*|prefer\w*|think\w*|decided)\b",
    r"\bwhat (?:we|i|they) (?:decided|agreed|chose)\b|\b(?:how|why|what|where|when|who) "
    r"(?:we|i|you|they|"
    r"it) (?:should|could|would|want)\b",
    r"\b(?:wants?|prefers?) to (?:know|see|hear|understand|ask|say|check|talk|discuss)\b|\bwant "
    r"you to\b",
    r"\b(?:should|needs? to|must|has to|have to) be (?:able|fine|ok|okay|possible|"
    r"easy|done|enough|safe|"
    r"good|working|there|fixed|ready|clear|honest|fair|sure)\b|\bshould (?:have|'ve|work|now)\b",
    r"\brather (?:than|large|small|big|long|hard|odd|slow|a)\b(?!.*\bprefer\b)(?<!use .)\A",
    r"\A(?:if you|because)\b",
    r"\bneed (?:to|your) (?:know|see|help|check|look|understand|decide|discuss|think|talk)\b",
)
# what is worked on next settles nothing about the thing itself
WORKFLOW = any_of(
    r"\b(?:let(?:'|’)?s|we(?:'ll|’ll)?|i(?:'ll|’ll)?|please|can you|now|and|then)\s+(?:just |also "
    r"|then |"
    r"now |first |get (?:this|that|it|these) )*(?:commit|committed|push|pushed|merge "
    r"(?:this|it|the pr|to "
    r"main)|rebase|open (?:an? )?pr|ship it|run|rerun|re-run|continue|proceed|see|look|check|"
    r"test|wait|"
    r"talk|discuss|debug|compact|review|investigate|think|find out|figure|explore|start over|move "
    r"on|get "
    r"started|try again|summari[sz]e|recap|get back)\b",
    r"\b(?:need|have|want) to (?:commit|push|merge (?:this|it)|rebase|run|check|test|look|see|talk|"
    r"discuss|debug|finish|wait)\b",
    r"\b(?:bullet points?|\d+ (?:lines|words|sentences|points)|same (?:overall "
    r")?length|shorter|longer|summary)\b",
    r"\AOPENER(?:keep (?:going|it up|in mind|digging|on|at it|trying|working)|go (?:ahead|on|for "
    r"it)|do "
    r"(?:it|that|this)|make (?:sure|a commit|it so)|use (?:the |your )?skill\w*|pick "
    r"(?:it|this|that) up|"
    r"take a (?:look|step)|leave (?:it|that|this) (?:for now|alone)|call it (?:a day|done)|put "
    r"(?:it "
    r")?(?:simply|differently|another way)|skip to)\b",
)
WORKFLOW_QUESTION = any_of(
    r"\b(?:commit(?:ted)?|push|force-push|open (?:an? )?pr|merge|proceed|continue|start now|ready "
    r"to|"
    r"update the plan|run (?:it|the|this)|"
    r"looks? (?:good|right)|next step)\b"
)
# the host asks on the agent's behalf whether a tool may run
LEAVE = re.compile(r"Allow \S+.*\?\Z", re.DOTALL)
AFFIRMED = any_of(
    *foreign_cues.AFFIRMED,
    r"\A\W*(?:ok(?:ay|y)?|yes|yeah+|yep|yup|ye|y|sure|agreed?|perfect|great|exactly|correct|"
    r"right|fine|"
    r"good|cool|nice|please do|do it|do that|"
    r"go ahead|go for it|go on|sounds (?:good|great|right|fine)|looks good|lgtm|makes sense|works "
    r"for me|"
    r"that works|approved?|"
    r"i agree|you'?re right|let(?:'|’)?s (?:do|go(?: with)?) (?:it|that|this)|ship it|love "
    r"it|absolutely|"
    r"definitely|of course|👍|\+1)"
    r"(?:[\s,.!;:—–-]+|\Z)",
)
HEDGED_REPLY = any_of(
    *foreign_cues.HEDGED,
    r"\b(?:but|however|except|although|instead|actually|rather|first|before|wait|unless|not)\b",
    r"\?",
)
PICKED = re.compile(
    r"\A\W*(?:(?:ok(?:ay)?|yes|yeah|hm+|right|so|well|i think|i'd say|i'd go|let(?:'|’)?s "
    r"(?:do|go|try|"
    r"take)|do|go|try|take|pick|choose|i pick|i choose|i like|"
    r"i prefer|prefer|with|for|use|we go|we'll go|definitely|probably)[\s,.:]+)*(?:the )?"
    r"(?:(?P<word>option|approach|choice|plan|number|alternative|variant|solution|fix|"
    r"#)\s*(?P<named>[A-Za-z]|\d{1,2})|(?P<bare>[A-Ea-e]|\d)|"
    r"(?P<ordinal>first|second|third|fourth|former|latter|last)(?: one| option| approach| "
    r"choice)?)(?=[\s,.;:!)]|\Z)",
    re.IGNORECASE,
)
CORRECTED = any_of(
    r"\A\W*(?:no+|nope|nah|actually|wait|hold on|hmm+,? no|stop|scratch that|forget (?:that|it)|on "
    r"second "
    r"thought|correction|sorry|i changed my mind|"
    r"i(?:'ve| have) changed my mind|changed my mind|never ?mind|instead|not "
    r"(?:that|so)|wrong|that(?:'s| "
    r"is) (?:wrong|not))\b(?!\s+(?:problem|worries|rush|need))",
    r"\b(?:changed my mind|on second thought|scratch that|change of plan|let(?:'|’)?s not|instead "
    r"of what "
    r"(?:i|we) said|take that back|go back to|switch back|revert to)\b",
)
WITHDRAWN = any_of(
    r"\A\W*(?:no+,? |wait,? |actually,? |hm+,? )*(?:scratch that|forget (?:that|it|what i "
    r"said)|never "
    r"?mind|(?:i(?:'ve| have)? )?changed my mind|on second thought|i take (?:that|it) back)\b"
)
DECLINED = any_of(r"\AOPENERlet(?:'|’)?s not\b")
REJECTED_AFTER = re.compile(
    r"\b(?:instead of|rather than|in place of|not|over|drop|replace|ditch|get rid of|no "
    r"more|without)\s+(.{2,60})",
    re.IGNORECASE,
)

PROPOSED: tuple[Cue, ...] = (
    *foreign_cues.PROPOSED,
    cue(
        3.0,
        r"\b(?:i(?:'d|’d| would)?(?: strongly| also| personally)? (?:recommend|suggest|propose|go "
        r"with|pick|"
        r"choose|vote|opt|start with|favou?r|keep|use|drop|let|make|put|lean (?:to|towards?))|my "
        r"(?:recommendation|"
        r"suggestion|preference|vote|pick|proposal|advice))\b",
    ),
    cue(2.5, r"\brecommend(?:ed|ation)\b ?:"),
    cue(
        2.5,
        r"\b(?:the )?(?:best|simplest|safest|right|cleanest|smallest|better|ideal) "
        r"(?:option|approach|fix|"
        r"solution|choice|way|path|bet|move) (?:here )?(?:is|would be|seems)\b",
    ),
    cue(
        2.2,
        r"\b(?:is|seems|looks|would be|are) (?:probably |clearly |definitely |likely )?(?:the "
        r")?(?:best|"
        r"safest|simplest|cleanest|right|smallest and safest|like the best)\b",
    ),
    cue(2.0, r"\b(?:let(?:'|’)?s|we (?:should|could)) CHOOSE\b"),
    cue(1.6, r"\A(?:shall|should) (?:i|we) CHOOSE\b.*\?"),
    cue(1.4, r"\A(?:do you )?want me to CHOOSE\b.*\?"),
)
AGENT_DECIDED: tuple[Cue, ...] = (
    cue(
        2.0,
        r"\A(?:final )?(?:decision|decided|agreed)\b ?(?:is|:|—|–|- )(?!.*\b(?:pending|needed|"
        r"required)\b)",
    ),
    cue(
        1.8,
        r"\b(?:i|we)(?:'ve|’ve| have)? (?:decided|settled|opted|agreed|chose|chosen|went|"
        r"standardi[sz]ed|"
        r"committed) (?:to|on|for|with|not to|against|that)\b",
    ),
    cue(1.6, r"\b(?:i|we) (?:deliberately|intentionally|purposely) \w+"),
    # what the agent repeats of the person's word, and how it takes a request
    cue(1.8, r"\A[`\w][^?!:]{1,60} it is(?:[.,!]|\Z)"),
    cue(
        1.6,
        r"\AOPENER(?:i|we)(?:'ll|’ll| will|(?:'m|’m) going to) (?:only |just |also "
        r")?(?:keep|use|leave|drop|avoid|"
        r"treat|limit|rely on|go with|stick (?:with|to)|skip|reuse|preserve|make only|do the "
        r"full)\b"
        r"(?!.{0,60}\b(?:skill|tool|agent|script|command|grep|search|todo))",
        r"\bi(?:'m|’m| am|'ve|’ve| have)? (?:keeping|leaving|using|kept|left|used|chose|chosen|"
        r"picked|went with|"
        r"avoided|dropped)\b.* (?:instead|rather than|only)\b",
    ),
)
# a way that the agent took after it had found it
BEST_WAY = any_of(
    r"\b(?:simplest|cleanest|smallest|best|right|safest|proper|minimal)(?: \w+){0,2} "
    r"(?:fix|approach|solution|option|"
    r"way|choice|tool) (?:here )?is\b(?! probably)(?!.*(?:\bor\b|:\Z))",
    r"\bapproach is (?:clear|simple)\b",
)
PLAN_QUESTION = re.compile(r"Proceed with this plan\?", re.IGNORECASE)
# of a plan, where it says how it shall be done, and not what is wrong or which lines change
APPROACH_HEADING = re.compile(
    r"\A\W*(?:\d+[.)]\s*)?(?:(?:proposed|overall|high-level|chosen|execution|technical|our|"
    r"the|recommended) )?"
    r"(?:approach|solution|strategy|design|goal|proposal|objective|decision)s?\W*\Z",
    re.IGNORECASE,
)
GOAL_HEADING = any_of(r"\b(?:goal|objective)s?\b")
DECISION_HEADING = re.compile(
    r"\A\W*(?:\d+[.)]\s*)?(?:(?:final|key|main|design|architectural?|our|the) )?decisions?(?: "
    r"(?:made|so "
    r"far|taken))?\W*\Z|"
    r"\A\W*what we (?:have )?(?:decided|agreed)\b",
    re.IGNORECASE,
)

CONTEXT: tuple[Cue, ...] = (
    *foreign_cues.CONTEXT,
    cue(
        2.4,
        r"\b(?:the|our|my|one|main|real|actual) (?:problem|issue|bug|goal|"
        r"background|context|situation|"
        r"challenge|pain|symptom)s? (?:is|was|here|now|we)\b",
    ),
    cue(
        2.2,
        r"\b(?:currently|right now|at the moment|as of (?:now|today)|these days|so far|until "
        r"now)\b",
    ),
    cue(
        2.0,
        r"\b(?:i'm|i am|we're|we are|i was|we were|i keep|we keep) (?:currently |now |still "
        r")?(?:getting|"
        r"seeing|hitting|having|trying|using|building|running|working "
        r"on|migrating|losing|noti(?:ci)?ng)\b",
    ),
    cue(
        1.8,
        r"\b(?:fails?|failing|failed|broken?|breaks|crash(?:es|ed|ing)?|error|blow(?:s|ing) "
        r"up|slow|stuck|"
        r"unhappy|doesn'?t work|not working|weird(?:ness)?|wrong|missing|lost|regress\w*|"
        r"flak[ey]\w*)\b",
    ),
    cue(
        1.6,
        r"\b(?:i(?:'d| would) like|i want|we want|we need|i need|the goal|in order to|help (?:me "
        r")?(?:with|to))\b",
    ),
    cue(
        1.4,
        r"\b(?:we have|we've|there(?:'s| is| are)|it has|i have|our \w+ "
        r"(?:is|are|has|uses?|runs?))\b",
    ),
)
CONTEXT_HEADING = re.compile(
    r"\b(?:context|background|problem|motivation|goal|overview|summary|issue|symptom|why|objective|"
    r"purpose)\b",
    re.IGNORECASE,
)
REASON: tuple[Cue, ...] = (
    *foreign_cues.REASON,
    cue(
        3.0,
        r"\b(?:the (?:main |key |real )?reason|reason(?:ing)? (?:is|for|:)|root cause|the "
        r"trade-?off|"
        r"that(?:'s| is) why|this is why|which is why|rationale)\b",
    ),
    cue(
        2.6,
        r"\b(?:because|so that|due to|in order to avoid|otherwise|given that|seeing that|so as not "
        r"to)\b",
    ),
    cue(
        2.0,
        r"\b(?:this way|that way|which means|this means|that means|avoids?|prevents?|"
        r"guarantees?|would "
        r"(?:break|lose|mean|require|force|cost)|too (?:heavy|slow|big|complex|"
        r"expensive|risky|much|many|"
        r"chatty|early|late)|overkill|simpler|safer|faster|cheaper|no need for|one "
        r"(?:less|fewer))\b",
    ),
    cue(
        2.4,
        r"\b(?:by design|intentional(?:ly)?|was designed|what matters|trade-?off|the "
        r"(?:distinction|(?:key )?insight|"
        r"difference|catch|constraint) (?:is|was|here))\b",
    ),
    cue(
        2.2,
        r".{15}(?:,| —| –|;) so (?!that you|you can|let|i'll|i’ll|i'm|far\b|that'?s\b|nothing\b|"
        r"there was nothing|"
        r"i\b|we can|should|could|can\b)\w+ \w+",
    ),
    cue(1.8, r"(?:,|\A) since (?!\d|yesterday|last|then|monday|the (?:last|start|beginning))"),
)
# what a person strikes off the list, with the reason
RULED_OUT = any_of(
    r"\b(?:is|are|was) (?:out|off the table|ruled out|no (?:good|option|use)|not an option|"
    r"too (?:heavy|slow|expensive|risky|much|complex|big))\b.*\b(?:because|since|so|as|for)\b"
)
REASON_HEADING = re.compile(
    r"\b(?:why|reason(?:s|ing)?|rationale|trade-?offs?|root cause|justification|motivation)\b",
    re.IGNORECASE,
)

OPTIONS_HEADING = re.compile(
    r"\A(?:\W|\d)*(?:\w+ ){0,3}(?:options|alternatives|approaches|choices|possible "
    r"(?:fixes|solutions|"
    r"ways)|candidates|proposals)"
    r"(?: \w+){0,3}\W*\Z",
    re.IGNORECASE,
)
OPTIONS_LEAD = any_of(
    r"\A(?!.*\b(?:because|pros|cons|benefits|advantages|problems?|works?|fails?|"
    r"means|shows)\b)(?:\S+ ){0,14}?"
    r"(?:options|alternatives|approaches|choices|possibilities|candidates|(?:\w+ )?possible "
    r"(?:fixes|solutions|ways)|"
    r"(?:two|three|four|several|a few|different|possible|these) (?:ways|solutions?|paths|"
    r"directions|"
    r"routes|variants))\b(?: \S+){0,8}:\Z",
    r"\A(?:\S+ ){0,6}?(?:we|you|i|one) (?:could|can either|can)(?: (?:do|use|try|choose|go|"
    r"pick|also|"
    r"either|store|take|keep))*"
    r"(?: (?:one of|between|any of|with))?(?: (?:it|this|that|these|the following))?:\Z",
)
OPTION_LABELLED = re.compile(
    r"\A(?:\*\*|__)?(?:option|approach|alternative|choice|variant|"
    r"solution|plan)\s*#?(?P<label>[A-Ea-e]|"
    r"\d)\b(?:\*\*|__)?\s*(?:[:.)—–-]|\(|is\b)",
    re.IGNORECASE,
)
OPTION_PROSE = any_of(
    r"\b(?:another|the other|a second|a third|one|an) (?:option|alternative|"
    r"approach|possibility|way) "
    r"(?:is|would be|could be|might be)\b",
    r"\AOPENER(?:alternatively|or,? we (?:could|can)|or maybe|we could (?:also|either)|we can "
    r"either|either we)\b",
    r"\AOPENER(?:how about (?:we |using |a |an )|what about (?:using|a|an)\b)",
    r"\b(?:we|you) could (?:also |either )?(?:use|go with|switch|move|store|"
    r"keep|adopt|replace|split)\b",
)
# a question that names its answers
OPTIONS_ASKED = any_of(
    r"\A(?:so,? |or )?(?:which|do you (?:want|prefer)|should (?:we|i|it)|would you "
    r"(?:prefer|rather))\b.{4,200}"
    r"[\w`)](?:,| —| -)? or (?!not\b|no\b|something|anything|should\b|do\b|is\b|leave "
    r"it).{2,80}\?\W*\Z"
)

OPEN_HEADING = re.compile(
    r"\b(?:open (?:questions?|issues?|points?|items?)|unresolved|to be decided|undecided|still "
    r"open|"
    r"outstanding questions?|questions? for you|decisions? needed|unknowns)\b",
    re.IGNORECASE,
)
OPEN: tuple[Cue, ...] = (
    *foreign_cues.OPEN,
    cue(
        3.0,
        r"\b(?:open question|unresolved|to be decided|TBD|(?:is|are|remains?|left) undecided|"
        r"not (?:yet )?decided|have(?:n'?t| not) "
        r"(?:yet )?(?:decided|settled|figured)|still (?:need|have) to (?:decide|figure|settle|"
        r"choose|work "
        r"out)|remains (?:to be seen|unclear)|(?:question|"
        r"issue|point|decision)s?\b.{0,40}\bremains? open|"
        r"still (?:open|unclear|undecided))\b",
    ),
    cue(
        2.4,
        r"\b(?:decide|revisit|figure (?:\S+ )?out|come back to|deal with|think about|sort (?:\S+ "
        r")?out) "
        r"(?:\S+ ){0,6}(?:later|another time|tomorrow|next week|in a follow-?up|separately)\b",
    ),
    cue(
        2.0,
        r"(?:\A\W*|\b(?:i|we|i'?m|we'?re|still|it'?s|is|are|nobody) (?:\w+ )?)(?:not sure|don'?t "
        r"know|have no idea|"
        r"no idea|unclear|unsure)(?: yet)?,? (?:if|whether|how|what|which|why|where)\b",
    ),
    cue(2.0, r"\A(?:todo|follow-?up|for later|parked?)\b ?[:—-]"),
)
# what was not done once, what a document says of itself
NOT_OPEN = any_of(
    r"\b(?:previously|used to|no longer|saying|reconciled|resolved|removes?|removed|"
    r"fixed|now)\b(?!.*\bstill\b)",
    r"\A\W*(?:the |a )?(?:\w+ ){0,2}(?:section|banner|heading|paragraph)\b",
)
# questions that only hand the turn over, or that a statement asks of itself
OFFER = any_of(
    r"\A\W*the (?!\w*\s?question)\w+ (?:is|was)\W{0,3}:",
    r"\b(?:want me to|shall i|should i (?:proceed|continue|start|go|also|create|commit|"
    r"implement|apply|"
    r"update|fix|write|push)|would you like|do you want me|let me know|may i|can i help|"
    r"ready (?:to|for)|anything else|sound(?:s)? (?:good|right)|does (?:this|that) "
    r"(?:look|sound|make|"
    r"match|work|help|answer)|make sense|how does (?:this|that)|is (?:this|that) what you|"
    r"what would you like|how would you like|what do you think|thoughts|any questions|could you "
    r"(?:share|"
    r"paste|provide|run|try|check)|can you (?:share|paste|provide|run|try|check|confirm)|what'?s "
    r"(?:next|the task)|"
    r"next step)\b",
)


@functools.lru_cache(maxsize=16384)  # an open conversation is read again at every turn
def weight_of(text: str, cues: tuple[Cue, ...]) -> float:
    """The strongest cue's weight, 0 where none matches."""
    return max((cue.weight for cue in cues if cue.pattern.search(text)), default=0.0)
