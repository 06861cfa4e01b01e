"""How each host is started without an account, in a fresh home, against the played model.

Each function writes the host's own configuration and returns the host. Nothing here is Keeplore's:
that is what the product's own ``keeplore connect`` adds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODEL = "model"
KEY = "sk-ant-api03-made-up-for-tests-which-reach-loopback-alone"
LATEST = "latest"
# a session of seconds is over before the highest of Bun's compilers has paid
QUICK_BUN = {"BUN_JSC_useFTLJIT": "0"}


@dataclass(frozen=True)
class HostProgram:
    """A host's command lines and what its process must find in its environment."""

    name: str  # as ``keeplore connect`` has it
    program: str
    environment: dict[str, str]
    options: tuple[str, ...]
    # how one prompt is asked, in a new session and in the last one, and what stands before it
    once: tuple[str, ...]
    once_more: tuple[str, ...]
    before_prompt: tuple[str, ...]
    # how the last session is opened at a terminal
    again: tuple[str, ...]
    shell: str  # the tool that runs a command
    command: str  # and the name of its argument
    ready: str  # what stands at its prompt when it can be typed to
    # what stands before the names of Keeplore's commands, words that give them by an option
    own: tuple[str, ...]
    compaction: str = "/compact"
    end: str = "/quit"
    # what stops an answer, key by key
    interruption: tuple[str, ...] = ("escape",)
    # what it asks before it resumes a session that was killed a moment ago; Enter says yes
    doubt: str = ""

    def ask(self, prompt: str, *, resume: bool = False) -> tuple[str, ...]:
        """Answers one prompt and ends."""
        way = self.once_more if resume else self.once
        return (self.program, *way, *self.options, *self.before_prompt, prompt)

    def slash(self, name: str, text: str, *, resume: bool = False) -> tuple[str, ...]:
        """Carries out a command of Keeplore's, in a new session or the last one, and ends."""
        *option, before = self.own
        if not option:
            return self.ask(f"{before}{name} {text}".rstrip(), resume=resume)
        way = self.once_more if resume else self.once
        typed = (f"{before}{name}", *filter(None, (text,)))
        return (self.program, *way, *self.options, *option, *typed)

    def open(self, *, resume: bool = False) -> tuple[str, ...]:
        """Stays at a terminal."""
        return (self.program, *(self.again if resume else ()), *self.options)


Configure = Callable[[Path, Path, str], HostProgram]


def claude_code(home: Path, project: Path, url: str) -> HostProgram:
    """Claude Code: onboarding is done, the key approved, the directory trusted."""
    state = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "9.9.9",
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True}},
    }
    _write(home / ".claude.json", state)
    return HostProgram(
        "claude-code",
        "claude",
        {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            **QUICK_BUN,
        },
        # bypassing permissions is refused to root
        ("--allowedTools", "Bash,Write,Edit,mcp__plugin_keeplore_keeplore"),
        (),
        ("--continue",),
        ("-p", "--"),
        ("--continue",),
        "Bash",
        "command",
        "❯",
        ("/keeplore:",),
        end="/exit",
    )


def codex(home: Path, project: Path, url: str) -> HostProgram:
    config = (
        f'model = "{MODEL}"\nmodel_provider = "lab"\ncheck_for_update_on_startup = false\n'
        f'[model_providers.lab]\nname = "lab"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        f"[projects.{json.dumps(str(project))}]\n"
        'trust_level = "trusted"\n'
    )
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex/config.toml").write_text(config, encoding="utf-8")
    # without the first, hooks wait for a person at a terminal who reviews them
    options = (
        "--dangerously-bypass-hook-trust",
        "--dangerously-bypass-approvals-and-sandbox",
    )
    return HostProgram(
        "codex",
        "codex",
        {},
        options,
        ("exec", "--skip-git-repo-check"),
        ("exec", "resume", "--last", "--skip-git-repo-check"),
        (),
        ("resume", "--last"),
        "exec_command",
        "cmd",
        "Ask Codex",
        ("$keeplore-",),
    )


def gemini_cli(home: Path, project: Path, url: str) -> HostProgram:
    settings = {
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": False},
        },
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "ide": {"hasSeenNudge": True},
    }
    _write(home / ".gemini/settings.json", settings)
    return HostProgram(
        "gemini-cli",
        "gemini",
        {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": KEY},
        # a model that is named is chosen by no other model
        ("--model", "gemini-2.5-pro", "--approval-mode", "yolo"),
        (),
        ("--resume", LATEST),
        ("--prompt",),
        ("--resume", LATEST),
        "run_shell_command",
        "command",
        "Type your message",
        ("/keeplore:",),
        compaction="/compress",
    )


def opencode(home: Path, project: Path, url: str) -> HostProgram:
    model = {"name": MODEL, "limit": {"context": 200_000, "output": 8_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "lab",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {MODEL: model},
    }
    config = {
        "$schema": "https://opencode.ai/config.json",
        "model": f"lab/{MODEL}",
        "small_model": f"lab/{MODEL}",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"lab": provider},
    }
    folder = home / ".config/opencode"
    _write(folder / "opencode.json", config)
    # as if it had fetched the 63 MB that it wants for any plugin, and that ours does not use
    wanted = {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}
    _write(folder / "package.json", wanted)
    _write(folder / "package-lock.json", {"packages": {"": wanted}})
    (folder / "node_modules").mkdir()
    # else it reads a list of thousands of models at each start
    _write(folder / "models.json", {})
    return HostProgram(
        "opencode",
        "opencode",
        {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_MODELS_PATH": str(folder / "models.json"),
            **QUICK_BUN,
        },
        ("--auto",),
        ("run",),
        ("run", "--continue"),
        (),
        ("--continue",),
        "bash",
        "command",
        "ctrl+p commands",
        ("--command", "keeplore/"),
        end="/exit",
        interruption=("escape", "escape"),
    )


def copilot(home: Path, project: Path, url: str) -> HostProgram:
    _write(home / ".copilot/config.json", {"trusted_folders": [str(project)]})
    return HostProgram(
        "copilot",
        "copilot",
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_MODEL": MODEL,
        },
        ("--allow-all-tools",),
        (),
        ("--continue",),
        ("-p",),
        ("--continue",),
        "bash",
        "command",
        "/commands",
        ("/keeplore-",),
        end="/exit",
        interruption=("escape", "escape"),
        doubt="Resume anyway",
    )


CONFIGURED: dict[str, Configure] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini-cli": gemini_cli,
    "opencode": opencode,
    "copilot": copilot,
}


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")
