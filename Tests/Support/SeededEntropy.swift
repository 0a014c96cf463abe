import Synchronization

@testable import VoiceCore

extension Entropy {
    /// The same numbers for the same seed (SplitMix64), so that a test that fails can be run again.
    static func seeded(_ seed: UInt64) -> Entropy {
        let state = SeedState(seed)
        return Entropy { state.next() }
    }
}

private final class SeedState: Sendable {
    private let state: Mutex<UInt64>

    init(_ seed: UInt64) {
        state = Mutex(seed)
    }

    func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return z ^ z >> 31
        }
    }
}
