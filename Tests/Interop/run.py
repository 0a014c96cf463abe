"""Runs the cases and reports; started by `run`, which has installed and built what this needs."""

import argparse
import json
import os
import queue
import shutil
import signal
import sys
import threading
from pathlib import Path

import calls
import catalog
import moves
import servers
import table
from catalog import ALL
from matrix import FAMILIES, SMALL, SMOKE, everything
from network import Network, NetworkError
from routed import RELAY_NAME, RoutedNetwork, address
from sound import Sound
from ways import WAYS


def chosen(options):
    if options.smoke:
        return SMOKE
    narrowed = options.peer or options.role or options.way or options.family
    cases = everything() if options.all or narrowed else SMALL
    wanted = ((options.peer, "peer"), (options.role, "role"), (options.way, "way"), (options.family, "family"))
    return [case for case in cases if all(not names or getattr(case, fact) in names for names, fact in wanted)]


FIGURES = ("connected_s", "after_answer_s", "carried_kB", "fault", "fault_s", "channel_s", "echo_s", "echo_largest_s", "moved_s", "voices")
FIGURES += ("messages_there_and_back", "spoken_correlation", "heard_correlation", "muted_dbfs", "closed_s", "closed_by")
STOPS = (signal.SIGINT, signal.SIGTERM)


