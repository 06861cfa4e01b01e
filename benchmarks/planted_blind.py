"""A list of secrets written before the rules were read: what redaction finds of forms that nobody
prepared it for.

It is never extended by a form that a rule was written for first. Recipes are those of
:mod:`planted`, with some more slots: ``{k}`` a password as people choose them, ``{q}`` four joined
words, ``{m12}`` words of a wallet seed.
"""

from __future__ import annotations

import base64
import json
import random
import string
import urllib.parse
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import yaml
from planted import SETTINGS, Planted, expand, password

_WORD_LIST = """
sunshine dragon winter harbor falcon pepper marble tiger summer rocket banana garden silver castle
cookie monkey planet wizard forest anchor
"""
_SEED_LIST = """
abandon ability absorb abstract accident acoustic adapt advance airport alarm album amateur anchor
ancient animal antenna april arctic arrow artist aspect atom auction avocado awake banana barely
beach blanket bridge cabbage canyon carbon castle cereal chimney circle cousin cradle dawn decade
desert dinosaur dolphin eagle echo elbow empty engine erosion fabric faculty famous fiction galaxy
garlic gesture glimpse hamster harvest humble idle immune inherit jacket jungle kangaroo kitchen
ladder lemon lunar mango mesh muffin nephew noodle oblige ocean orbit panther peanut pigeon
quantum rabbit raccoon saddle scorpion tattoo thunder twelve umbrella vacuum velvet walnut window
yellow zebra
"""
_WORDS, _SEED = _WORD_LIST.split(), _SEED_LIST.split()
FORMS = Path(__file__).with_name("planted_blind.yaml")
_HEX = "0123456789abcdef"
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BASE58 = "".join(c for c in _BASE62 if c not in "0OIl")


def _pick(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def _human(rng: random.Random) -> str:
    """A password as people choose them: a word, digits and mostly a sign."""
    word = rng.choice(_WORDS)
    return (
        rng.choice([word.title(), word.replace("a", "4"), word])
        + str(rng.randint(10, 9999))
        + rng.choice("!#?*_$")
    )


def _joined(rng: random.Random) -> str:
    return "-".join(rng.sample(_WORDS, 4))


def _base64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def _url64(value: object) -> str:
    return (
        base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode())
        .decode()
        .rstrip("=")
    )


