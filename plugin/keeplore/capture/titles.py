"""A conversation's title: its subject and, where there is one, its decision, in the words that were used.

Candidates are the heading of a pasted plan, the decisions, the person's requests, and what the agent says it did. Each
is turned into an imperative or a noun phrase and scored by how much of the subject it names (``phrases.profile``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from keeplore.capture import cues
from keeplore.capture.phrases import Profile, capitalised, plain, profile
from keeplore.capture.sentences import Sentence, sentences
from keeplore.capture.terms import STOP, terms, words
from keeplore.memory import Exchange, Quote

MAX_TITLE = 70  # characters
MIN_SCORE = 1.2  # below it a candidate says too little, and the key phrases speak
FALLBACK = "Untitled conversation"
_OPENERS = re.compile(
    r"\A(?:(?:(?:hey|hi|hello|ok(?:ay|y)?|oky|so|well|oh|oh no|ah|hm+|gah|alright|right|great|cool|nice|"
    r"perfect|thanks|thank you|yes|yeah|yep|"
    r"yup|sure|no|and|but|also|now|then|next|please|pls|actually|first|maybe|again|just|claude|codex|"
    r"gemini|sorry|wait|good|fine|agreed|"
    r"fair enough|sounds good|makes sense|that works|stop for a second|taking a step back|umm?|uh|next "
    r"feedback item|note that|to be precise|"
    r"fyi|btw|by the way|quick question|question|today|if possible|if you could|you're right|let me think|"
    r"one more thing|one more time)"
    r"(?:[,.;:!?…—–-]+\s*|\s+))|"
    r"(?:can|could|would|will|may) (?:you|we|i)(?: please| also| just| maybe| already| "
    r"perhaps)*\s+(?:help me (?:to |with )?)?|"
    r"(?:do|are|is) (?:you|we) (?:able to|think we should)\s+|"
    r"(?:i|we)(?:'d| would)? (?:really |actually |just |also )?(?:like|love|want|need|have|wish|"
    r"prefer)(?: now)?(?: your help(?: with)?| some help(?: with)?| help(?: with)?| you(?: now)?)?(?: "
    r"to)?\s+|"
    r"(?:i|we)(?:'m|'re| am| are) (?:going to|trying to|about to|currently|now|planning to|looking to)\s+|"
    r"(?:i|we)(?:'ll| will| should| must| can| could)\s+(?:also |just )?|"
    r"(?:i (?:think|guess|feel like|believe|reckon|mean|see|noticed?|just noticed|wonder if|was wondering "
    r"if|do want to))(?: that)?(?: it's| its)?\s+|"
    r"(?:let(?:'|’)?s|lest's|lets)(?: please| now| just| also| then| start by)*\s+|"
    r"(?:help me|make sure(?: that| to)?|go ahead and|try to|be sure to|feel free to|your (?:task|job|"
    r"goal) is to|the task is to|you are(?: going)? to|have a look at|take a look at|look (?:at|"
    r"into))\s+(?:to |with )?|"
    r"(?:is it possible|would it be possible|how hard would it be|would it make sense|does it make sense|"
    r"is there a way|any way) (?:for us )?to\s+|"
    r"(?:what|which) (?:is|are|was|were)(?: the)?\s+(?!\w+\?)|(?:are|is) there (?:any |some |a |an )?|"
    r"(?:we have|there is|there are|there's|it's|it is)(?: a| an| the)?\s+|"
    r"(?:give|tell|show|make|write|explain|do|get|find)(?: to)? (?:me|us)(?: please| again| now)*\s+)",
    re.IGNORECASE,
)
_DECISION_OPENERS = re.compile(
    r"\A(?:(?:final |the )?(?:decision|decided|agreed|conclusion)(?: is)?\s*[:—–-]\s*|(?:i|we)(?:'ve| "
    r"have)? (?:now |finally |just )*(?:decided|agreed|opted|settled)(?: to| on| for| that)?\s+"
    r"|(?:we|i)(?:'re|'m| are| am) going (?:to|with)\s+|(?:we|i) (?:will|'ll|shall)\s+|(?:my "
    r"recommendation|i(?:'d| would)? (?:strongly )?(?:recommend|suggest|propose)(?:ation)?)(?: is)?(?: "
    r"to)?:?\s+|"
    r"(?:option|approach|alternative|choice|plan) ?#?[A-Ea-e\d][:.)]?\s*(?:[—–-]\s*)?)",
    re.IGNORECASE,
)
_HOW = re.compile(r"\Ahow (?:do|does|can|could|would|should|did) (?:i|we|you|one)\s+(?=\w)", re.IGNORECASE)
_HOW_IS = re.compile(
    r"\Ahow (?:do|does|did|is|are|would|will|can)\s+(?=(?:the|a|an|our|this|that|it|they)?\s*\w)", re.IGNORECASE
)
_GENERIC_HEADING = re.compile(
    r"\A(?:\W|\d)*(?:plan|context|goal|goals|overview|summary|background|instructions?|task|tasks|problem|"
    r"introduction|steps?|requirements?|notes?|changes?|"
    r"implementation(?: plan)?|result|results|done|phase \d.*|step \d.*|next steps?|files?(?: to "
    r"(?:change|modify))?|verification|options?|recommendation|"
    r"what(?:'s| is| was) .*|the (?:fix|problem|issue|solution)|root cause.*|strengths|test(?:s|ing| "
    r"plan)?|usage|example|summary of .{0,12}|key .{0,14}|current .{0,14}|my .*|if .*|here.*|why.*|how.*|"
    r"now.*|possible .*|perfect.*)\W*\Z",
    re.IGNORECASE,
)
_HEADING_LABEL = re.compile(
    r"\A(?:implementation |design |project |bug )?(?:plan|task|goal|summary|design|rfc|adr|proposal|"
    r"feature|issue|skill|spec|report|review|overview|command)\s*(?:#?\d+)?\s*[:—–-]\s*",
    re.IGNORECASE,
)
_PASTED = re.compile(
    r"\A\W*(?:implement|execute|follow|review|here(?:'s| is)) (?:the|this|my|a) (?:following )?(?:plan|"
    r"spec|design|document|skill|prompt|task)\b",
    re.IGNORECASE,
)
_DID = re.compile(
    r"\A(?:(?:done|perfect|great|excellent|all (?:done|set)|fixed)[.!:,—–\s-]+)?(?:(?:i|we)(?:'ve| have)? "
    r"(?:now |successfully |also )*)?(?P<did>(?:added|fixed|updated|created|implemented|removed|replaced|"
    r"refactored|renamed|cleaned up|moved|wrote|switched|changed|extracted|configured|set up|built|"
    r"improved|migrated|merged|simplified|documented|found)\b.*)",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"[,;:](?=\s)|\.(?=\s)|\s[-–—]\s|\s(?=\()|\s(?=(?:so that|so we|because|since|which|while|where|when|"
    r"if|but|and then|and also|as (?:it|this|that|we|the)|in order|then|unless|until|although|though|"
    r"without|due to|that (?:we|i|you|it|is|are|would))\s)|\?(?=\s)"
)
_AND = re.compile(r"\s(?=(?:and|or|with|for|from|by|using|to|in|on|into)\s)")
_DANGLING = re.compile(
    r"(?:\s+(?:a|an|the|and|or|of|to|for|in|on|at|with|by|from|as|but|is|are|was|were|be|that|which|than|"
    r"so|if|when|into|about|our|my|your|its|their|this|these|those|it|we|i|you|not|no|also|just|please|"
    r"via|per|instead|rather|e\.g|i\.e|both|only|because|where|while|how|why|what|can|could|would|should|"
    r"will|do|does))+\Z",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:it|that|this|these|those|them|they|one|ones|something|thing|things|above|below|same|here|there|"
    r"stuff|anything)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:i|me|my|i'm|i'd|i've|you|your|we're|haha|lol|wtf|wth|umm?)\b", re.IGNORECASE)


def title_of(exchanges: Sequence[Exchange], parts: Mapping[str, tuple[Quote, ...]]) -> str:
    """At most ``MAX_TITLE`` characters on one line, never empty; the same exchanges always give the same title."""
    if heading := _pasted_heading(exchanges):
        return heading
    about = profile(exchanges)
    scored = sorted(_candidates(exchanges, parts, about), key=lambda c: -c[0])
    if scored and scored[0][0] >= MIN_SCORE:
        return _with_subject(scored[0][1], about)
    if about.phrases:
        best = f"{about.phrases[0]}: {about.phrases[1]}" if len(about.phrases) > 1 else about.phrases[0]
        return capitalised(_fit(best)) or FALLBACK
    return capitalised(_fit(scored[0][1])) if scored else FALLBACK


def _candidates(
    exchanges: Sequence[Exchange], parts: Mapping[str, tuple[Quote, ...]], about: Profile
) -> Iterator[tuple[float, str]]:
    for quote in parts.get("decision", ()):
        _, _, answer = quote.text.rpartition(" → ")
        phrase = _imperative(_DECISION_OPENERS.sub("", plain(answer)))
        yield _score(phrase, about) + (1.2 if quote.speaker == "user" else 0.9), phrase
    asked = 0
    for exchange in exchanges:
        for n, sentence in enumerate(sentences(exchange.user)[:12]):
            phrase = _imperative(plain(sentence.text))
            if not phrase or len(terms(phrase)) < 2:
                continue
            asked += 1
            doubt = 0.5 if sentence.is_question else 0.0
            yield _score(phrase, about) + _asks(sentence.text) - doubt - 0.15 * min(asked, 12) - 0.1 * n, phrase
    for exchange in exchanges:
        for sentence in sentences(exchange.assistant):
            if phrase := _told(sentence):
                yield _score(phrase, about) - 0.5, phrase


def _pasted_heading(exchanges: Sequence[Exchange]) -> str:
    """The heading of a plan or document that the first message is made of."""
    message = exchanges[0].user if exchanges else ""
    said = sentences(message)
    is_paste = bool(_PASTED.match(message)) or message.lstrip().startswith("#") or len(said) > 30
    for sentence in said[:30] if is_paste else ():
        if sentence.is_heading and not _GENERIC_HEADING.match(sentence.text):
            heading = _HEADING_LABEL.sub("", plain(sentence.text))
            if len(terms(heading)) > 1:
                return capitalised(_fit(heading))
    return ""


def _told(sentence: Sentence) -> str:
    """What the agent says that it did, or the heading of its report."""
    text = plain(sentence.text)
    if sentence.is_heading:
        heading = _HEADING_LABEL.sub("", text)
        return heading if not _GENERIC_HEADING.match(heading) and 1 < len(terms(heading)) < 9 else ""
    did = _DID.match(text)
    return _fit(did["did"]) if did and len(terms(did["did"])) > 2 else ""


def _imperative(text: str) -> str:
    """The sentence without its wrapping of address and politeness, cut to a title's length."""
    for _ in range(8):  # openers stand one before the other: "ok, so could you please"
        shorter = _OPENERS.sub("", text, count=1)
        if shorter == text:
            break
        text = shorter
    text = _HOW.sub("how to ", text)
    text = _HOW_IS.sub("how ", text)
    return _fit(text)


