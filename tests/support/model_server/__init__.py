"""A model that is played: any host of ours, whole and real, talks to it without an account."""

from .script import Call, Message, Request, Script, Step
from .server import ModelServer, model_server

__all__ = [
    "Call",
    "Message",
    "ModelServer",
    "Request",
    "Script",
    "Step",
    "model_server",
]
