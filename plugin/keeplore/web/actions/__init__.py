"""What a person does in the window: each action calls the function of the command that does the
same, commits as that does, and tells what can be taken back.
"""
