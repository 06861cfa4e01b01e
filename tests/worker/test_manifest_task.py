"""What a project is made of gets from its manifests to every machine, through a session and nothing
else.
"""

from __future__ import annotations

import json
from pathlib import Path

from waiting import until

from keeplore.config.places import Places
from keeplore.workspace.lifecycle.setup import clone_workspace
from keeplore.workspace.registry import Registry

PYPROJECT = '[project]\nname = "shop-api"\ndependencies = ["fastembed>=0.7"]\n'


def event(name: str, cwd: Path, **more: str) -> bytes:
    return json.dumps(
        {"session_id": "s-1", "cwd": str(cwd), "hook_event_name": name, **more}
    ).encode()


def test_names_from_a_manifest_reach_another_machine_and_its_index(
    office, git, tmp_path
):
    office.init()
    shop = Path.home() / "code" / "shop"
    shop.mkdir(parents=True)
    (shop / "pyproject.toml").write_text(PYPROJECT)
    office.start()
    office.spool.add(
        "claude-code", "SessionStart", event("SessionStart", shop, source="startup")
    )
    prompt = "Why does fastembed take so long to start?"
    office.spool.add(
        "claude-code",
        "UserPromptSubmit",
        event("UserPromptSubmit", shop, prompt=prompt),
    )
    office.spool.add(
        "claude-code", "SessionEnd", event("SessionEnd", shop, reason="exit")
    )
    office.taken()
    until(
        lambda: list(office.root.glob("projects/shop/manifests/*.json")),
        "the manifest is written",
    )
    assert office.stop() == [[True]]
    committed = git(
        "ls-tree", "-r", "--name-only", "HEAD", cwd=office.root
    ).splitlines()
    (path,) = [path for path in committed if "/manifests/" in path]
    said = json.loads(git("show", f"HEAD:{path}", cwd=office.root))
    assert said == {"schema": 1, "own": ["shop-api"], "packages": ["fastembed"]}
    assert git("status", "--porcelain", cwd=office.root) == ""

    other = Places(state=tmp_path / "state", cache=tmp_path / "cache")
    clone_workspace(other, str(office.root), tmp_path / "clone")
    with Registry(other) as registry:
        index = registry.named("clone").index
        index.refresh()
        index.graph.link()
        fastembed = index.graph.entity("fastembed")
        assert (fastembed.type, fastembed.mentions) == ("tool", 1)
        related = [
            (one.source, one.relationship, one.target)
            for one in index.graph.relations(fastembed)
        ]
        assert related == [("shop", "uses", "fastembed")]
