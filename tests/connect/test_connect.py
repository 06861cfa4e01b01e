"""Connecting hosts and disconnecting them again: what stands in a person's home before, in between
and after.
"""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from keeplore.connect import assets, hook_events
from keeplore.connect.apply import apply
from keeplore.connect.connect_plan import statuses, unified_diff
from keeplore.connect.connection_record import ConnectionRecord
from keeplore.connect.host_locations import LOCATIONS
from keeplore.connect.resources import ResourceStatus
from keeplore.connect.toml_edit import MARK
from keeplore.errors import ConfigError

CURSOR = """// mine
{
\t"version": 1,
\t"hooks": {
\t\t"stop": [
\t\t\t{ "command": "./mine.sh" }, // every time
\t\t]
\t}
}"""
CODEX = '# my settings\r\nmodel = "x"\r\n\r\n[projects."/a"]\r\ntrust_level = "trusted"'
CODEX_HOOKS = (
    '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}],"Other":[]}}'
)
COPILOT = '{\n    "mcpServers": {}\n}\n'
TAKE_OUT = (
    "Restore it from a backup, or remove it and take out by hand what names keeplore in "
    "hosts' files"
)


def filled(desk):
    """Files of the person's in every form of theirs."""
    desk.write(".cursor/hooks.json", CURSOR, 0o640)
    desk.write(".cursor/mcp.json", "", 0o600)
    desk.write(".codex/config.toml", CODEX, 0o600)
    desk.write(".codex/hooks.json", "\ufeff" + CODEX_HOOKS, 0o664)
    desk.write(".copilot/mcp-config.json", COPILOT)
    desk.write(".claude/settings.json", '{"model": "opus"}')
    desk.write(".agents/skills/mine/SKILL.md", "mine")
    desk.write("CLAUDE.md", "mine")
    return desk


def states(desk):
    return {state for _, state in statuses(ConnectionRecord.load(desk.state))}


def test_everything_is_as_it_was_after_disconnecting(desk):
    before = filled(desk).tree()
    plan = desk.connect()
    assert (
        not plan.problems and not plan.skipped and list(plan.ready) == list(LOCATIONS)
    )
    assert desk.tree() != before and states(desk) == {ResourceStatus.INTACT}
    plan = desk.disconnect()
    assert not plan.problems and desk.tree() == before
    assert not (desk.state / "connections.json").exists()


def test_nothing_is_left_where_nothing_was(bare):
    desk = bare()
    assert desk.around.found() == []
    desk.connect(*LOCATIONS)
    assert states(desk) == {ResourceStatus.INTACT}
    assert desk.tree()
    desk.disconnect()
    assert desk.tree() == {}


@pytest.mark.parametrize("host", list(LOCATIONS))
def test_each_host_can_be_connected_alone_and_others_stay(desk, host):
    before = filled(desk).tree()
    desk.connect(host)
    alone = desk.tree()
    assert alone != before
    desk.connect()
    desk.disconnect(*(name for name in LOCATIONS if name != host))
    assert desk.tree() == alone
    desk.disconnect(host)
    assert desk.tree() == before


def test_connecting_again_changes_nothing(desk):
    filled(desk).connect()
    before, manifest = desk.tree(), (desk.state / "connections.json").read_bytes()
    plan = desk.connect()
    assert plan.changes == () and list(plan.ready) == list(LOCATIONS)
    assert (
        desk.tree() == before
        and (desk.state / "connections.json").read_bytes() == manifest
    )


