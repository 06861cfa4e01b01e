"""No secret reaches the worker's log, whatever an error says."""

import logging
import random
import string

from keeplore.worker.__main__ import RedactingFormatter


def test_neither_a_message_nor_a_traceback_holds_a_secret() -> None:
    token = "ghp_" + "".join(
        random.Random(3).choices(string.ascii_letters + string.digits, k=36)
    )
    try:
        raise ValueError(f"cannot read {token!r}")
    except ValueError as e:
        record = logging.LogRecord(
            "k",
            logging.ERROR,
            __file__,
            1,
            "%s failed",
            (token,),
            (type(e), e, e.__traceback__),
        )
    text = RedactingFormatter("%(levelname)s %(message)s").format(record)
    assert token not in text
    assert (
        text.startswith("ERROR [REDACTED:github-token] failed")
        and "ValueError: cannot read" in text
    )
