"""Exports of ChatGPT and Claude.ai: what was shown becomes turns, and a hostile file is named."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Origin, Turn
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.hosts.exports import export_file
from keeplore_hooks.hosts.exports.chat_export import ChatExport, ChatHead
from keeplore_hooks.hosts.exports.chatgpt import ChatGpt
from keeplore_hooks.hosts.exports.claude_ai import ClaudeAi
from keeplore_hooks.hosts.jsonl import digest

BEGAN = 1770645600.25  # 2026-02-09T14:00:00Z
SPAN = 60


def node(
    name: str, parent: str, role: str, *parts: Any, **message: Any
) -> dict[str, Any]:
    """A message of ChatGPT's tree, a minute after the one before by its number."""
    content = message.pop("content", {"content_type": "text", "parts": list(parts)})
    number = int("".join(filter(str.isdigit, name)) or 0)
    return {
        "id": name,
        "parent": parent,
        "children": [],
        "message": {
            "id": f"m-{name}",
            "author": {"role": role},
            "create_time": BEGAN + SPAN * number,
            "content": content,
            "recipient": "all",
            **message,
        },
    }


def chat(*nodes: dict[str, Any], current: str = "", **fields: Any) -> dict[str, Any]:
    root = {"id": "root", "message": None, "parent": None, "children": []}
    return {
        "title": "Queue",
        "conversation_id": "c-1",
        "create_time": BEGAN,
        "update_time": BEGAN + 3600,
        "mapping": {"root": root, **{one["id"]: one for one in nodes}},
        "current_node": current or nodes[-1]["id"],
        **fields,
    }


def export(folder: Path, *conversations: Any) -> Path:
    path = folder / "conversations.json"
    path.write_text(json.dumps(list(conversations)), encoding="utf-8")
    return path


def read(source: Any, path: Path) -> tuple[list[Turn], list[str]]:
    """Every turn of an export, and every problem."""
    turns: list[Turn] = []
    problems: list[str] = []
    for session in source.recorded(Path("/"), str(path)):
        reading = source.read_transcript(session.path, Cursor())
        turns += reading.events
        problems += reading.problems
    return turns, problems


def at(minute: int) -> str:
    return f"2026-02-09T14:{minute:02}:00Z"


def test_the_branch_last_shown_becomes_turns_with_their_times(tmp_path: Path) -> None:
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}
    spoken = {"content_type": "audio_transcription", "text": "And the retries?"}
    attached = {
        "metadata": {"attachments": [{"name": "load\n.csv", "mimeType": "text/csv"}]}
    }
    code = {"content_type": "code", "language": "sql", "text": "SELECT 1 -- ```"}
    thoughts = {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}
    cited = "Postgres\ue200cite\ue202turn0search1\ue201 with SKIP LOCKED."
    path = export(
        tmp_path,
        chat(
            node("n1", "root", "system", "You are ChatGPT"),
            node("n2", "n1", "user", "I like cats", **hidden),
            node("n3", "n2", "user", "Which queue?", picture, **attached),
            node("n4", "n3", "assistant", "Redis."),
            node("n5", "n3", "assistant", content=thoughts),
            node("n6", "n5", "assistant", content=code, recipient="python"),
            node("n7", "n6", "tool", "1 row"),
            node("n8", "n7", "assistant", cited),
            node("n9", "n8", "assistant", content=code),
            node("n10", "n9", "user", spoken),
            current="n10",
        ),
    )
    origin = Origin("chatgpt", "c-1", transcript=str(path / "c-1"), scope="user")
    asked = "Which queue?\n\n[image]\n\n[document] load .csv"
    answers = (
        "Postgres with SKIP LOCKED.",
        "````sql\nSELECT 1 -- ```\n````",
    )
    assert read(ChatGpt(), path) == (
        [
            Turn("m-n3", origin, at(3), asked, answers, at(9)),
            Turn("m-n10", origin, at(10), "And the retries?", (), at(10)),
        ],
        [],
    )


