"""What capture keeps of a turn: what was said, and references to what was done."""

from __future__ import annotations

import re
from collections.abc import Callable

from keeplore.capture.message_filter import clean, without_split_private
from keeplore.memory import AnsweredQuestion, Exchange
from keeplore.redact.home_paths import shortening
from keeplore_hooks.events import Turn, Work

MAX_WORK = 200  # references of one kind that a conversation lists
MAX_COMMANDS = 12  # the first ones; the rest repeats them
# commands that only look: they say nothing about what came of a talk
_LOOKING = re.compile(
    r"(?:cd \S+ *(?:&&|;) *)*(?:"
    r"(?:ls|cat|head|tail|grep|rg|find|fd|wc|echo|pwd|cd|which|file|stat|tree|less|sed "
    r"-n|ps|pgrep|sleep|date|env|jq)\b"
    r"|git (?:-C \S+ )?(?:status|log|diff|show|branch|remote|rev-parse|blame|ls-files|reflog|"
    r"worktree list)\b)"
)


def observed(turn: Turn, redact: Callable[[str, str], str]) -> Exchange | None:
    """The exchange without tool content, injected context and secrets; None where nobody said
    anything.
    """

    shorten = shortening(redact, turn.origin.cwd)

    def observe(text: str) -> str:
        return shorten(clean(text))

    replies: list[str | AnsweredQuestion] = []
    spoken = iter(
        without_split_private([reply for reply in turn.replies if isinstance(reply, str)])
    )
    for reply in turn.replies:
        if isinstance(reply, str):
            replies.append(observe(next(spoken)))
        else:
            options = tuple(observe(option) for option in reply.options)
            replies.append(
                AnsweredQuestion(observe(reply.question), observe(reply.answer), options)
            )
    user = observe(turn.user)
    kept = tuple(reply for reply in replies if reply)
    return Exchange(turn.id, turn.at, user, kept, turn.ended_at) if user or kept else None


def observed_work(turn: Turn, redact: Callable[[str, str], str]) -> Work:
    """References without secrets; paths of the project as seen from its directory, on any
    machine.
    """
    folder = turn.origin.cwd.rstrip("/\\")
    shorten = shortening(redact, turn.origin.cwd)

    def clean_items(items: tuple[str, ...]) -> tuple[str, ...]:
        if folder:
            items = tuple(
                item.replace(f"{folder}/", "").replace(f"{folder}\\", "") for item in items
            )
        return tuple(shorten(item) for item in items)

    work = turn.work
    commands = tuple(
        command for command in clean_items(work.commands) if not _LOOKING.match(command)
    )
    return Work(
        clean_items(work.files),
        commands,
        clean_items(work.commits),
        work.links,
        clean_items(work.agents),
    )


def merged(old: Work, new: Work) -> Work:
    """The references of both, each once, as many as a conversation lists."""

    def both(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*getattr(old, name), *getattr(new, name))))[:MAX_WORK]

    return Work(
        both("files"),
        both("commands")[:MAX_COMMANDS],
        both("commits"),
        both("links"),
        both("agents"),
    )
