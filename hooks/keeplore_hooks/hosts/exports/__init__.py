"""Conversations that a person has exported from a service: ChatGPT, Claude.ai."""