def test_blocks_of_claude_ai_become_turns(tmp_path: Path) -> None:
    def said(name: str, sender: str, text: str, **more: Any) -> dict[str, Any]:
        created = f"2026-02-09T15:0{name}:00.123456+01:00"
        return {
            "uuid": f"u-{name}",
            "sender": sender,
            "text": text,
            "created_at": created,
            **more,
        }

    blocks = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "Five,"},
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "tool_result", "content": [{"type": "text", "text": "secret"}]},
        {"type": "text", "text": "since mail was away."},
    ]
    attached = {
        "attachments": [{"file_name": "a.txt", "extracted_content": "long"}],
        "files": [{"file_name": "b.png"}],
    }
    path = export(
        tmp_path,
        {
            "uuid": "c-2",
            "name": "Retries",
            "created_at": "2026-02-09T14:00:00Z",
            "updated_at": "2026-02-09T14:09:00Z",
            "chat_messages": [
                said("1", "human", "How many retries?", **attached),
                said("2", "assistant", "as one text", content=blocks),
                said("3", "human", "Fine."),
                said("4", "oracle", "Beware."),
            ],
        },
    )
    origin = Origin("claude-ai", "c-2", transcript=str(path / "c-2"), scope="user")
    asked = "How many retries?\n\n[document] a.txt\n\n[document] b.png"
    replies = ("Five,\n\nsince mail was away.",)
    assert read(ClaudeAi(), path) == (
        [
            Turn("u-1", origin, at(1), asked, replies, at(2)),
            Turn("u-3", origin, at(3), "Fine.", (), at(3)),
        ],
        [],
    )


@pytest.mark.parametrize("packed", [True, False])
def test_an_export_is_found_in_its_zip_or_folder(tmp_path: Path, packed: bool) -> None:
    talk = chat(node("n1", "root", "user", "Hi"), node("n2", "n1", "assistant", "Ho"))
    path = export(tmp_path, talk)
    place = tmp_path
    if packed:
        place = tmp_path / "export.ZIP"
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
            file.write(path, "chat-2026/conversations.json")
            file.writestr("chat.html", "<html>")
    turns, problems = read(ChatGpt(), place)
    assert [turn.user for turn in turns] == ["Hi"] and problems == []


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    first = node("n1", "root", "user", "Hi"), node("n2", "n1", "assistant", "Ho")
    path = export(tmp_path, chat(*first), chat(*first, conversation_id="c-2"))
    source = ChatGpt()
    cursors = {
        session.session: source.read_transcript(session.path, Cursor()).cursor
        for session in source.recorded(tmp_path, str(path))
    }
    more = (*first, node("n3", "n2", "user", "More"))
    export(tmp_path, chat(*more), chat(*first, conversation_id="c-2"))
    again = {
        session.session: [
            turn.id
            for turn in source.read_transcript(
                session.path, cursors[session.session]
            ).events
        ]
        for session in source.recorded(tmp_path, str(path))
    }
    assert again == {"c-1": ["m-n1", "m-n3"], "c-2": []}


def test_a_tree_without_an_end_or_a_beginning_is_read_as_far_as_it_goes(
    tmp_path: Path,
) -> None:
    circle = [node("n1", "n2", "user", "Hi"), node("n2", "n1", "assistant", "Ho")]
    path = export(
        tmp_path,
        chat(*circle),
        chat(*circle, current="gone", conversation_id="c-2"),
        chat(node("n1", "n1", "user", "Alone"), conversation_id="c-3"),
        chat(node("n1", "gone", "user", "Orphan"), conversation_id="c-4"),
    )
    turns, problems = read(ChatGpt(), path)
    assert [turn.user for turn in turns] == ["Hi", "Hi", "Alone", "Orphan"]
    assert problems == [
        "its messages form a circle, which is cut",
        "no current message is named; the branch of the newest is read",
        "its messages form a circle, which is cut",
        "its messages form a circle, which is cut",
    ]


WRONG = (
    None,
    True,
    -1,
    1e400,
    "x",
    [],
    {},
    [None, {"a": []}],
    "\ud800",
    {"message": 7},
)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_wrong_type_anywhere_costs_itself_alone(wrong: Any, tmp_path: Path) -> None:
    good = chat(node("n1", "root", "user", "Hi"), conversation_id="good")
    spoilt: list[Any] = [wrong]
    alone = node("n1", "root", "user", "Hi")
    spoilt += [{**chat(alone), key: wrong} for key in chat(alone)]
    spoilt += [chat({**alone, key: wrong}) for key in ("parent", "message")]
    keys = ("id", "author", "create_time", "content", "recipient", "metadata")
    spoilt += [chat(node("n1", "root", "user", "Hi", **{key: wrong})) for key in keys]
    parts = {"content_type": "multimodal_text", "parts": wrong}
    spoilt.append(chat(node("n1", "root", "user", content=parts)))
    spoilt.append(chat(node("n1", "root", "user", wrong)))
    turns, _ = read(ChatGpt(), export(tmp_path, *spoilt, good))
    assert [turn.user for turn in turns if turn.origin.session == "good"] == ["Hi"]
    message = {
        "uuid": "u",
        "sender": "human",
        "text": "Hi",
        "created_at": "2026-02-09T14:00:00Z",
    }
    base = {"uuid": "good", "name": "", "chat_messages": [message]}
    talks: list[Any] = [wrong, *({**base, "uuid": "bad", key: wrong} for key in base)]
    talks += [
        {**base, "uuid": f"b{key}", "chat_messages": [wrong, {**message, key: wrong}]}
        for key in (*message, "content", "attachments", "files")
    ]
    turns, _ = read(ClaudeAi(), export(tmp_path, *talks, base))
    assert [turn.user for turn in turns if turn.origin.session == "good"] == ["Hi"]


