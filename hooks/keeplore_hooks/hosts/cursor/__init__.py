"""Cursor: payloads and transcripts."""
