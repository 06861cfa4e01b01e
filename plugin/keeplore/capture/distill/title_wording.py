"""A sentence of talk in the words of a title: address and politeness off, an imperative or a noun
phrase left.
"""

from __future__ import annotations

import re

from keeplore.capture.distill.key_phrases import plain
from keeplore.text.sentences import Sentence
from keeplore.text.terms import stems, terms

MAX_TITLE = 70  # characters
_EDGES = " .,;:!?-–—…\"'|/，。；：！、"
_OPENERS_ABROAD = re.compile(
    r"\A(?:(?:好的?|行|可以|嗯|对|是的|请你?|麻烦你?|帮我|那就?|我们|咱们)[，,。\s]*|"
    r"(?:ja|nein|gut|bitte|hallo|also|sí|si|no|vale|bueno|hola|por favor|oui|non|bon|bonjour|"
    r"d'accord|s'il te plaît)"
    r"(?:[,;.!]+\s*)|(?:kannst du|könntest du|puedes|podrías|peux-tu|tu peux|pourrais-tu) (?:bitte "
    r"|mir )?)+",
    re.IGNORECASE,
)
_OPENERS = re.compile(
    r"\A(?:(?:(?:hey|hi|hello|ok(?:ay|y)?|oky|so|well|oh|oh no|ah|hm+|gah|alright|"
    r"right|great|cool|nice|"
    r"perfect|thanks|thank you|yes|yeah|yep|"
    r"yup|sure|no|and|but|also|now|then|next|please|pls|actually|first|maybe|again|just|"
    r"claude|codex|"
    r"gemini|sorry|wait|good|fine|agreed|"
    r"u+h+m*|m+k|k|whoa|fair enough|sounds good|makes sense|that works|stop for a second|taking a "
    r"step back|"
    r"umm?|uh|next "
    r"feedback item|note that|to be precise|"
    r"to be fair|for some reason|learning q|quick follow[- ]up(?: question)?(?: "
    r"first)?|clarification|pr feedback|more "
    r"reviewer feedback|"
    r"fyi|btw|by the way|quick question|question|today|if possible|if you could|you're right|let "
    r"me think|"
    r"one more thing|one more time)"
    r"(?:[,;:!?…—–]+\s*|[.-]+\s+|\.{3}|\s+))|"
    r"(?:can|could|would|will|may) (?:you|we|i)(?: please| also| just| maybe| already| "
    r"perhaps)*\s+(?:help me (?:to |with )?)?|"
    r"(?:do|are|is) (?:you|we) (?:able to|think we should)\s+|"
    r"(?:i|we)(?:'d| would)? (?:really |actually |just |also )?(?:like|love|want|need|have|wish|"
    r"prefer|wonder if)(?: now)?(?: your help(?: with)?| some help(?: with)?| help(?: with)?| "
    r"you(?: now)?)?(?: "
    r"to)?\s+|"
    r"(?:i|we)(?:'m|'re| am| are) (?:going to|trying to|about to|currently|now|planning to|looking "
    r"to)\s+|"
    r"(?:i|we)(?:'ll| will| should| must| can| could)\s+(?:also |just )?|"
    r"(?:i(?:'m)? (?:think|guess|feel like|believe|reckon|mean|see|notic(?:e|ed|ing)|just noticed|"
    r"wonder(?:ing)? if|was wondering "
    r"if|do want to)),?(?: that)?(?: it's| its)?\s+|"
    r"(?:let(?:'|’)?s|lest's|lets)(?: please| now| just| also| then| start by)*\s+|"
    r"(?:talk about|return to|get back to|go back to|help me|"
    r"make sure(?: that| to)?|go ahead and|try to|be sure to|feel free to|your (?:task|job|"
    r"goal) is to|the task is to|you are(?: going)? to|have a look at|take a look at|look (?:at|"
    r"into))\s+(?:to |with )?|"
    r"(?:is it possible|would it be possible|how hard would it be|would it make sense|does it make "
    r"sense|"
    r"is there a way|any way) (?:for us )?to\s+|"
    r"do you (?:know|understand|see) (?=why|how|what)|"
    r"(?:what|which) (?:is|are|was|were)(?: the)?\s+(?!\w+\?)|(?:are|is) there (?:any |some |a |an "
    r")?|"
    r"(?:our|my)\s+(?=\w+ \w)|(?:we have|there is|there are|there's|it's|it is)(?: a| an| the)?\s+|"
    r"(?:give|tell|show|explain|do|get|find)(?: to)? (?:me|us)(?: please| again| now)*\s+)",
    re.IGNORECASE,
)
_DECISION_OPENERS = re.compile(
    r"\A(?:(?:final |the )?(?:decision|decided|agreed|conclusion)(?: is)?\s*[:—–-]\s*|(?:i|"
    r"we)(?:'ve| "
    r"have)? (?:now |finally |just )*(?:decided|agreed|opted|settled)(?: to| on| for| that)?\s+"
    r"|(?:we|i)(?:'re|'m| are| am) going (?:to|with)\s+|(?:we|i) (?:will|'ll|shall)\s+|(?:my "
    r"recommendation|i(?:'d| would)? (?:strongly )?(?:recommend|suggest|propose)(?:ation)?)(?: "
    r"is)?(?: "
    r"to)?:?\s+|"
    r"(?:so )?the (?:simplest|cleanest|smallest|best|right|safest|proper|minimal)(?: \w+){0,2} "
    r"(?:fix|approach|solution|option|way|choice) (?:here )?is to\s+|"
    r"(?:option|approach|alternative|choice|plan) ?#?[A-Ea-e\d][:.)]?\s*(?:[—–-]\s*)?)",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"\Ahow (?:do|does|can|could|would|should|did) (?:i|we|you|one)\s+(?=\w)", re.IGNORECASE
)
_ASIDES = re.compile(
    r"\s+\([^)]*\)|, in [^,]{3,30},|\b(?:these|those) (?=\w)|"
    r",? (?:i|we) (?:guess|think|suppose|believe|got|have)(?=[.?!]?\Z|, )",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"\A(?:is there a(?:ny)? reason|how come|what(?:'s| is) the reason)(?: why| that)?\s+(?=\w)",
    re.IGNORECASE,
)
_FOR_ME = re.compile(r"\A(make|write|build|create|draw|design|draft) (?:me|us)\s+", re.IGNORECASE)
_ASKING = re.compile(
    r"\A(?:how|why|what|which|where|when|who|is|are|does|do|did|can|shouldn'?t|should|"
    r"isn'?t|aren'?t)\b",
    re.IGNORECASE,
)
# beginnings of a sentence that was torn from its talk, and of a pasted command or message
_NO_START = re.compile(
    r"\A(?:if|when|since|because|while|although|once|as|i|i'm|i've|like|that|that's|"
    r"those|these|this|"
    r"there|yes|no|we|you|not|they|"
    r"he|she|it|its|let|be|to be|current|don'?t|do we|do you|are we|or|than|then|the "
    r"(?:issue|problem|reason|thing|"
    r"question|idea) (?:is|was)|"
    r"here's|here is|here are|presumably|"
    r"fatal|error|warning|rm|cd|ls|curl|sudo|npm|npx|pip|run npm|commit \d|using|resume)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"\A(?:in|at|on|for|from|with|of|by|about|after|before)\b", re.IGNORECASE)
_SIGNS = re.compile(
    r"\s*[\u2190-\u21ff\u2600-\u27bf\U0001f300-\U0001faff].*|\s+->.*|\s+<-.*"
)  # arrows and pictographs
_GENERIC_HEADING = re.compile(
    r"\A(?:\W|\d)*(?:plan|context|goal|goals|overview|summary|background|instructions?|"
    r"task|tasks|problem|"
    r"introduction|steps?|requirements?|notes?|changes?|"
    r"implementation(?: plan)?|result|results|done|phase \d.*|step \d.*|next steps?|files?(?: to "
    r"(?:change|modify))?|verification|options?|recommendation|"
    r"what(?:'s| is| was) .*|the (?:fix|problem|issue|solution|picture)\b.*|changes made|updated "
    r".*|root "
    r"cause.*|strengths|test(?:s|ing| "
    r"plan)?|usage|example|summary of .{0,12}|key .{0,14}|current .{0,14}|my .*|if "
    r".*|here.*|why.*|how.*|"
    r"now.*|possible .*|perfect.*)\W*\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\A\(?(?:\d{1,2}|[A-E])[.):]\)?\s+")
_HEADING_LABEL = re.compile(
    r"\A(?:(?:implementation|design|project|bug|initial|final|proposed|critical|"
    r"my|the|current|important) "
    r")?(?:plan|task|goal|summary|design|rfc|adr|"
    r"proposal|feature|issue|skill|spec|report|review|overview|command|status|solution|"
    r"recommendation|scope|aside|note|learning|question|implementation|critical|major|minor|high|"
    r"medium|low|"
    r"option|approach|fix|problem|scenario|finding)"
    r"\s*(?:#?[A-E\d])?\s*[:—–-]\s*",
    re.IGNORECASE,
)
_PASTED = re.compile(
    r"\A\W*(?:implement|execute|follow|review|here(?:'s| is)) (?:the|this|my|a) (?:following "
    r")?(?:plan|"
    r"spec|design|document|skill|prompt|task)\b",
    re.IGNORECASE,
)
# the head of a skill's file as hosts hand it over, or as it lies on disk
_SKILL = re.compile(
    r"Base directory for this skill:|---[ \t]*\n(?:[\w-]+:[^\n]*\n){0,6}(?:name|"
    r"description):|<skill\b"
)
_ADDRESSED = re.compile(
    r"^\W*(?:you are (?:now )?(?:an?|the) (?!bit\b|little\b|genius\b|star\b)\w+|"
    r"your (?:role|task|job|mission) (?:is|:)|act as (?:an?|the) \w+)",
    re.IGNORECASE | re.MULTILINE,
)
_STRUCTURE = re.compile(
    r"^\s{0,3}(?:#{1,6}\s+\S|\d{1,2}[.)]\s+\S|[-*]\s+\S|</?[a-z_]+>\s*$)", re.MULTILINE
)
_ADDRESS_CHARS, _STRUCTURE_CHARS = 600, 20_000
_STRUCTURED = 3  # headings and list items from which a message is a document
_DID = re.compile(
    r"\A(?:(?:done|perfect|great|excellent|all (?:done|set)|fixed)[.!:,—–\s-]+)?(?:(?:i|we)(?:'ve| "
    r"have)? "
    r"(?:now |successfully |also )*)?(?P<did>(?P<verb>added|fixed|updated|created|"
    r"implemented|removed|replaced|"
    r"refactored|renamed|cleaned up|moved|wrote|switched|changed|extracted|configured|set up|built|"
    r"improved|migrated|merged|simplified|documented|found)\b.*)",
    re.IGNORECASE,
)
_COMMIT_KIND = re.compile(r"\A(?P<kind>[a-z]{2,10})(?:\([^)]{1,40}\))?!?:\s+", re.IGNORECASE)
_HASH = re.compile(r"\A[0-9a-f]{7,40} ")
_CHORES = frozenset(("style", "chore", "wip", "fixup", "squash", "bump", "merge", "revert"))
_CUT = re.compile(
    r"[，。；：？]|,(?=[\u3040-\u30ff\u3400-\u9fff])|\s(?=(?:What|Why|How|Can|Could|Please|Then|Is|Are|"
    r"Do|Does)\s)|"
    r"[;:](?=\s)|,(?=\s)(?! not\b)|\s(?=[\u2600-\u27bf\U0001f300-\U0001faff])|"
    r"\.{3}|…|\.(?=\s)|\s[-–—]\s|\s(?=\()|"
    r"\s(?=(?:what|so that|so we|because|since|which|while|where|when|"
    r"if|but|and then|and also|as (?:it|this|that|we|the)|in order|then|unless|until|"
    r"although|though|"
    r"without|due to|that (?:we|i|you|it|is|are|would))\s)|\?(?=\s)"
)
_AND = re.compile(r"\s(?=(?:and|or|with|for|from|by|using|to|in|on|into)\s)")
_DANGLING = re.compile(
    r"(?:\s+(?:a|an|the|and|or|of|to|for|in|on|at|with|by|from|as|but|is|are|was|were|"
    r"be|that|which|than|"
    r"so|if|when|into|about|our|my|your|its|their|this|these|those|it|we|i|you|"
    r"not|no|also|just|please|"
    r"via|per|instead|rather|e\.g|i\.e|both|only|because|where|while|how|why|what|"
    r"can|could|would|should|"
    r"will|do|does|above|below|then|now|though|vs|versus|"
    r"and (?:explain|tell|see|check|let|fix|make|add)|between \S+))+\Z",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:it|that|this|these|those|them|they|one|ones|something|thing|things|above|below|"
    r"same|here|there|"
    r"stuff|anything|again)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"\b(?:i|me|my|i'm|i'd|i've|you|your|we're|haha|lol|wtf|wth|umm?)\b", re.IGNORECASE
)


# stems that any talk with an agent has, and that tell none from another
_GENERIC = stems(
    """add address apply ask branch bug build change check code comment commit continue create current debug diff doc
    document edit entire error explain explanation feedback file final finish fix full go implement improve
    improvement include init initial issue item line lint list local log main merge message minor move new plan pr
    problem project prompt pull push question read refactor remove repo request resume review rewrite run section
    session show skill small start step summary task test todo two update version wip work write actionable
    current every everything finding follow head markdown origin origin/head origin/main origin/master proceed
    recommend recommended report selected unique vs"""
)

# what was done, as the order to do it
_ORDERS = {
    "made": "make",
    "wrote": "write",
    "built": "build",
    "found": "find",
    "set up": "set up",
    "cleaned up": "clean up",
    "replaced": "replace",
    "removed": "remove",
    "moved": "move",
    "improved": "improve",
    "migrated": "migrate",
    "merged": "merge",
    "simplified": "simplify",
    "created": "create",
    "updated": "update",
    "configured": "configure",
    "changed": "change",
    "renamed": "rename",
}


def imperative(text: str) -> str:
    """The request or statement that a plain sentence makes, cut to a title's length."""
    text = _ASIDES.sub("", _HEADING_LABEL.sub("", text))
    text = _OPENERS_ABROAD.sub("", _WHY.sub("why ", text))
    for _ in range(8):  # openers stand one before the other: "ok, so could you please"
        shorter = _FOR_ME.sub(r"\1 ", _OPENERS.sub("", text, count=1))
        if shorter == text:
            shorter = text.removeprefix("to ")
        if shorter == text:
            break
        text = shorter
    is_asked = text.rstrip().endswith("?")
    text = _HOW.sub("how to ", text)
    title = fit(re.sub(r",? please\b(?=[ ,.?!]|\Z)", "", text))
    return (
        f"{title}?"
        if is_asked and _ASKING.match(title) and not title.startswith("how to")
        else title
    )


def decided(text: str) -> str:
    """What a sentence that decides says, without "we decided"."""
    return imperative(_DECISION_OPENERS.sub("", plain(text)))


def committed(commit: str) -> str:
    """The subject of a commit ("hash Subject", or that alone) without the kind in front; "" for a
    chore.
    """
    subject = plain(_HASH.sub("", commit))
    kind = _COMMIT_KIND.match(subject)
    if kind and kind["kind"].lower() in _CHORES:
        return ""
    subject = subject[kind.end() :] if kind else subject
    subject = _HEADING_LABEL.sub("", subject)
    subject = re.sub(r"\s*\(#\d+\)\Z", "", subject).strip(_EDGES)
    return subject if len(subject) <= MAX_TITLE else fit(subject)


def told(sentence: Sentence) -> str:
    """What the agent says that it did, as an order, or the heading of its report; "" for any other
    sentence.
    """
    text = plain(sentence.text)
    did = _DID.match(_NUMBER.sub("", text))
    if sentence.is_heading and not did:
        head = heading(text)
        return head if len(terms(head)) < 9 else ""
    if not did or len(stems(did["did"])) < 3:
        return ""
    verb = did["verb"].lower()
    order = _ORDERS.get(verb) or verb.removesuffix("ed")
    return fit(_ASIDES.sub("", order + did["did"][len(verb) :].replace(": ", " ", 1)))


def heading(text: str) -> str:
    """A heading without its label ("Plan:"), "" for one that would head any page."""
    head = _HEADING_LABEL.sub("", _NUMBER.sub("", plain(text)))
    return "" if _GENERIC_HEADING.match(head) or len(terms(head)) < 2 else fit(head)


def is_pasted(message: str) -> bool:
    """True where a message is a document: a plan, a skill, a page."""
    return (
        bool(_PASTED.match(message)) or message.lstrip().startswith("#") or is_instructions(message)
    )


def is_instructions(message: str) -> bool:
    """True for a skill or a prompt that was written for agents: its rules are not what the person
    says today.
    """
    head = message.lstrip()[:_ADDRESS_CHARS]
    if _SKILL.match(head):
        return True
    return (
        bool(_ADDRESSED.search(head))
        and len(_STRUCTURE.findall(message[:_STRUCTURE_CHARS])) >= _STRUCTURED
    )


def named(phrase: str) -> set[str]:
    """Stems of the words that say which thing is meant, and not only that there is a change, a
    file, a test.
    """
    return stems(phrase) - _GENERIC


def vagueness(title: str) -> float:
    """How much a title leans on what only those know who were there, 0 for none."""
    loose = len(_VAGUE.findall(title)) + len(_PERSON.findall(title))
    return 0.45 * loose + (
        2.0 if _NO_START.match(title) else 1.2 if _PREPOSITION.match(title) else 0.0
    )


def fit(text: str) -> str:
    """Cut at a clause, then between words, without a dangling small word."""
    head = _SIGNS.sub("", text)
    text = (head if len(stems(head)) > 1 else text).strip(_EDGES)
    cuts = [m.start() for m in _CUT.finditer(text) if len(stems(text[: m.start()])) > 1]
    if cuts and (len(text) > MAX_TITLE or cuts[0] > MAX_TITLE // 3):
        text = text[: cuts[0]]
    if len(text) > MAX_TITLE:
        head = text[: MAX_TITLE + 1]
        softer = [m.start() for m in _AND.finditer(head) if m.start() > MAX_TITLE // 2]
        text = text[: softer[-1] if softer else max(head.rfind(" "), 0) or MAX_TITLE]
    if text.count("(") > text.count(")"):
        text = text[: text.rfind("(")]
    text = _DANGLING.sub("", text.strip(_EDGES)).strip(_EDGES)
    return text.replace('"', "") if text.count('"') == 1 else text
