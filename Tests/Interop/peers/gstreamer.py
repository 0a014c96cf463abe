"""GStreamer's webrtcbin as answerer and as offerer, through Debian's own Python and its GObject bindings."""

import threading
import time
import urllib.error

import gi
from contract import RATE, Dialogue, Echoes, Recording, Routes, Stopped, arguments, event, post, spoken, stop_on_sigterm

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

PACKET = RATE // 50  # samples in 20 ms
PATIENCE = 15  # seconds for gathering, connecting, and for a close to be noticed

# The valve stays shut until the transport is up: what queued before would leave in one burst, and a burst makes the
# other side's jitter buffer hurry for seconds.
SENDING = """
    webrtcbin name=peer bundle-policy=max-bundle latency=100
    appsrc name=speech is-live=true format=time
        caps=audio/x-raw,format=S16LE,rate=48000,channels=1,layout=interleaved
    ! opusenc audio-type=voice frame-size=20 bitrate=32000
    ! rtpopuspay pt={format}
    ! application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,payload={format}
    ! valve name=valve drop=true drop-mode=forward-sticky-events ! queue ! peer.
"""
HEARING = """
    rtpopusdepay ! opusdec plc=true ! audioconvert ! audioresample
    ! audio/x-raw,format=S16LE,rate=48000,channels=1 ! appsink name=heard emit-signals=true sync=false
"""


def description(text, kind):
    """A session description made anew from its text: one taken from a promise's reply dies with the reply."""
    _, message = GstSdp.SDPMessage.new_from_text(text)
    return GstWebRTC.WebRTCSessionDescription.new(kind, message)


class Call:
    """One pipeline round one webrtcbin, from its making to its end."""

    def __init__(self, voice, payload_type=111):
        self.voice, self.recording = voice, Recording(options.record, voice)
        self.connected, self.closed, self._gathered = (threading.Event() for _ in range(3))
        self._speech, self._is_over, self.is_muted = spoken(options.speak), threading.Event(), False
        self._kept = []
        self._pipeline = Gst.parse_launch(SENDING.format(format=payload_type))
        self._peer = self._pipeline.get_by_name("peer")
        self._peer.connect("pad-added", self._pad_added)
        self._peer.connect("on-data-channel", self._answer_channel)
        self._peer.connect("notify::connection-state", self._state_changed)
        self._peer.connect("notify::ice-gathering-state", self._gathering_changed)
        self._peer.get_by_name("rtpbin").connect("on-bye-ssrc", lambda *_: self._seen_closed("RTCP BYE"))
        self._pipeline.set_state(Gst.State.PLAYING)
        threading.Thread(target=self._speak, daemon=True).start()

    def answer(self, offer):
        self._apply("set-remote-description", offer, GstWebRTC.WebRTCSDPType.OFFER)
        return self._describe("create-answer", "answer", GstWebRTC.WebRTCSDPType.ANSWER)

    def offer(self):
        # An offer made before the format of the sound is settled has no section for it.
        pad = self._peer.get_static_pad("sink_0")
        until = time.monotonic() + PATIENCE
        while pad.get_current_caps() is None and time.monotonic() < until:
            time.sleep(0.002)
        channel = self._peer.emit("create-data-channel", "events", None)
        self._echoes = Echoes(self.voice, lambda text: channel.emit("send-string", text), largest=65_536)
        channel.connect("on-open", lambda channel: self._echoes.opened("events"))
        channel.connect("on-message-string", lambda _, text: self._echoes.received(text))
        self._kept.append(channel)
        return self._describe("create-offer", "offer", GstWebRTC.WebRTCSDPType.OFFER)

    def accept(self, answer):
        self._apply("set-remote-description", answer, GstWebRTC.WebRTCSDPType.ANSWER)

    def end(self):
        self._is_over.set()
        self._pipeline.set_state(Gst.State.NULL)
        self.recording.write()

    def _describe(self, request, field, kind):
        """Creates an offer or answer, applies it here and returns it once all candidates are in."""
        done, text = threading.Event(), []

        def created(promise, *_):
            reply = promise.get_reply()
            made = reply.get_value(field)
            text.append(made.sdp.as_text())
            # Each of the three frees what the others point to: none may go before the process does.
            self._kept.extend((promise, reply, made))
            done.set()

        self._peer.emit(request, None, Gst.Promise.new_with_change_func(created))
        if not done.wait(PATIENCE):
            raise TimeoutError(request)
        self._apply("set-local-description", text[0], kind)
        if not self._gathered.wait(PATIENCE):
            raise TimeoutError("candidates")
        return self._peer.get_property("local-description").sdp.as_text()

    def _apply(self, request, text, kind):
        done = threading.Event()
        self._peer.emit(request, description(text, kind), Gst.Promise.new_with_change_func(lambda *_: done.set()))
        if not done.wait(PATIENCE):
            raise TimeoutError(request)

    def _speak(self):
        """Feeds 20 ms at a time: silence until connected, then the WAV, then silence."""
        source, sent, place, start = self._pipeline.get_by_name("speech"), 0, 0, time.monotonic()
        while not self._is_over.wait(max(0, start + sent * PACKET / RATE - time.monotonic())):
            samples = b""
            if self.connected.is_set():
                samples = self._speech[2 * place : 2 * (place + PACKET)]
                place += PACKET
            if self.is_muted:
                samples = b""
            buffer = Gst.Buffer.new_wrapped(samples.ljust(2 * PACKET, b"\0"))
            buffer.pts, buffer.duration = sent * 20 * Gst.MSECOND, 20 * Gst.MSECOND
            source.emit("push-buffer", buffer)
            sent += 1

    def _pad_added(self, _, pad):
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        # webrtcbin's own state stays "connected" when the other side closes; its DTLS transport tells.
        transport = pad.get_property("transceiver").get_property("receiver").get_property("transport")
        transport.connect("notify::state", self._transport_changed)
        hearing = Gst.parse_bin_from_description(HEARING, True)
        hearing.get_by_name("heard").connect("new-sample", self._heard)
        self._pipeline.add(hearing)
        hearing.sync_state_with_parent()
        pad.link(hearing.get_static_pad("sink"))

    def _answer_channel(self, _, channel):
        dialogue = Dialogue(self.voice, channel.get_property("label"), lambda text: channel.emit("send-string", text))
        channel.connect("on-message-string", lambda _, text: dialogue.received(text))
        self._kept.append(channel)

    def _heard(self, sink):
        buffer = sink.emit("pull-sample").get_buffer()
        self.recording.append(buffer.extract_dup(0, buffer.get_size()))
        return Gst.FlowReturn.OK

    def _gathering_changed(self, *_):
        if self._peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self._gathered.set()

    def _state_changed(self, *_):
        state = self._peer.get_property("connection-state").value_nick
        event("state", voice=self.voice, state=state)
        if state == "connected" and not self.connected.is_set():
            self._pipeline.get_by_name("valve").set_property("drop", False)
            self.connected.set()
        elif state != "connecting" and self.connected.is_set():
            self._seen_closed(f"connection {state}")

    def _transport_changed(self, transport, _):
        if transport.get_property("state") == GstWebRTC.WebRTCDTLSTransportState.CLOSED:
            self._seen_closed("DTLS close_notify")

    def _seen_closed(self, by):
        if not self.closed.is_set():
            self.closed.set()
            event("closed", voice=self.voice, by=by)


