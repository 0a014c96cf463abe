"""Builds the machine, boots it, plays the cases and reports; started by `run`, which has installed what this needs."""

import argparse
import json
import shutil
import signal
import statistics
import sys
import time
from pathlib import Path

# Each module enters its cases into the catalog, in this order.
import case_life  # noqa: F401
import case_calls  # noqa: F401
import case_button  # noqa: F401
import case_site  # noqa: F401
import case_sound  # noqa: F401
import case_microphone  # noqa: F401
import catalog
import payload
from box import Box
from lab import CASES, Lab
from network import NetworkError
from provider import Provider
from report import Report
from sentences import Sentences
from tap import TapNetwork
from vm import NoMachine, VirtualMachine

STOPS = (signal.SIGINT, signal.SIGTERM)


def interrupt(*_):
    """Once is enough; ending what was started takes a few seconds."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def chosen(options):
    if options.case:
        return [CASES[name] for name in options.case]
    wanted = "smoke" if options.smoke else "all" if options.all else "short"
    return [case for case in CASES.values() if wanted in case.sets]


def play(case, lab):
    """One case; whatever goes wrong in it is its own fault, and the next begins from a known state."""
    report, since = Report(case.name), time.monotonic()
    try:
        lab.prepare()
        case.play(lab, report)
    except Exception as error:
        report.need(False, f"{type(error).__name__}: {error}")
    if report.faults:
        keep_journal(lab, case.name)
    report.measure("seconds", time.monotonic() - since, 1)
    print(report, flush=True)
    return report.row()


def keep_journal(lab, name):
    """What the unit said during a case that failed, for whoever looks into it."""
    try:
        command = "journalctl -u talkpost -o short-monotonic --no-hostname -q --no-pager -n 400; systemctl status talkpost -n 0"
        (lab.folder / f"{name}.journal").write_text(lab.box.agent.ask(command, 60)[1])
    except Exception as error:
        print(f"        (no journal: {error})", flush=True)


def judge_tones(lab):
    """Of all presses, the typical one: what else the host does delays a single one by more than the limit."""
    report = Report("press-to-tone")
    report.need_at_most("median_s", statistics.median(lab.tones), lab.limit(0.05))
    report.measure("longest_s", max(lab.tones))
    report.measure("presses", len(lab.tones))
    print(report, flush=True)
    return report.row()


def run(options, cases):
    machine = payload.machine()
    binaries = options.binaries or payload.build()
    payload.clear(options.keep)
    payload.pack(binaries, options.keep / "payload.tar")
    catalog.ALL["wrtc"].install()
    sentences = Sentences(options.keep)
    rows = []
    with TapNetwork(0) as network:
        vm = VirtualMachine(machine, options.keep / "payload.tar", network, options.keep)
        provider = Provider(network, options.keep, sentences.provider)
        try:
            vm.start()
            for spoken in (sentences.microphone, sentences.again):
                shutil.copy(spoken, vm.shared)
            how = "in plain emulation" if vm.is_emulated else "with KVM"
            print(f"booted in {vm.boot_seconds:.0f} s {how}", flush=True)
            lab = Lab(vm, Box(vm), provider, network, sentences, options.keep, binaries / "hands")
            rows.extend(play(case, lab) for case in cases)
            if options.smoke and lab.tones:
                print(f"told, not judged: press to tone, median {statistics.median(lab.tones):.3f} s of {len(lab.tones)}", flush=True)
            elif lab.tones:
                rows.append(judge_tones(lab))
        finally:
            provider.stop()
            vm.stop()
    return rows


def main():
    parser = argparse.ArgumentParser(prog="Tests/Lab/run", description="The appliance on a virtual box with real kernel devices.")
    parser.add_argument("--case", action="append", choices=list(CASES), help="only this one; may be given again")
    parser.add_argument("--smoke", action="store_true", help="the few that stand for the rest")
    parser.add_argument("--all", action="store_true", help="every case; without it, the short set")
    parser.add_argument("--json", type=Path, help="the rows are written to this file")
    parser.add_argument("--keep", type=Path, default=catalog.PROJECT / ".cache" / "lab", help="recordings and logs")
    parser.add_argument("--binaries", type=Path, help="a folder with talkpost, hands and ear built before, for Debian 13")
    options = parser.parse_args()
    options.keep = options.keep.resolve()
    for number in STOPS:
        signal.signal(number, interrupt)
    since, rows = time.monotonic(), []
    try:
        rows = run(options, chosen(options))
    except KeyboardInterrupt:
        return 130
    except (NoMachine, NetworkError, payload.NotBuilt, catalog.NotInstalled) as error:
        print(f"Tests/Lab/run: {error}", file=sys.stderr)
        rows.append({"case": "machine", "ok": False, "figures": {}, "why": str(error)})
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    failed = sum(not row["ok"] for row in rows)
    print(f"time: {time.monotonic() - since:.0f} s")
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
