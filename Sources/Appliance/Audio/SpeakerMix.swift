/// What the appliance itself lets be heard, mixed into the frames that go to the speaker. Pure.
///
/// Of earcons the newest is heard: it takes the place of the one before without a click. The notice sounds beside them.
struct SpeakerMix: Sendable {
    /// A sound that is being played: where in the samples it has got to. `place` is only lent, so that nothing is freed here.
    private struct Sound {
        let place: Earcons.Place
        private var part = 0
        private var position: Int

        /// - Returns: nil for a place without a sample.
        init?(_ place: Earcons.Place) {
            self.place = place
            position = place.first?.lowerBound ?? 0
            skipWhatIsOver()
            if isOver { return nil }
        }

        var isOver: Bool { part >= place.count }

        mutating func next(_ samples: UnsafeBufferPointer<Int16>) -> Int {
            guard !isOver, position < samples.count else { return 0 }
            let sample = samples[position]
            position += 1
            skipWhatIsOver()
            return Int(sample)
        }

        private mutating func skipWhatIsOver() {
            while part < place.count, position >= place[part].upperBound {
                part += 1
                if part < place.count { position = place[part].lowerBound }
            }
        }
    }

    /// 5 ms: too short to be heard, long enough not to click.
    private static let fadeSampleCount = 240

    private var earcon: Sound?
    private var notice: Sound?
    /// The earcon that was cut off, and how many samples of its fading are left.
    private var fading: Sound?
    private var fadeLeft = 0

    /// Whether there is nothing to be heard.
    var isEmpty: Bool { earcon == nil && notice == nil && fading == nil }

    mutating func play(_ place: Earcons.Place) {
        cutEarcon()
        earcon = Sound(place)
    }

    mutating func playNotice(_ place: Earcons.Place) {
        notice = Sound(place)
    }

    /// Ends what is heard, without a click.
    mutating func cut() {
        cutEarcon()
        notice = nil
    }

    private mutating func cutEarcon() {
        guard let earcon else { return }
        fading = earcon
        fadeLeft = Self.fadeSampleCount
        self.earcon = nil
    }

    /// Forgets what was not heard yet.
    mutating func removeAll() {
        self = SpeakerMix()
    }

    /// - Parameters:
    ///   - frame: mono, 48 kHz, Int16, any number of samples, changed in place.
    ///   - samples: what the places lie in.
    mutating func mix(into frame: UnsafeMutableBufferPointer<Int16>, from samples: UnsafeBufferPointer<Int16>) {
        guard !isEmpty else { return }
        for index in frame.indices {
            var sum = Int(frame[index])
            sum += Self.next(of: &earcon, samples)
            sum += Self.next(of: &notice, samples)
            if fadeLeft > 0 {
                sum += Self.next(of: &fading, samples) * fadeLeft / Self.fadeSampleCount
                fadeLeft -= 1
            }
            frame[index] = Int16(clamping: sum)
        }
        if fadeLeft == 0 { fading = nil }
    }

    private static func next(of sound: inout Sound?, _ samples: UnsafeBufferPointer<Int16>) -> Int {
        guard sound != nil else { return 0 }
        let sample = sound?.next(samples) ?? 0
        if sound?.isOver == true { sound = nil }
        return sample
    }
}
