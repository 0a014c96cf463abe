"""The ways a call may have to go, and what the network on it lets through."""

from dataclasses import dataclass

from servers import PROXY_PORT, STUN_PORT, TURNS_PORT

BACKEND_PORT = 8080
TO_BACKEND = f'oifname "provider" tcp dport {BACKEND_PORT}'
TO_PROVIDER = 'oifname "provider" meta l4proto udp'
TO_PROVIDER_BY_TCP = f'oifname "provider" tcp dport != {BACKEND_PORT}'
TO_STUN = f'oifname "relay" udp dport {STUN_PORT}'
TO_TURN_BY_TCP = f'oifname "relay" tcp dport {STUN_PORT}'
TO_TURN_BY_TLS = f'oifname "relay" tcp dport {TURNS_PORT}'
TO_PROXY = f'oifname "relay" tcp dport {PROXY_PORT}'


@dataclass(frozen=True)
class Way:
    """One network between the box and its provider. The box has no choice: what is not in `lets` is dropped by the router.

    `carries`: the rule that the call's packets must have matched, since that is what the case is about; None: there is no router.
    `servers`: what the config names under ice_servers; `is_told`: the backend does, in its answers. `nat`: "same" keeps a port for all destinations, "symmetric" has a new one
    for each. `is_guarded`: the provider's own firewall lets nothing in that the provider did not send to first.
    `moves`: the box's address changes during the call. `loss`: percent of the UDP packets that the router drops in each direction.
    """

    name: str
    what: str
    lets: tuple = ()
    carries: str | None = None
    servers: tuple = ()
    nat: str = "symmetric"
    is_guarded: bool = False
    has_proxy: bool = False
    is_told: bool = False
    loss: int = 0
    connects: bool = True
    moves: bool = False

    @property
    def is_slow(self):
        """Whether datagrams do not pass, so that others ways are looked for."""
        return self.connects and self.carries not in (None, TO_PROVIDER, TO_STUN)


WAYS = {
    way.name: way
    for way in (
        Way("host", "UDP, one network"),
        Way("nat", "UDP, the box behind a symmetric NAT", (TO_BACKEND, TO_PROVIDER), TO_PROVIDER),
        Way(
            "stun",
            "UDP, the box behind a NAT, the provider behind a firewall that it opens itself",
            (TO_BACKEND, TO_PROVIDER, TO_STUN),
            TO_PROVIDER,
            ("stun:{relay}",),
            nat="same",
            is_guarded=True,
        ),
        Way("turn-udp", "TURN over UDP", (TO_BACKEND, TO_STUN), TO_STUN, ("turn:{relay}",)),
        Way("turn-tcp", "TURN over TCP", (TO_BACKEND, TO_TURN_BY_TCP), TO_TURN_BY_TCP, ("turn:{relay}?transport=tcp",)),
        Way("turn-tls", "TURN over TLS", (TO_BACKEND, TO_TURN_BY_TLS), TO_TURN_BY_TLS, ("turns:{relay}",)),
        Way(
            "turn-told",
            "TURN over TCP, by a server that the backend's answer names",
            (TO_BACKEND, TO_TURN_BY_TCP),
            TO_TURN_BY_TCP,
            ("turn:{relay}?transport=tcp",),
            is_told=True,
        ),
        Way("ice-tcp", "ICE over TCP", (TO_BACKEND, TO_PROVIDER_BY_TCP), TO_PROVIDER_BY_TCP),
        Way("proxy", "ICE over TCP through an HTTP proxy", (TO_PROXY,), TO_PROXY, has_proxy=True),
        Way("proxy-turn", "TURN over TLS through an HTTP proxy", (TO_PROXY,), TO_PROXY, ("turns:{relay}",), has_proxy=True),
        Way("blocked", "no way but to the backend: the fault is udp_blocked", (TO_BACKEND,), connects=False),
        Way("moves", "UDP, the box gets another address in mid-sentence", (TO_BACKEND, TO_PROVIDER), TO_PROVIDER, moves=True),
        Way("loss-5", "UDP, 5 % of the packets lost in each direction", (TO_BACKEND, TO_PROVIDER), TO_PROVIDER, loss=5),
        Way("loss-20", "UDP, 20 % of the packets lost in each direction", (TO_BACKEND, TO_PROVIDER), TO_PROVIDER, loss=20),
    )
}
BY_STREAM = ("ice-tcp", "proxy")  # the provider itself must take TCP
