"""How well the names in real sessions are found: precision and recall, by kind of name.

    python benchmarks/linking.py [--show [held]]      (--show prints what is found wrongly, and what
    is missed)

The labels in ``linking_labels.tsv`` were given by reading, those of the half "held" before the
linker had seen it. Each row names a passage by its turn, offset in what was said in the turn and
length (characters), with the first eight hex digits of its SHA-256, so that a changed file shows,
and the canonical names of all that it mentions; above them stand the session and its part. The
lines with ``+`` are what manifests, projects and a person's list give (``name = alias``). A name
counts where it exists: because these lines have it, or because some session's memory shows that
there is such a thing. The data is not part of the repository (KEEPLORE_DATA, or ../shared/data);
without it the script says so.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

import captured
import talks

from keeplore.index.graph.evidence import mentions_of
from keeplore.index.graph.graph_values import Mention, canonical_name
from keeplore.index.graph.linker import first_word, first_words, names_in
from keeplore.memory import Conversation, Exchange, Memory
from keeplore_hooks.events import Turn, Work

LABELS = Path(__file__).with_name("linking_labels.tsv")
KINDS = ("package, tool, project", "file, folder", "identifier", "issue")
EXCHANGES = 6  # of a conversation
VOCABULARY = 50_000  # names beside which the time is taken


@dataclass(slots=True)
class Passage:
    part: str
    project: str
    text: str
    labels: set[str]


@dataclass(slots=True)
class Labels:
    aliases: dict[str, str] = field(
        default_factory=dict
    )  # of all given names, to what they stand for
    sessions: list[str] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    changed: int = 0


def main(shown: str) -> int:
    if not talks.DATA.is_dir():
        print(f"no transcripts in {talks.DATA}: set KEEPLORE_DATA")
        return 0
    labels = read()
    memories = [memory for path in talks.sessions() for memory in memories_of(path)]
    mentions = [mention for memory in memories for mention in mentions_of(memory)]
    words = {m.name for m in mentions if m.is_word} | set(labels.aliases)
    existing = {m.name for m in mentions if m.type} | set(labels.aliases)
    print(
        f"{len(existing)} names exist, {len(words)} of them are looked for as words, "
        f"{labels.changed} passages changed"
    )
    for part in ("dev", "held"):
        passages = [passage for passage in labels.passages if passage.part == part]
        judged = [
            (passage, found_in(passage, words, labels.aliases) & existing)
            for passage in passages
        ]
        print_part(part, judged, existing, words, labels.aliases)
        if shown == part:
            print_wrong(judged, existing, labels.aliases)
    print_times(memories, words)
    return 0


def read() -> Labels:
    labels, said, path, part = Labels(), dict[str, str](), "", ""
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        if line.startswith("+ "):
            for given in line[2:].split(", "):
                name, _, alias = given.partition(" = ")
                labels.aliases |= {one: name for one in (name, alias) if one}
        elif line.startswith("= "):
            path, part = line[2:].split("\t")
            said = {
                exchange.id: spoken(exchange)
                for exchange in talks.exchanges(talks.DATA / path)
            }
        elif not line.startswith("#"):
            turn, offset, length, digest, names = line.split("\t")
            text = said.get(turn, "")[int(offset) : int(offset) + int(length)]
            if talks.text_hash(text) != digest:
                labels.changed += 1
                continue
            named = {canonical_name(name) for name in names.split(", ") if name}
            labels.passages.append(Passage(part, path.split("/")[1], text, named))
    return labels


def spoken(exchange: Exchange) -> str:
    replies = (
        r if isinstance(r, str) else f"{r.question}\n{r.answer}"
        for r in exchange.replies
    )
    return "\n\n".join(filter(None, (exchange.user, *replies)))


def memories_of(path: Path) -> Iterator[Memory]:
    """A session as conversations, each of some exchanges with their code references."""
    work = {
        event.id: event.work
        for event in captured.events(path)
        if isinstance(event, Turn)
    }
    project = path.relative_to(talks.DATA).parts[1]
    for said in batched(talks.exchanges(path), EXCHANGES):
        done = [work.get(exchange.id, Work()) for exchange in said]
        joined = Work(
            *(
                tuple(dict.fromkeys(i for w in done for i in getattr(w, f.name)))
                for f in fields(Work)
            )
        )
        talk = Conversation("", said, work=joined)
        yield Memory({"kind": "conversation", "project": project}, talk.to_markdown())


def batched(
    exchanges: tuple[Exchange, ...], size: int
) -> Iterator[tuple[Exchange, ...]]:
    for start in range(0, len(exchanges), size):
        yield exchanges[start : start + size]


def found_in(passage: Passage, words: set[str], aliases: dict[str, str]) -> set[str]:
    memory = Memory({"kind": "note", "project": passage.project}, passage.text)
    keys = first_words([passage.text])
    known = names_in(
        [passage.text], [word for word in words if first_word(word) in keys]
    )
    return {
        aliases.get(mention.name, mention.name)
        for mention in (*mentions_of(memory), *known)
    }


def print_part(
    part: str,
    judged: list[tuple[Passage, set[str]]],
    existing: set[str],
    words: set[str],
    aliases: dict[str, str],
) -> None:
    right, found, there = Counter[str](), Counter[str](), Counter[str]()
    nowhere = 0
    for passage, names in judged:
        labelled = {aliases.get(name, name) for name in passage.labels}
        nowhere += len(labelled - existing)
        for counter, of in (
            (right, names & labelled),
            (found, names),
            (there, labelled & existing),
        ):
            counter.update(kind_of(name, words) for name in of)
    print(
        f"\n## {part}: {len(judged)} passages; {nowhere} labelled names exist nowhere and do not "
        f"count\n"
    )
    print("| kind | labelled | found | precision | recall |\n|---|---|---|---|---|")
    for kind in (*KINDS, "all"):
        numbers = [
            c.total() if kind == "all" else c[kind] for c in (right, found, there)
        ]
        print(
            f"| {kind} | {numbers[2]} | {numbers[1]} | {_share(*numbers[:2])} | "
            f"{_share(numbers[0], numbers[2])} |"
        )


def kind_of(name: str, words: set[str]) -> str:
    if "#" in name or re.fullmatch(r"[a-z][a-z0-9]+-\d+", name):
        return "issue"
    if name in words:
        return "package, tool, project"
    return (
        "file, folder"
        if "/" in name or re.search(r"^\.|\.(\w{1,5}|gitignore)$", name)
        else "identifier"
    )


def print_wrong(
    judged: list[tuple[Passage, set[str]]], existing: set[str], aliases: dict[str, str]
) -> None:
    for passage, names in judged:
        labelled = {aliases.get(name, name) for name in passage.labels}
        for word, of in (
            ("wrong", names - labelled),
            ("missed", labelled & existing - names),
        ):
            if of:
                print(
                    f"{word} {', '.join(sorted(of))}: {' '.join(passage.text.split())[:300]}"
                )


def texts_of(memory: Memory) -> list[str]:
    """The title of a conversation, and what was said in it."""
    exchanges = Conversation.from_markdown(memory.body).exchanges
    return [memory.title, *(said for e in exchanges for said in (e.user, e.assistant))]


def print_times(memories: list[Memory], words: set[str]) -> None:
    """CPU time of one memory's parts, scaled to 2,000 words of it."""
    texts = [text for memory in memories for text in texts_of(memory)]
    count = sum(len(text.split()) for text in texts) / 2000
    vocabulary = {
        *words,
        *(
            f"{word} {number}"
            for number in range(VOCABULARY)
            for word in [f"name{number % 997}"]
        ),
    }
    by_first: dict[str, list[str]] = {}
    for name in vocabulary:
        by_first.setdefault(first_word(name), []).append(name)

    def linking() -> Iterator[list[Mention]]:
        for memory in memories:
            said = texts_of(memory)
            yield names_in(
                said,
                [name for key in first_words(said) for name in by_first.get(key, ())],
            )

    print(
        f"\n{count * 2000:.0f} words; CPU for 2,000 of them, beside {len(vocabulary)} names:"
    )
    bare = min(
        _cpu(
            lambda: subprocess.run(
                [sys.executable, "-I", "-S", "-c", "pass"], check=True
            )
        )
        for _ in range(9)
    )
    print(f"  python -I -S -c pass: {bare * 1000:.1f} ms")
    parts = {
        "evident": lambda: [*map(mentions_of, memories)],
        "first_words and linked": lambda: [*linking()],
    }
    for name, work in parts.items():
        took = min(_cpu(work) for _ in range(3)) / count
        print(f"  {name}: {took * 1000:.2f} ms, {took / bare:.2f} of that")


def _cpu(work: Callable[[], object]) -> float:
    """Processor seconds of this program and of those that it started."""
    before = _used()
    work()
    return _used() - before


def _used() -> float:
    both = (
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return sum(used.ru_utime + used.ru_stime for used in both)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"


if __name__ == "__main__":
    sys.exit(main((sys.argv[2:] or ["dev"])[0] if "--show" in sys.argv[1:2] else ""))