def test_what_was_of_the_persons_is_still_in_the_files_and_ours_too(desk):
    filled(desk).connect()
    cursor = (desk.home / ".cursor/hooks.json").read_text()
    assert (
        cursor.startswith(CURSOR.split(" ]")[0].rstrip("}\n\t ]"))
        and "// every time" in cursor
    )
    config = (desk.home / ".codex/config.toml").read_bytes().decode()
    assert config.startswith(CODEX + "\r\n\r\n#") and "\n" not in config.replace(
        "\r\n", ""
    )
    codex = tomllib.loads(config)
    assert codex["model"] == "x" and codex["mcp_servers"]["keeplore"]["args"][
        -1
    ] == str(desk.state / "client/mcp.py")
    hooks = json.loads(
        (desk.home / ".codex/hooks.json").read_bytes().decode("utf-8-sig")
    )
    assert (
        hooks["hooks"]["Stop"][0]["hooks"][0]["command"] == "mine"
        and len(hooks["hooks"]["Stop"]) == 2
    )
    assert hooks["hooks"]["Other"] == []
    modes = {
        ".cursor/hooks.json": 0o640,
        ".codex/hooks.json": 0o664,
        ".copilot/mcp-config.json": 0o644,
    }
    for name, mode in modes.items():
        assert (desk.home / name).stat().st_mode & 0o777 == mode
    assert (desk.home / ".claude/settings.json").read_text() == '{"model": "opus"}'


def test_the_plan_says_all_that_happens(desk):
    before = filled(desk).tree()
    plan = desk.plan()
    assert desk.tree() == before and not (desk.state / "connections.json").exists()
    apply(plan, desk.state)
    after = {
        path: content
        for path, (_, content) in desk.tree().items()
        if isinstance(content, bytes) and content
    }
    changed = {
        str(change.target.relative_to(desk.home)): change.after
        for change in plan.changes
    }
    assert {path: after[path] for path in changed} == changed
    assert set(after) - set(changed) == {
        path for path, (_, content) in before.items() if content
    } - set(changed)


def test_the_diff_of_a_plan_can_be_applied_with_git(desk, git, tmp_path):
    filled(desk)
    (
        desk.home / ".cursor/mcp.json"
    ).unlink()  # git tells an empty file from none otherwise
    git("init", "-q", ".", cwd=desk.home)
    plan = desk.plan()
    patch = tmp_path / "the.diff"
    text = "\n".join(unified_diff(plan.changes)) + "\n"
    assert "\\ No newline at end of file" in text and "--- /dev/null" in text
    # git wants a letter and paths below the repository; lines of CODEX end with a carriage return,
    # which we leave out
    text = text.replace(f"--- {desk.home}/", "--- a/").replace(
        f"+++ {desk.home}/", "+++ b/"
    )
    patch.write_text(text)
    git(
        "apply",
        "--exclude=.codex/config.toml",
        "--whitespace=nowarn",
        patch,
        cwd=desk.home,
    )
    for change in plan.changes:
        if change.path.name != "config.toml":
            assert change.path.read_bytes() == change.after


def test_a_linked_file_is_written_through_its_link(desk):
    dotfiles = desk.home / "dotfiles"
    for name, content in {"hooks.json": CURSOR, "config.toml": CODEX}.items():
        desk.write(f"dotfiles/{name}", content)
    (desk.home / ".cursor/hooks.json").symlink_to("../dotfiles/hooks.json")
    (desk.home / ".codex/config.toml").symlink_to(dotfiles / "config.toml")
    (desk.home / ".copilot/mcp-config.json").symlink_to(
        dotfiles / "nowhere" / "mcp.json"
    )
    before = desk.tree()
    desk.connect()
    assert (desk.home / ".cursor/hooks.json").is_symlink() and (
        desk.home / ".codex/config.toml"
    ).is_symlink()
    assert "client.sh" in (dotfiles / "hooks.json").read_text()
    assert "keeplore" in (dotfiles / "config.toml").read_text()
    assert "keeplore" in (dotfiles / "nowhere" / "mcp.json").read_text()
    desk.disconnect()
    assert desk.tree() == before


def hashes_of_own_files(desk):
    manifest = json.loads((desk.state / "connections.json").read_bytes())
    return {
        file["path"]: file["form"]["hashes"]
        for file in manifest["files"]
        if file["kind"] == "own"
    }


