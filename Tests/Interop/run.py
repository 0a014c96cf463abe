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
from catalog import ALL, SMOKE
from network import Network, NetworkError
from sound import Sound


def chosen(options):
    if options.smoke:
        return SMOKE
    names = options.peer or list(ALL)
    cases = [(name, role) for name in names for role in ALL[name].roles]
    return [case for case in cases if not options.role or case[1] == options.role]


STOPS = (signal.SIGINT, signal.SIGTERM)


def interrupt(*_):
    """Once is enough; ending what was started takes a few seconds."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


playing = set()  # the stages of the cases under way, so that ^C can end them


def play(case, number, options, sound):
    """One case from its network to its outcome; nothing it starts outlives it."""
    name, role = case
    peer, outcome = ALL[name], calls.Outcome(name, role)
    folder = options.keep / f"{name}-{role}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with Network(number) as network:
            stage = calls.Stage(network, folder, sound)
            playing.add(stage)
            try:
                if role == "answerer":
                    calls.appliance_calls(stage, options.binaries / "talkpost", peer, outcome)
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
    except (NetworkError, OSError) as error:
        outcome.need(False, str(error))
    return outcome.row()


def report(row):
    figures, channel = [], ("channel_s", "echo_s", "echo_largest_s")
    voice = ("spoken_correlation", "heard_correlation", "muted_dbfs", "closed_s", "closed_by")
    for name in ("connected_s", *channel, *voice):
        values = row.get(name)
        if values:
            figures.append(f"{name} {' '.join(map(str, values))}")
    print(f"{'passed' if row['ok'] else 'FAILED'}  {row['peer']} {row['role']}: {row['why']}", flush=True)
    if figures:
        print(f"        {', '.join(figures)}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="Tests/Interop/run", description="Calls with real WebRTC peers.")
    parser.add_argument("--peer", action="append", choices=list(ALL), help="only this one; may be given again")
    parser.add_argument("--role", choices=["answerer", "offerer"], help="only this role of each peer")
    parser.add_argument("--all", action="store_true", help="all peers in all their roles (the default)")
    parser.add_argument("--smoke", action="store_true", help="the few that stand for the rest")
    parser.add_argument("--against", choices=list(ALL), help="try offering peers on this one; talkpost has no part")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="cases at a time")
    parser.add_argument("--json", type=Path, help="the rows are written to this file")
    parser.add_argument("--keep", type=Path, default=catalog.CACHE / "calls", help="recordings and logs of each case")
    parser.add_argument("--binaries", type=Path, default=Path(".build/release"), help="where talkpost was built")
    options = parser.parse_args()
    if options.against:
        options.role = "offerer"
    options.keep, options.binaries = options.keep.resolve(), options.binaries.resolve()

    for number in STOPS:
        signal.signal(number, interrupt)

    cases, rows, missing = chosen(options), {}, {}
    for name in dict.fromkeys([name for name, _ in cases] + ([options.against] if options.against else [])):
        try:
            ALL[name].install()
        except catalog.NotInstalled as error:
            missing[name] = f"not installed: {error}"
    options.keep.mkdir(parents=True, exist_ok=True)
    sounds = {lead: Sound(options.keep / f"sound-{lead}", lead) for lead in {ALL[name].lead for name, _ in cases}}

    waiting = queue.SimpleQueue()
    for number, case in enumerate(cases):
        waiting.put((number, case))

    def work():
        while True:
            try:
                number, case = waiting.get_nowait()
            except queue.Empty:
                return
            if case[0] in missing:
                rows[number] = {"peer": case[0], "role": case[1], "ok": False, "why": missing[case[0]]}
            else:
                try:
                    rows[number] = play(case, number, options, sounds[ALL[case[0]].lead])
                except Exception as error:
                    why = f"{type(error).__name__}: {error}"
                    rows[number] = {"peer": case[0], "role": case[1], "ok": False, "why": why}
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
        options.json.write_text(json.dumps(ordered, indent=2) + "\n")
    failed = sum(not row["ok"] for row in ordered)
    print(f"{len(ordered) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
