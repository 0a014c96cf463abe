import Testing

@testable import Support
@testable import VoiceCore

/// The data channel of a whole call.
struct ChannelTests {
    private let opened = EngineEvent.channelOpened(label: "oai-events")
    private let closed = EngineEvent.channelClosed(label: "oai-events")

    private func text(_ text: String) -> EngineEvent {
        .message(label: "oai-events", isText: true, bytes: Array(text.utf8))
    }

    private func say(_ text: String, _ voice: VirtualVoice, at now: Instant) {
        voice.handle(.message(label: "oai-events", isText: true, bytes: Array(text.utf8)), at: now)
    }

    @Test func messagesCrossBothWaysBesideTheVoice() throws {
        let call = try VirtualCall(seed: 31)
        try call.connect()
        call.network.run(.milliseconds(200))
        #expect(call.kiosk.events.contains(opened))
        #expect(call.provider.events.contains(opened))
        say("ask", call.kiosk, at: call.network.now)
        say("answer", call.provider, at: call.network.now)
        call.speakBothWays(for: .seconds(1))
        #expect(call.provider.events.contains(text("ask")))
        #expect(call.kiosk.events.contains(text("answer")))
        #expect(call.provider.played.count == 50)
    }

    /// The path takes 10 ms each way; the kiosk is DTLS's server, and connected when the last flight of the client is there.
    @Test func theFirstMessageLeavesOneRoundTripAfterDTLSAndIsAnsweredAfterTwo() throws {
        let call = try VirtualCall(seed: 32)
        let answer = try call.provider.answer(call.kiosk.offer(), at: call.network.now)
        try call.kiosk.accept(answer, at: call.network.now)
        say("first", call.kiosk, at: call.network.now)
        #expect(call.network.run(until: { call.provider.events.contains(text("first")) }, within: .seconds(5)))
        let connectedAt = try #require(call.kiosk.connectedAt)
        // It left one round trip after, and was half a one on its way.
        #expect(call.network.now - connectedAt <= .milliseconds(30))
        #expect(call.network.run(until: { call.kiosk.events.contains(opened) }, within: .seconds(5)))
        #expect(call.network.now - connectedAt <= .milliseconds(40))
    }

    @Test(arguments: [0.05, 0.2])
    func longMessagesArriveThroughLossWhileTheVoiceGoesOn(_ loss: Double) throws {
        let call = try VirtualCall(seed: 33)
        try call.connect()
        call.network.run(.milliseconds(500))
        call.network.link.loss = loss
        call.network.link.jitter = .milliseconds(5)
        let long = String(repeating: "0123456789abcdef", count: 16_384)
        for voice in [call.kiosk, call.provider] {
            voice.speak(true, at: call.network.now)
            say(long, voice, at: call.network.now)
        }
        let isThere = call.network.run(
            until: { call.kiosk.events.contains(text(long)) && call.provider.events.contains(text(long)) },
            within: .seconds(60))
        #expect(isThere)
        #expect(!call.provider.played.isEmpty)
    }

    @Test func noPacketIsLongerThanThePathTakes() throws {
        let call = try VirtualCall(seed: 34)
        var longest = 0
        call.network.tamper = { bytes, _, _ in
            longest = max(longest, bytes.count)
            // 1,280 bytes less the headers of IPv6 and UDP.
            return bytes.count <= 1_232 ? bytes : nil
        }
        try call.connect()
        call.network.run(.milliseconds(200))
        let long = String(repeating: "x", count: 100_000)
        say(long, call.kiosk, at: call.network.now)
        #expect(call.network.run(until: { call.provider.events.contains(text(long)) }, within: .seconds(10)))
        #expect((1_150...1_200).contains(longest))
    }

    @Test func withoutAChannelTheVoiceIsTheSame() throws {
        let call = try VirtualCall(seed: 35, channel: nil)
        #expect(!call.kiosk.offer().contains("m=application"))
        try call.connect()
        say("nobody", call.kiosk, at: call.network.now)
        call.speakBothWays(for: .seconds(1))
        #expect(call.kiosk.events.contains(.messageRefused(label: "oai-events", .notOpen)))
        #expect(call.provider.played.count == 50)
    }

    @Test func anAnswerThatTakesNoChannelLeavesTheVoice() throws {
        for kind in ["refused", "missing"] {
            let call = try VirtualCall(seed: 36)
            let full = try call.provider.answer(call.kiosk.offer(), at: call.network.now)
            let application = try #require(full.firstRange(of: "m=application"))
            let head = String(full[..<application.lowerBound]).replacing("BUNDLE 0 1", with: "BUNDLE 0")
            let tail = kind == "refused" ? "m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:1\r\n" : ""
            try call.kiosk.accept(head + tail, at: call.network.now)
            #expect(call.network.run(until: { call.bothConnected }, within: .seconds(5)))
            call.speakBothWays(for: .seconds(1))
            #expect(call.provider.played.count == 50)
            #expect(call.kiosk.played.count == 50)
            #expect(!call.kiosk.events.contains(opened))
        }
    }

    @Test func theEndOfTheVoiceTellsTheChannelsEndInTheSameBreath() throws {
        let call = try VirtualCall(seed: 37)
        try call.connect()
        call.network.run(.milliseconds(200))
        call.kiosk.handle(.close, at: call.network.now)
        call.network.run(.seconds(1))
        #expect(call.provider.events.contains(closed))
        #expect(call.provider.events.last == .closedByPeer)
        #expect(call.provider.hasEnded)
    }

    @Test func inSilenceTheChannelWakesNobodyButForHeartbeats() throws {
        let call = try VirtualCall(seed: 38)
        try call.connect()
        call.network.run(.seconds(5))
        let count = call.network.sentCount
        call.network.run(.seconds(25))
        let alone = try VirtualCall(seed: 38, channel: nil)
        try alone.connect()
        alone.network.run(.seconds(5))
        let aloneCount = alone.network.sentCount
        alone.network.run(.seconds(25))
        // One HEARTBEAT and its answer each way at most.
        #expect(abs((call.network.sentCount - count) - (alone.network.sentCount - aloneCount)) <= 12)
    }
}
