"""JSON without the module of that name, whose import takes longer than all that a client does.

Its work is done in C by ``_json``; the rest of it are options.
"""

TYPE_CHECKING = False  # without a module that takes a while to import
if TYPE_CHECKING:
    from typing import Any

SPACE = " \t\n\r"
BEYOND = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
WORDS = {None: "null", True: "true", False: "false"}


class ScannerOptions:
    """How ``_json`` reads without options."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(text: "str | bytes | bytearray") -> "Any":
    """The value of a JSON text. Raises ValueError, or RecursionError."""
    if not isinstance(text, str):
        text = text.decode("utf-8", "surrogatepass")
    text = text.strip(SPACE)
    try:
        value, end = scan(text, 0)
    except (StopIteration, SystemError):  # it has no JSONDecodeError to raise here
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than one value")
    return value


def dumps(value: "Any") -> str:
    """A value as JSON text; its mappings have strings for keys, as JSON that was read has."""
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return WORDS[value]
    if isinstance(value, dict):
        pairs = [f"{quoted(key)}: {dumps(one)}" for key, one in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(dumps, value)) + "]"
    return number(value)


def number(value: "int | float") -> str:
    return BEYOND.get(repr(value)) or repr(value)


try:
    from _json import encode_basestring_ascii as quoted
    from _json import make_scanner

    scan = make_scanner(ScannerOptions)  # type: ignore[arg-type]  # takes any such object
except (ImportError, AttributeError, TypeError):
    import json

    # the same, and slower
    loads, dumps = json.loads, json.dumps  # type: ignore[assignment]  # takes options too
