"""The plugin for OpenCode, run by node as OpenCode would call it: with a real client, with and
without a worker.

The file has no annotations, so any JavaScript runtime runs it as it stands.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from demo.machine import CLIENT
from quick_machine import QuickMachine

from keeplore.connect.hook_events import EVENTS
from keeplore.text.fences import TAG
from keeplore_hooks.spool import Spool

NODE = shutil.which("node")
SHIM = Path(__file__).resolve().parents[2] / "plugin" / "opencode" / "keeplore.ts"
RELEASES = (
    "Releases are signed by the Zurich office alone, because the key lies in its safe."
)
CHILD = "ses_child"
ASIDE = "Sum up. Here is how."
# calls the functions that the plugin returns, one step after the other, and prints what became of
# their arguments
DRIVER = """
import { readFileSync } from "node:fs"
const { shim, directory, messages, steps } = JSON.parse(readFileSync(0, "utf8"))
const loaded = await import(shim)
const session = {
  get: async ({ path }) => ({ data: path.id === "ses_child" ? { parentID: "ses_a" } : {} }),
  messages: async () => ({ data: messages }),
}
const app = { agents: async () => ({ data: [{ name: "summary", prompt: "Sum up." }, { name: "build" }] }) }
const hooks = await loaded.Keeplore({ client: { session, app }, directory })
for (const [name, input, output] of steps) await hooks[name]?.(input, output)
console.log(JSON.stringify({ exports: Object.keys(loaded), hooks: Object.keys(hooks), steps }))
"""

pytestmark = pytest.mark.skipif(
    NODE is None, reason="node is not installed, and OpenCode's plugin is JavaScript"
)


class OpenCode:
    """Plays the host: what it calls, and what its API gives."""

    def __init__(self, machine: QuickMachine, patience_ms: int = 2500) -> None:
        self.machine = machine
        self.project = machine.home / "ledgerly"
        self.project.mkdir(exist_ok=True)
        self.folder = machine.home / "plugins"
        self.folder.mkdir(exist_ok=True)
        text = SHIM.read_text(encoding="utf-8")
        assert text.count("PATIENCE_MS = 2500") == 1
        (self.folder / "shim.mjs").write_text(
            text.replace("PATIENCE_MS = 2500", f"PATIENCE_MS = {patience_ms}")
        )
        (self.folder / "driver.mjs").write_text(DRIVER)
        self.messages: list[Any] = []

    def call(self, *steps: list[Any]) -> dict[str, Any]:
        given = {
            "shim": (self.folder / "shim.mjs").as_uri(),
            "directory": str(self.project),
        }
        payload = json.dumps(
            {**given, "messages": self.messages, "steps": steps}
        ).encode()
        done = self.machine.run(
            str(NODE),
            str(self.folder / "driver.mjs"),
            cwd=self.project,
            payload=payload,
        )
        assert done.stderr == b""
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    def kept(self) -> list[tuple[str, dict[str, Any]]]:
        """Event and payload of what the spool holds, by the event's name."""
        entries = Spool(self.machine.state / "spool").pending()
        assert {entry.host for entry in entries} <= {"opencode"}
        return sorted(
            ((entry.event, json.loads(entry.read())) for entry in entries),
            key=lambda one: one[0],
        )


def bus(kind: str, session: str, **info: Any) -> list[Any]:
    properties = (
        {"info": {"id": session, **info}}
        if info or kind == "session.created"
        else {"sessionID": session}
    )
    return ["event", {"event": {"type": kind, "properties": properties}}, None]


def prompt(session: str, words: str) -> list[Any]:
    number = len(words)
    message = {
        "id": f"msg_{number:04}",
        "role": "user",
        "sessionID": session,
        "time": {"created": 1_790_000_000_000},
    }
    part = {
        "id": f"prt_{number:04}",
        "messageID": message["id"],
        "sessionID": session,
        "type": "text",
        "text": words,
    }
    return [
        "chat.message",
        {"sessionID": session},
        {"message": message, "parts": [part]},
    ]


def command(name: str, arguments: str, session: str = "ses_a") -> list[Any]:
    return [
        "command.execute.before",
        {"command": name, "sessionID": session, "arguments": arguments},
        {"parts": []},
    ]


@pytest.fixture
def alone(tmp_path: Path) -> OpenCode:
    """A machine whose worker does not run: everything stays in the spool."""
    machine = QuickMachine(tmp_path / "a machine")
    shutil.copytree(CLIENT, machine.state / "client")
    return OpenCode(machine, patience_ms=60_000)


