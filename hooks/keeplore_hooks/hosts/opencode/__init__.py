"""OpenCode: payloads and its sessions."""
