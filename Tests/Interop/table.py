"""Writes the rows of a run (`--json`) into HANDBOOK.md, so that no figure there is by hand."""

from statistics import median

from catalog import ALL
from matrix import HALF_DEAD
from ways import WAYS

BEGIN, END = "<!-- Written by Tests/Interop/run --table FILE -->", "<!-- End of what it wrote -->"


class TableError(Exception):
    """The handbook has no place for the tables."""


def write(rows, path):
    text = path.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise TableError(f"{path}: {BEGIN} ... {END} is missing")
    path.write_text(f"{before}{BEGIN}\n{compose(rows)}{END}{after}")


def compose(rows):
    parts = [verdict(rows), ways_by_peers(rows), other_networks(rows), by_way(rows), sound(rows), channel(rows)]
    return "\n".join(parts)


def verdict(rows):
    impossible = [row for row in rows if row.get("impossible")]
    failed = [row for row in rows if not row["ok"]]
    played = len(rows) - len(impossible)
    why = "".join(f"- {row['peer']}, {row['role']}, {row['way']}, {row['family']}: {row['why']}\n" for row in failed)
    what = f"{played - len(failed)} of {played} cells passed; {len(impossible)} more are beyond the peer itself.\n"
    what += f"\nFailed:\n\n{why}" if failed else ""
    unsteady = [row for row in rows if row.get("failed_tries") and row.get("tries", 1) > 1]
    tries = ", ".join(
        f"{row['peer']} {row['way']} {row['family']} ({row['failed_tries']} of {row['tries']} failed)" for row in unsteady
    )
    return what + (f"\nPlayed again, the last try is shown: {tries}.\n" if tries else "")


def ways_by_peers(rows):
    """Seconds from the press to connected, IPv4 and IPv6."""
    reasons, lines = [], []
    for peer in ALL:
        cells = [peer]
        for way in WAYS:
            found = [one(rows, peer=peer, role="answerer", way=way, family=family, channel=True) for family in ("ipv4", "ipv6")]
            cells.append(_both(found, reasons))
        lines.append(cells)
    marks = "".join(f"{_mark(index)}: {reason}. " for index, reason in enumerate(reasons))
    about = "**Answering peers**: seconds from the press to connected, over IPv4 and IPv6; under `blocked` to the fault's name, under "
    about += "`moves` from the new address to where the call goes on."
    return f"{about}\n\n{grid(['peer', *WAYS], lines)}\n{marks}\n"


def other_networks(rows):
    lines = []
    for peer in ALL.values():
        answering = {"peer": peer.name, "role": "answerer", "channel": True}
        cells = [peer.name, seconds(one(rows, **answering, way="host", family="both"))]
        cells += [seconds(one(rows, **answering, way="nat", family=family)) for family in HALF_DEAD]
        cells.append(seconds(one(rows, peer=peer.name, role="answerer", way="host", family="ipv4", channel=False)))
        offering = {"peer": peer.name, "role": "offerer", "way": "host"}
        offers = "offerer" in peer.roles
        cells += [seconds(one(rows, **offering, family=family)) if offers else "-" for family in ("ipv4", "ipv6", "both")]
        lines.append(cells)
    heads = ["peer", "both families", "IPv6 dropped", "IPv4 dropped", "no channel", "offers, IPv4", "offers, IPv6", "offers, both"]
    return f"**Other networks**: the same seconds; - only answers.\n\n{grid(heads, lines)}"


def by_way(rows):
    lines = []
    for way in WAYS.values():
        played = [row for row in rows if row["way"] == way.name and row["role"] == "answerer" and row["ok"]]
        after = [value for row in played for value in row.get("after_answer_s", ())] or [
            value for row in played for value in (*row.get("fault_s", ()), *row.get("moved_s", ()))
        ]
        if not after:
            continue
        told = sum(sum(row.get("messages_there_and_back", ())) for row in played)
        carried = [value for row in played for value in row.get("carried_kB", ())]
        least = f"{min(carried):.0f} to {max(carried):.0f}" if way.connects and carried else ""
        lines.append([way.name, way.what, f"{median(after):.3f}", f"{max(after):.3f}", str(told), least])
    about = "**The ways**: seconds from the answer to connected (`blocked`: from the press to the fault's name; `moves`: as above), all peers and families."
    heads = ["way", "what there is", "median", "longest", "messages there and back", "kB that went this way"]
    return f"{about}\n\n{grid(heads, lines)}"


def sound(rows):
    lines = []
    for row in host(rows):
        heard = pair(row, "heard_correlation", 2) or "echo"
        figures = [pair(row, "connected_s", 3), pair(row, "spoken_correlation", 2), heard, pair(row, "muted_dbfs", 0)]
        by = sorted(set(row.get("closed_by", ())))
        lines.append([row["peer"], row["role"], *figures, pair(row, "closed_s", 3), ", ".join(by)])
    heads = ["peer", "its role", "connected, s", "spoken", "heard", "muted, dBFS", "close noticed, s", "by"]
    return f"**The sound**, one network, IPv4, two calls each:\n\n{grid(heads, lines)}"


def channel(rows):
    lines = []
    for row in host(rows):
        size = f" ({ALL[row['peer']].largest_message // 1024} KiB)" if row.get("echo_largest_s") else ""
        largest = pair(row, "echo_largest_s", 3) + size
        told = pair(row, "messages_there_and_back", 0)
        lines.append([row["peer"], row["role"], pair(row, "channel_s", 3), told, pair(row, "echo_s", 3), largest])
    heads = ["peer", "its role", "connected to open, s", "messages there and back", "a few bytes, s", "the largest message, s"]
    return f"**The data channel** in the same calls:\n\n{grid(heads, lines)}"


def host(rows):
    """The rows with two calls: what the reach has no part in."""
    return [row for row in rows if row["way"] == "host" and row["family"] == "ipv4" and row["channel"]]


def one(rows, **facts):
    return next((row for row in rows if facts.items() <= row.items()), None)


def seconds(row):
    """Of the first call, which has the longer way to connected."""
    if row is None:
        return ""
    if not row["ok"]:
        return "FAILED"
    values = row.get("fault_s") or row.get("moved_s") or row.get("connected_s") or [None]
    new = ", new voice" if row.get("voices") == [2] else ""
    return f"{values[0]:.2f}{new}" if values[0] is not None else "passed"


def pair(row, name, digits):
    values = row.get(name) or []
    return " ".join("-" if value is None else f"{value:.{digits}f}" for value in values)


def grid(heads, lines):
    table = [heads, ["---"] * len(heads), *lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in table)


def _both(found, reasons):
    reason = next((row["why"] for row in found if row and row.get("impossible")), None)
    if reason is None:
        return " ".join(filter(None, map(seconds, found)))
    if reason not in reasons:
        reasons.append(reason)
    return _mark(reasons.index(reason))


def _mark(index):
    return "abcdefghij"[index]
