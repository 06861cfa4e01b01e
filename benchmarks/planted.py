"""Secrets made at run time, planted into the places where they leak: the test set of redaction.

Nothing here looks like a secret: recipes are expanded with random values of a seed. ``{w36}``
stands for 36 characters of a class; in a recipe with ``« »`` the part between is the secret,
otherwise all of it is.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
CLASSES = {
    "w": LOWER + UPPER + DIGITS,
    "l": LOWER,
    "L": LOWER + DIGITS,
    "u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "U": UPPER + DIGITS,
    "d": DIGITS,
    "h": DIGITS + "abcdef",
    "H": DIGITS + "ABCDEF",
    "b": LOWER + UPPER + DIGITS + "-_",
    "B": LOWER + UPPER + DIGITS + "+/",
    "x": "".join(c for c in DIGITS + UPPER + LOWER if c not in "0OIl"),
}
SIGNS = "!#%*-_+?@^"
_SLOT = re.compile(r"\{([A-Za-z])(\d*)\}")


@dataclass(frozen=True, slots=True)
class Planted:
    kind: str
    setting: str
    text: str
    secret: str


def expand(recipe: str, rng: random.Random) -> tuple[str, str]:
    """The text of a recipe and the secret in it."""
    text = _SLOT.sub(lambda slot: _characters(slot[1], int(slot[2] or 64), rng), recipe)
    before, mark, rest = text.partition("«")
    if not mark:
        return text, text
    secret, _, after = rest.partition("»")
    return before + secret + after, secret


def _characters(name: str, count: int, rng: random.Random) -> str:
    if name == "p":
        return password(rng, count)
    if name == "n":
        return ",".join(str(rng.randint(0, 255)) for _ in range(count))
    if name == "e":
        return base64.b64encode(f"password={password(rng, count)}\n".encode()).decode()
    return "".join(rng.choice(CLASSES[name]) for _ in range(count))


def password(rng: random.Random, count: int) -> str:
    """As people and managers make them: letters of both cases, a digit, a sign; no sign at either
    end.
    """
    middle = [
        rng.choice(LOWER),
        rng.choice(UPPER),
        rng.choice(DIGITS),
        rng.choice(SIGNS),
    ]
    middle += [rng.choice(LOWER + UPPER + DIGITS) for _ in range(count - 6)]
    rng.shuffle(middle)
    return rng.choice(LOWER + UPPER) + "".join(middle) + rng.choice(LOWER + DIGITS)


# one line each: kind, recipe; written from vendors' formats and from how people talk, not from our
# rules
KINDS = {
    "aws access key": "AKIA{u16}",
    "aws secret key": "aws_secret_access_key = «{B40}»",
    "aws session": "AWS_SESSION_TOKEN=«{B300}»",
    "github classic": "ghp_{w36}",
    "github fine": "github_pat_{w22}_{w59}",
    "github app": "ghs_{w36}",
    "gitlab": "glpat-{b20}",
    "slack bot": "xoxb-{d12}-{d13}-{w24}",
    "slack hook": "https://hooks.slack.com/services/«T{U10}/B{U10}/{w24}»",
    "stripe": "sk_live_{w24}",
    "openai": "sk-proj-{b74}T3BlbkFJ{b74}",
    "openai old": "sk-{w48}",
    "anthropic": "sk-ant-api03-{b93}AA",
    "google api": "AIza{b35}",
    "google oauth": "ya29.{b140}",
    "google client": "GOCSPX-{b28}",
    "huggingface": "hf_{w34}",
    "npm": "npm_{w36}",
    "pypi": "pypi-AgEIcHlwaS5vcmc{b120}",
    "sendgrid": "SG.{b22}.{b43}",
    "twilio": "SK{h32}",
    "twilio auth": "TWILIO_AUTH_TOKEN=«{h32}»",
    "digitalocean": "dop_v1_{h64}",
    "azure storage": (
        "DefaultEndpointsProtocol=https;AccountName=acme;"
        "AccountKey=«{B86}==»;EndpointSuffix=acme.net"
    ),
    "azure secret": "{w3}8Q~{w34}",
    "azure "
    "sas": "https://acme.blob.core.windows.net/c/f.txt?sv=2022-11-02&se=2026-01-01&sig=«{w43}%3D»",
    "telegram": "{d10}:AA{b33}",
    "discord": "M{w25}.{b6}.{b38}",
    "datadog": "DD_API_KEY=«{h32}»",
    "heroku": "HEROKU_API_KEY=«{h8}-{h4}-{h4}-{h4}-{h12}»",
    "shopify": "shpat_{h32}",
    "databricks": "dapi{h32}",
    "mailgun": "key-{h32}",
    "mailchimp": "{h32}-us14",
    "vault": "hvs.{b95}",
    "doppler": "dp.pt.{w43}",
    "atlassian": "ATATT3xFfGF0{b180}",
    "linear": "lin_api_{w40}",
    "notion": "ntn_{d11}{w35}",
    "groq": "gsk_{w52}",
    "figma": "figd_{b40}",
    "docker": "dckr_pat_{b27}",
    "grafana": "glsa_{w32}_{h8}",
    "new relic": "NRAK-{U27}",
    "cloudflare": "CLOUDFLARE_API_TOKEN=«{b40}»",
    "sentry dsn": "https://«{h32}»@o48213.ingest.sentry.io/45012",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJ{b80}.{b43}",
    "postgres url": "postgres://app:«{w16}»@db.internal:5432/shop",
    "mongodb url": "mongodb+srv://svc:«{p14}»@cluster0.ab1cd.mongodb.net/prod?retryWrites=true",
    "redis url": "redis://:«{w20}»@cache.internal:6379/0",
    "git url": "https://bob:«{w32}»@git.acme.io/team/repo.git",
    "go dsn": "app:«{p14}»@tcp(10.0.0.5:3306)/shop?parseTime=true",
    "sqlserver": "Server=db1;Database=shop;User Id=app;Password=«{p14}»;Encrypt=true",
    "jdbc": "jdbc:mysql://db:3306/shop?user=app&password=«{w14}»&useSSL=false",
    "basic header": "Authorization: Basic «{w35}=»",
    "bearer header": "Authorization: Bearer «{b40}»",
    "api key header": "X-Api-Key: «{w32}»",
    "private token header": "PRIVATE-TOKEN: «{w20}»",
    "cookie": "Cookie: sessionid=«{L32}»; theme=dark",
    "set-cookie": "Set-Cookie: connect.sid=«s%3A{b32}.{w43}»; Path=/; HttpOnly",
    "password python": 'password = "«{p12}»"',
    "password yaml": "password: «{p12}»",
    "password json": '{"user": "app", "password": "«{p14}»"}',
    "password ruby": ":password => '«{p12}»'",
    "password php": "define('DB_PASSWORD', '«{p16}»');",
    "password xml": "<password>«{p12}»</password>",
    "password xml attribute": '<add key="SmtpPassword" value="«{p14}»" />',
    "password typescript": 'const dbPassword: string = "«{p14}»";',
    "password properties": "spring.datasource.password=«{p12}»",
    "password export": "export PGPASSWORD='«{p12}»'",
    "password hunter": "DB_PASS=«{l6}{d2}»",
    "password dockerfile": "ENV MYSQL_ROOT_PASSWORD «{p12}»",
    "password k8s": "- name: DB_PASSWORD\n  value: «{p14}»",
    "password powershell": '$env:SQL_PASSWORD = "«{p14}»"',
    "password sql": "ALTER USER app WITH PASSWORD '«{p14}»';",
    "password netrc": "machine git.acme.io login bob password «{w20}»",
    "password pgpass": "db.acme.io:5432:shop:bob:«{w14}»",
    "password table": "| user | password |\n|---|---|\n| bob | «{p12}» |",
    "password row": "| DB_PASSWORD | «{p12}» |",
    "password csv": "username,password\nbob,«{p12}»",
    "curl user": "curl -u admin:«{p12}» https://api.acme.io/v1/me",
    "mysql -p": "mysql -h db -u root -p«{w12}» shop",
    "flag": "deployctl --token «{w28}» --env prod",
    "flag equals": "vault-sync --db-password=«{p12}» --dry-run",
    "sshpass": "sshpass -p '«{p12}»' ssh root@10.0.0.5",
    "docker login": "docker login -u bob -p «{p14}» registry.acme.io",
    "redis-cli": "redis-cli -h cache -a «{w16}» ping",
    "sudo": "echo '«{p12}»' | sudo -S systemctl restart app",
    "prose is": "the password for the staging box is «{p12}»",
    "prose short": "pw: «{p10}»",
    "prose use": "log in with the user deploy and password «{p12}» please",
    "prose pair": "credentials: admin / «{p12}»",
    "prose german": "das Passwort für den Server lautet «{p12}»",
    "prose quoted": 'the admin password is "«{l10}»", do not tell anyone',
    "prose changed": "I changed the root password to «{p12}» yesterday",
    "prose key": "here is the api key for the weather service: «{h32}»",
    "prose token": "use this access token from now on -> «{w40}»",
    "hex secret": "SECRET_KEY_BASE=«{h128}»",
    "django": "SECRET_KEY = 'django-insecure-«{w50}»'",
    "jwt secret": 'JWT_SECRET="«{b43}»"',
    "client secret": '"client_secret": "«{b32}»"',
    "generic key": "MAPS_KEY=«{w32}»",
    "camel token": 'accessToken: "«{b40}»",',
    "npmrc": "//npm.acme.io/:_authToken=«{h8}-{h4}-{h4}-{h4}-{h12}»",
    "docker auth": '"auths": {"r.acme.io": {"auth": "«{w39}=»"}}',
    "bcrypt": "$2b$12${w53}",
    "seed line": "my seed phrase is «{l5} {l6} {l4} {l5} {l7} {l4} {l5} {l6} {l4} {l5} {l7} {l4}»",
    "seed numbered": "recovery phrase:\n«1. {l5}\n2. {l6}\n3. {l4}\n4. {l5}\n5. {l7}\n6. {l4}\n7. "
    "{l5}\n8. {l6}"
    "\n9. {l4}\n10. {l5}\n11. {l7}\n12. {l4}»",
    "base64 wrapped": "{e14}",
    "pem": "«-----BEGIN RSA PRIVATE KEY-----\n{B}\n{B}\n{B}\n{B}\n{B40}==\n-----END RSA PRIVATE "
    "KEY-----»",
    "pem openssh": "«-----BEGIN OPENSSH PRIVATE KEY-----\n{B70}\n{B70}\n{B70}\n{B30}\n"
    "-----END OPENSSH PRIVATE KEY-----»",
    "pem truncated": "«-----BEGIN EC PRIVATE KEY-----\n{B}\n{B}\n{B}\n{B50}»",
    "pem encrypted": "«-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
    "AES-128-CBC,{H32}\n\n"
    "{B}\n{B}\n{B20}\n-----END RSA PRIVATE KEY-----»",
    "pgp": "«-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{B}\n{B}\n{B32}\n=ab1D\n"
    "-----END PGP PRIVATE KEY BLOCK-----»",
    "age": "AGE-SECRET-KEY-1{U58}",
    "service account": '"private_key_id": "{h40}",\n"private_key": "«-----BEGIN PRIVATE KEY-----\\n'
    '{B}\\n{B}\\n{B20}==\\n-----END PRIVATE KEY-----\\n»"',
}


def _prose(text: str) -> str:
    return (
        f"ok so I tried it again this morning and it works now\n{text}\ncan you check whether "
        f"the deploy is fine?"
    )


def _code(text: str) -> str:
    return f"```\n# settings\n{text}\nrun(main)\n```"


def _log(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(
        f"2026-02-09 14:03:{i:02} INFO worker: {line}"
        for i, line in enumerate(lines, 10)
    )


def _json(text: str) -> str:
    return json.dumps({"role": "user", "content": f"see below\n{text}\nthanks", "n": 3})


def _diff(text: str) -> str:
    added = "\n".join(f"+{line}" for line in text.split("\n"))
    return f"@@ -1,4 +1,6 @@\n context line\n{added}\n-old line\n context"


def _transcript(text: str) -> str:
    inner = json.dumps({"type": "text", "text": f"Output:\n{text}\ndone"})
    return json.dumps({"message": {"content": inner}})


SETTINGS = {
    "prose": _prose,
    "code": _code,
    "log": _log,
    "json": _json,
    "diff": _diff,
    "transcript": _transcript,
}


def planted(values: int, seed: int = 7) -> Iterator[Planted]:
    """``values`` random secrets of every kind in every setting."""
    rng = random.Random(seed)
    for kind, recipe in KINDS.items():
        for _ in range(values):
            text, secret = expand(recipe, rng)
            for setting, place in SETTINGS.items():
                yield Planted(kind, setting, place(text), secret)


def is_covered(item: Planted, redacted: str) -> bool:
    """True where at most four characters or 15 % of the secret can still be read in one piece of
    it.
    """
    pieces = re.split(r"\\+[nrt]|[\s\"'\\]+", item.secret)
    allowed = max(4, len(item.secret) * 15 // 100)
    left = sum(
        len(piece)
        for piece in pieces
        if len(piece) > 3 and piece in redacted and piece not in _INNOCENT
    )
    return left <= allowed and not _longest_common(item.secret, redacted, allowed)


_FRAME = "-----BEGIN -----END PRIVATE KEY KEY----- BLOCK BLOCK----- RSA PGP OPENSSH Version: GnuPG"
_INNOCENT = frozenset(_FRAME.split())


def _longest_common(secret: str, text: str, allowed: int) -> bool:
    """True where more than ``allowed`` characters of the secret stand in the text in a row."""
    size = allowed + 1
    return any(
        secret[i : i + size] in text
        for i in range(max(1, len(secret) - size + 1))
        if len(secret) >= size
    )
