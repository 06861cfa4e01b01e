"""What each check says of many values below many names, as it is written down: how much of each is a
secret.

To write it anew: WRITE_GOLDEN=1 pytest tests/redact -k secret_checks, then read the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from written_down import written_lines

from keeplore.redact.secret_checks import CHECKS, SecretCandidate

# key, gap, what stands behind the value
CONTEXTS = (
    ("DB_PASSWORD", "=", "\n"),
    ("DB_PASSWORD", "=", " # set by hand\n"),
    ("DB_PASSWORD", "=", ' and "so on'),
    ("db.password", ": ", ""),
    ("password", ' = "', '",\n'),
    ("the password", " is ", ". It"),
    ("the password", " is '", "'"),
    ("passphrase", ": `", "`"),
    ("passphrase", ' = \\"', '\\"'),
    ("compass", ": ", "\n"),
    ("PASS", ": ", "\n"),
    ("PASS", "=", "\n"),
    ("pass", " the ", " on"),
    ("pass", " -> ", " on"),
    ("password", "|", ""),
    ("password", " | ", " |"),
    ("password", '", ', ""),
    ("user.secret", "=", "\\n"),
    ("client_secret", ': "', '"'),
    ("client_secret", ": ", ") and"),
    ("api_token", ": ", "\r\n"),
    ("max_tokens", ": ", "\n"),
    ("session", "=", ";"),
    ("public key", ": ", "\n"),
    ("Basic", "Authorization: Basic ", "\n"),
    ("key", " ", "@db.example.com/x"),
    ("key", " ", "@db.shop.io/x"),
    ("login", " at shop.io/", " now"),
)
PLAIN = (
    ("DB_PASSWORD", "=", "\n"),
    ("the password", " is ", ". It"),
    ("key", ": '", "'"),
)
VALUES = (
    *("abc", "abcd", ":name", "-v", "5432", "54321", "123456", "8080/tcp", "80:80"),
    *("hunter2", "hunter", "sunflower", "maple-river-stone-cloud", "maple-river"),
    *("user_name", "userName", "api-token", "token", "secret", "SUNFLOWER", "Sunflower"),
    *("QwErTyUiOpAs", "qwErtYuIop", "s3cr3t_2024", "password1", "passwords123", "x_ray"),
    *("correct horse battery staple", "two words", "enter your password", "ends with a colon:"),
    *("one two three four five six seven", "double  blank", "tiny ab", "a1 b2 c3 d4"),
    *("/etc/app/key.pem", "src/app.py", "db.shop.io:5432", "10.0.0.1", "https://a.io/x"),
    *("2026-01-31", "2026-01-31T10:00:00", "10:20:30", "1.2.3", "^1.2.3-beta", "v2.0"),
    *("process.env.KEY", "settings.password", "get_password()", "(f(x))", "os.environ['A']"),
    *("name=value", "retries=", "--flag", "{user}", "{user", "[value]]", "<password>", "****"),
    *("changeme", "your-token-here", "example", "xxxxxxxx", "abcdefgh12345678", "aaaaaa1"),
    *("my pass12", "my passwd", "MYSECRETVALUE", "mysecretvalue", "qwtzplmkv", "qwtzplmkvbnr"),
    *("2026-01-31-q7Zk2mV9xP4tL8wR", "01HZX5T9Q7ZK2MV9XP4TL8WRB3", "9word_1", "12word_12"),
    *("aa_99", "first-name_2024", "(first_name)", "q7Zk_2mV9", "vkqzxwpjmt", "Vkqzxwpjmtgh"),
    *("Tr0ub4dor&3", "p@ssw0rd!", "P4ss;word1", "p4ss,next=1", "p4ss|", "(p4ss1)", "#summer#"),
    *("f47ac10b-58cc-4372-a567-0e02b2c3d479", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    *("9f86d081884c7d659a2feaa0c55ad015", "d41d8cd98f00b204", "q7Zk2mV9xP4tL8wR"),
    *("q7Zk2mV9xP4tL8wRb3Ns6Yd1", "q7Zk/2mV9xP4tL8wRb3Ns6Yd1Fh5Gj0K", "q7Zk2m/V9xP4tL8wRb3N="),
    *("q7Zk2m/V9xP-4tL8wRb3Ns6Yd1Fh5Gj0Kc", "q7zk2mv9xp4tl8wrb3ns6yd1", "kq_zv_xw_pj_mt_rg_1"),
    *("aaaaaaaaaabbbbcde", "aaaaaaaaaabbbbcdef", "column_2024", "first_name"),
    *("sid=q7Zk2mV9xP4t; path=/", "theme=dark", "dXNlcjpwYXNz", "dXNlcg==", "abcd1234,;"),
    *("q7Zk2mV9)]}", "swordfish\nsecond line", "Hunter22\nsecond", "x" * 79, "k9" * 40),
    "q7Zk2mV9" * 600,
)  # fmt: skip
FORTY = [f"{[*range(200, 200 + n), *[200] * (64 - n)]}" for n in (39, 40)]
NUMBERS = tuple(
    str([(n * step + start) % most for n in range(64)])
    for step, start, most in (
        *((37, 0, 256), (3, 0, 256), (1, 160, 200), (1, 137, 201)),
        *((1, 200, 240), (1, 200, 239), (7, 193, 256), (7, 193, 257)),
    )
)
FEW = (
    *("hunter2", "sunflower", "userName", "s3cr3t_2024", "secret_1", "SUNFLOWER", "token"),
    *("correct horse battery staple", "db.shop.io:5432", "process.env.KEY", "80:80"),
    *("q7Zk2mV9xP4tL8wRb3Ns6Yd1", "d41d8cd98f00b204d41d8cd98f00b204", "Tr0ub4dor&3;"),
    *("maple-river-stone-cloud", "QwErTyUiOpAs", "abcdefghij", "{user}", "x_ray_9", "user"),
)  # fmt: skip
# key, gap, value and what stands behind it: where one letter more or another sign decides
EDGES = (
    *(("password", "=", one, "\n") for one in ("PASSword12", "482913", ":sym2bol", "tokenword12")),
    ("API_KEY", "=", "tiny abc", "\n"),
    ("DB_PASSWORD", "=", "mySecretWord", "\n"),
    ("DB_PASSWORD", "= ", "sunFlowers", "\n"),
    ("DB_PASSWORD", "=", "tokenword12", "\n"),
    ("PUBLIC KEY", ": ", "secretsauce12345", "\n"),
    ("PUBLIC KEY", ": ", "first\nsecond\nq7Zk2mV9", "\n"),
    ("user.secret", "=", "10:20:30Z", "\\n"),
    ("SESSION", "=", "9f86d081884c7d659a2feaa0c55ad0159f86d08", ";"),
    ("salt", ": ", "x: y zzzzz", "\n"),
    *(("salt", ": ", one, "\n") for one in ("9f86d081" * 8, "k3k9z3k9z7q2x3k9")),
    *(("key", " ", one, "\n") for one in ("9f86d081" * 8, "Qa1Qa2Qb1Qb2Wa1Wa2Wb1")),
    ("key", " ", "fooBarBaz-quxQuuxCorge-waldoFred", "\n"),
    ("key", " ", "F47ac10b-58CC-4372-A567-0e02B2c3d479", "\n"),
    ("key", " ", "/srv/App1/Data2/Files3/Main4Configuration.py", "\n"),
    ("key", " ", "maple_river_stone_cloud", "@db.example.com/x"),
    ("password", " = ", "-sw0rd", "\n"),
    ("password", " is ", "(9x8y7z)", " now"),
    ("client_secret", ": ", "(9x8y7z6w)", "\n"),
    ("CLIENT_SECRET", ': "', "s3cr3t_2024", '"'),
    ("client_secret", ': "', "aa bb cc dd ee ff", '"'),
    ("compassion_id", "=", "Tr0ub4dor&3", "\n"),
    ("PASS", "=", "passwords123", "\n"),
    *(("pass", " the ", one, " on") for one in ("2026-01-31 10:00", "river_stone_cloud")),
    ("pass", " IS ", "Tr0ub4dor&3", " on"),
    ("pass", ": ", "F47AC10B-58CC-4372-A567-0E02B2C3D479", "\n"),
    *(("passphrase", ' = \\"', one, '\\"') for one in ("two words here too", "blue horse (token)")),
    *(("password", ' = "', one, '"') for one in ("f(x1)", "sUnflower", "blue horse (token)")),
    ("password", '" "', "sword fish:", ""),
    ("password", '", ', "ab_123", ""),
    ("token", '", ', "aa bb cc dd ee ff gg", ""),
    *(
        ("secret", '", "', one, '")')
        for one in ("x=1; sid=q7Zk2mV9", "10.0.0.1:5432", "q7Zk_2mV9", "v2.0", "Qa1_Qa1Qb1")
    ),
    ("secret_key", "'", "func(x1)", "'"),
    ("Cookie", ": ", "x=1a;y=2b;z=3c4", "\n"),
    ("Cookie", ": ", "sid=k3k9z3k9", "\n"),
    *(("Basic", "Authorization: Basic ", one, "\n") for one in ("hunter22\n-\n-", "settings.key)")),
    # how a line ends
    ("DB_PASSWORD", "=", "sunflower", "\nNEXT=1"),
    ("DB_PASSWORD", "=", "sunflower", " \nNEXT=1"),
    ("DB_PASSWORD", "=", "sunflower", '"\n'),
    ("password", '": ', "sunflower", "\n"),
)  # fmt: skip


def test_what_each_check_says_of_many_values() -> None:
    seen = [*_said(PLAIN, VALUES), *_said(CONTEXTS, FEW)]
    for key, gap, value, after in EDGES:
        seen += _said([(key, gap, after)], [value])
    seen += _numbers()
    assert seen == written_lines("redact/secret_checks.txt", seen)


def _said(
    contexts: Sequence[tuple[str, str, str]], values: Sequence[str]
) -> Iterator[str]:
    for key, gap, after in contexts:
        yield f"# {key!r} {gap!r} … {after!r}"
        for value in values:
            candidate = SecretCandidate(key, gap, value, after)
            said = (_told(name, candidate) for name in CHECKS if name != "bytes")
            yield f"{value[:60]!r}: {' '.join(filter(None, said))}"


def _numbers() -> Iterator[str]:
    for value in (*NUMBERS, *FORTY):
        yield f"{value[:60]!r}: {_told('bytes', SecretCandidate('key', ' = ', value, ''))}"


def _told(name: str, candidate: SecretCandidate) -> str:
    """The name of a check that takes a value for a secret, and how much of it where not all."""
    length = CHECKS[name](candidate)
    part = "" if length == len(candidate.value) else f":{length}"
    return name + part if length else ""
