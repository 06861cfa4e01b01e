"""What a person changes of a memory: which version, its title, and whose memory it is."""

from __future__ import annotations

from pathlib import Path

from keeplore.errors import StoreError
from keeplore.memory import Memory
from keeplore.memory.names import short_id
from keeplore.text.agent_scope import agent_name, key_of, scope_meta
from keeplore.workspace.registry import FoundMemory, Registry


def newest_version(registry: Registry, found: FoundMemory) -> FoundMemory:
    """The version that is changed in the place of this one. Raises StoreError for a conversation
    that is still being written.
    """
    if found.memory.is_open:
        raise StoreError(
            f"{found.row.path} is still being written by its session",
            "Wait until it is closed",
        )
    if not found.row.superseded_by:
        return found
    return registry.find(found.row.superseded_by, found.workspace.root)


def check_unchanged(registry: Registry, found: FoundMemory) -> None:
    """Raise StoreError where another version came meanwhile, which would be replaced unread."""
    id_ = found.row.id
    if registry.find(id_, found.workspace.root).row.superseded_by:
        raise StoreError(
            "it was changed meanwhile",
            f"`keeplore edit {short_id(id_)}` shows the newest",
        )


def retitled_body(memory: Memory, title: str) -> str | None:
    """The body with the new title as its heading, None where it has none to change."""
    heading = f"# {memory.title}\n"
    if title and memory.body.startswith(heading):
        return f"# {title}\n{memory.body[len(heading) :]}"
    return None


def moved_fields(
    registry: Registry,
    found: FoundMemory,
    cwd: Path,
    scope: str | None = None,
    project: str | None = None,
    agent: str | None = None,
) -> dict[str, str | None]:
    """The fields that say whose memory it is. It cannot leave its workspace, where its versions
    are.
    """
    if project or agent or scope == "project":
        here = found.workspace.identities.of(cwd).project
        own = project or found.row.project or here
        if not own:
            raise StoreError(
                "this directory belongs to no project", "Name one with --project"
            )
        _check_same(registry.for_project(own, found.workspace.root).name, found)
        return scope_meta(_scope_for(agent), own)
    if scope == "user" and registry.machine.home:
        _check_same(registry.machine.home, found)
    return scope_meta(scope, "") if scope else {}


def _scope_for(agent: str | None) -> str:
    """The scope of a project, or of one of its agents."""
    name = agent_name(agent or "")
    if agent and not name:
        raise StoreError(f"{agent!r} is no name of an agent", "Give one with letters")
    return key_of(name) if name else "project"


def _check_same(name: str, found: FoundMemory) -> None:
    if name != found.workspace.name:
        raise StoreError(
            f"that is in the workspace {name}, and this memory in {found.workspace.name}",
            (
                f"Write it there with `keeplore remember`, then `keeplore forget "
                f"{short_id(found.row.id)}`"
            ),
        )