def test_an_update_changes_our_entries_alone_and_in_their_place(desk, monkeypatch):
    filled(desk).connect()
    own = hashes_of_own_files(desk)
    table = {
        **hook_events.EVENTS,
        "codex": (
            *(
                replace(one, timeout_s=9)
                for one in hook_events.EVENTS["codex"]
                if one.event not in ("Interrupt", "Stop")
            ),
            hook_events.HookEvent("Brand-New"),
        ),
    }
    files = assets.host_files("codex")
    newer = {
        name: data + b"\nMore.\n"
        for name, data in files.items()
        if "keeplore-forget" not in name
    }
    with monkeypatch.context() as patch:
        patch.setattr(hook_events, "EVENTS", table)
        patch.setattr(assets, "host_files", lambda host, command: newer)
        desk.connect("codex", "cursor", "copilot")
        text = (desk.home / ".codex/hooks.json").read_bytes().decode("utf-8-sig")
        hooks = json.loads(text)["hooks"]
        assert [group["hooks"][0]["command"] for group in hooks["Stop"]] == [
            "mine"
        ] and "Interrupt" not in hooks
        assert (
            hooks["SessionStart"][0]["hooks"][0]["timeout"] == 9
            and list(hooks)[-1] == "Brand-New"
        )
        assert list(hooks)[:2] == ["Stop", "Other"] and states(desk) == {
            ResourceStatus.INTACT
        }
        skills = {
            path.parent.name for path in (desk.home / ".agents").rglob("SKILL.md")
        }
        assert skills == {Path(name).parts[1] for name in newer} | {"mine"}
    desk.connect()
    assert states(desk) == {ResourceStatus.INTACT}
    assert hashes_of_own_files(desk) == own
    desk.disconnect()
    assert desk.tree()[".codex/hooks.json"] == (
        0o664,
        ("\ufeff" + CODEX_HOOKS).encode(),
    )
    assert (desk.home / ".cursor/hooks.json").read_text() == CURSOR


def test_what_others_add_afterwards_stays_byte_for_byte(desk):
    filled(desk).connect()
    cursor = desk.home / ".cursor/hooks.json"
    theirs = ',\n\t\t"afterMine": [ {"command": "late.sh"} ] // late\n\t}\n}'
    cursor.write_text(cursor.read_text().removesuffix("\n\t}\n}") + theirs)
    config = desk.home / ".codex/config.toml"
    config.write_bytes(
        b"top = 1\r\n"
        + config.read_bytes()
        + b'\r\n[projects."/b"]\r\ntrust_level = "trusted"\r\n'
    )
    created = desk.home / ".copilot/mcp-config.json"
    text = created.read_text()
    created.write_text(
        text.replace(
            '"mcpServers": {', '"mcpServers": {\n        "b": {"command": "b"},'
        )
    )
    assert states(desk) == {ResourceStatus.INTACT}
    assert not desk.disconnect().problems
    assert cursor.read_text() == CURSOR.removesuffix("\n\t}\n}") + theirs
    assert (
        config.read_bytes().decode()
        == f'top = 1\r\n{CODEX}\r\n[projects."/b"]\r\ntrust_level = "trusted"\r\n'
    )
    assert (
        created.read_text()
        == '{\n    "mcpServers": {\n        "b": {"command": "b"}\n    }\n}\n'
    )


