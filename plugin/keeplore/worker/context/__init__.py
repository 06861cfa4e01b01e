"""What a host is given while a person works: context unasked, and answers to slash commands."""
