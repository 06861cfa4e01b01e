"""Secrets as they leak, wholly covered, and ordinary text that stays."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from keeplore.redact import redact, rules
from keeplore.redact.keyword_runs import windows

TO_COVER = 0.975


def _benchmark(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # the benchmarks import one another by these names
    spec.loader.exec_module(module)
    return module


for needed in ("planted", "planted_blind"):
    _benchmark(needed)
wild = _benchmark("planted_wild")


@pytest.mark.parametrize("forms", ["developed_with", "held_out"])
def test_nothing_of_a_value_is_left(forms: str) -> None:
    leaks = list(getattr(wild, forms)(values=1, seed=5))
    missed = Counter(
        leak.kind for leak in leaks if wild.left_over(leak, redact(leak.text))
    )
    covered = 1 - missed.total() / len(leaks)
    assert covered >= TO_COVER, missed.most_common()


def test_the_measure_sees_what_is_left() -> None:
    leak = wild.Leak("", "", "password: falcon7731", ("falcon7731",))
    assert wild.left_over(leak, leak.text) == "falc"
    assert wild.left_over(leak, "password: [REDACTED:password]7731") == "7731"
    assert wild.left_over(leak, "password: [REDACTED:password]") is None


_BORDER = "+-----+--------------+\n"
_TABLE = f"{_BORDER}| who | password     |\n{_BORDER}"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ('password: "winter.dragon7323"', 'password: "[REDACTED:password]"'),
        ('secret = "Qz7rLm2x" + "Wp9dVb4n"', 'secret = "[REDACTED:secret]"'),
        (
            'api_token = (\n    "Qz7rLm2xWp9dVb4n"\n    "Tk8sYc1gHj3p"\n)',
            'api_token = (\n    "[REDACTED:secret]"\n)',
        ),
        (
            "export API_TOKEN=Qz7rLm2xWp9d\\\nVb4nTk8sYc1g\nmore",
            "export API_TOKEN=[REDACTED:secret]\nmore",
        ),
        (
            "\x1b[36mpassword\x1b[0m: \x1b[1mQz7rLm\x1b[0m2xWp9d\x1b[0m",
            "\x1b[36mpassword\x1b[0m: \x1b[1m[REDACTED:password]\x1b[0m",
        ),
        (
            '{"text": "password=\\u001b[32mQz7rLm2xWp9d\\u001b[0m"}',
            '{"text": "password=\\u001b[32m[REDACTED:password]\\u001b[0m"}',
        ),
        (
            "curl \\\n  -u ann:winter.dragon7323 \\\n  https://a.example.org",
            "curl \\\n  -u ann:[REDACTED:password] \\\n  https://a.example.org",
        ),
        (
            f"{_TABLE}| ann | Qz7rLm2xWp9d |\n",
            f"{_TABLE}| ann | [REDACTED:secret] |\n",
        ),
    ],
    ids=ascii,
)
def test_a_value_in_pieces_is_covered_from_end_to_end(text: str, clean: str) -> None:
    assert redact(text) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (
            "INSERT INTO users (name, password, age) VALUES ('ann', 'Qz7rLm2x', 3);",
            "INSERT INTO users (name, password, age) VALUES ('ann', '[REDACTED:password]', 3);",
        ),
        (
            "$ terraform output -raw db_password\nQz7rLm2xWp9d\n$ date",
            "$ terraform output -raw db_password\n[REDACTED:password]\n$ date",
        ),
        (
            '{"admin_secret": {"sensitive": true, "value": "Qz7rLm2xWp9dVb4n"}}',
            '{"admin_secret": {"sensitive": true, "value": "[REDACTED:password]"}}',
        ),
        ('ds.setPassword("Qz7rLm2x");', 'ds.setPassword("[REDACTED:password]");'),
        ("requirepass Qz7rLm2x", "requirepass [REDACTED:password]"),
        (
            "Qz7rLm2x is the db password, keep it",
            "[REDACTED:password] is the db password, keep it",
        ),
        ("use Qz7rLm2x as the password", "use [REDACTED:password] as the password"),
        (
            "<tr><td>Password</td><td>Qz7rLm2x</td></tr>",
            "<tr><td>Password</td><td>[REDACTED:password]</td></tr>",
        ),
    ],
    ids=ascii,
)
def test_what_stands_around_a_secret_says_what_it_is(text: str, clean: str) -> None:
    assert redact(text) == clean


STAYS = [
    'PASSWD = "%s:%s" % (user, word)',
    'print(f"password={password!r}")',
    "User(name='ann', password=b'password1')",
    "server.login('testuser', 'testpw')",
    "machine a.example.com login ann password pass1 account acct",
    "login()  # default: user anonymous, passwd anonymous@",
    "// passagens : 2015-03-05 Travel",
    "// pin : 2014-12-18 Top Level",
    "root = Path(workspace)\nskill = root / 'skills' / 'inspect'",
    'MovedAttribute("HTTPPasswordManager", "urllib2", "urllib.request")',
    'summary_passes_combined("xpassed", "XPASSES", "X")',
    "SeedSequence(42, spawn_key=(0,)).generate_state(4)",
    "f.startswith('Signature: 8a477f597d28d172789f06886806bc55')",
    "session: 8a477f597d28d172789f06886806bc55",
    "a workspace, for example `wrkspc_011CZkZaBF1tNoB5wlCeusgy`",
    "toolu_01CZkZaBF1tNoB5wlCeusgyAb and msg_01CZkZaBF1tNoB5wlCeusgyAb",
    "Doug <doug.hellmann-Re5JQEeQqe8AvxtiuMwx3w@public.example.org>",
    "base64_str='VGhlc2UgYXJlbid0IHRoZSBkcm9pZHMgeW91J3JlIGxvb2tpbmcgZm9y'",
    "...     except:\n...             pass\n...     finally:\n...             1//0\n",
    "{'User Output': 'stdout', 'User Exception': 'stderr'}",
    "http://user:password[@host.com and http://evil:thing@example.com",
    "new_cert('localhost', sign=True, key='param:secp384r1.pem')",
    "('http', 'user/name', 'password', 'localhost:22')",
    "Pass `sticky=True` to keep it, and pass `format=` again",
    "create_connection(asyncio.Protocol, '1.2.3.4', 80)",
    "mock.patch.object(pwd, 'getpwuid', side_effect=KeyError)",
    '"max_tokens_per_1_minute": max_tokens_per_1_minute,',
    "- `app-token@v1`\n- `TAP_GITHUB_TOKEN` is a variable",
    "the token budget of 4096 and the password reset flow",
]


@pytest.mark.parametrize("text", STAYS, ids=ascii)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


PIECES = ("password ", "password: ", "| password |", "token\n", '"a" + ', "data:\n")


@pytest.mark.parametrize("piece", PIECES, ids=ascii)
def test_windows_around_words_never_overlap_and_all_is_one_stretch(piece: str) -> None:
    """However often a word stands there, no byte is searched twice by a rule."""
    engine = rules._engine()
    for size in (2_000, 20_000):
        data = (piece * (size // len(piece))).encode()
        for rank, runs in engine._keywords.by_rank(data).items():
            rule = engine.rules[rank]
            spans = [*windows(runs, rule.before, rule.after, len(data))]
            assert sum(end - start for start, end in spans) <= len(data)
            assert len(runs) <= len(rule.keywords)  # neighbours are one run