def _fit(text: str) -> str:
    """Cut at a clause, then between words, without a dangling small word."""
    text = text.strip(" .,;:!?-–—…\"'")
    cuts = [m.start() for m in _CUT.finditer(text) if len(terms(text[: m.start()])) > 2]
    if cuts and (len(text) > MAX_TITLE or cuts[0] > MAX_TITLE // 3):
        text = text[: cuts[0]]
    if len(text) > MAX_TITLE:
        head = text[: MAX_TITLE + 1]
        softer = [m.start() for m in _AND.finditer(head) if m.start() > MAX_TITLE // 2]
        text = text[: softer[-1] if softer else max(head.rfind(" "), 0) or MAX_TITLE]
    return _DANGLING.sub("", text.strip(" .,;:!?-–—…\"'")).strip(" ,;:-–—(")


def _score(phrase: str, about: Profile) -> float:
    found = terms(phrase)
    if len(set(found)) < 2:
        return 0.0
    score = about.of(phrase) + 0.15 * min(len(set(found)), 6)
    vague = len(_VAGUE.findall(phrase)) + len(_PERSON.findall(phrase))
    filler = sum(word.lower() in STOP for word in words(phrase)) / max(len(words(phrase)), 1)
    return score - 0.35 * vague - max(0.0, filler - 0.5)


def _asks(text: str) -> float:
    """A request or a goal names what a talk is for better than a report does."""
    return (
        0.5
        if cues.TOPIC[0].search(text)
        or re.match(r"\W*(?:please|can you|could you|i(?:'d| would) like|i want|we need|let's)\b", text, re.IGNORECASE)
        else 0.0
    )


def _with_subject(phrase: str, about: Profile) -> str:
    """The phrase, led by the subject where it does not name it itself."""
    own = set(terms(phrase))
    subject = next((p for p in about.phrases[:2] if set(terms(p)) & own), None)
    if subject is None and about.phrases and len(own) < 4:
        led = f"{about.phrases[0]}: {phrase}"
        if len(led) <= MAX_TITLE:
            return capitalised(led)
    return capitalised(phrase)
