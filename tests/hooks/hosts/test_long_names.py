"""Names that a file brings along are kept as far as a person reads them, on one line."""

from __future__ import annotations

from typing import Any

import pytest

from keeplore_hooks.hosts.exports import chatgpt, claude_ai

DOCUMENT = claude_ai.DOCUMENT
LONG = "x" * 200


def names_of_claude(name: str) -> list[str]:
    return [*claude_ai._attachment_lines({"files": [{"file_name": name}]})]


def names_of_chatgpt(name: str) -> list[str]:
    attachment = {"name": name, "mimeType": "text/csv"}
    message: Any = {"metadata": {"attachments": [attachment]}}
    return [*chatgpt._attachment_lines(message)]


@pytest.mark.parametrize("names", [names_of_claude, names_of_chatgpt])
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("load \n .csv", "load .csv"),
        (LONG, LONG),
        (f"{LONG}y", LONG),
        ("", ""),
    ],
)
def test_a_file_has_a_line_with_its_name(names: Any, name: str, shown: str) -> None:
    assert names(name) == [f"{DOCUMENT} {shown}".strip()]


def test_files_of_claude_are_told_once_in_the_order_of_their_names() -> None:
    message = {
        "attachments": [
            {"file_name": "b.txt", "extracted_content": "x"},
            {"file_name": "", "extracted_content": "pasted, which is a text"},
        ],
        "files": [{"file_name": "a.png"}, {"file_name": "b.txt"}],
    }
    lines = [*claude_ai._attachment_lines(message)]
    assert lines == [f"{DOCUMENT} a.png", f"{DOCUMENT} b.txt"]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ('<antArtifact title="The  plan">x</antArtifact>', [f"{DOCUMENT} The plan"]),
        ('<antArtifact type="code">x</antArtifact>', [DOCUMENT]),
        (f'<antArtifact title="{LONG}y">x', [f"{DOCUMENT} {LONG}"]),
        ("<antThinking>hm</antThinking>Yes.", ["Yes."]),
        ("<antThinking>hm", []),
    ],
)
def test_a_document_that_claude_made_is_told_by_its_title_and_no_thought_is(
    words: str, shown: list[str]
) -> None:
    assert [*claude_ai._visible_texts({"text": words})] == shown


def test_blocks_of_text_stand_in_place_of_the_whole_and_pasted_texts_behind_them() -> (
    None
):
    message = {
        "text": "all of it",
        "content": [
            {"type": "text", "text": "One."},
            {"type": "tool_use", "text": "not said"},
            {"type": "text", "text": " "},
        ],
        "attachments": [
            {"file_name": "", "extracted_content": "pasted"},
            {"file_name": "a.txt", "extracted_content": "a file"},
        ],
    }
    assert [*claude_ai._visible_texts(message)] == ["One.", "pasted"]
    assert [*claude_ai._visible_texts({"text": "all of it"})] == ["all of it"]


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ({"content_type": "audio_transcription", "text": "said"}, "said"),
        ({"content_type": "image_asset_pointer"}, chatgpt.IMAGE),
        ({"content_type": "file"}, DOCUMENT),
        ({"content_type": "real_time_audio_asset"}, ""),
        ({"content_type": "video_container"}, ""),
        ({}, ""),
    ],
)
def test_what_is_no_text_in_chatgpt_is_told_as_what_it_is(
    part: dict[str, str], shown: str
) -> None:
    assert chatgpt._part_text(part) == shown
