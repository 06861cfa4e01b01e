"""Titles that somebody wrote down: of a commit, a pull request, a document, a section."""

from __future__ import annotations

import re

from keeplore.capture.cues import opens_with, word_list
from keeplore.capture.titles.markup_removal import without_markup
from keeplore.capture.titles.title_cutting import EDGES, MAX_TITLE, fit_title
from keeplore.capture.titles.title_words import (
    MAX_SENTENCE,
    NUMBER,
    is_verb,
    without_lead,
    without_phrases,
)
from keeplore.text.terms import STOP, terms

_DOCUMENT_CHARS = 20_000  # of a document in which its title is looked for
_COMMIT_KIND = re.compile(
    r"\A(?P<kind>[a-z]{2,10})(?:\([^)]{1,40}\))?!?:\s+", re.IGNORECASE
)
_DASH = re.compile(r"\s+[-–—]\s+")
_FIELD = re.compile(r"(?:^|\s)title:[ \t]*[\"']?(\S.{7,150})$", re.MULTILINE)
_HASH = re.compile(r"\A[0-9a-f]{7,40} ")
_QUOTED_ARGUMENT = r"(?P<quote>[\"'])(?P<text>[^\"'$`]{8,120})(?P=quote)?"
_PULL_REQUEST = re.compile(
    rf"\b(?:gh|glab|hub) (?:pr|mr) create\b.{{0,200}}?(?:--title|-t)[ =]{_QUOTED_ARGUMENT}"
)


def commit_subject(commit: str) -> str:
    """The subject of a commit ("hash Subject", or that alone) without the kind in front; "" for a
    chore.
    """
    subject = without_markup(_HASH.sub("", commit))
    kind = _COMMIT_KIND.match(subject)
    if kind and kind["kind"].lower() in word_list("chores"):
        return ""
    subject = without_phrases(_without_commit_kind(subject), "title_heading_label")
    subject = re.sub(r"\s*\(#\d+\)\Z", "", subject).strip(EDGES)
    return subject if len(subject) <= MAX_TITLE else fit_title(subject)


def _without_commit_kind(subject: str) -> str:
    kind = _COMMIT_KIND.match(subject)
    return subject[kind.end() :] if kind else subject


def pull_request_title(command: str) -> str:
    """The title that a command gives a pull request, "" for any other command."""
    found = _PULL_REQUEST.search(command[:MAX_SENTENCE])
    return commit_subject(found["text"]) if found else ""


def heading_wording(text: str) -> str:
    """A heading without its label ("Plan:"), "" for one that would head any page."""
    text = _DASH.sub(": ", NUMBER.sub("", without_markup(text)))
    text = without_lead(text, "title_noise")
    head = without_phrases(text, "title_heading_label")
    first = head.partition(" ")[0].lower()
    if opens_with(head, "title_generic_heading") or len(terms(head)) < 2:
        return ""
    return fit_title(head) if first not in STOP or is_verb(first) else ""


def document_title(document: str) -> str:
    """What a document or a command's output says that its title is, "" where it does not."""
    found = _FIELD.search(document[:_DOCUMENT_CHARS])
    return fit_title(_without_commit_kind(without_markup(found[1]))) if found else ""
