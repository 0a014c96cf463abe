"""One call of GStreamer's webrtcbin in a pipeline of its own elements: no Python runs after the first sound. Its encoder is
set as talkpost's; its jitter buffer holds 200 ms, as it does unless told otherwise.
"""

import threading

import gi
from caller import Caller, event

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

# The valve stays shut until the transport is up: what queued before would leave in one burst.
PIPELINE = """
    webrtcbin name=peer bundle-policy=max-bundle
    filesrc location={speech} ! wavparse
    ! opusenc audio-type=voice frame-size=20 bitrate=32000 bitrate-type=constrained-vbr complexity=5
        inband-fec=true packet-loss-percentage=10
    ! clocksync ! rtpopuspay pt=111
    ! application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,payload=111
    ! valve name=valve drop=true drop-mode=forward-sticky-events ! queue ! peer.
"""
HEARING = """
    rtpopusdepay ! opusdec name=decoder plc=true ! audio/x-raw,rate=48000,channels=1
    ! fakesink sync=false async=false
"""
PATIENCE = 15  # seconds


class Call:
    """The pipeline round one webrtcbin."""

    def __init__(self, caller):
        self._caller, self._gathered, self._has_format, self._kept = caller, threading.Event(), threading.Event(), []
        self.pipeline = Gst.parse_launch(PIPELINE.format(speech=caller.speech))
        self._peer = self.pipeline.get_by_name("peer")
        self._peer.connect("pad-added", self._pad_added)
        self._peer.connect("notify::connection-state", self._state_changed)
        self._peer.connect("notify::ice-gathering-state", self._gathering_changed)
        # An offer made before the format of the sound is settled has no section for it.
        pad = self._peer.get_static_pad("sink_0")
        pad.connect("notify::caps", lambda *_: self._has_format.set())
        self.pipeline.set_state(Gst.State.PLAYING)
        if pad.get_current_caps() is None:
            self._has_format.wait(PATIENCE)
        self._peer.emit("create-data-channel", "events", None)
        self._apply("set-local-description", self._offer(), GstWebRTC.WebRTCSDPType.OFFER)
        self._gathered.wait(PATIENCE)
        answer = caller.post(self._peer.get_property("local-description").sdp.as_text())
        self._apply("set-remote-description", answer, GstWebRTC.WebRTCSDPType.ANSWER)

    def _offer(self):
        done, text = threading.Event(), []

        def created(promise, *_):
            reply = promise.get_reply()
            made = reply.get_value("offer")
            text.append(made.sdp.as_text())
            # Each of the three frees what the others point to: none may go before the process does.
            self._kept.extend((promise, reply, made))
            done.set()

        self._peer.emit("create-offer", None, Gst.Promise.new_with_change_func(created))
        done.wait(PATIENCE)
        return text[0]

    def _apply(self, request, text, kind):
        """A description made anew from its text: one taken from a promise's reply dies with the reply."""
        done, (_, message) = threading.Event(), GstSdp.SDPMessage.new_from_text(text)
        description = GstWebRTC.WebRTCSessionDescription.new(kind, message)
        self._peer.emit(request, description, Gst.Promise.new_with_change_func(lambda *_: done.set()))
        done.wait(PATIENCE)

    def _gathering_changed(self, *_):
        if self._peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self._gathered.set()

    def _state_changed(self, *_):
        state = self._peer.get_property("connection-state").value_nick
        event("state", state=state)
        if state == "connected":
            self.pipeline.get_by_name("valve").set_property("drop", False)

    def _pad_added(self, _, pad):
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        hearing = Gst.parse_bin_from_description(HEARING, True)
        decoded = hearing.get_by_name("decoder").get_static_pad("src")
        decoded.add_probe(Gst.PadProbeType.BUFFER, self._decoded)
        self.pipeline.add(hearing)
        hearing.sync_state_with_parent()
        pad.link(hearing.get_static_pad("sink"))

    def _decoded(self, _, info):
        buffer = info.get_buffer()
        is_over = self._caller.hears(buffer.extract_dup(0, buffer.get_size()))
        return Gst.PadProbeReturn.REMOVE if is_over else Gst.PadProbeReturn.OK


def load():
    """Loads the plugins, which an application does once."""
    pipeline = Gst.parse_launch(
        PIPELINE.format(speech=caller.speech) + HEARING.replace("rtpopusdepay", "fakesrc ! rtpopusdepay")
    )
    pipeline.set_state(Gst.State.READY)
    pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    caller, calls = Caller(__doc__), []
    Gst.init(None)
    load()
    try:
        caller.run(lambda: calls.append(Call(caller)))
    finally:
        for call in calls:
            call.pipeline.set_state(Gst.State.NULL)
