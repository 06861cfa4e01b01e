"""The host's own summary at a compaction, kept as a source: a document of the agent's, never the
person's words.
"""

from __future__ import annotations

from collections.abc import Callable

from keeplore.capture.capture_deps import CaptureDeps
from keeplore.capture.message_filter import clean
from keeplore.capture.notes.summary_text import stated_goal, substance
from keeplore.capture.open_sessions import Sessions
from keeplore.capture.titles.title_cutting import fit_title
from keeplore.capture.titles.title_words import capitalised
from keeplore.capture.titles.titles import title_of
from keeplore.errors import AlreadyExists, Forgotten
from keeplore.memory import Exchange, Memory, new_id, new_meta
from keeplore.memory.model import without_empty
from keeplore.redact.home_paths import home_path_shortener
from keeplore.store import Store
from keeplore.text import agent_scope
from keeplore.text.similarity import content_hash
from keeplore_hooks.events import Compaction
from keeplore_hooks.specs import hookimpl_last

SAID_BY = "What the host wrote when it shortened its context; none of it is the user's own words."
MIN_CHARS = 20  # "Compacted" alone is no summary


class SummaryKeeper:
    """A plugin. Payload and transcript report one compaction twice; its text has one id for its
    session.
    """

    def __init__(
        self,
        store: Store,
        sessions: Sessions,
        deps: CaptureDeps,
        flush: Callable[[], None],
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._deps = deps
        self._flush = flush  # puts the open conversations on disk

    @hookimpl_last
    def keeplore_compaction(self, compaction: Compaction) -> None:
        summary = home_path_shortener(self._deps.redact, compaction.origin.cwd)(
            clean(compaction.summary)
        )
        text = substance(summary)
        if len(summary) < MIN_CHARS or not text:
            return
        self._flush()
        memory = self._summary_memory(compaction, text)
        try:
            path = self._store.add(memory)
        except (AlreadyExists, Forgotten):
            return
        self._deps.written(memory.id, path)

    def _summary_memory(self, compaction: Compaction, text: str) -> Memory:
        origin = compaction.origin
        place = self._deps.place(origin)
        about = capitalised(fit_title(stated_goal(text))) or title_of(
            [Exchange(compaction.id, compaction.at, "", (text,))], {}
        )
        title = f"Summary by {origin.host}: {about}"
        open_id = self._sessions.get(origin).open_id
        source = {
            "host": origin.host,
            "session": origin.session,
            "machine": self._deps.machine,
            "branch": place.branch,
        }
        source = without_empty(source)
        meta = new_meta(
            id=new_id("summary", origin.host, origin.session, content_hash(text)),
            kind="document",
            title=title,
            created_at=compaction.at,
            updated_at=compaction.at,
            version=1,
            **agent_scope.scope_meta(place.scope, place.project),
            related=[{"id": open_id, "relationship": "relates-to"}]
            if open_id
            else None,
            trust="assistant",
            trigger="compaction",
            source=source,
        )
        return Memory(meta, f"# {title}\n\n{SAID_BY}\n\n{text}\n")
