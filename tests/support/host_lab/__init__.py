"""Real hosts, installed by ``make hosts``, that talk to a played model."""

from .day import Played, play
from .lab import CHECKOUT, HOSTS, HostLab
from .programs import HostProgram
from .session import HostSession

__all__ = [
    "CHECKOUT",
    "HOSTS",
    "HostLab",
    "HostProgram",
    "HostSession",
    "Played",
    "play",
]
