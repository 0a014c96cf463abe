"""What is played: each peer on each way and family, and why some of these cannot be."""

from dataclasses import dataclass

from catalog import ALL
from ways import WAYS

FAMILIES = {
    "ipv4": ("ipv4",),
    "ipv6": ("ipv6",),
    "both": ("ipv4", "ipv6"),
    "only-4-works": ("ipv4", "ipv6"),  # the box has both; the router drops the other's packets
    "only-6-works": ("ipv6", "ipv4"),
}
HALF_DEAD = ("only-4-works", "only-6-works")


@dataclass(frozen=True)
class Case:
    peer: str
    role: str = "answerer"
    way: str = "host"
    family: str = "ipv4"
    channel: bool = True

    @property
    def name(self):
        return f"{self.peer}-{self.role}-{self.way}-{self.family}" + ("" if self.channel else "-no-channel")

    @property
    def calls(self):
        """The second call shows what the first leaves behind, which the way has no part in."""
        return 2 if self.way == "host" and self.family == "ipv4" and self.channel else 1

    @property
    def why_not(self):
        """Why it cannot be played; empty if it can."""
        return ALL[self.peer].cannot.get(self.way, "") if self.role == "answerer" else ""

    def row(self, **more):
        facts = {"peer": self.peer, "role": self.role, "way": self.way, "family": self.family, "channel": self.channel}
        return {**facts, **more}


def families(way, role):
    """Two families that work are only worth a case where nothing stands between; one that does not, where a router drops it."""
    if way == "host":
        return ("ipv4", "ipv6", "both")
    return ("ipv4", "ipv6", *HALF_DEAD) if way == "nat" else ("ipv4", "ipv6")


def everything():
    """All cells, the impossible ones too."""
    cases = []
    for peer in ALL.values():
        for role in peer.roles:
            # An offering peer's answerer is talkpost-provider, which is for the desk and knows no servers.
            for way in WAYS if role == "answerer" else ("host",):
                cases += [Case(peer.name, role, way, family) for family in families(way, role)]
        cases.append(Case(peer.name, channel=False))
    return cases


# Each way and each peer at least once, each role where there are two, in a few minutes.
SMALL = [
    *(Case(peer.name, role) for peer in ALL.values() for role in peer.roles),
    Case("wrtc", family="ipv6"),
    Case("aiortc", family="both"),
    Case("chromium", way="nat", family="only-4-works"),
    Case("gstreamer", way="nat", family="only-6-works"),
    Case("wrtc", way="stun"),
    Case("aiortc", way="turn-udp"),
    Case("chromium", way="turn-tcp"),
    Case("gstreamer", way="turn-told"),
    Case("janus-lite", way="turn-tls"),
    Case("pion", way="ice-tcp"),
    Case("janus-lite", way="ice-tcp", family="ipv6"),
    Case("pion", way="proxy"),
    Case("aiortc", way="proxy-turn"),
    Case("wrtc", way="blocked"),
    Case("pion", way="moves"),
    Case("wrtc", way="moves"),
    Case("pion", way="loss-5"),
    Case("wrtc", way="loss-20"),
    Case("pion", channel=False),
]
# The few that stand for the rest.
SMOKE = [
    Case("wrtc"),
    Case("wrtc", "offerer"),
    Case("chromium", family="both"),
    Case("janus-lite", way="nat"),
    Case("pion", way="ice-tcp", family="ipv6"),
    Case("aiortc", way="proxy-turn"),
]
