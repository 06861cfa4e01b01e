"""Codex CLI: payloads and rollouts."""
