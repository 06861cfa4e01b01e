"""Claude Code: payloads, transcripts and its own notes."""
