"""Each named fault that a site can cause, brought about for real, and timed from the press; started by `run`."""

import argparse
import datetime
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import changes
from network import ADDRESSES, Network, NetworkError
from processes import Program

HERE = Path(__file__).resolve().parent
ADDRESS = ADDRESSES["ipv4"].partition("/")[0]
LONGEST = 10.0  # seconds from the press until a fault has its name
WAIT = 14  # seconds that a case watches


@dataclass(frozen=True)
class Case:
    """One way to fail. `sites` are programs of `site.py` with their options, `config` overrides the config's lines."""

    name: str
    fault: str
    how: str
    sites: tuple = ()
    config: tuple = ()
    name_server: str = ""
    certificate: str = ""  # "now" or "ahead": that of a TLS server on port 443
    has_network: bool = True
    says: str = ""  # stands in the error's sentence


URL = ("backend", "url", f"http://{ADDRESS}/voice/{{chat}}")
SECURE = ("backend", "url", f"https://{ADDRESS}/voice/{{chat}}")
TRUSTED = ("backend", "ca_file", "{folder}/certificate.pem")
NAMED = ("backend", "url", "http://backend.example/voice/{chat}")

CASES = (
    Case("no-network", "no_network", "no interface but loopback", has_network=False),
    Case("no-such-name", "dns", "the name server knows no such name", (("knows-no-name", 53),), (NAMED,), "127.0.0.1"),
    Case("silent-name-server", "dns", "the name server hears and is silent", (("hears", 53),), (NAMED,), "127.0.0.1"),
    Case("clock", "clock", "the far end is two years ahead, its certificate too", (("ahead", 80), ("ahead", 443)),
         (SECURE, TRUSTED), certificate="ahead"),
    Case("sign-in-page", "captive_portal", "a sign-in page answers in the backend's place", (("signs-in", 80),)),
    Case("sign-in-redirect", "captive_portal", "a sign-in page on the way to a TLS backend that nobody answers for",
         (("redirects", 80),), (SECURE,)),
    Case("untrusted", "tls", "a certificate that nobody trusted has signed", (("refuses", 443),), (SECURE,),
         certificate="now"),
    Case("provider-out-of-reach", "udp_blocked", "the backend answers, nothing comes back over UDP",
         (("far-provider", 80),)),
    Case("proxy-without-address", "udp_blocked", "the same, and the proxy's name is not found",
         (("far-provider", 80), ("knows-no-name", 53)), (("network", "proxy", "http://proxy.example:3128"),),
         "127.0.0.1", says="proxy.example"),
    Case("refused", "refused", "403, with a reason", (("refuses", 80),)),
    Case("unauthorized", "unauthorized", "401", (("unauthorized", 80),)),
    Case("busy", "busy", "503, Retry-After two minutes", (("busy", 80),)),
    Case("throttled", "busy", "429, Retry-After two minutes", (("throttles", 80),)),
    Case("closed-port", "unreachable", "nobody listens"),
    Case("silent-backend", "unreachable", "the backend takes the connection and is silent", (("takes", 80),)),
    Case("no-such-host", "unreachable", "no host has the address", (),
         (("backend", "url", "http://10.99.0.77/voice/{chat}"),)),
    Case("nonsense", "provider_error", "an answer that is no description", (("nonsense", 80),)),
    Case("no-microphone", "microphone_denied", "no such sound card", (("refuses", 80),),
         (("sound", "microphone", "card:Absent"),)),
    Case("no-credential", "config", "the credential's file is not there", (("refuses", 80),),
         (("backend", "bearer_credential", "/nonexistent/token"),)),
)


def config(case, folder):
    settings = {
        ("backend", "url"): URL[2], ("talk", "mode"): "hold", ("sound", "microphone"): f"wav:{folder}/silence.wav",
        ("sound", "speaker"): "none", ("tones", "earcons"): "synthesised", ("led", "output"): "none",
        ("button", "source"): f"script:{folder}/button.script", ("log", "target"): "console",
    }
    settings.update({(section, key): value for section, key, value in case.config})
    lines, last = [], None
    for (section, key), value in sorted(settings.items()):
        if section != last:
            lines.append(f"[{section}]")
        lines.append(f"{key} = {value.replace('{folder}', str(folder))}")
        last = section
    return "\n".join(lines) + "\n"


def certificate(folder, which):
    """A certificate and its key for the address, valid for a year from now or from in two years."""
    start = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=730 if which == "ahead" else -1)
    day = "%Y%m%d%H%M%SZ"
    key, request, made = folder / "key.pem", folder / "request.pem", folder / "certificate.pem"
    (folder / "ca").mkdir()
    (folder / "ca" / "index").touch()
    (folder / "ca.conf").write_text(
        f"[ca]\ndefault_ca = own\n[own]\ndatabase = {folder}/ca/index\nnew_certs_dir = {folder}/ca\nrand_serial = yes\n"
        f"default_md = sha256\npolicy = any\n[any]\ncommonName = supplied\n[names]\nsubjectAltName = IP:{ADDRESS}\n"
    )
    subprocess.run(
        ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
         "-out", request, "-subj", "/CN=backend"], check=True, capture_output=True)
    subprocess.run(
        ["openssl", "ca", "-batch", "-selfsign", "-config", folder / "ca.conf", "-extensions", "names", "-keyfile", key,
         "-in", request, "-out", made, "-notext", "-startdate", start.strftime(day),
         "-enddate", (start + datetime.timedelta(days=365)).strftime(day)], check=True, capture_output=True)
    made.write_text(made.read_text() + key.read_text())
    return made


