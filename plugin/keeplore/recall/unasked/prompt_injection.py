"""Against prompt injection: whether text that nobody here said may be put before an agent unasked,
which it may not where it reads like an instruction.

No list of phrases is complete, so the doubt decides: text is first brought into plain letters, then
looked through for orders and rules, and what cannot be judged (another script, another language,
something encoded) is held back as well. It can still be asked for, and is shown with a mark then.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
import urllib.parse
from collections.abc import Callable, Iterator

from keeplore.memory import Memory
from keeplore.memory.model import Trust
from keeplore.recall.unasked.harmful_statements import tells_of_harm
from keeplore.text.fences import sanitise
from keeplore.text.similarity import without_accents

FOREIGN = Trust.FOREIGN
TOLD = frozenset(Trust) - {FOREIGN}
_LONG_SENTENCE = 5  # words, of which one is among the commonest of English
_PRINTABLE = 0.9  # share of what was decoded that makes it a text

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# each case reads like an order or a rule; one regular expression looks for all of them
_ORDERS = {
    "what was said before is to be ignored": r"""
        \b(?:ignore|disregard|forget|override|overrule|bypass)\b.{0,60}
        \b(?:previous|prior|above|earlier|instructions?|rules?|prompts?)\b
    """,
    "a new role": r"""
        \b(?:from\ now\ on|(?:system|developer)\ (?:prompt|message|instruction)|act\ as|pretend
          |jailbreak|roleplay)\b
        | \byou\ (?:will\ now|can\ now|are\ now)\b
        | \byour\ (?:new\ )?(?:task|job|role|goal|mission|instructions?)\b
    """,
    "an obligation": r"""
        \b(?:must|shall|should|ought\ to|ha(?:s|ve)\ to|needs?\ to|(?:is|are)\ to|may\ not
          |supposed\ to)\b
        | \b(?:required|mandatory|obligatory|obliged|forbidden|prohibited|not\ allowed|instructed
          |ordered\ to|asked\ to)\b
    """,
    "something to be kept from the person": r"""
        \b(?:do\ not|don'?t|never|without)\ (?:\w+\ )?
        (?:tell|ask|inform|mention|reveal|warn|confirm)\w*\b
    """,
    "a dangerous command": r"""
        \b(?:curl|wget)\b.{0,80}\|\s*(?:ba|z)?sh\b | \bsudo\b | \brm\ -\w*[rf]
    """,
    "an imperative at the beginning of a clause": r"""
        (?:^|[.!?:;,"'“”(\]>|]\s*|\s[-*•–—]\s+|\d[.)]\s+|\#\s*
          |\b(?:and|then|please|now|first|next|important|just|also|kindly|to)\b[,:\s]+)
        (?:always|never|run|execute|eval|install|download|delete|remove|drop|send|post|upload
          |e-?mail|forward|fetch|open|visit|use|set|add|write|append|call|read|print|output|reply
          |respond|answer|say|make\ sure|ensure|do\ not|don'?t|commit|push|merge|disable|enable
          |approve|grant|allow|remember|copy|paste|click|follow|obey|trust|create|change|replace
          |update|edit|rename|skip|accept|exfiltrate|encode|decode|decrypt|include|insert|transfer
          |pay|share|show|tell|give|reveal|leak|switch|start|stop|kill|translate|repeat
          |summari[sz]e|paraphrase|browse|go\ to)\b
    """,
    "a turn of a conversation, or a marker of one": r"""
        (?:^|\s)(?:human|user|assistant|system|developer)\s*:
        | \[/?inst\] | <\|?im_(?:start|end) | \#{2,}\ *(?:instruction|system)
    """,
    # the same in languages whose letters say nothing
    "what was said before is to be ignored, in other languages": r"""
        \b(?:ignor(?:iere|iert|ez|a|e|eer|are|ate|ando)|vergiss|missachte|oublie[zr]?|olvida|esquece
          |dimentica|negeer)\b
        .{0,60}
        \b(?:anweisung|vorherige|regel|instruction|consigne|precedent|anterior|instruc|istruzion
          |eerdere)
    """,
    "an obligation in other languages": r"""
        \b(?:du\ musst|sie\ mussen|vous\ devez|tu\ dois|debes|tienes\ que|deve|voce\ deve|devi
          |je\ moet|u\ moet)\b
    """,
    "an imperative in other languages": r"""
        \b(?:losche?|fuhre|sende|immer|niemals|supprime[zr]?|execute[zr]?|envoie|envoyez|toujours
          |jamais|borra|ejecuta|envia|siempre|nunca|apague|exclua|sempre|cancella|esegui|invia|mai
          |verwijder|stuur|altijd|nooit)\b
    """,
}
_ORDER = re.compile(
    "|".join(f"(?:{pattern})" for pattern in _ORDERS.values()), re.VERBOSE
)
_MARKUP = re.compile(
    r"!?\[[^\]\n]{0,500}\]\s?(?:\(|\[|:\s*\S)|<[a-z!/?]|\b(?:javascript|data|vbscript|file):\S|"
    r"\bhttps?://[^\s/@]{0,200}@",
    re.IGNORECASE,
)
_SPACED = re.compile(r"(?:\b[^\W\d_]\b[\W_]{1,3}){7}\b[^\W\d_]\b")  # i g n o r e
_WORD = re.compile(r"[^\W\d_]+")
# a word of Latin letters and of those of another script that look alike
_MIXED = re.compile(r"[a-z]{2,}[\u0370-\u058f]|[\u0370-\u058f][a-z]{2,}", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u\{?([0-9a-f]{4,5})\}?)", re.IGNORECASE)
_INSIDE = re.compile(r"(?<=[a-z])[^\w\s](?=[a-z])")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:]?){12,}")
_SENTENCE_ENDS = re.compile(r"[.!?;:\n]+(?:\s|$)|\s[-*•–—|]\s")
_DIGITS_AS_LETTERS = str.maketrans("013457@$|", "oieastasi")
_OTHER_LATIN = str.maketrans(
    {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ß": "ss", "æ": "ae", "œ": "oe"}
)
# common in English, and no words of the languages that share letters and texts with it
_ENGLISH = frozenset(
    """
    the and to are were for with that this it its by from be been has have had not but which when
    because will would our their they there after before each every only is does did than then where
    while
    """.split()  # noqa: SIM905  # a list of literals cannot be read
)


def stated_trust(memory: Memory) -> str:
    """The trust that the memory's file states: right where nobody else writes."""
    return memory.trust


def may_be_injected(trust: str, *texts: str) -> bool:
    """Whether it may be told unasked: nothing doubtful, and only what is from machines that are
    believed.
    """
    return trust in TOLD and not is_doubtful(trust, *texts)


def is_doubtful(trust: str, *texts: str) -> bool:
    """True for what an assistant concluded where it would lead to harm; for what neither user nor
    assistant said also where it reads like an instruction, or cannot be judged.
    """
    if trust == Trust.USER:
        return False
    is_one = is_harmful if trust == Trust.ASSISTANT else is_suspect
    return any(map(is_one, texts))


def is_harmful(text: str) -> bool:
    """True for text by which an agent would do harm, in whatever mood and disguise. Linear in the
    text's length.
    """
    if _CONTROLS.search(text) or _SPACED.search(text):
        return True
    seen = _unescaped(sanitise(text))
    if _MIXED.search(without_accents(seen)):
        return True
    hidden = (
        data.decode("ascii", "replace")
        for data in _decoded_runs(seen)
        if _is_text(data)
    )
    return any(tells_of_harm(_variants(_folded_line(t)), t) for t in (seen, *hidden))


def is_suspect(text: str) -> bool:
    """True for instruction-shaped text, and for text of which that cannot be told. Linear in the
    text's length.
    """
    # what they hide, and which words they eat, depends on who shows the text
    if _CONTROLS.search(text):
        return True
    seen = _unescaped(sanitise(text))
    return any(is_case(seen) for is_case in _SUSPICIONS.values()) or is_harmful(text)


def _unescaped(text: str) -> str:
    """The text without the escapes of HTML, URLs and programming languages."""
    text = html.unescape(html.unescape(text))
    text = urllib.parse.unquote(text) if "%" in text else text
    return sanitise(
        _ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    )


def _folded_line(text: str) -> str:
    """Small letters without accents, compatibility forms such as full width folded, in one line."""
    folded = unicodedata.normalize("NFKD", text).casefold().translate(_OTHER_LATIN)
    return " ".join(without_accents(folded).replace("’", "'").split())


def _variants(plain: str) -> Iterator[str]:
    """The text as it may have been disguised: digits for letters, signs within words, backwards."""
    yield plain
    yield plain.translate(_DIGITS_AS_LETTERS)
    yield _INSIDE.sub("", plain)
    yield plain[::-1]


def _is_order(seen: str) -> bool:
    return any(_ORDER.search(variant) for variant in _variants(_folded_line(seen)))


def _is_of_other_letters(seen: str) -> bool:
    """Is there a word with letters that are not Latin, or with letters of two scripts?"""
    foreign = (word for word in _WORD.findall(_folded_line(seen)) if not word.isascii())
    return any(len(word) > 1 and not _is_unit(word) for word in foreign)


def _is_of_other_language(seen: str) -> bool:
    """Is there a long sentence without one of the commonest words of English?"""
    for sentence in _SENTENCE_ENDS.split(seen):
        words = [word for word in map(_letters, _folded_line(sentence).split()) if word]
        if len(words) >= _LONG_SENTENCE and _ENGLISH.isdisjoint(words):
            return True
    return False


def _is_unit(word: str) -> bool:
    """True for a unit such as μs."""
    return len(word) == 2 and word[1:].isascii()  # a Greek letter and a Latin one


def _letters(word: str) -> str:
    found = _WORD.search(word)
    return found[0] if found else ""


def _is_encoded(text: str) -> bool:
    """Does it hold a text as base64 or in hexadecimal digits?"""
    return any(_is_text(data) for data in _decoded_runs(text))


def _decoded_runs(text: str) -> Iterator[bytes]:
    for found in _BASE64.finditer(text):
        digits = found[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            yield base64.b64decode(digits + "=" * (-len(digits) % 4))
        except (binascii.Error, ValueError):
            yield base64.b64decode(digits[: len(digits) // 4 * 4])
    for found in _HEX.finditer(text):
        yield bytes.fromhex(re.sub(r"[\s:]", "", found[0]))


def _is_text(data: bytes) -> bool:
    printable = sum(32 <= byte < 127 or byte in b"\t\n" for byte in data)
    return bool(data) and printable >= _PRINTABLE * len(data)


# why a text is held back, in the order in which it is looked at
_SUSPICIONS: dict[str, Callable[[str], object]] = {
    "markup that is fetched or run": _MARKUP.search,
    "letters that stand apart": _SPACED.search,
    "a text in base64 or hexadecimal digits": _is_encoded,
    "letters that cannot be judged": _is_of_other_letters,
    "a language that cannot be judged": _is_of_other_language,
    "an order or a rule": _is_order,
}
