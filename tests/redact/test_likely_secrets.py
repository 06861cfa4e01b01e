"""A value is taken for a secret by where it stands and how it looks, in a syntax that no rule knows."""

from __future__ import annotations

import pytest

from keeplore.redact import redact
from keeplore.redact.likely_secrets import chance, values
from keeplore.redact.value_model import bigram_bits, features

MARK = "[REDACTED:password]"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (
            "try garden_wizard_30 for the root password",
            f"try {MARK} for the root password",
        ),
        (
            "frobctl auth --frob Tiger@2021 --realm x",
            f"frobctl auth --frob {MARK} --realm x",
        ),
        (
            "poetry config http-basic.acme ann garden.monkey3337",
            f"poetry config http-basic.acme ann {MARK}",
        ),
        (
            "<entry key='db.password'>rh5pQs8oncok</entry>",
            f"<entry key='db.password'>{MARK}</entry>",
        ),
        (
            "curl -k -u elastic:'dragon-cookie-pepper17' https://es",
            f"curl -k -u elastic:'{MARK}' https://es",
        ),
        ('{default_pass, <<"silver3353">>},', f'{{default_pass, <<"{MARK}">>}},'),
    ],
)
def test_a_password_is_found_whatever_is_around_it(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "Login failed for user ann (request id 7f3a9c2e-11d4-4c9e-b1f0-2a8e6d5c4b3a)",
        "toolu_01XyZaBcDeFgHiJkLmNoPqRs returned: authentication required",
        "passport-local@1.0.0, passport-jwt@4.0.1 and bcryptjs@2.4.3 were added",
        "(publickey,password) key SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDMkzRcLn0M3bHvC1w",
        "| API_KEY | v2.3.1 | 2026-01-14 | required |",
        "FAILED tests/test_login.py::TestPassword::test_reset_2fa - 401 != 200",
        "user ann@example.org logged in from 10.3.4.17:52114",
        "bump jsonwebtoken from 8.5.1 to 9.0.2 in /auth",
        "docker run -p 127.0.0.1:8080:80 -u 1000:1000 auth-service:1.2.3",
        "public key: 04a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0c1d2e3f4",
        "log in to staging-2.example.org/admin2 first",
        "ticket AUTH-2231: token refresh races (see #4512, r/1178)",
    ],
)
def test_ids_versions_and_places_near_such_words_stay(text: str) -> None:
    assert redact(text) == text


def test_a_value_two_lines_below_has_no_other_word_between() -> None:
    below = b"password:\n\n  Wq7#kd9Lm2\n"
    assert [v.text for v in values(below, 0, 0)] == ["Wq7#kd9Lm2"]
    between = b"password:\ntoken:\n  Wq7#kd9Lm2\n"
    assert [*values(between, 0, 0)] == []


def test_a_value_stands_at_most_two_lines_below_its_word() -> None:
    texts = [b"password:" + b"\n" * lines + b"Wq7#kd9Lm2" for lines in (1, 2, 3)]
    found = [[value.text for value in values(text, 0, 0)] for text in texts]
    assert found == [["Wq7#kd9Lm2"], ["Wq7#kd9Lm2"], []]


def test_of_a_long_line_160_bytes_before_a_word_and_320_from_it_on_are_read() -> None:
    def before(gap: int) -> list[str]:
        line = f"{'Wq7#kd9Lm2':<{gap}}password"
        return [value.text for value in values(line.encode(), gap, 0)]

    def behind(end: int) -> list[str]:
        line = f"{'password':<{end - 10}}Wq7#kd9Lm2 and so on"
        return [value.text for value in values(line.encode(), 0, 0)][:1]

    assert (before(160), before(161)) == (["Wq7#kd9Lm2"], ["q7#kd9Lm2"])
    assert (behind(320), behind(321)) == (["Wq7#kd9Lm2"], ["Wq7#kd9Lm"])


def test_a_value_has_five_characters_at_least() -> None:
    found = [value.text for value in values(b"password Wq7# Wq7#k", 0, 0)]
    assert found == ["Wq7#k"]


def test_the_same_value_is_likelier_behind_the_word_than_far_from_it() -> None:
    [behind] = values(b"password = harbor4711", 0, 0)
    [far] = values(b"user of the box that we call harbor4711", 0, 0)
    assert chance(behind) > 0.5 > chance(far)


def test_letters_that_seldom_follow_one_another_surprise() -> None:
    assert bigram_bits("zqxvkjwp") > 6 > bigram_bits("interesting") > 0
    assert bigram_bits("4711") == 4.0


def test_a_long_value_is_judged_by_its_first_eighty_characters() -> None:
    seen = features("Wq7#" * 20)
    assert features("Wq7#" * 20 + "x") == seen
    assert features(("Wq7#" * 20)[:79]) != seen