def interrupt(*_):
    """Once is enough; ending what was started takes a few seconds."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


playing = set()  # the stages of the cases under way, so that ^C can end them


def network(case, number):
    way = WAYS[case.way]
    if way.carries is None and way.connects:
        return Network(number, FAMILIES[case.family])
    return RoutedNetwork(number, way, FAMILIES[case.family])


def play(case, number, options, sound, authority):
    """One case from its network to its outcome; nothing it starts outlives it."""
    peer, outcome, way = ALL[case.peer], calls.Outcome(case), WAYS[case.way]
    folder = options.keep / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with network(case, number) as place:
            stage = calls.Stage(place, way, folder, sound)
            playing.add(stage)
            try:
                if case.role == "answerer":
                    start_servers(stage, authority)
                    post = ["env", f"SSL_CERT_FILE={authority.certificate}", options.binaries / "talkpost"]
                    play_role = moves.appliance_moves if way.moves else calls.appliance_calls
                    play_role(stage, post, peer, outcome)
                elif options.against:
                    other = ALL[options.against]
                    command = calls.peer_command(stage, other)
                    calls.peer_calls(stage, command, peer, outcome, echoes=other.echoes, closing="itself")
                else:
                    command = calls.provider_command(stage, options.binaries / "talkpost-provider")
                    calls.peer_calls(stage, command, peer, outcome)
            finally:
                playing.discard(stage)
                stage.stop()
    except (NetworkError, servers.ServerError, OSError) as error:
        outcome.need(False, str(error))
    return outcome.row()


def start_servers(stage, authority):
    if stage.way.servers:
        stage.network.name_hosts(stage.folder / "hosts")
        servers.start_turn(stage, authority)
    if stage.way.has_proxy:
        servers.start_proxy(stage)


def report(row):
    figures = []
    for name in FIGURES:
        values = row.get(name)
        if values:
            figures.append(f"{name} {' '.join(map(str, values))}")
    verdict = "cannot" if row.get("impossible") else "passed" if row["ok"] else "FAILED"
    without = "" if row["channel"] else " without channel"
    what = f"{row['peer']} {row['role']} {row['way']} {row['family']}{without}"
    print(f"{verdict}  {what}: {row['why']}" if row["why"] else f"{verdict}  {what}", flush=True)
    if figures:
        print(f"        {', '.join(figures)}", flush=True)


def keep(rows, path, are_all):
    """Writes the rows. Unless they are all there are, those of other cells stay, so that a few can be played again; how often a cell was
    played, and failed, stays with it.
    """
    cell = lambda row: tuple(row[fact] for fact in ("peer", "role", "way", "family", "channel"))
    older = json.loads(path.read_text()) if path.exists() and not are_all else []
    before = {cell(row): row for row in older}
    played = {cell(row) for row in rows}
    for row in rows:
        last = before.get(cell(row), {"tries": 0, "failed_tries": 0})
        row["tries"] = last.get("tries", 1) + 1
        row["failed_tries"] = last.get("failed_tries", int(not last.get("ok", True))) + int(not row["ok"])
    path.write_text(json.dumps([row for row in older if cell(row) not in played] + rows, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(prog="Tests/Interop/run", description="Calls with real WebRTC peers.")
    parser.add_argument("--peer", action="append", choices=list(ALL), help="only this one; may be given again")
    parser.add_argument("--role", action="append", choices=["answerer", "offerer"], help="only this role of each peer")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="only this way; may be given again")
    parser.add_argument("--family", action="append", choices=list(FAMILIES), help="only these addresses; may be given again")
    parser.add_argument("--all", action="store_true", help="every cell of the matrix; without it a few minutes' choice")
    parser.add_argument("--table", type=Path, help="play nothing: write the matrix of such rows (--json) into HANDBOOK.md")
    parser.add_argument("--smoke", action="store_true", help="the few that stand for the rest")
    parser.add_argument("--against", choices=list(ALL), help="try offering peers on this one; talkpost has no part")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="cases at a time")
    parser.add_argument("--json", type=Path, help="the rows are written to this file, in the place of older ones of the same cells")
    parser.add_argument("--keep", type=Path, default=catalog.CACHE / "calls", help="recordings and logs of each case")
    parser.add_argument("--binaries", type=Path, default=Path(".build/release"), help="where talkpost was built")
    options = parser.parse_args()
    if options.table:
        table.write(json.loads(options.table.read_text()), catalog.PROJECT / "HANDBOOK.md")
        return 0
    if options.against:
        options.role, options.way, options.family = ["offerer"], ["host"], ["ipv4"]
    options.keep, options.binaries = options.keep.resolve(), options.binaries.resolve()

    for number in STOPS:
        signal.signal(number, interrupt)

    cases, rows, missing = chosen(options), {}, {}
    for name in dict.fromkeys([case.peer for case in cases] + ([options.against] if options.against else [])):
        try:
            ALL[name].install()
        except catalog.NotInstalled as error:
            missing[name] = f"not installed: {error}"
    options.keep.mkdir(parents=True, exist_ok=True)
    sounds = {lead: Sound(options.keep / f"sound-{lead}", lead) for lead in {ALL[case.peer].lead for case in cases}}
    relays = [address("relay", family) for family in ("ipv4", "ipv6")]
    authority = servers.Authority(options.keep / "authority", RELAY_NAME, relays)

    waiting = queue.SimpleQueue()
    for number, case in enumerate(cases):
        waiting.put((number, case))

    def work():
        while True:
            try:
                number, case = waiting.get_nowait()
            except queue.Empty:
                return
            if case.why_not:
                rows[number] = case.row(ok=True, impossible=True, why=case.why_not)
            elif case.peer in missing:
                rows[number] = case.row(ok=False, why=missing[case.peer])
            else:
                try:
                    rows[number] = play(case, number, options, sounds[ALL[case.peer].lead], authority)
                except Exception as error:
                    rows[number] = case.row(ok=False, why=f"{type(error).__name__}: {error}")
            report(rows[number])

    workers = [threading.Thread(target=work) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    except KeyboardInterrupt:
        while not waiting.empty():
            waiting.get()
        for stage in list(playing):
            stage.stop()
        for worker in workers:
            worker.join()
        return 130
    ordered = [rows[number] for number in sorted(rows)]
    if options.json:
        keep(ordered, options.json, options.all)
    impossible = sum(row.get("impossible", False) for row in ordered)
    failed = sum(not row["ok"] for row in ordered)
    if impossible:
        print(f"{impossible} cells that the peer itself cannot be in; the reasons stand above")
    print(f"{len(ordered) - impossible - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
