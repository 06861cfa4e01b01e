"""What each check says of many values below many names, as it is written down: how much of each is a
secret.

To write it anew: WRITE_GOLDEN=1 pytest tests/redact -k secret_checks, then read the difference.
"""

from __future__ import annotations

from collections.abc import Iterator

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


def test_what_each_check_says_of_many_values() -> None:
    seen = [*_said(PLAIN, VALUES), *_said(CONTEXTS, FEW)]
    assert seen == written_lines("redact/secret_checks.txt", seen)


def _said(
    contexts: tuple[tuple[str, str, str], ...], values: tuple[str, ...]
) -> Iterator[str]:
    for key, gap, after in contexts:
        yield f"# {key!r} {gap!r} … {after!r}"
        for value in values:
            candidate = SecretCandidate(key, gap, value, after)
            said = (_told(name, candidate) for name in CHECKS if name != "bytes")
            yield f"{value[:60]!r}: {' '.join(filter(None, said))}"
    for value in (*NUMBERS, *FORTY):
        yield f"{value[:60]!r}: {_told('bytes', SecretCandidate('key', ' = ', value, ''))}"


def _told(name: str, candidate: SecretCandidate) -> str:
    """The name of a check that takes a value for a secret, and how much of it where not all."""
    length = CHECKS[name](candidate)
    part = "" if length == len(candidate.value) else f":{length}"
    return name + part if length else ""
