"""A Python agent with memory; `model` stands for the call of your model."""

from keeplore.conversation import MessageHistory
from keeplore.host import PythonHost


def model(messages):
    return f"(an answer to {len(messages)} messages)"


history = MessageHistory()
history.add("system", "You help with the billing service. Be brief.")

with PythonHost("my-agent") as host:
    session = host.session("session-1")
    for words in ["Why did we drop Redis?", "Use Postgres then.", "How many retries?"]:
        history.add("user", f"{words}\n\n{session.context(words)}".strip())
        history.prune(max_tokens=8_000)
        answer = model(
            [
                {"role": message.role, "content": message.content}
                for message in history.get_all()
            ]
        )
        history.add("assistant", answer)
        session.add(words, answer)
        print(answer)
