"""What stands beside the provider: coturn for STUN and TURN, tinyproxy for HTTP CONNECT, and the authority for the relay's name."""

import subprocess
import time

STUN_PORT, TURNS_PORT, PROXY_PORT = 3478, 5349, 8888
TURN_CREDENTIAL = "post:sesame"
PROXY_CREDENTIAL = "visitor:knock"
PATIENCE = 15  # seconds for a server to listen


class ServerError(Exception):
    """A server does not listen. The message is its last line."""


class Authority:
    """A certificate authority for one run, and the certificate of the relay's host that it signed."""

    def __init__(self, folder, name, addresses):
        folder.mkdir(parents=True, exist_ok=True)
        self.certificate, self.relay_key, self.relay_certificate = (
            folder / file for file in ("authority.pem", "relay-key.pem", "relay.pem")
        )
        key, request, extensions = folder / "authority-key.pem", folder / "relay.csr", folder / "relay.ext"
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        subject = ["-subj", "/CN=Talkpost test authority"]
        self._openssl("req", "-x509", *curve, "-days", "30", *subject, "-keyout", key, "-out", self.certificate)
        subject = ["-subj", f"/CN={name}"]
        self._openssl("req", *curve, *subject, "-keyout", self.relay_key, "-out", request)
        others = "".join(f",IP:{address}" for address in addresses)
        extensions.write_text(f"subjectAltName=DNS:{name}{others}\n")
        signing = ["-CA", self.certificate, "-CAkey", key, "-CAcreateserial", "-extfile", extensions, "-days", "30"]
        self._openssl("x509", "-req", "-in", request, *signing, "-out", self.relay_certificate)

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def start_turn(stage, authority):
    """coturn with long-term credentials, over UDP, TCP and TLS, in both families."""
    folder = stage.folder
    config = folder / "turnserver.conf"
    config.write_text(
        f"listening-port={STUN_PORT}\ntls-listening-port={TURNS_PORT}\n"
        f"lt-cred-mech\nuser={TURN_CREDENTIAL}\nrealm=talkpost.test\nfingerprint\n"
        f"cert={authority.relay_certificate}\npkey={authority.relay_key}\n"
        f"userdb={folder}/turndb\npidfile={folder}/turnserver.pid\nlog-file=stdout\nsimple-log\nno-cli\nno-dtls\nverbose\n"
    )
    program = stage.start("coturn", ["turnserver", "-c", config], "relay")
    _await_port(stage, program, TURNS_PORT)


def start_proxy(stage):
    """tinyproxy, which asks for a password and connects to any port."""
    config = stage.folder / "tinyproxy.conf"
    user, _, password = PROXY_CREDENTIAL.partition(":")
    config.write_text(f'Port {PROXY_PORT}\nListen ::\nListen 0.0.0.0\nTimeout 600\nLogLevel Connect\nBasicAuth {user} {password}\n')
    program = stage.start("tinyproxy", ["tinyproxy", "-d", "-c", config], "relay")
    _await_port(stage, program, PROXY_PORT)


def _await_port(stage, program, port):
    until = time.monotonic() + PATIENCE
    trying = stage.inside(["bash", "-c", f"exec 3<>/dev/tcp/{stage.network.relay}/{port}"], "relay")
    while subprocess.run(trying, stderr=subprocess.DEVNULL).returncode:
        if time.monotonic() > until:
            raise ServerError(f"{program.name} does not listen: {program.last_words()}")
        time.sleep(0.05)
