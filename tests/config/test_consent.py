from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.config.consent import FILE, Consents, ConsentUse, is_loopback, server_of
from keeplore.errors import ConfigError

SERVER = "https://models.example.com:443/v1"


def test_a_server_is_accepted_for_one_workspace_and_one_use(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    accepted = Consents(tmp_path / "state")
    assert not accepted.has(mine, ConsentUse.EMBEDDING, SERVER)
    accepted.accept(mine, ConsentUse.EMBEDDING, SERVER)
    accepted.accept(mine, ConsentUse.EMBEDDING, SERVER)
    again = Consents(tmp_path / "state")
    assert again.has(mine, ConsentUse.EMBEDDING, SERVER)
    assert not again.has(mine, ConsentUse.LLM, SERVER)
    assert not again.has(other, ConsentUse.EMBEDDING, SERVER)
    assert not again.has(mine, ConsentUse.EMBEDDING, "http://models.example.com:80/v1")
    again.accept(mine, ConsentUse.LLM, SERVER)
    again.withdraw(mine, ConsentUse.EMBEDDING)
    assert not accepted.has(mine, ConsentUse.EMBEDDING, SERVER) and accepted.has(
        mine, ConsentUse.LLM, SERVER
    )
    again.accept(other, ConsentUse.LLM, SERVER)
    again.withdraw(mine)
    assert not accepted.has(mine, ConsentUse.LLM, SERVER) and accepted.has(
        other, ConsentUse.LLM, SERVER
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"servers": [1]}', b'{"servers": 3}', b"[" * 100_000],
)
def test_a_damaged_file_accepts_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    accepted = Consents(tmp_path)
    assert not accepted.has(tmp_path, ConsentUse.EMBEDDING, SERVER)
    accepted.accept(tmp_path, ConsentUse.EMBEDDING, SERVER)
    assert accepted.has(tmp_path, ConsentUse.EMBEDDING, SERVER)


def test_one_server_has_one_spelling() -> None:
    assert server_of("HTTPS://Models.Example.com/v1/") == server_of(SERVER) == SERVER
    assert server_of("http://[::1]:11434") == "http://[::1]:11434"
    assert is_loopback(server_of("http://localhost:11434/v1")) and not is_loopback(
        SERVER
    )
    assert not is_loopback(server_of("http://127.0.0.1.example.com/v1"))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models.example.com",
        "ftp://models.example.com",
        "file:///etc/passwd",
        "https://",
        "https://me:secret@models.example.com/v1",
        "https://good.example.com\\@evil.example.com/",
        "https://models.example.com/v1?to=elsewhere",
        "https://models.example.com:99999/",
        "https://models.example.com:0/",
        "https://mödels.example.com/",
        "https://models.example.com/\n",
        f"https://models.example.com/{'a' * 500}",
    ],
)
def test_what_is_no_plain_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as error:
        server_of(url)
    assert "secret" not in str(error.value)