def opus_format(offer):
    """The payload type the offer gives Opus; webrtcbin answers only if ours is the same."""
    for line in offer.splitlines():
        number, _, name = line.removeprefix("a=rtpmap:").partition(" ")
        if line.startswith("a=rtpmap:") and name.strip().lower() == "opus/48000/2":
            return int(number)
    raise ValueError("no Opus in the offer")


def warm_up():
    """Makes an offer for nobody: the first call would otherwise wait seconds for plugins and their libraries."""
    hearing = Gst.parse_bin_from_description(HEARING, True)
    hearing.set_state(Gst.State.READY)
    hearing.set_state(Gst.State.NULL)
    call = Call("0")
    call.offer()
    call.end()


def answering():
    calls, ended = [], set()

    def begin(voice, offer):
        calls.append(Call(voice, opus_format(offer)))
        return calls[-1].answer(offer)

    Routes(options.port, begin, address=options.address)
    event("listening")
    try:
        while True:
            time.sleep(0.05)
            for call in calls:
                if call.closed.is_set() and call not in ended:
                    ended.add(call)
                    call.end()
    finally:
        for call in calls:
            call.recording.write()


def offering():
    for number in range(1, options.calls + 1):
        voice = str(number)
        event("voice", voice=voice)
        call = Call(voice)
        try:
            started = post(options.url, {"sdp": call.offer()})
            call.accept(started["sdp"])
            if not call.connected.wait(PATIENCE):
                raise TimeoutError("connected")
            time.sleep(options.mute_after)
            call.is_muted = True
            event("muted", voice=voice)
            time.sleep(options.talk - options.mute_after)
            post(f"{options.url}/{started['id']}/close", {})
            event("hung_up", voice=voice)
            if options.closing == "hang_up" and not call.closed.wait(PATIENCE):
                raise TimeoutError("closed")
        except (OSError, KeyError, urllib.error.HTTPError) as error:
            event("failed", voice=voice, why=f"{type(error).__name__}: {error}")
        call.end()


if __name__ == "__main__":
    options = arguments(__doc__)
    stop_on_sigterm()
    Gst.init(None)
    loop = GLib.MainLoop()
    threading.Thread(target=loop.run, daemon=True).start()
    warm_up()
    try:
        answering() if options.role == "answer" else offering()
    except Stopped:
        pass
