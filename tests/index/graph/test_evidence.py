"""What a memory itself shows: names by their shape, programs, triples, aspects."""

from __future__ import annotations

import pytest

from keeplore.index.graph.evidence import (
    MAX_MENTIONS,
    MAX_RELATIONS,
    aspects_of,
    mentions_of,
    relations_of,
)
from keeplore.index.graph.graph_values import EntityAspect, EntityRelation, Mention
from keeplore.memory import Conversation, Exchange, Memory
from keeplore_hooks.events import Work


def note(body: str, **meta: object) -> Memory:
    return Memory({"kind": "note", "title": "", "project": "ledgerly", **meta}, body)


@pytest.mark.parametrize(
    ("text", "shown", "named"),
    [
        (
            "Never from a Capital Letter, nor from HTTP, APIs or GPT-4 e.g. and/or 3.10",
            [],
            [],
        ),
        (
            "`keeplore.yaml` and plugin/keeplore/store/paths.py:12",
            ["keeplore.yaml", "paths.py"],
            [],
        ),
        (
            "README.md, but cli/main.py and ./web/src/index.ts",
            ["readme.md", "cli/main.py", "src/index.ts"],
            [],
        ),
        (
            "in `docs/generated/`, ~/code/kasha/api and internal/sem",
            ["docs/generated", "kasha/api"],
            ["internal/sem"],
        ),
        ("tail `/var/log/kasha-web.log`", ["kasha-web.log"], []),
        ("at ~/.REDACTED.jsonl and `cfg/[REDACTED:token].yaml`", [], []),
        ("`*.py`, `src/*.go`, `<name>.md` and `path/to`", [], []),
        (
            "kasha-api#42, LED-7, CVE-2024-3094, UTF-8",
            ["kasha-api#42", "led-7", "cve-2024-3094"],
            [],
        ),
        ("see PR #12 (fixes #13), but option #1", ["ledgerly#12", "ledgerly#13"], []),
        ("https://github.com/acme/kasha-api/pull/9/files", ["kasha-api#9"], []),
        (
            "`embed_pending`, round_half_up and MAX_RETRIES",
            ["embed_pending", "round_half_up", "max_retries"],
            [],
        ),
        (
            "GitHub and PostgreSQL, but `PostgreSQL` and TextEmbedding()",
            ["postgresql", "textembedding"],
            ["github"],
        ),
        (
            "`self.index.refresh()`, `tax.roundHalf`",
            ["index.refresh", "tax.roundhalf"],
            ["roundhalf"],
        ),
        (
            "`fastembed`, `click`, `true`, `a1b2c3d`, `ruff-lsp`",
            ["fastembed", "ruff-lsp"],
            [],
        ),
        (
            "`@scope/kit`, @app/money.py and me@example.org",
            ["@scope/kit", "money.py"],
            [],
        ),
        (
            "```go\nfunc (s *Store) RoundTax(netTotal int) {}\n```",
            ["roundtax"],
            ["nettotal"],
        ),
        ("```sh\n$ uvx ruff check app\nall is fine\n```", ["uvx", "ruff"], []),
    ],
)
def test_names_are_told_by_their_shape(
    text: str, shown: list[str], named: list[str]
) -> None:
    found = mentions_of(note(text))
    assert [mention.name for mention in found if mention.type] == shown
    assert [mention.name for mention in found if not mention.type] == named


def test_only_a_name_of_plain_words_is_looked_for_in_other_memories() -> None:
    told = {
        mention.name: mention.is_word
        for mention in mentions_of(
            note("`index-writer`, `embed_pending` and cli/main.py")
        )
    }
    assert told == {
        "index-writer": True,
        "embed_pending": False,
        "cli/main.py": False,
    }


def test_an_issue_is_spelled_without_what_follows_it() -> None:
    found = mentions_of(
        note(
            "It fixes #12. See **https://github.com/acme/kasha-api/pull/9** and LED-7."
        )
    )
    assert [mention.spelling for mention in found] == [
        "#12",
        "https://github.com/acme/kasha-api/pull/9",
        "LED-7",
    ]


