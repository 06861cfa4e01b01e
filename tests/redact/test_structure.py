"""Detectors that look at the shape of several lines: exactly which bytes they take for secrets, and
how far they say that they have looked.
"""

from __future__ import annotations

import base64

from keeplore.redact.structure import (
    MANIFEST_BYTES,
    NEAR_BYTES,
    TABLE_ROWS,
    decoded,
    listed,
    manifest,
    near,
    seed_phrase,
    table,
    wordlist,
)

SECRET = "Qz7rLm2xWp9d"
OTHER = "Vb4nTk8sYc1g"
WORDS = (
    b"abandon ability able about above absent absorb abstract absurd abuse access accident "
    b"account accuse"
).split()


def found(detector, text, at=None, examined=0):
    """What a detector finds in a match of ``at``, which is the whole text where it is left out, as
    texts, and how much of the text is left to look at.
    """
    data = text if isinstance(text, bytes) else text.encode()
    start = data.index(at) if at else 0
    end = start + len(at) if at else len(data)
    spans, position = detector(data, (start, end), examined)
    return [data[a:b].decode() for a, b in spans], data[position:].decode()


def test_a_column_of_passwords_is_read_to_the_end_of_its_table() -> None:
    text = f"| user | password |\n|---|---|\n| ann | {SECRET} |\n| bob | `{OTHER}` |\n\nmore"
    assert found(table, text, b"| user | password |") == ([SECRET, OTHER], "\nmore")


def test_the_last_row_may_end_with_the_text() -> None:
    text = f"id\tpassword\n1\t{SECRET}"
    assert found(table, text, b"id\tpassword") == ([SECRET], f"1\t{SECRET}")


def test_cells_are_split_as_the_heading_is() -> None:
    assert found(
        table, f"user,token,id\nann,{SECRET}{OTHER},3\n", b"user,token,id"
    ) == (
        [SECRET + OTHER],
        "",
    )
    text = f"user  password  age\nann  {SECRET}  3\nbob  {OTHER}  4\nonly  two\n"
    assert found(table, text, b"user  password  age") == (
        [SECRET, OTHER],
        "only  two\n",
    )


def test_a_row_with_fewer_columns_of_bars_still_counts() -> None:
    text = f"| a | password | c |\n| x | {SECRET} |\nend"
    assert found(table, text, b"| a | password | c |") == ([SECRET], "end")


def test_a_table_is_read_for_so_many_rows() -> None:
    rows = "".join(f"| {n} | {SECRET}{n} |\n" for n in range(TABLE_ROWS + 2))
    spans, rest = found(table, f"| user | password |\n{rows}", b"| user | password |")
    assert spans == [f"{SECRET}{n}" for n in range(TABLE_ROWS)]
    assert rest == rows.split("\n", TABLE_ROWS)[TABLE_ROWS]


def test_the_first_column_counts_and_its_heading_ends_with_the_match() -> None:
    text = f"password\tname\n{SECRET}\tann\n"
    assert found(table, text, b"password\tname") == ([SECRET], "")
    text = f"a\tpassword\twords\n1\t{SECRET}\n"
    assert found(table, text, b"a\tpassword") == (
        [],
        "words\n" + text.split("\n", 1)[1],
    )


def test_a_heading_that_names_nothing_or_was_looked_at_gives_nothing() -> None:
    text = f"| user | age |\n| ann | {SECRET} |\n"
    assert found(table, text, b"| user | age |") == ([], f"| ann | {SECRET} |\n")
    text = f"| user | password |\n| ann | {SECRET} |\n"
    assert found(table, text, b"| user | password |", examined=1) == ([], text[1:])
    assert found(table, f"password\n{SECRET}\n", b"password") == ([], f"{SECRET}\n")


def test_the_longest_run_without_common_words_is_the_seed() -> None:
    words = b" ".join(WORDS[:12])
    text = b"seed phrase: the " + words + b" and more"
    assert found(seed_phrase, text) == ([words.decode()], "")
    assert found(seed_phrase, text, examined=len(text) - 12) == ([], "")
    assert found(seed_phrase, b"the " + b" ".join(WORDS[:11])) == ([], "")


def test_a_dozen_words_of_the_list_are_a_mnemonic_wherever_they_stand() -> None:
    words = b" ".join(WORDS[:12])
    assert found(listed, b"xyz " + words + b" zzz") == ([words.decode()], "")
    assert found(listed, b"xyz " + b" ".join(WORDS[:11]) + b" zzz") == ([], "")
    lines = b"\n".join(WORDS)
    assert found(listed, b"xyz\n" + lines + b"\n") == ([lines.decode()], "")
    assert found(listed, words, examined=1) == ([], "")


def test_a_mnemonic_has_other_words_each_time() -> None:
    ten = [*WORDS[:10], *WORDS[:2]]
    nine = [*WORDS[:9], *WORDS[:3]]
    assert found(listed, b" ".join(ten)) == ([b" ".join(ten).decode()], "")
    assert found(listed, b" ".join(nine)) == ([], "")


