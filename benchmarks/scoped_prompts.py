"""Whether prompts are told what they are about, and nothing of another project, thing or person, or
that was replaced: the written prompts of the tests.

    python benchmarks/scoped_prompts.py
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

from keeplore.index import embedder_for

TESTS = Path(__file__).resolve().parent.parent / "tests" / "recall"


def main() -> int:
    builders = module_at(TESTS / "conftest.py")
    prompts = module_at(TESTS / "unasked" / "test_scoped_prompts.py")
    with tempfile.TemporaryDirectory() as scratch:
        embedder = embedder_for("packaged", Path(scratch) / "models")
        written = prompts.memories(builders)
        index, store = builders.indexed(Path(scratch), written, embedder)
        index.embed_pending()
        found = [*prompts.outcomes(index, store, embedder, builders.memory_id)]
        index.close()
    right = sum(one.is_right for one in found)
    wanted = [one for one in found if one.wanted]
    helped = sum(bool(one.told & one.wanted) for one in wanted)
    print(
        f"{right} of {len(found)} prompts right, precision of lines "
        f"{prompts.precision(found):.3f}, helped {helped} of {len(wanted)}"
    )
    for one in found:
        if not one.is_right:
            print(f"  {one.prompt}: told {sorted(one.told)}, not {sorted(one.wanted)}")
    return 0


def module_at(path: Path) -> Any:
    """A module of the tests, which are no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