def test_one_conversation_that_cannot_be_read_is_named_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    good = json.dumps(chat(node("n1", "root", "user", "Hi")))
    deep = '{"mapping": ' + "[" * 100_000 + "]" * 100_000 + "}"
    path = tmp_path / "conversations.json"
    path.write_text(f'\ufeff[{deep}, {{"a": nope}}, {{"uuid": "u"}}, {good}, {good}')
    turns, problems = read(ChatGpt(), path)
    assert [turn.user for turn in turns] == ["Hi", "Hi"]
    assert problems == [
        "the export cannot be read: it breaks off: the list of conversations has no end",
        "the export cannot be read: nested too deeply",
        "the export cannot be read: Expecting value: line 1 column 7 (char 6)",
        "the export cannot be read: it is no conversation of ChatGPT: it has no `mapping`",
    ]


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("conversations.json", b"[" + b" " * (8 << 20) + b"]")


def without(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("user.json", "{}")


@pytest.mark.parametrize(
    ("name", "made", "told"),
    [
        (
            "a.json",
            lambda path: path.write_text("{}"),
            "it is no list of conversations",
        ),
        (
            "a.json",
            lambda path: path.write_bytes(b""),
            "it is no list of conversations",
        ),
        (
            "a.json",
            lambda path: path.write_bytes(b'["' + b'\\"' * 500_000),
            "it breaks off: the list of conversations has no end",
        ),
        ("a.zip", lambda path: path.write_text("PK"), "the zip cannot be read: "),
        ("a.zip", without, "no conversations.json is in that zip"),
        ("a.zip", bomb, "it holds more than 1 MB, which is refused"),
        (
            "folder",
            lambda path: path.mkdir(),
            "no conversations.json is in that folder",
        ),
    ],
)
def test_what_is_no_export_is_said(
    name: str, made: Any, told: str, tmp_path: Path
) -> None:
    made(tmp_path / name)
    turns, (problem,) = read(ChatGpt(), tmp_path / name)
    assert turns == [] and problem.startswith(f"the export cannot be read: {told}")


def test_an_export_over_the_limits_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = export(tmp_path, chat(node("n1", "root", "user", "Hi" * 1000)))
    monkeypatch.setattr(export_file, "MAX_CONVERSATION", 1000)
    assert read(ChatGpt(), path)[1] == ["the export cannot be read: larger than 0 MB"]
    monkeypatch.setattr(export_file, "MAX_BYTES", 1000)
    expected = ["the export cannot be read: it holds more than 0 MB, which is refused"]
    assert read(ChatGpt(), path)[1] == expected


def test_marks_of_sources_go_and_names_stay(tmp_path: Path) -> None:
    said = (
        'In \ue200entity\ue202["city","Paris","capital"]\ue201, see it'
        "\ue200cite\ue202turn0search1\ue202turn1view0\ue201 and that\u30104:0\u2020source\u3011."
        ":contentReference[oaicite:2]{index=2}\ue200entity\ue202[\ue201"
    )
    about_me = {
        "content_type": "user_editable_context",
        "user_profile": "I like cats",
        "user_instructions": "Be brief",
    }
    recap = {"content_type": "reasoning_recap", "content": "Thought for 8s"}
    printed = {"content_type": "execution_output", "text": "1"}
    path = export(
        tmp_path,
        chat(
            node("n1", "root", "user", content=about_me),
            node("n2", "n1", "user", "Where?"),
            node("n3", "n2", "assistant", "They ask where.", channel="analysis"),
            node("n4", "n3", "tool", content=printed),
            node("n5", "n4", "assistant", content=recap),
            node("n6", "n5", "assistant", said, channel="final"),
        ),
    )
    ((turn,), problems) = read(ChatGpt(), path)
    assert (turn.user, turn.replies, problems) == (
        "Where?",
        ("In Paris, see it and that.",),
        [],
    )


ROOT = "00000000-0000-4000-8000-000000000000"


def said_by(
    sender: str, name: str, parent: str, words: str, minute: int, **fields: Any
) -> dict[str, Any]:
    """A message as Claude.ai's export has it in 2026."""
    return {
        "uuid": name,
        "text": "not this",
        "content": [{"type": "text", "text": words, "citations": []}],
        "sender": sender,
        "created_at": f"2026-02-09T14:{minute:02}:00.123456Z",
        "updated_at": f"2026-02-09T14:{minute:02}:00.123456Z",
        "attachments": [],
        "files": [],
        "parent_message_uuid": parent,
        **fields,
    }


@pytest.mark.parametrize(
    ("leaf", "asked"), [({}, "Why not?"), ({"current_leaf_message_uuid": "a2"}, "Why?")]
)
def test_of_a_tree_of_claude_ai_the_branch_last_shown_is_read(
    tmp_path: Path, leaf: dict[str, str], asked: str
) -> None:
    thinking = {"type": "thinking", "thinking": "Hm."}
    artifact = (
        "<antThinking>Worth one.</antThinking>Here:\n"
        '<antArtifact identifier="q" type="text/x" title="The queue">\nSELECT 1\n</antArtifact>'
    )
    answer = said_by("assistant", "a1", "h1", artifact, 1)
    answer["content"] = [thinking, *answer["content"]]
    pasted = {"file_name": "", "file_type": "txt", "extracted_content": "A log line"}
    named = {"file_name": "load.csv", "extracted_content": "1,2"}
    messages = [
        said_by("human", "h1", ROOT, "Which queue?", 0, attachments=[pasted, named]),
        answer,
        said_by("human", "h2", "a1", "Why?", 2),
        said_by("assistant", "a2", "h2", "It lasts.", 3),
        said_by("human", "h3", "a1", "Why not?", 4),
        said_by("assistant", "a3", "h3", "It breaks.", 5),
    ]
    conversation = {
        "uuid": "c-1",
        "name": "Queue",
        "summary": "",
        "created_at": "2026-02-09T14:00:00.123456Z",
        "updated_at": "2026-02-09T14:05:00.123456Z",
        "account": {"uuid": "u-1"},
        "chat_messages": messages,
        **leaf,
    }
    (first, second), problems = read(ClaudeAi(), export(tmp_path, conversation))
    assert (first.user, first.replies) == (
        "Which queue?\n\nA log line\n\n[document] load.csv",
        ("Here:\n[document] The queue",),
    )
    assert (second.user, len(second.replies), problems) == (asked, 1, [])


def test_a_circle_of_messages_of_claude_ai_is_cut(tmp_path: Path) -> None:
    messages = [
        said_by("human", "h1", "a1", "Which queue?", 0),
        said_by("assistant", "a1", "h1", "Postgres.", 1),
    ]
    conversation = {"uuid": "c-1", "chat_messages": messages}
    (turn,), problems = read(ClaudeAi(), export(tmp_path, conversation))
    assert (turn.user, turn.replies, problems) == ("Which queue?", ("Postgres.",), [])


CLAUDE_AI = {
    "uuid": "c-1",
    "name": "Retries",
    "created_at": "2026-02-09T14:00:00Z",
    "updated_at": "2026-02-09T15:00:00Z",
    "chat_messages": [],
}
CHATGPT = {
    "conversation_id": "g-1",
    "id": "g-2",
    "title": "Retries",
    "create_time": 1770645600.0,
    "update_time": 1770649200.0,
    "mapping": {},
}


@pytest.mark.parametrize(
    ("source", "conversation", "left_out", "head"),
    [
        (ClaudeAi(), CLAUDE_AI, (), ("c-1", 14, 15)),
        (ClaudeAi(), CLAUDE_AI, ("updated_at",), ("c-1", 14, 14)),
        (ClaudeAi(), CLAUDE_AI, ("created_at",), ("c-1", 0, 15)),
        (ClaudeAi(), CLAUDE_AI | {"uuid": "a/b"}, (), (digest("a/b"), 14, 15)),
        (
            ClaudeAi(),
            CLAUDE_AI,
            ("uuid",),
            (digest("2026-02-09T14:00:00Z", "Retries"), 14, 15),
        ),
        (ChatGpt(), CHATGPT, (), ("g-1", 14, 15)),
        (ChatGpt(), CHATGPT, ("conversation_id",), ("g-2", 14, 15)),
        (ChatGpt(), CHATGPT, ("update_time",), ("g-1", 14, 14)),
        (ChatGpt(), CHATGPT, ("create_time",), ("g-1", 0, 15)),
        (
            ChatGpt(),
            CHATGPT,
            ("conversation_id", "id"),
            (digest("2026-02-09T14:00:00Z", "Retries"), 14, 15),
        ),
    ],
)
def test_what_a_conversation_of_an_export_says_of_itself(
    source: ChatExport,
    conversation: dict[str, Any],
    left_out: tuple[str, ...],
    head: tuple[str, int, int],
) -> None:
    kept = {key: value for key, value in conversation.items() if key not in left_out}
    name, began, changed = head
    assert source.head_of(kept) == ChatHead(
        name,
        f"2026-02-09T{began}:00:00Z" if began else "",
        f"2026-02-09T{changed}:00:00Z" if changed else "",
    )