def test_separators_between_its_words_are_short() -> None:
    for gap in (12, 13):
        text = (b" " * gap).join(WORDS[:12])
        assert found(listed, text)[0] == ([text.decode()] if gap <= 12 else [])
    for gap in (96, 97):
        text = (
            b" ".join(WORDS[:6])
            + b"\n"
            + b"[1] "
            + b" " * (gap - 5)
            + b" ".join(WORDS[6:12])
        )
        assert found(listed, text)[0] == ([text.decode()] if gap <= 96 else [])


def test_what_a_log_begins_its_lines_with_stands_between() -> None:
    text = b"\n".join(b"[12:00] " + word for word in WORDS[:12])
    assert found(listed, text) == ([text.removeprefix(b"[12:00] ").decode()], "")
    text = b"\n".join(b"zzzz: " + word for word in WORDS[:12])
    assert found(listed, text) == ([], "")


def test_a_word_outside_the_list_ends_a_run_on_its_line_alone() -> None:
    first, second = b" ".join(WORDS[:6]), b" ".join(WORDS[6:12])
    whole = first + b"\n" + second
    assert found(listed, b"xylophones " + whole) == ([whole.decode()], "")
    assert found(listed, first + b" zzzz " + second) == ([], "")
    assert found(listed, first + b"\nzzzz " + second)[0] == []


def test_a_list_of_words_is_looked_at_where_it_may_hold_a_mnemonic() -> None:
    words = b" ".join(WORDS[:12])
    for before in range(4):
        text = b"zzz " * before + words + b" zzz zzz"
        assert found(wordlist, text) == ([words.decode()], ""), before
    assert found(wordlist, b" ".join(WORDS[:11])) == ([], "")
    twice = b" ".join(WORDS[:11]) + b" zzz zzz zzz zzz " + words
    assert found(wordlist, twice) == ([words.decode()], "")


def test_every_value_of_a_kubernetes_secret_is_one() -> None:
    text = f"kind: Secret\ndata:\n  one: {SECRET}\n  two: changeme\n  three: {OTHER}\nmore: x\n"
    assert found(manifest, text, b"data:\n") == ([SECRET, OTHER], "more: x\n")
    assert found(manifest, text, b"data:\n", examined=14)[0] == []
    assert found(manifest, text.replace("Secret", "Pod"), b"data:\n")[0] == []


def test_a_manifest_as_json_ends_with_its_brace() -> None:
    text = f'{{"kind": "Secret", "data": {{"a": "{SECRET}", "b": "{OTHER}"}}, "c": "elsewhere"}}'
    assert found(manifest, text, b'"data": {') == (
        [SECRET, OTHER],
        '}, "c": "elsewhere"}',
    )


def test_the_kind_of_a_manifest_may_stand_so_far_away() -> None:
    for far, is_found in ((MANIFEST_BYTES - 12, True), (MANIFEST_BYTES - 11, False)):
        text = "kind: Secret" + "\n" * far + f"data:\n  one: {SECRET}\n"
        assert bool(found(manifest, text, b"data:\n")[0]) is is_found
        text = (
            f"data:\n  one: {SECRET}\n"
            + "\n" * (far - len(f"  one: {SECRET}\n"))
            + "kind: Secret"
        )
        assert bool(found(manifest, text, b"data:\n")[0]) is is_found


def test_a_random_string_soon_after_a_word_for_it_is_told() -> None:
    token = "x7Kp2mQ9vT4nL8wR"
    assert found(near, f"the api key: {token} works", b"api key") == ([token], "")
    assert found(near, f"api key {token}", b"api key", examined=12)[0] == []
    assert found(near, f'api key id = "{token}"', b"api key")[0] == []
    assert found(near, f'api key secret = "{token}"', b"api key")[0] == [token]


def test_near_looks_so_many_lines_and_bytes_ahead() -> None:
    token = "x7Kp2mQ9vT4nL8wR"
    for lines in (3, 4):
        text = "api key" + "\n\n" * 0 + "\n" * (lines + 1) + token
        assert found(near, text, b"api key")[0] == ([token] if lines == 3 else []), (
            lines
        )
    for gap in (NEAR_BYTES - 16, NEAR_BYTES - 15):
        text = "api key" + " " * gap + token
        assert found(near, text, b"api key")[0] == (
            [token] if gap == NEAR_BYTES - 16 else []
        )
    text = "api key" + " " * (NEAR_BYTES + 9)
    assert found(near, text, b"api key") == ([], " " * 9)


def test_base64_of_plain_text_is_read() -> None:
    for plain in (b"password=hunter", b"password=hunter2", b"password=hunter22"):
        packed = base64.b64encode(plain)
        for text in (packed, packed.rstrip(b"="), packed[:8] + b"\n  " + packed[8:]):
            assert decoded(text) == plain
    assert decoded(base64.urlsafe_b64encode(b"??>>~~ok")) == b"??>>~~ok"
    assert decoded(base64.b64encode(bytes(range(32, 127)))) == bytes(range(32, 127))
    for byte in (b"\x00", b"\x1f", b"\x7f"):
        assert decoded(base64.b64encode(byte + b"binary")) == b"\nbinary"
        assert decoded(base64.b64encode(2 * byte + b"binary")) == b""
    assert decoded(base64.b64encode("schön".encode())) == b""
    assert decoded(b"no base64!") == b""
