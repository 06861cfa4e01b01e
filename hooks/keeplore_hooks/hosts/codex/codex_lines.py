"""What the words in a Codex rollout mean, without regard to the lines around them."""

from __future__ import annotations

import re

from keeplore_hooks.hosts import prompt_text
from keeplore_hooks.hosts.base import COMMANDS, IMAGE, PLUGIN
from keeplore_hooks.hosts.jsonl import Json, mappings, sequence, text

_REQUEST = "## My request for Codex:"
# a person's own, or those of a review that the person chose
_COMMENTS = "# Diff comments:"
_PREFACE = (
    "# Context from my IDE setup",
    "# Files mentioned by the user",
    "# In app browser",
    "# Selected text",
)
_INSTRUCTIONS = ("# AGENTS.md instructions", "# Instructions from")
# the desktop app asks for a title
_TITLING = "You are a helpful assistant. You will be presented with a user prompt"
_INJECTED = (
    "environment_context",
    "user_instructions",
    "hook_prompt",
    "system-reminder",
)
_CITATION = ("oai-mem-citation", "citation_entries", "rollout_ids")
_PLAN = "proposed_plan"
_SKILL = re.compile(
    rf"\[?\$(?:{PLUGIN}[:-])?({'|'.join(COMMANDS)})(?:\]\([^)\n]{{1,1000}}\))?(?:\s+(.*))?",
    re.DOTALL,
)


def prompt_in(payload: Json) -> str:
    """What the person typed, from an event of the type user_message; ``""`` where nobody did."""
    words = typed_prompt(text(payload, "message"))
    pictures = len(sequence(payload, "images")) + len(sequence(payload, "local_images"))
    return "\n".join(filter(None, (words, *[IMAGE] * pictures)))


def message_of(item: Json) -> Json:
    """An item of the type UserMessage or AgentMessage in the form of the event of that name."""
    parts = mappings(item, "content")
    words = [
        text(part, "text") for part in parts if text(part, "type").lower() == "text"
    ]
    return {
        "message": "\n".join(words),
        "images": [part for part in parts if "image" in text(part, "type")],
    }


def prompt_of_item(item: Json) -> str:
    """What the person typed, from a message that the model was sent: the host's own parts of it are
    left out.
    """
    said = (_said_in(part) for part in mappings(item, "content"))
    return "\n".join(filter(None, said))


def _said_in(part: Json) -> str:
    said = text(part, "text").strip()
    if text(part, "type") == "input_image":
        return IMAGE
    is_of_host = said.startswith((*_INSTRUCTIONS, "<image", "</image"))
    return "" if is_of_host or prompt_text.is_element(said) else typed_prompt(said)


def typed_prompt(words: str) -> str:
    """A prompt without what an editor puts before it and others put into it; comments on a diff
    stand behind it.
    """
    words = prompt_text.without_elements(words, _INJECTED)
    if is_of_the_app(words):
        return ""
    preface, found, request = words.partition(_REQUEST)
    if not found or not words.startswith((*_PREFACE, _COMMENTS)):
        return words
    comments = (
        preface[preface.find(_COMMENTS) :].strip() if _COMMENTS in preface else ""
    )
    quoted = "\n".join(f"> {line}".rstrip() for line in comments.splitlines())
    return f"{request.strip()}\n\n{quoted}".strip()


def is_of_the_app(words: str) -> bool:
    """Is it a prompt with which the desktop app asks for something of its own?"""
    return words.startswith(_TITLING)


def command_in(prompt: str) -> tuple[str, str] | None:
    """Name and arguments of a command: a slash command, or the mention of one of Keeplore's own
    skills.
    """
    if match := _SKILL.fullmatch(prompt.strip()):
        return match[1], (match[2] or "").strip()
    return prompt_text.slash_command(prompt)


def words_of_item(item: Json) -> str:
    """The words of all parts that have some."""
    return "\n".join(
        text(part, "text") for part in mappings(item, "content") if "text" in part
    )


def spoken_in(words: str) -> tuple[str, str]:
    """The assistant's words, and the plan that it proposed among them."""
    plan = prompt_text.element(words, _PLAN)
    return prompt_text.without_elements(words, (*_CITATION, _PLAN)), plan