@pytest.fixture
def remembering(tmp_path: Path) -> Iterator[OpenCode]:
    """A machine with a worker and one memory; neither client nor plugin lets a busy machine
    decide.
    """
    machine = QuickMachine(tmp_path / "a machine")
    machine.keeplore("init", "memory")
    host = OpenCode(machine, patience_ms=60_000)
    shutil.copytree(CLIENT, machine.state / "client", dirs_exist_ok=True)
    machine.keeplore("remember", "--permanent", RELEASES, cwd=host.project)
    path = machine.state / "client" / "contact.py"
    text, changes = path.read_text(), 0
    for old in ("DEADLINE_S = 0.3 ", "PATIENT_DEADLINE_S = 1.5 "):
        changes += text.count(old)
        text = text.replace(old, old.partition("=")[0] + "= 60.0 ")
    assert changes == 2
    path.write_text(text)
    with machine.at_work():
        yield host


def test_the_plugin_is_one_export_that_knows_the_events_of_the_table(
    alone: OpenCode,
) -> None:
    told = alone.call()
    assert told["exports"] == ["Keeplore"]
    text = SHIM.read_text(encoding="utf-8")
    named = {
        key: set(re.findall(r'"([^"]+)"', line))
        for key, line in re.findall(r"const (ASKED|TOLD) = (.*)", text)
    }
    table = EVENTS["opencode"]
    assert named["ASKED"] == {entry.event for entry in table if entry.is_asked}
    assert named["TOLD"] == {entry.event for entry in table if not entry.is_asked}


def test_everything_is_kept_in_the_form_that_the_adapter_reads(alone: OpenCode) -> None:
    alone.messages = [{"info": {"id": "msg_0001", "role": "user"}, "parts": []}]
    alone.call(
        bus("session.created", "ses_a"),
        prompt("ses_a", "Which store?"),
        ["experimental.session.compacting", {"sessionID": "ses_a"}, {"context": []}],
        bus("session.idle", "ses_a"),
        bus("message.updated", "ses_a", role="user"),
    )
    kept = alone.kept()
    events = [
        "chatmessage",
        "experimentalsessioncompacting",
        "sessioncreated",
        "sessionidle",
    ]
    assert [event for event, _ in kept] == events
    assert {payload["sessionID"] for _, payload in kept} == {"ses_a"}
    assert {payload["directory"] for _, payload in kept} == {str(alone.project)}
    sent = dict(kept)
    assert sent["chatmessage"]["messages"][0]["parts"][0]["text"] == "Which store?"
    # there is no record on this disk
    assert sent["sessionidle"]["messages"] == alone.messages


def test_where_opencode_has_a_record_it_is_named_and_messages_are_not_sent_again(
    alone: OpenCode,
) -> None:
    data = alone.machine.home / ".local" / "share" / "opencode"
    data.mkdir(parents=True)
    (data / "opencode.db").touch()
    alone.messages = [{"info": {"id": "msg_0001", "role": "user"}, "parts": []}]
    alone.call(bus("session.idle", "ses_a"))
    ((_, sent),) = alone.kept()
    assert sent["data"] == str(data) and "messages" not in sent


def test_a_subagents_session_is_not_told(alone: OpenCode) -> None:
    alone.call(
        bus("session.created", "ses_b", parentID="ses_a"),
        prompt("ses_b", "Look."),
        bus("session.idle", CHILD),
    )
    assert alone.kept() == []


def test_without_a_client_or_with_odd_arguments_nothing_is_thrown(
    alone: OpenCode,
) -> None:
    odd = [
        ["event", {}, None],
        ["event", {"event": {"type": "session.idle"}}, None],
        ["chat.message", {}, {}],
        ["chat.message", {"sessionID": "ses_a"}, {"message": None, "parts": None}],
        ["command.execute.before", {"sessionID": "ses_a"}, None],
        ["experimental.chat.system.transform", {}, {"system": []}],
        ["experimental.session.compacting", {}, None],
        ["config", None, None],
    ]
    alone.call(*odd)
    shutil.rmtree(alone.machine.state / "client")
    told = alone.call(prompt("ses_a", "Which store?"), ["config", {}, None])
    assert told["steps"][0][2]["parts"][1:] == []
    assert told["steps"][1][1] == {}


