"""Values that are code: the name of a variable, a member of an object, a call."""

from __future__ import annotations

import re

from keeplore.redact.value_shapes import names_a_secret

_OBJECT = r"""(?:process|os|env|environ|import\.meta|config|cfg|conf|settings|self|this|cls|req
  |request|res|resp|response|ctx|context|props|state|data|params?|args?|kwargs|options?|opts
  |secrets|vars?|local|module|inputs|github|user|account|session|Deno|Bun|System|Environment|Rails
  |ENV|ctrl|cmd|flags?|body|headers?|payload|result|event|auth|client|app|obj|form|np|numpy|torch
  |types|typing|string|strings|sys|db|values?|item|row|field|model)"""
_CODE = re.compile(
    rf"""^(?:
      {_OBJECT}(?:\.|\[|\?\.|->|::).*
    | \*?&?[A-Za-z_][\w.:]*(?:\(|\[).*
    | [A-Za-z_]\w*(?:->|::|\?\.).*
    | [(\[{{].*
    | (?:new|await|async|lambda|function|def|return|not|None|null|nil|true|false)\b.*
    )$""",
    re.VERBOSE | re.DOTALL,
)
_MEMBER = re.compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
_NUMBERED = re.compile(r"[A-Za-z]\d{2,6}$")  # no member of an object is called so


def is_reference(value: str) -> bool:
    """True for ``user.password`` and ``get_token()``, not for ``winter.dragon7323``."""
    if _CODE.match(value):
        return True
    return _MEMBER.match(value) is not None and not _is_dotted_password(value)


def _is_dotted_password(value: str) -> bool:
    if not _NUMBERED.search(value) or len(value) < 8:
        return False
    return not any(names_a_secret(part.lower()) for part in value.split("."))
