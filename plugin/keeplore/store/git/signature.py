"""Who a commit is by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from keeplore.store.git.git_command import run

# for a person who never told git a name; the domain is reserved and never receives mail
NAME = "Keeplore"
EMAIL = "keeplore@keeplore.invalid"
_ASKED = r"^(user\.(name|email)|author\.(name|email)|commit\.gpgsign)$"


@dataclass(frozen=True, slots=True)
class Person:
    name: str = NAME
    email: str = EMAIL
    is_signing: bool = False  # commits are to be signed

    @property
    def environment(self) -> dict[str, str]:
        return {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", self.name), ("EMAIL", self.email))
        }


def person_of(root: Path) -> Person:
    """The identity that the user's git has in a repository; libgit2 reads less of the configuration
    than git does.
    """
    said: dict[str, str] = {}
    for item in run(root, "config", "-z", "--get-regexp", _ASKED).items:
        key, separator, value = item.partition("\n")
        said[key.lower()] = value if separator else "true"
    name = _clean(said.get("author.name") or said.get("user.name") or "") or NAME
    email = _clean(said.get("author.email") or said.get("user.email") or "") or EMAIL
    return Person(name, email, said.get("commit.gpgsign", "").lower() in ("true", "yes", "on", "1"))


def _clean(text: str) -> str:
    """Without the characters that a commit's header cannot hold."""
    return "".join(char for char in text if char not in "<>\n\r\0").strip(" .,:;\"'\\")
