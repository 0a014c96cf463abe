"""What the data channel of a call must show."""

import re

LARGEST_LINE = 65_536  # bytes of the message, as contract.py's Dialogue and its like say it


def at_offerer(outcome, offerer, peer, call, connected):
    """The provider greets on the channel, and repeats a few bytes and the largest message that the peer takes."""
    opened = offerer.first("channel", voice=str(call))
    if not outcome.need(opened, f"call {call}: the channel was not opened"):
        return
    if connected:
        outcome.measure("channel_s", max(opened["at"] - connected["at"], 0))
    said = [message["text"] for message in offerer.all("message", voice=str(call))]
    outcome.need(any("session.created" in text for text in said), f"call {call}: no greeting on the channel")
    for size, name in ((4, "echo_s"), (peer.largest_message, "echo_largest_s")):
        echoed = offerer.first("echoed", voice=str(call), bytes=size)
        if outcome.need(echoed, f"call {call}: {size} bytes did not come back on the channel"):
            outcome.measure(name, echoed["seconds"])


def at_answerer(outcome, answerer, peer, call, connected):
    """The appliance opened its channel, and told on it whose turn it is: at its opening, and when the button was let go of."""
    if not peer.tells_channels:
        return
    opened = answerer.first("channel", voice=str(call), label="oai-events")
    if not outcome.need(opened, f"call {call}: the channel was not opened"):
        return
    if len(connected) >= call:
        outcome.measure("channel_s", max(opened["at"] - connected[call - 1]["at"], 0))
    told = [message["text"] for message in answerer.all("told", voice=str(call))]
    for word in ("session.update", "input_audio_buffer.commit", "response.create"):
        outcome.need(any(word in text for text in told), f"call {call}: {word} did not get there on the channel")


def at_screen(stage, outcome, answerer, screen, peer):
    """All that the peer said on the channel stands in the captions: the long line, and what it was told, each word."""
    calls = outcome.case.calls
    if not peer.tells_channels:
        _janus(stage, outcome, peer, calls)
        return
    largest = [text for name, text, _ in screen.lines if name == "long"]
    whole = sum(0 < LARGEST_LINE - len(text) < 200 for text in largest)
    outcome.need(whole == calls, f"the largest line was shown {whole} times in {calls} calls")
    told = [message["text"] for message in answerer.all("told")]
    shown = [text[:200] for name, text, _ in screen.lines if name.startswith("told-")]
    # Chromium posts what it was told, in no order.
    outcome.need(sorted(shown) == sorted(told), f"{len(told)} messages were told, {len(shown)} came back as they were")
    outcome.measure("messages_there_and_back", len(shown))


def _janus(stage, outcome, peer, calls):
    """Its echo test answers each text with "Janus EchoTest here! You wrote: ...", which is no event: the appliance counts those."""
    heard = _log(stage, f"{peer.name}-own").count("Got a DataChannel message")
    answered = sum(map(int, re.findall(r"The provider sent (\d+) messages? that", _log(stage, "talkpost"))))
    # At its opening one, and two when the button was let go of.
    outcome.need(heard == 3 * calls, f"Janus heard {heard} messages on the channel in {calls} calls")
    outcome.need(answered == heard, f"{heard} messages were told, {answered} came back")
    outcome.measure("messages_there_and_back", answered)


def _log(stage, name):
    return (stage.folder / f"{name}.log").read_text(errors="replace")
