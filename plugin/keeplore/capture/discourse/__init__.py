"""The model of a conversation: its statements, and which of them still hold."""
