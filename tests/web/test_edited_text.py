"""What a person typed into the form of a memory, and the body that becomes of it."""

from __future__ import annotations

import pytest
from sample_note import note

from keeplore.web.pages.edit_page import EditedText


def typed(title: str, text: str) -> EditedText:
    return EditedText(title, "gotchas", "workspace", "", text)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("# Ports\n\nStaging is on 5433.\n", "Staging is on 5433.\n"),
        ("# Ports\r\n\r\nStaging.\r\nLive.\r\n", "Staging.\nLive.\n"),
        ("# Other\n\nStaging.\n", "# Other\n\nStaging.\n"),
        ("\n\nStaging.\n", "Staging.\n"),
        ("# Ports\n", ""),
    ],
)
def test_the_form_shows_the_body_without_its_title(body: str, text: str) -> None:
    shown = EditedText.of_memory(note("Ports", body))
    assert shown == typed("Ports", text)


def test_what_was_typed_has_plain_line_ends_and_names_on_one_line() -> None:
    form = {
        "title": " Ports \n of staging ",
        "category": "gotchas",
        "scope": "project",
        "project": " shop ",
        "text": "One.\r\n Two.\n",
    }
    assert EditedText.of_form(form) == EditedText(
        "Ports of staging", "gotchas", "project", "shop", "One.\n Two.\n"
    )
    assert EditedText.of_form({}) == EditedText("", "", "", "", "")


@pytest.mark.parametrize(
    ("body", "title", "text", "new"),
    [
        ("# Ports\n\nStaging.\n", "Ports", "Staging.\n\n ", None),
        ("# Ports\n\nStaging.\n", "Ports", "Live.  \n\n", "# Ports\n\nLive.\n"),
        ("# Ports\n\nStaging.\n", "Hosts", "Staging.\n", "# Hosts\n\nStaging.\n"),
        ("# Ports\n\nStaging.\n", "Ports", "", "# Ports\n"),
        ("# Ports\r\n\r\nStaging.\r\n", "Ports", "Live.", "# Ports\n\nLive.\n"),
        # a body without the title gets none
        ("Staging.\n", "Ports", " Live.\n\n", " Live.\n"),
    ],
)
def test_a_body_changes_where_its_words_or_its_title_do(
    body: str, title: str, text: str, new: str | None
) -> None:
    assert typed(title, text).body_for(note("Ports", body)) == new
