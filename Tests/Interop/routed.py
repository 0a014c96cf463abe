"""A network with a router in it: the box, the provider, and a host with the relay and the proxy, each in a namespace of its own.

        box ---- router ---- provider (and its backend)
                    |
                  relay (STUN, TURN, the HTTP proxy)

The router is the box's NAT and firewall, and loses packets where that is wanted; what it does is in its rules for nftables. Network
emulation by the kernel (netem) is not needed, and not everywhere there.
"""

import json
import time

from network import IPV4, Network, NetworkError

PLACES = {"box": 1, "provider": 2, "relay": 3}
PREFIXES = {"ipv4": "10.99.{}.{}", "ipv6": "fd99:{}::{}"}
LENGTHS = {"ipv4": 24, "ipv6": 64}
RELAY_NAME = "turn.talkpost.test"  # RFC 6761 6.2: such names are nobody's
FORWARDING = "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding"
NAMES = 'mount --bind "$0" /etc/hosts && exec "$@"'


def address(place, family, host=2):
    return PREFIXES[family].format(PLACES[place], host)


class RoutedNetwork(Network):
    """The four namespaces of one case. `families` are the box's own; provider and relay have both, as such hosts do.

    With both, the box's second leads nowhere: it has an address, and the router drops all of it.
    """

    answering = "::"  # all addresses of both families

    def __init__(self, number, way, families=IPV4, is_guarded=False):
        super().__init__(number, families)
        self._way, self._is_guarded, self._hosts = way, is_guarded, None
        working = families[0]
        self.relay = address("relay", working)
        self.backend = self.bracketed(address("provider", working))

    @staticmethod
    def bracketed(address):
        """As it stands in a URL."""
        return f"[{address}]" if ":" in address else address

    def namespace(self, place=""):
        return f"{self.name}-{place or 'box'}"

    @property
    def names(self):
        return [self.namespace(place) for place in ("router", *PLACES)]

    def __enter__(self):
        try:
            for name in self.names:
                self.found(name)
            self.run("nsenter", f"--net=/run/netns/{self.namespace('router')}", "sh", "-c", FORWARDING)
            for place in PLACES:
                self._join(place, self.families if place == "box" else tuple(PREFIXES))
            self._await_carriers()
            self._rule("router", self._router())
            if self._is_guarded:
                self._rule("provider", GUARD)
        except Exception:
            self.__exit__()
            raise
        return self

    def name_hosts(self, path):
        """From here on the box and the proxy find the relay by its name; nobody answers for DNS here."""
        path.write_text(f"127.0.0.1 localhost\n{self.relay} {RELAY_NAME}\n")
        self._hosts = path

    def inside(self, command, place=""):
        if place != "provider" and self._hosts:
            command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", NAMES, self._hosts, *command]
        return super().inside(command, place)

    def carried(self):
        """Bytes from the box that went the way that the case is about."""
        listing = self.run(*self._enter("router"), "nft", "-j", "list", "counters")
        counters = [item["counter"] for item in json.loads(listing)["nftables"] if "counter" in item]
        return next(counter["bytes"] for counter in counters if counter["name"] == "carried")

    def lose_address(self):
        """The box has no address any more, and no route."""
        for family in self.families:
            text = f"{address('box', family)}/{LENGTHS[family]}"
            self.run("ip", "-n", self.namespace("box"), "address", "delete", text, "dev", "near")

    def take_address(self):
        """The box gets another one, and its route."""
        for family in self.families:
            own = self.namespace("box")
            text = f"{address('box', family, 3)}/{LENGTHS[family]}"
            self.run("ip", "-n", own, "address", "add", text, "dev", "near")
            which = "-6" if family == "ipv6" else "-4"
            self.run("ip", which, "-n", own, "route", "replace", "default", "via", address("box", family, 1))

    def _enter(self, place):
        return ["nsenter", f"--net=/run/netns/{self.namespace(place)}"]

    def _join(self, place, families):
        own, router = self.namespace(place), self.namespace("router")
        ends = ["link", "add", "near", "netns", own, "type", "veth", "peer", "name", place, "netns", router]
        self.run("ip", *ends)
        for name, device, host in ((own, "near", 2), (router, place, 1)):
            for family in families:
                text = f"{address(place, family, host)}/{LENGTHS[family]}"
                self.run("ip", "-n", name, "address", "add", text, "dev", device)
            self.run("ip", "-n", name, "link", "set", device, "up")
        for family in families:
            which = "-6" if family == "ipv6" else "-4"
            self.run("ip", which, "-n", own, "route", "add", "default", "via", address(place, family, 1))

    def _await_carriers(self):
        """The kernel takes up to a second to say that a cable is plugged in; until then its end has no address for finding neighbours."""
        until = time.monotonic() + 5
        while any("NO-CARRIER" in self.run("ip", "-n", name, "link") for name in self.names):
            if time.monotonic() > until:
                raise NetworkError(f"{self.name}: a cable does not come up")
            time.sleep(0.02)

    def _rule(self, place, rules):
        self.run(*self._enter(place), "nft", "-f", "-", text=rules)

    def _router(self):
        way, symmetric = self._way, " fully-random" if self._way.nat == "symmetric" else ""
        allowed = "\n".join(f'iifname "box" {rule} accept' for rule in way.lets)
        count = f'iifname "box" {way.carries} counter name carried' if way.carries else ""
        loss = f"meta l4proto udp numgen random mod 100 < {way.loss} drop" if way.loss else ""
        broken = f'iifname "box" meta nfproto {self.families[1]} drop' if len(self.families) > 1 else ""
        return f"""
            table inet site {{
                counter carried {{}}
                chain arriving {{
                    type filter hook prerouting priority -300
                    {broken}
                    {loss}
                }}
                chain counting {{
                    type filter hook forward priority -10
                    {count}
                }}
                chain forward {{
                    type filter hook forward priority 0; policy drop
                    ct state established,related accept
                    iifname {{ "provider", "relay" }} oifname {{ "provider", "relay" }} accept
                    {allowed}
                }}
                chain leaving {{
                    type nat hook postrouting priority srcnat
                    ip saddr 10.99.1.0/24 snat ip to 10.99.9.9{symmetric}
                    ip6 saddr fd99:1::/64 snat ip6 to fd99:9::9{symmetric}
                }}
            }}
        """


# A stateful firewall on the provider's own host: its checks open it for their answers, and for nothing else.
GUARD = """
    table inet guard {
        chain input {
            type filter hook input priority 0
            iifname "near" meta l4proto udp ct state new drop
        }
    }
"""
