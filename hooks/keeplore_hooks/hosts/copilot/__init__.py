"""GitHub Copilot CLI: payloads and event logs."""
