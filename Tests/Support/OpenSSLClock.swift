import CVirtualTime

@testable import VoiceCore

/// The wall clock as OpenSSL's DTLS timer sees it on the calling thread, so that DTLS runs in virtual time.
///
/// A test bench sets it before each call of a DTLS transport or an engine, without an await between.
enum OpenSSLClock {
    static func set(to now: Instant) {
        // Far from 0, which OpenSSL takes for "no timer".
        talkpost_set_virtual_time(1_000_000_000_000_000 &+ now.nanoseconds / 1_000)
    }

    /// Gives the calling thread the real time back.
    static func release() {
        talkpost_set_virtual_time(-1)
    }
}