def row(case, ok, why="", **figures):
    return {"case": case.name, "fault": case.fault, "how": case.how, "ok": ok, "why": why, **figures}


def play(case, number, options):
    folder = options.keep / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(options.keep / "silence.wav", folder)
    (folder / "talkpost.conf").write_text(config(case, folder))
    (folder / "button.script").write_text(f"await ready 10\nafter 0.3\npress\nafter {WAIT}\nrelease\nquit\n")
    programs = []
    try:
        with (Network if case.has_network else Bare)(number) as network:
            try:
                return watch(case, network, folder, programs, options)
            finally:
                for program in reversed(programs):
                    program.stop()
    except (NetworkError, OSError, subprocess.CalledProcessError) as error:
        return row(case, False, str(error))


class Bare(Network):
    """A network without a cable."""

    def join(self):
        pass


def watch(case, network, folder, programs, options):
    made = certificate(folder, case.certificate) if case.certificate else None
    for behaviour, port in case.sites:
        command = [sys.executable, HERE / "site.py", behaviour, "--port", port]
        if port == 443:
            command += ["--certificate", made]
        site = Program(f"site-{port}", network.inside(command), folder)
        programs.append(site)
        if not site.await_event("listening", 10):
            return row(case, False, f"the site's port {port} did not start: {site.last_words()}")
    command = network.inside([options.binary, "run", "--config", folder / "talkpost.conf", "--events", "-"])
    if case.name_server:
        (folder / "resolv.conf").write_text(f"nameserver {case.name_server}\n")
        # Seen by this program alone.
        bind = f'mount --bind {folder}/resolv.conf /etc/resolv.conf && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", bind, "sh", *command]
    talkpost = Program("talkpost", command, folder)
    programs.append(talkpost)
    shown = talkpost.await_event("led", 10 + WAIT, fault=case.fault)
    talkpost.await_event("led", 1, fault="another, if there is one")
    pressed = talkpost.first("button", change="pressed")
    faults = list(dict.fromkeys(event["fault"] for event in talkpost.all("led") if event.get("fault")))
    error = talkpost.first("error")
    sentence = error["message"] if error else ""
    if not pressed:
        return row(case, False, f"no press: {talkpost.last_words()}")
    if faults != [case.fault]:
        return row(case, False, f"shown: {', '.join(faults) or 'none'}; {sentence or talkpost.last_words()}")
    if case.says not in sentence:
        return row(case, False, f"nothing is said of {case.says}: {sentence}")
    seconds = round(shown["at"] - pressed["at"], 2)
    return row(case, seconds <= LONGEST, "" if seconds <= LONGEST else "too late", seconds=seconds, sentence=sentence)


def table(rows):
    lines = ["| fault | how | seconds from the press |", "| --- | --- | --- |"]
    lines += [f"| {row['fault']} | {row['how']} | {row.get('seconds', 'failed')} |" for row in rows]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="Tests/Faults/run", description=__doc__)
    parser.add_argument("--case", action="append", choices=[*(case.name for case in CASES), *changes.CASES], help="only this one")
    parser.add_argument("--jobs", type=int, default=6, help="cases at a time; they mostly wait")
    parser.add_argument("--json", type=Path, help="the rows are written to this file")
    parser.add_argument("--table", action="store_true", help="prints the rows as HANDBOOK.md has them")
    parser.add_argument("--keep", type=Path, default=Path(".cache/faults"), help="configs and logs of each case")
    parser.add_argument("--binary", type=Path, default=Path(".build/release/talkpost"))
    options = parser.parse_args()
    options.keep, options.binary = options.keep.resolve(), options.binary.resolve()
    options.keep.mkdir(parents=True, exist_ok=True)
    silence = options.keep / "silence.wav"
    subprocess.run(["sox", "-n", "-r", "48000", "-c", "1", "-b", "16", silence, "trim", "0", "1"], check=True)

    waiting, rows = queue.SimpleQueue(), {}
    for number, case in enumerate(CASES):
        if not options.case or case.name in options.case:
            waiting.put((number, case.name, lambda number, case=case: play(case, number, options)))
    for number, name in enumerate(changes.CASES, len(CASES)):
        if not options.case or name in options.case:
            waiting.put((number, name, lambda number, name=name: changes.row(name, number, options)))

    def work():
        while True:
            try:
                number, name, begin = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done = begin(number)
            except Exception as error:
                done = {"case": name, "fault": "", "how": "", "ok": False, "why": f"{type(error).__name__}: {error}"}
            rows[number] = done
            verdict = f"{done['seconds']} s" if done["ok"] else done["why"]
            print(f"{'passed' if done['ok'] else 'FAILED'}  {name}: {done['fault']}, {verdict}", flush=True)

    workers = [threading.Thread(target=work) for _ in range(max(1, min(options.jobs, len(CASES))))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    ordered = [rows[number] for number in sorted(rows)]
    if options.json:
        options.json.write_text(json.dumps(ordered, indent=2) + "\n")
    if options.table:
        print(table([row for row in ordered if row["fault"] != "none"]))
    failed = sum(not one["ok"] for one in ordered)
    print(f"{len(ordered) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
