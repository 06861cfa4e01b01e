"""Gemini CLI: payloads and records."""
