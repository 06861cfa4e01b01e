"""Which network addresses a page may be fetched from: those of the public internet."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address

# global unicast; what lies outside of it is private, local to a link, multicast or unassigned
_UNICAST = ipaddress.IPv6Network("2000::/3")
# RFC 6052: how a network with IPv6 alone names the addresses of IPv4
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# inside of what counts as global, and still special: translations that lead elsewhere,
# documentation, benchmarks
_SPECIAL_6 = tuple(
    map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
)
_SPECIAL_4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",  # shared by customers of a carrier; metadata of a cloud lies here too
            "127.0.0.0/8",
            "168.63.129.16/32",  # metadata of Azure
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",
        ),
    )
)


def is_public(address: str) -> bool:
    """True for an address of the public internet; for one of IPv4 inside one of IPv6 that one
    counts.

    The lists are our own, because ``ipaddress.is_global`` differs between the releases of Python.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    inner = _embedded_ipv4(ip) if isinstance(ip, IPv6Address) else ip
    if inner is not None:
        return not any(inner in network for network in _SPECIAL_4)
    return ip in _UNICAST and not any(ip in network for network in _SPECIAL_6)


def _embedded_ipv4(ip: IPv6Address) -> IPv4Address | None:
    """The address of IPv4 that one of IPv6 stands for, None for all others."""
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None
