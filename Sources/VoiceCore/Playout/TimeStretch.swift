/// Makes sound longer or shorter at the same pitch, by laying it over itself one or more of its own periods apart.
///
/// A Playout owns it (pitch-synchronous overlap-add; Verhelst and Roelands, "An overlap-add technique based on waveform
/// similarity", ICASSP 1993). Samples are mono, 48 kHz, Int16. It never allocates after its init.
struct TimeStretch: ~Copyable {
    /// How long one sound goes over into the other: 5 ms. Also the least change, so that no sound is laid over its own overlap.
    static let overlapCount = 240
    /// The largest change: 15 ms, a period of the lowest voice (67 Hz).
    static let largestChange = 720
    /// What is compared: so much before the seam, and the overlap behind it. Together 15 ms.
    private static let lookBack = 480
    /// One sample in 6 is looked at first: 8 kHz.
    private static let decimation = 6

    /// The sound around the seam at 8 kHz: history, then what is queued.
    private let coarse = FixedBuffer<Float>(
        repeating: 0, count: (largestChange + lookBack + overlapCount + largestChange) / decimation + 2)

    /// - Parameters:
    ///   - samples: sound that was played up to `start`, and then `count` samples that were not; with room behind for what may be added.
    ///   - change: how many samples may be added (above 0) or taken out (below 0) at most.
    ///   - likeness: the least correlation of what is laid over each other.
    /// - Returns: how many samples were added; 0 where the sound is not like itself, or too short.
    func apply(
        to samples: UnsafeMutableBufferPointer<Int16>, from start: Int, count: Int, change: Int, likeness: Float
    ) -> Int {
        let most = min(
            abs(change), Self.largestChange, change < 0 ? count - Self.overlapCount : start - Self.lookBack)
        guard
            most >= Self.overlapCount, count >= Self.overlapCount, start >= Self.lookBack,
            change < 0 || start + count + most <= samples.count
        else { return 0 }
        let sign = change < 0 ? 1 : -1
        guard let lag = period(in: samples, at: start, sign: sign, most: most, likeness: likeness),
            let first = samples.baseAddress
        else { return 0 }
        let (seam, overlap) = (first + start, Self.overlapCount)
        if change < 0 {
            blend(from: seam, to: seam + lag, into: seam)
            (seam + overlap).update(from: seam + overlap + lag, count: count - overlap - lag)
            return -lag
        }
        // What comes later moves first; the overlap reads only what stands before it, since a lag is never shorter.
        (seam + lag).update(from: seam, count: count)
        blend(from: seam, to: seam - lag, into: seam)
        (seam + overlap).update(from: seam + overlap - lag, count: lag - overlap)
        return lag
    }

    /// Goes over from one sound to another within the overlap, evenly: they are alike, so that their levels add up to the same level.
    private func blend(
        from old: UnsafeMutablePointer<Int16>, to new: UnsafeMutablePointer<Int16>,
        into target: UnsafeMutablePointer<Int16>
    ) {
        let count = Int32(Self.overlapCount)
        for index in 0..<count {
            let place = Int(index)
            let sum = Int32(old[place]) * (count - index) + Int32(new[place]) * index
            target[place] = Int16(clamping: (sum + count / 2) / count)
        }
    }

    /// How far apart the sound around `start` is most like itself.
    private func period(
        in samples: UnsafeMutableBufferPointer<Int16>, at start: Int, sign: Int, most: Int, likeness: Float
    ) -> Int? {
        let (step, window) = (Self.decimation, (Self.lookBack + Self.overlapCount) / Self.decimation)
        let origin = start - Self.lookBack - (sign < 0 ? most / step * step : 0)
        thin(samples, from: origin, to: start + Self.overlapCount + (sign > 0 ? most : 0))
        let reference = sign < 0 ? most / step : 0
        var (best, bestLag) = (-Float.infinity, 0)
        for lag in Self.overlapCount / step...most / step {
            let found = likenessOfCoarse(reference, reference + sign * lag, count: window)
            // Of two that are as good the longer one: it makes fewer seams.
            if found + 0.02 * Float(lag) / Float(most / step) > best {
                best = found + 0.02 * Float(lag) / Float(most / step)
                bestLag = lag
            }
        }
        var (fine, lag) = (-Float.infinity, 0)
        for candidate in max(Self.overlapCount, (bestLag - 1) * step)...min(most, (bestLag + 1) * step) {
            let found = self.likeness(in: samples, start, start + sign * candidate)
            if found > fine {
                fine = found
                lag = candidate
            }
        }
        return fine >= likeness && lag > 0 ? lag : nil
    }

    /// The means of six samples each: enough of a low pass to find a period by.
    private func thin(_ samples: UnsafeMutableBufferPointer<Int16>, from: Int, to: Int) {
        var place = 0
        var index = from
        while index + Self.decimation <= to, place < coarse.count {
            var sum: Int32 = 0
            for offset in 0..<Self.decimation { sum &+= Int32(samples[index + offset]) }
            coarse.elements[place] = Float(sum)
            place += 1
            index += Self.decimation
        }
    }

    private func likenessOfCoarse(_ a: Int, _ b: Int, count: Int) -> Float {
        var (product, first, second): (Float, Float, Float) = (0, 0, 0)
        for offset in 0..<count {
            let (x, y) = (coarse.elements[a + offset], coarse.elements[b + offset])
            product += x * y
            first += x * x
            second += y * y
        }
        return Self.correlation(product, first, second)
    }

    /// At full rate, on every second sample.
    private func likeness(in samples: UnsafeMutableBufferPointer<Int16>, _ a: Int, _ b: Int) -> Float {
        var (product, first, second): (Float, Float, Float) = (0, 0, 0)
        for offset in stride(from: -Self.lookBack, to: Self.overlapCount, by: 2) {
            let (x, y) = (Float(samples[a + offset]), Float(samples[b + offset]))
            product += x * y
            first += x * x
            second += y * y
        }
        return Self.correlation(product, first, second)
    }

    private static func correlation(_ product: Float, _ first: Float, _ second: Float) -> Float {
        guard first > 0, second > 0 else { return first == second ? 1 : 0 }
        return product / (first * second).squareRoot()
    }
}