def test_the_server_is_registered_and_one_of_the_persons_own_stays(
    alone: OpenCode,
) -> None:
    own = {
        "keeplore": {"type": "local", "command": ["mine"]},
        "other": {"type": "remote", "url": "https://e.org"},
    }
    told = alone.call(["config", {"mcp": own}, None], ["config", {}, None])
    assert told["steps"][0][1] == {"mcp": own}
    program = str(alone.machine.state / "client" / "mcp.py")
    server = {
        "type": "local",
        "command": ["python3", "-I", "-S", program],
        "enabled": True,
    }
    assert told["steps"][1][1] == {"mcp": {"keeplore": server}}


def test_where_keeplore_is_switched_off_the_plugin_does_nothing(
    alone: OpenCode,
) -> None:
    alone.machine.environment["KEEPLORE_OFF"] = "1"
    assert alone.call(prompt("ses_a", "Which store?"))["hooks"] == []
    assert not (alone.machine.state / "spool").exists()


def system_of(session: str, text: str = "Be brief.") -> list[Any]:
    """A request of the session, with the system prompt of an agent."""
    step = "experimental.chat.system.transform"
    return [step, {"sessionID": session}, {"system": [text]}]


def told_beside(called: Any) -> str:
    """What was added to a message."""
    return "".join(part["text"] for part in called["steps"][0][2]["parts"][1:])


def _asked_beside_a_brief(host: OpenCode) -> Any:
    """A message of a session that OpenCode goes on with, without telling so: what it sent before
    stays to the byte, so that the brief comes beside the first prompt, and what is new beside the
    next. What asks beside the conversation gets neither.
    """
    title = "You are a title generator. You output ONLY a thread title. Nothing else."
    greeting = prompt("ses_b", "Hello there.")
    steps = (system_of("ses_b"), system_of("ses_b", title), system_of("ses_b", ASIDE))
    begun = host.call(greeting, *steps)
    systems = [step[2]["system"] for step in begun["steps"][1:]]
    assert systems == [["Be brief."], [title], [ASIDE]]
    told = told_beside(begun)
    place = "Staging runs Postgres 14, because the hoster in Winterthur has none newer."
    host.machine.keeplore("remember", "--permanent", place, cwd=host.project)
    # a busy worker may not answer in time, and reads new files a moment later
    for number in range(60):
        words = f"Which Postgres does staging run, and why? Say it in {number} words."
        gone_on = host.call(prompt("ses_b", words), system_of("ses_b"))
        assert gone_on["steps"][1][2]["system"] == ["Be brief."]
        told += told_beside(gone_on)
        if "Winterthur" in told_beside(gone_on):
            break
    assert "Zurich" in told
    return gone_on["steps"][0][2]


def test_memories_come_to_the_model_and_what_is_said_becomes_one(
    remembering: OpenCode,
) -> None:
    host, system = (
        remembering,
        [
            "experimental.chat.system.transform",
            {"sessionID": "ses_a"},
            {"system": ["Be brief."]},
        ],
    )
    skill = prompt("ses_a", "The person typed a command.")
    told = host.call(
        bus("session.created", "ses_a"),
        system,
        system,
        bus("session.compacted", "ses_a"),
        system_of("ses_a"),
        command("keeplore/recall", "Which office signs our releases?"),
        skill,
    )
    first, second, _, compacted, recalled, of_command = (
        step[2] for step in told["steps"][1:]
    )
    # nothing was said that a compaction could take away
    assert first == second == compacted and first["system"][0] == "Be brief."
    assert f"<{TAG}" in first["system"][1] and "Zurich" in first["system"][1]
    (part,) = recalled["parts"]
    assert part["synthetic"] is True and "Zurich" in part["text"]
    # nobody asks for what resembles the text of a command
    assert len(of_command["parts"]) == 1
    asked = _asked_beside_a_brief(host)
    typed, added = asked["parts"]
    assert "Winterthur" in added["text"] and added["synthetic"] is True
    assert re.fullmatch(r"prt_[0-9a-f]{12}[0-9a-z]{14}", added["id"])
    assert (added["messageID"], added["sessionID"]) == (asked["message"]["id"], "ses_b")
    said = {
        "id": "msg_9999",
        "role": "assistant",
        "sessionID": "ses_b",
        "time": {"created": 1_790_000_060_000},
    }
    answer = {
        "info": said,
        "parts": [
            {"type": "text", "text": "Zurich, because of the safe in the cellar."}
        ],
    }
    host.messages = [{"info": asked["message"], "parts": [typed]}, answer]
    host.call(bus("session.idle", "ses_b"))
    host.machine.wait_until(
        lambda: "safe in the cellar" in host.machine.conversations(),
        "the words are in a conversation",
    )
    # what was recalled is nobody's words
    assert TAG not in host.machine.conversations()