def _checked(prefix: str, rng: random.Random) -> str:
    """A token of GitHub or npm: thirty random characters and their CRC-32 in base 62."""
    body = _pick(rng, _BASE62, 30)
    rest, check = zlib.crc32(body.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        check = _BASE62[digit] + check
    return prefix + body + check


def _jwt(rng: random.Random) -> str:
    claims = {
        "sub": str(rng.randint(10**9, 10**10)),
        "iat": 1770000000,
        "role": rng.choice(["admin", "service_role"]),
    }
    head = _url64({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{_url64(claims)}.{_pick(rng, _BASE62 + '-_', 43)}"


def _key_lines(rng: random.Random, count: int, size: int = 64) -> list[str]:
    lines = [_pick(rng, _BASE62 + "+/", size) for _ in range(count)]
    return [*lines, _pick(rng, _BASE62 + "+/", size // 2) + "=="]


def _pem(rng: random.Random, name: str, count: int = 12) -> str:
    return "\n".join(
        [f"-----BEGIN {name}-----", *_key_lines(rng, count), f"-----END {name}-----"]
    )


def _whole(
    make: Callable[[random.Random], str],
) -> Callable[[random.Random], tuple[str, str]]:
    def made(rng: random.Random) -> tuple[str, str]:
        secret = make(rng)
        return secret, secret

    return made


def _after(
    before: str, make: Callable[[random.Random], str], after: str = ""
) -> Callable[..., tuple[str, str]]:
    def made(rng: random.Random) -> tuple[str, str]:
        secret = make(rng)
        return before + secret + after, secret

    return made


def _pem_cut(rng: random.Random) -> tuple[str, str]:
    text = (
        "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *_key_lines(rng, 7)[:-1]])
        + "\n[output cut]"
    )
    return text, text.removesuffix("\n[output cut]")


def _pem_headless(rng: random.Random) -> tuple[str, str]:
    body = "\n".join(_key_lines(rng, 6))
    return f"{body}\n-----END EC PRIVATE KEY-----", body


def _pem_proc_type(rng: random.Random) -> tuple[str, str]:
    body = "\n".join(_key_lines(rng, 9))
    head = (
        f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{_pick(rng, _HEX.upper(), 32)}"
    )
    return (
        f"-----BEGIN RSA PRIVATE KEY-----\n{head}\n\n{body}\n-----END RSA PRIVATE KEY-----",
        body,
    )


def _putty(rng: random.Random) -> tuple[str, str]:
    private = "\n".join(_key_lines(rng, 3))
    head = (
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: laptop\nPublic-Lines: "
        "1\n"
    )
    lines = [
        head + _pick(rng, _BASE62, 64),
        "Private-Lines: 4",
        private,
        f"Private-MAC: {_pick(rng, _HEX, 64)}",
    ]
    return "\n".join(lines), private


def _jwk(rng: random.Random) -> tuple[str, str]:
    d = _pick(rng, _BASE62 + "-_", 43)
    other = _pick(rng, _BASE62 + "-_", 43)
    return (
        f'{{"kty": "EC", "crv": "P-256", "x": "{other}", "d": "{d}", "kid": "main"}}',
        d,
    )


def _service_account(rng: random.Random) -> tuple[str, str]:
    body = _pem(rng, "PRIVATE KEY", 10).replace("\n", "\\n")
    return (
        f'{{"type": "service_account", "project_id": "shop-prod", "private_key": "{body}\\n"}}',
        body,
    )


def _kubernetes(rng: random.Random) -> tuple[str, str]:
    value = _base64(password(rng, 18))
    return (
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  dsn: {value}",
        value,
    )


def _docker_auth(rng: random.Random) -> tuple[str, str]:
    value = _base64("deploy:" + password(rng, 20))
    return f'{{"auths": {{"registry.example.org": {{"auth": "{value}"}}}}}}', value


def _wrapped_token(rng: random.Random) -> tuple[str, str]:
    token = _checked("ghp" + "_", rng)
    return f"the token got wrapped in the mail:\n{token[:24]}\n{token[24:]}", token[
        :24
    ] + "\n" + token[24:]


def _url_encoded(rng: random.Random) -> tuple[str, str]:
    value = urllib.parse.quote(
        _pick(rng, _BASE62, 10) + "%&/+" + _pick(rng, _BASE62, 10), safe=""
    )
    return (
        f"curl 'https://api.example.org/login?user=ops&password={value}&next=%2Fhome'",
        value,
    )


def _base64_env(rng: random.Random) -> tuple[str, str]:
    value = _base64(
        f"DB_PASSWORD={password(rng, 16)}\nAPI_TOKEN={_pick(rng, _BASE62, 32)}\n"
    )
    return f"echo {value} | base64 -d > .env", value


def _seed_numbered(rng: random.Random) -> tuple[str, str]:
    words = rng.sample(_SEED, 12)
    return "\n".join(f"{i}. {word}" for i, word in enumerate(words, 1)), "\n".join(
        words
    )


def _seed_lines(rng: random.Random) -> tuple[str, str]:
    words = rng.sample(_SEED, 24)
    text = "\n".join(" ".join(words[i : i + 6]) for i in range(0, 24, 6))
    return f"wallet backup:\n{text}", text


def _seed_array(rng: random.Random) -> tuple[str, str]:
    words = ", ".join(f"'{word}'" for word in rng.sample(_SEED, 12))
    return f"const words = [{words}]", words


def _solana(rng: random.Random) -> tuple[str, str]:
    value = ",".join(str(rng.randint(0, 255)) for _ in range(64))
    return f"cat ~/.config/solana/id.json\n[{value}]", value


MADE: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "github classic": _whole(lambda rng: _checked("ghp" + "_", rng)),
    "github server in url": _after(
        "git clone https://x-access-token:",
        lambda r: _checked("ghs" + "_", r),
        "@github.com/a/b",
    ),
    "npm token": _after(
        "//npm.example.org/:_authToken=", lambda r: _checked("npm" + "_", r)
    ),
    "jwt bare": _whole(_jwt),
    "jwt in a cookie": _after("Cookie: theme=dark; session=", _jwt, "; lang=en"),
    "jwt in a url": _after("wss://live.example.org/socket?jwt=", _jwt),
    "pem pkcs8": _whole(lambda r: _pem(r, "PRIVATE KEY")),
    "pem encrypted": _whole(lambda r: _pem(r, "ENCRYPTED PRIVATE KEY")),
    "pem openssh": _whole(lambda r: _pem(r, "OPENSSH PRIVATE KEY", 6)),
    "pem dsa": _whole(lambda r: _pem(r, "DSA PRIVATE KEY", 8)),
    "pgp private": _whole(lambda r: _pem(r, "PGP PRIVATE KEY BLOCK", 20)),
    "pem without end": _pem_cut,
    "pem without begin": _pem_headless,
    "pem with headers": _pem_proc_type,
    "putty": _putty,
    "jwk": _jwk,
    "gcp service account": _service_account,
    "kubernetes secret": _kubernetes,
    "docker config": _docker_auth,
    "wrapped token": _wrapped_token,
    "url-encoded password": _url_encoded,
    "base64 of an env file": _base64_env,
    "seed numbered": _seed_numbered,
    "seed over lines": _seed_lines,
    "seed in an array": _seed_array,
    "solana keypair": _solana,
    "bitcoin wif": _after(
        "importprivkey ", lambda r: r.choice("KL") + _pick(r, _BASE58, 51)
    ),
    "ethereum key": _after("PRIVATE_KEY=0x", lambda r: _pick(r, _HEX, 64)),
    "xprv": _whole(lambda r: "xprv9" + _pick(r, _BASE58, 106)),
    "nostr": _whole(
        lambda r: "nsec1" + _pick(r, "qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58)
    ),
    "age key": _whole(
        lambda r: "AGE-SECRET-KEY-1" + _pick(r, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
    ),
    "wireguard": _after(
        "[Interface]\nPrivateKey = ", lambda r: _base64(r.randbytes(32))
    ),
    "basic header in curl": _after(
        "curl -H 'Authorization: Basic ",
        lambda r: _base64("ops:" + password(r, 14)),
        "' https://a.example.org",
    ),
    "basic header in yaml": _after(
        "headers:\n  authorization: Basic ", lambda r: _base64("svc:" + _human(r))
    ),
}


def _slots(recipe: str, rng: random.Random) -> str:
    for slot, make in (("{k}", _human), ("{q}", _joined)):
        while slot in recipe:
            recipe = recipe.replace(slot, make(rng), 1)
    return recipe


def _expanded(recipe: str, rng: random.Random) -> tuple[str, str]:
    return expand(_slots(recipe, rng), rng)


def _quote(text: str) -> str:
    return (
        "he wrote:\n"
        + "\n".join(f"> {line}" for line in text.split("\n"))
        + "\n\nso now?"
    )


def _numbered(text: str) -> str:
    return "\n".join(
        f"{i:6}\t{line}"
        for i, line in enumerate(["first", *text.split("\n"), "last"], 41)
    )


BLIND_SETTINGS = {**SETTINGS, "quote": _quote, "numbered": _numbered}


def blind(values: int, seed: int = 17) -> Iterator[Planted]:
    """``values`` random secrets of every form in every setting."""
    rng = random.Random(seed)
    makers = dict(MADE)
    for kind, recipe in yaml.safe_load(FORMS.read_text(encoding="utf-8")).items():
        makers[kind] = partial(_expanded, recipe)
    for kind, make in makers.items():
        for _ in range(values):
            text, secret = make(rng)
            for setting, place in BLIND_SETTINGS.items():
                yield Planted(kind, setting, place(text), secret)