def test_code_references_show_files_programs_and_what_was_installed() -> None:
    work = Work(
        files=("/home/ada/ledgerly/app/tax_rules.zig",),
        commands=(
            "cd app && TZ=UTC sudo -u ada timeout 5 pytest -q | tee out; ls",
            "uv run --with rich python -m mypy.stubgen 'a && b'",
            "npx -y @scope/kit@2 && npm install -D vite@5 ./local",
            'n=$(gh pr view) && git commit -m "fix && go',
        ),
        commits=("b81d07e Round in roundHalfUp",),
        links=("https://github.com/acme/ledgerly/pull/3",),
    )
    talk = Conversation(
        "", (Exchange("t1", "2026-01-01T00:00:00Z", "hello"),), work=work
    )
    found = mentions_of(
        Memory({"kind": "conversation", "project": "ledgerly"}, talk.to_markdown())
    )
    assert found[0] == Mention(
        "tax_rules.zig", "/home/ada/ledgerly/app/tax_rules.zig", 1, "system"
    )
    tools = [mention.name for mention in found if mention.is_word]
    assert tools == [
        "sudo",
        "timeout",
        "pytest",
        "uv",
        "python",
        "mypy",
        "npx",
        "npm",
        "vite",
        "gh",
        "git",
    ]
    assert [mention.name for mention in found[-2:]] == ["roundhalfup", "ledgerly#3"]


def test_triples_and_aspects_are_read_and_what_cannot_be_read_is_passed_over() -> None:
    triple = {
        "source": "Kasha  API",
        "relationship": "Depends on",
        "target": "hnswlib",
        "confidence": 0.9,
    }
    aspect = {
        "entity": "FastEmbed",
        "type": "tool",
        "aspect": "Start-up time",
        "kind": "constraint",
    }
    memory = note(
        "",
        entities=[triple, dict(triple), "no", {"source": 1, "target": []}, {**triple, "target": "kasha api"},
                  {**triple, "target": "pgvector", "confidence": "high"}],
        aspects=[aspect, {**aspect, "kind": "opinion"}, {**aspect, "aspect": "size", "type": "animal"}, None],
    )  # fmt: skip
    assert relations_of(memory) == [
        EntityRelation(
            "kasha api", "depends-on", "hnswlib", 0.9, "Kasha API", "hnswlib"
        ),
        EntityRelation(
            "kasha api", "depends-on", "pgvector", 0.5, "Kasha API", "pgvector"
        ),
    ]
    assert aspects_of(memory) == [
        EntityAspect("fastembed", "FastEmbed", "tool", "start-up time", "constraint"),
        EntityAspect("fastembed", "FastEmbed", "unknown", "size", "constraint"),
    ]
    assert mentions_of(memory) == [
        Mention("kasha api", "Kasha API", 2, "unknown", is_word=True),
        Mention("hnswlib", "hnswlib", 1, "unknown", is_word=True),
        Mention("pgvector", "pgvector", 1, "unknown", is_word=True),
        Mention("fastembed", "FastEmbed", 2, "tool", is_word=True),
    ]
    assert (
        relations_of(note("", entities="none"))
        == aspects_of(note("", aspects={"entity": "x"}))
        == []
    )


def test_of_too_many_names_those_stay_that_the_memory_shows_to_exist() -> None:
    words = " ".join(f"Weak{number}Name" for number in range(MAX_MENTIONS))
    found = mentions_of(note(f"{words} `shown_name`"))
    assert len(found) == MAX_MENTIONS
    assert found[0].name == "shown_name"


@pytest.mark.parametrize(
    ("stated", "confidence"),
    [(0, 0.0), (1, 1.0), (0.25, 0.25), (1.01, 0.5), (-0.1, 0.5), (True, 0.5), ("1", 0.5), (None, 1.0)],
)  # fmt: skip
def test_how_sure_a_triple_is(stated: object, confidence: float) -> None:
    triple = {"source": "a", "relationship": "uses", "target": "b"}
    [found] = relations_of(note("", entities=[{**triple, "confidence": stated}]))
    assert (found.confidence, type(found.confidence)) == (confidence, float)
    [found] = relations_of(note("", entities=[triple]))
    assert found.confidence == 1.0


def test_names_and_relationships_are_cut_and_so_are_lists_of_them() -> None:
    triples = [
        {"source": f"s{n}", "relationship": "uses", "target": "t"}
        for n in range(MAX_RELATIONS + 1)
    ]
    assert [one.source for one in relations_of(note("", entities=triples))] == [
        f"s{n}" for n in range(MAX_RELATIONS)
    ]
    long, cut = "a" * 120, "a" * 100
    triple = {
        "source": f"  {long}",
        "relationship": "b" * 40 + "c",
        "target": "d\ud800",
    }
    unread = (
        {"relationship": "b" * 39 + " c"},
        {"relationship": 1},
        {"relationship": "-"},
        {"target": "1" * 100 + "a"},
    )
    found = relations_of(
        note("", entities=[triple, *({**triple, **one} for one in unread)])
    )
    assert [(one.relationship, one.source_spelling) for one in found] == [
        ("b" * 40, cut),
        ("b" * 39, cut),
    ]
    assert found[0].target_spelling == "d?"
