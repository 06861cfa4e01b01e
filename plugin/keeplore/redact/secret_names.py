"""Names that say that what follows them is secret: one place decides for settings, calls, columns
and sentences.
"""

from __future__ import annotations

import re

# names that hold a secret's word and no secret: password_field, tokenUrl, max_tokens, primary_key,
# bypass
_NO_SECRET = re.compile(
    r"""(?:word|wd|pass|phrase|code|pwd|psk|secret|token|key|credentials?|auth|session|sid|sig
      |signature|salt|bearer)s?[_.\-]?
    (?:field|label|name|type|ur[il]s?|file|path|dir|folder|counts?|limit|len|length|size|polic\w+
      |expir\w*|ttl|ids?|index
      |prefix|suffix|regex|pattern|var|refs?|placeholder|hint|errors?|message|msg|required
          |enabled|disabled|min|max
      |version|status|state|format|algorithm|alg|manager|store|storage|provider|service|class
          |column|input|form|reset
      |budget|usage|iz\w+|costs?|price|rate|window|total|used|left|remaining|strength|rules?
          |rotation|scopes?|kind|mode
      |source|method|handler|strategy|endpoint|link|page|screen|view|button|icon|text|title
          |description|validator
      |checker|generator|exists|valid|invalid|changed|at|by|needed|map|list|set|array|types|names
          |arn|engine|command|cmd
      |prompt|selector|header|param|attr|less|protected|based|only|flow|grant|tests?|examples?
          |docs?|estimate|overlap
      |cap|board|stone|frame|ring|mgr|managers?|helper|utils?|model|schema|options?|settings
        |config|callback|func\w*|fn|hash\w*|encoder|context|client|server|auth\w*|realm|realms
        |default\w*|verif\w+|check\w*|found|ok|attempts?|age|day|days|time\w*|date)$
    | (?:secret|token|key|word|phrase|code)s$
    | (?:^|[_.\-$])(?:max|min|num|total|prompt|input|output|completion|cached?|context|reasoning
        |n|per|count|special|pad
      |eos|bos|unk|sep|mask|stop|next|page|continuation|design|cancellation|cancel|sort|partition
          |dict|map|object|hash
      |lookup|row|composite|unique|react|hot|short|arrow|press|enter|escape|no)[_.\-]?(?:tokens?
          |key|pass)$
    | (?:public|primary|foreign|publishable)[_.\-]?key$ | (?:by|com|sur|tres|under|over|im)pass$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
_PASSWORD = re.compile(
    r"pass(?:wor[dt]|wd|phrase|code)|kennwort|pwd|psk|^pw$|^passe$|^(?:mdp|senha|heslo)|contrase"
    r"|wachtwoord|has[lł]o|l[oö]senord"
    r"|^(?!by|com|over|under|sur|tres|im|x)\w*pass$",
    re.IGNORECASE,
)

# a verb and what is passed
_PASSES = re.compile(r"pass(?!(?:Word|Wort|Phrase|Code)(?![a-z]))[A-Z][a-z]")


def is_no_secret_name(name: str) -> bool:
    """True for ``max_tokens``, ``password_field`` and ``bypass``."""
    return _NO_SECRET.search(name) is not None


def is_password_name(name: str) -> bool:
    """True for ``dbPassword`` and ``requirepass``, not for ``passage``, ``xpassed`` or
    ``passValue``.
    """
    return not _PASSES.match(name) and any(map(_PASSWORD.search, _WORD.findall(name)))
