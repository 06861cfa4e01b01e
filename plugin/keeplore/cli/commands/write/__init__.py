"""Commands that write memory."""
