import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest
from example_count import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keeplore.redact import Redactor, redact


def _benchmark(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        name, Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


planted = _benchmark("planted")

KEY = bytes(range(32))


def secret_of(recipe: str, seed: int = 1) -> tuple[str, str]:
    return planted.expand(recipe, random.Random(seed))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (
            "client_secret: maple-river-stone-cloud and more",
            "client_secret: [REDACTED:secret:dc0c7d] and more",
        ),
        (
            "CLIENT_SECRET=maple-river-stone-cloud",
            "CLIENT_SECRET=[REDACTED:secret:dc0c7d]",
        ),
        ("CLIENT_SECRET=blue42sky", "CLIENT_SECRET=[REDACTED:secret:f1e2f2]"),
        ("set app_secret=sunnyday9 then go", None),
    ],
)
def test_a_secret_that_a_person_chose_goes_where_its_end_is_known(
    text: str, clean: str | None
) -> None:
    assert Redactor(KEY).keeplore_redact(text, "") == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (
            "use Winter-Dragon73! as the password",
            "use [REDACTED:password] as the password",
        ),
        (
            "Log in as root with Winter-Dragon73!!.",
            "Log in as root with [REDACTED:password].",
        ),
        ("The password is Winter-Dragon73.", "The password is [REDACTED:password]."),
    ],
)
def test_an_exclamation_mark_behind_a_password_goes_with_it(
    text: str, clean: str
) -> None:
    assert redact(text) == clean


def test_the_measure_sees_a_secret_that_is_left() -> None:
    missed = [
        item
        for item in planted.planted(values=1)
        if planted.is_covered(item, item.text)
    ]
    assert missed == []


def test_a_marker_names_the_kind_and_tells_equal_secrets_with_a_key_only() -> None:
    text, token = secret_of("ghp_{w36}")
    marked = redact(f"{token} and again {token}", KEY)
    first, second = marked.split(" and again ")
    assert first == second
    assert first.startswith("[REDACTED:github-token:") and len(first) == len(
        "[REDACTED:github-token:123456]"
    )
    assert redact(text) == "[REDACTED:github-token]"
    assert redact(token, KEY) != redact(token, b"another")


def test_what_stands_around_a_secret_stays() -> None:
    _, secret = secret_of("{p14}")
    assert (
        redact(f'db:\n  password: "{secret}"  # staging\n')
        == 'db:\n  password: "[REDACTED:password]"  # staging\n'
    )
    assert (
        redact(f"postgres://app:{secret}@db:5432/shop")
        == "postgres://app:[REDACTED:url-credentials]@db:5432/shop"
    )
    assert redact(f"das Passwort für Köln lautet {secret} – geheim") == (
        "das Passwort für Köln lautet [REDACTED:password] – geheim"
    )


def test_a_key_block_is_covered_whole_truncated_and_escaped() -> None:
    block, _ = secret_of(
        "-----BEGIN RSA PRIVATE KEY-----\n{B}\n{B}\n{B40}==\n-----END RSA PRIVATE KEY-----"
    )
    assert redact(f"before\n{block}\nafter") == "before\n[REDACTED:private-key]\nafter"
    escaped = block.replace("\n", "\\n")
    assert (
        redact(f'{{"key": "{escaped}", "n": 1}}')
        == '{"key": "[REDACTED:private-key]", "n": 1}'
    )
    truncated = block[: block.index("==")]
    assert redact(f"before\n{truncated}") == "before\n[REDACTED:private-key]"


def test_a_mention_of_a_key_block_is_no_key() -> None:
    text = 'grep -r "-----BEGIN RSA PRIVATE KEY-----" . finds the files'
    assert redact(text) == text


def test_the_plugin_says_nothing_where_nothing_is_to_hide() -> None:
    plugin = Redactor(KEY)
    _, secret = secret_of("glpat-{b20}")
    assert plugin.keeplore_redact("we chose SQLite", "") is None
    assert plugin.keeplore_before_write({}, "# We chose SQLite\n") is None
    assert plugin.keeplore_redact(f"token {secret}", "") == redact(
        f"token {secret}", KEY
    )
    assert plugin.keeplore_before_write({}, f"token {secret}") == redact(
        f"token {secret}", KEY
    )


@given(st.integers(0, 10_000), st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=examples(150), deadline=None)
def test_no_planted_secret_survives_between_any_other_lines(
    seed: int, before: str, after: str
) -> None:
    rng = random.Random(seed)
    recipe = rng.choice(
        [
            "ghp_{w36}",
            "glpat-{b20}",
            "sk-ant-api03-{b93}AA",
            "AKIA{u16}",
            "DB_PASSWORD=«{w16}»",
        ]
    )
    text, secret = planted.expand(recipe, rng)
    assert secret not in redact(f"{before}\n{text}\n{after}")


_PIECES = [
    "password",
    "token",
    "api key",
    "=",
    ": ",
    '"',
    "\\",
    "\n",
    "\\n",
    "Ab3$xY9!",
    "://",
    "@",
    "|",
    ",",
    "<",
    ">",
    "é",
]
_PIECES += [
    "[REDACTED:password]",
    "[REDACTED:",
    "-----BEGIN",
    " PRIVATE KEY-----",
    "cookie",
    ";",
    "a",
    "Bearer ",
    "  ",
]


@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(_PIECES), max_size=40).map("".join),
    )
)
@example("\ud800 password=\ud800Ab3$xY9!")
@settings(max_examples=examples(400), deadline=None)
def test_redacting_never_fails_and_twice_is_once(text: str) -> None:
    once = redact(text, KEY)
    assert redact(once, KEY) == once


@given(st.integers(0, 10_000))
@settings(max_examples=examples(100), deadline=None)
def test_redacting_a_planted_text_twice_is_once(seed: int) -> None:
    rng = random.Random(seed)
    text, _ = planted.expand(rng.choice(list(planted.KINDS.values())), rng)
    place = rng.choice(list(planted.SETTINGS.values()))
    once = redact(place(text), KEY)
    assert redact(once, KEY) == once


_HOSTILE = [
    "a",
    "-----BEGIN ",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "password=",
    "\\",
    "\\n",
]
_HOSTILE += [
    "seed apple ",
    "|password|\n",
    "http://a:",
    "://a:b@",
    "eyJ",
    "token: ",
    "cookie=",
    "x",
    "A" * 64 + "\n",
    "<",
]
_HOSTILE += [
    "[REDACTED:password]",
    "password=" + "x" * 398 + "!",
    "curl -u ",
    "sk-",
    "api key ",
]


@pytest.mark.timeout(100)  # the square of this size would take hours
@pytest.mark.parametrize("piece", _HOSTILE, ids=ascii)
def test_hostile_text_costs_linear_time(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    redacted = redact(text)
    # what is left as it was would be left again
    assert redacted == text or redact(redacted) == redacted