def test_a_file_that_we_made_stays_when_others_have_written_into_it(desk):
    desk.connect("codex")
    hooks = desk.home / ".codex/hooks.json"
    data = json.loads(hooks.read_text())
    data["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "theirs"}]})
    hooks.write_text(json.dumps(data))
    desk.disconnect()
    assert json.loads(hooks.read_text()) == {
        "hooks": {"Stop": [data["hooks"]["Stop"][1]]}
    }


def test_an_entry_that_was_changed_by_hand_is_reported_and_kept(desk):
    desk.connect("codex", "claude-code", "cursor")
    hooks, skill = (
        desk.home / ".codex/hooks.json",
        desk.home / ".claude/skills/keeplore/skills/recall/SKILL.md",
    )
    hooks.write_text(hooks.read_text().replace('"timeout": 5', '"timeout": 50', 1))
    skill.write_text("My own words.")
    config = desk.home / ".codex/config.toml"
    config.write_text(config.read_text() + "enabled = false\n")
    mcp = desk.home / ".cursor/mcp.json"
    mcp.write_text(mcp.read_text().replace("python3", "/my/python3"))
    assert ResourceStatus.CHANGED in states(desk)
    changed = desk.tree()
    plan = desk.connect("codex", "claude-code", "cursor")
    # no second entry beside the changed one
    assert desk.tree() == changed and len(plan.problems) == 4
    plan = desk.disconnect()
    assert len(plan.problems) == 4 and all(problem.remedy for problem in plan.problems)
    assert skill.read_text() == "My own words."
    left = json.loads(hooks.read_text())["hooks"]
    assert (
        list(left) == ["SessionStart"]
        and left["SessionStart"][0]["hooks"][0]["timeout"] == 50
    )
    assert (
        config.read_text().endswith("enabled = false\n")
        and "/my/python3" in mcp.read_text()
    )


@pytest.mark.parametrize(
    "header",
    [
        "[mcp_servers .keeplore]",
        "[ mcp_servers . keeplore ]  # mine",
        '[mcp_servers."keeplore"]',
        "['mcp_servers' .'keeplore']",
    ],
)
def test_a_table_whose_header_the_host_wrote_anew_is_ours(desk, header):
    """Codex takes over the style of the first header, and leaves the comment above ours out."""
    desk.write(".codex/config.toml", "[mcp_servers .first]\ncommand = 'a'\n")
    desk.connect("codex")
    config = desk.home / ".codex/config.toml"
    lines = config.read_text().replace(f"{MARK}\n", "")
    config.write_text(lines.replace("[mcp_servers.keeplore]", header))
    assert desk.connect("codex").changes == ()
    assert states(desk) == {ResourceStatus.INTACT}
    assert not desk.disconnect().problems
    assert config.read_text() == "[mcp_servers .first]\ncommand = 'a'\n"


def test_what_was_taken_away_by_hand_is_missing_until_connected_again(desk):
    before = filled(desk).tree()
    desk.connect()
    (desk.home / ".claude/skills/keeplore/hooks/hooks.json").unlink()
    desk.write(".cursor/hooks.json", CURSOR, 0o640)
    config = desk.home / ".codex/config.toml"
    config.write_bytes(CODEX.encode())
    assert states(desk) == {ResourceStatus.INTACT, ResourceStatus.MISSING}
    desk.connect()
    assert states(desk) == {ResourceStatus.INTACT}
    desk.write(".cursor/hooks.json", CURSOR, 0o640)
    assert not desk.disconnect().problems and desk.tree() == before


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (".codex/hooks.json", "{", "no JSON"),
        (".codex/hooks.json", "[]", "no object"),
        (".codex/hooks.json", '{"hooks": []}', "no object"),
        (".codex/hooks.json", "{} // mine", "comments"),
        (".codex/hooks.json", b"\xff\xfe{\0}\0", "UTF-8"),
        (".codex/config.toml", "a = ", "no TOML"),
        (
            ".codex/config.toml",
            'mcp_servers = { a = { command = "a" } }',
            "cannot be added",
        ),
        (".copilot/hooks/keeplore.json", "{}", "not Keeplore's"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(desk, name, content, words):
    path = desk.write(name, content)
    before = path.read_bytes()
    plan = desk.connect("codex", "copilot")
    assert [
        told.message
        for told in plan.problems
        if words in told.message and str(path) in told.message
    ]
    assert (
        all(problem.remedy for problem in plan.problems) and path.read_bytes() == before
    )
    desk.disconnect()
    assert path.read_bytes() == before


def test_comments_and_trailing_commas_of_copilots_are_kept(desk):
    text = '{\n  // mine\n  "mcpServers": {\n    "a": {"command": "a"}, // first\n  },\n}\n'
    path = desk.write(".copilot/mcp-config.json", text)
    assert not desk.connect("copilot").problems
    after = path.read_text()
    assert "// mine" in after and "// first" in after and "mcp.py" in after
    desk.disconnect()
    assert path.read_text() == text


def test_a_file_that_broke_in_between_keeps_its_record(desk):
    before = filled(desk).tree()
    desk.connect()
    hooks = desk.home / ".codex/hooks.json"
    whole = hooks.read_bytes()
    hooks.write_bytes(whole[:-1])
    plan = desk.disconnect()
    assert (
        len(plan.problems) == 1
        and "again" in plan.problems[0].remedy
        and hooks.read_bytes() == whole[:-1]
    )
    hooks.write_bytes(whole)
    assert not desk.disconnect().problems and desk.tree() == before


def test_a_directory_that_cannot_be_written_is_told(desk):
    (desk.home / ".cursor").chmod(0o500)
    try:
        if os.access(desk.home / ".cursor", os.W_OK):
            pytest.skip("this user may write everywhere")
        plan = desk.connect("cursor")
        assert (
            len(plan.problems) == 2 and "cannot be written" in plan.problems[0].message
        )
    finally:
        (desk.home / ".cursor").chmod(0o700)


@pytest.mark.parametrize(
    ("host", "name", "content"),
    [
        (
            "claude-code",
            ".claude/settings.json",
            '{"enabledPlugins": {"keeplore@keeplore": true}}',
        ),
        ("claude-code", ".claude/skills/keeplore/.claude-plugin/plugin.json", "{}"),
        (
            "codex",
            ".codex/config.toml",
            '[plugins."keeplore@keeplore"]\nenabled = true\n',
        ),
        ("gemini-cli", ".gemini/extensions/keeplore/gemini-extension.json", "{}"),
        ("cursor", ".cursor/plugins/local/keeplore/plugin.json", "{}"),
        ("copilot", ".copilot/installed-plugins/keeplore/keeplore/plugin.json", "{}"),
        (
            "copilot",
            ".copilot/settings.json",
            '{ // live\n"enabledPlugins": {"keeplore@keeplore": true,},}',
        ),
        (
            "opencode",
            ".config/opencode/opencode.json",
            '{"plugin": ["keeplore-opencode"]}',
        ),
    ],
)
def test_what_is_installed_already_is_not_installed_twice(desk, host, name, content):
    desk.write(name, content)
    before = desk.tree()
    plan = desk.connect(host)
    assert (
        plan.ready == ()
        and plan.changes == ()
        and [one.host for one in plan.skipped] == [host]
    )
    assert "already" in plan.skipped[0].message and desk.tree() == before


def test_a_plugin_that_is_switched_off_is_no_obstacle(desk):
    desk.write(
        ".claude/settings.json",
        '{"enabledPlugins": {"keeplore@keeplore": false, "other@x": true}}',
    )
    assert desk.connect("claude-code").ready == ("claude-code",)


def test_a_plugin_that_came_later_is_told_with_the_way_out(desk):
    desk.connect("claude-code")
    desk.write(
        ".claude/settings.json", '{"enabledPlugins": {"keeplore@keeplore": true}}'
    )
    connected = desk.tree()
    plan = desk.connect("claude-code")
    assert (
        "keeplore disconnect claude-code" in plan.skipped[0].remedy
        and desk.tree() == connected
    )


def test_a_lost_manifest_is_made_anew(desk):
    before = filled(desk).tree()
    desk.connect()
    (desk.state / "connections.json").unlink()
    connected = desk.tree()
    assert desk.connect().changes == ()
    assert desk.tree() == connected and states(desk) == {ResourceStatus.INTACT}
    desk.disconnect()
    after = {
        path: content for path, content in desk.tree().items() if not content[0] & 0o100
    }  # without directories
    # which file was empty, and which did not end with a newline, nobody knows any more
    lost = (".cursor/mcp.json", ".copilot/mcp-config.json", ".codex/config.toml")
    assert after.pop(".codex/config.toml")[1] == f"{CODEX}\r\n".encode()
    assert {path: after.get(path) for path in before if path in after} == {
        path: before[path] for path in before if path in after and path not in lost
    }
    assert not [path for path in after if path not in before]


def test_directories_named_by_the_environment_are_taken(desk):
    names = {
        "CLAUDE_CONFIG_DIR": "c",
        "CODEX_HOME": "x",
        "GEMINI_CLI_HOME": "g",
        "COPILOT_HOME": "p",
    }
    names["XDG_CONFIG_HOME"] = "o"
    around = replace(
        desk.around,
        environment={key: str(desk.home / value) for key, value in names.items()},
    )
    told = {
        host: str(around.directory(host).relative_to(desk.home)) for host in LOCATIONS
    }
    assert told == {
        "claude-code": "c", "codex": "x", "gemini-cli": "g/.gemini", "cursor": ".cursor", "copilot": "p",
        "opencode": "o/opencode",
    }  # fmt: skip
    around = replace(
        around,
        environment={
            **around.environment,
            "OPENCODE_CONFIG_DIR": str(desk.home / "oc"),
        },
    )
    assert around.directory("opencode") == desk.home / "oc"


def test_two_directories_of_one_host_are_both_connected(desk):
    filled(desk).connect("codex")
    other = replace(desk.around, environment={"CODEX_HOME": str(desk.home / "second")})
    first = desk.tree()
    desk.around = other
    desk.connect("codex")
    assert (
        first.items() <= desk.tree().items()
        and (desk.home / "second/hooks.json").exists()
    )
    desk.disconnect("codex")
    assert (
        not (desk.home / "second").exists()
        and "keeplore" not in (desk.home / ".codex/config.toml").read_text()
    )


def test_a_program_on_the_path_tells_that_a_host_is_here(bare, tmp_path):
    desk = bare()
    program = tmp_path / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    desk.around = replace(desk.around, environment={"PATH": str(program.parent)})
    assert desk.around.found() == ["gemini-cli"]


def test_claude_codes_notes_go_where_they_were_asked_to(desk):
    before = desk.write(
        ".claude/settings.json", '{\n  "model": "opus"\n}\n'
    ).read_bytes()
    place = desk.home / "memory/user/memory/claude-code"
    desk.connect("claude-code", notes_in=place)
    settings = desk.home / ".claude/settings.json"
    assert json.loads(settings.read_text()) == {
        "model": "opus",
        "autoMemoryDirectory": str(place),
    }
    desk.connect("claude-code")
    assert json.loads(settings.read_text())["autoMemoryDirectory"] == str(
        place
    )  # nobody asked for it to go
    desk.disconnect("claude-code")
    assert settings.read_bytes() == before


def test_a_place_of_the_persons_for_claude_codes_notes_is_not_taken_away(desk):
    settings = desk.write(".claude/settings.json", '{"autoMemoryDirectory": "~/mine"}')
    plan = desk.connect("claude-code", notes_in=desk.home / "other")
    assert (
        len(plan.problems) == 1
        and settings.read_text() == '{"autoMemoryDirectory": "~/mine"}'
    )


def test_what_changes_while_a_person_thinks_is_not_written_over(desk):
    plan = filled(desk).plan()
    desk.write(".cursor/hooks.json", "{}")
    before = desk.tree()
    with pytest.raises(ConfigError, match="changed while"):
        apply(plan, desk.state)
    assert desk.tree() == before


@pytest.mark.parametrize(
    ("manifest", "message", "remedy"),
    [
        (
            '{"schema": 2}',
            "is of a later Keeplore",
            "Run `keeplore upgrade`, which says how to upgrade this one",
        ),
        ("{}", "cannot be read: 'schema'", TAKE_OUT),
        ("0", "cannot be read: 'int' object is not subscriptable", TAKE_OUT),
    ],
)
def test_a_manifest_that_cannot_be_read_says_what_to_do(
    desk, manifest, message, remedy
):
    path = desk.state / "connections.json"
    path.write_text(manifest)
    with pytest.raises(ConfigError) as refused:
        ConnectionRecord.load(desk.state)
    told = (refused.value.message, refused.value.remedy)
    assert told == (f"{path} {message}", remedy)


def test_the_page_about_hosts_names_the_versions_that_were_tried():
    page = Path(__file__).parents[2] / "docs" / "hosts" / "README.md"
    rows = {
        cells[1].strip(): cells[3].strip()
        for line in page.read_text().splitlines()
        if len(cells := line.split("|")) > 4
    }
    for location in LOCATIONS.values():
        told = rows[location.label]
        assert told.startswith(location.tried or "not tried"), location.label
