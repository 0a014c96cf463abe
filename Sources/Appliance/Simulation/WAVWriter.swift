import Glibc

/// Writes a WAV file of 48 kHz mono as its sound comes. Its header is brought up to date every 100 ms, so that the file can be
/// read even if the program is killed.
///
/// Owned by one playback, on its thread; the file is closed by being let go of. `append` never allocates.
final class WAVWriter {
    private let descriptor: Int32
    private var dataByteCount = 0
    private var framesSinceHeader = 0
    /// The first reason why nothing more is written; a full disk must not end a call.
    private(set) var failure: Int32 = 0

    static let headerByteCount = 44
    private static let framesPerHeader = 10

    /// Makes the file anew.
    /// - Throws: why it cannot be made.
    init(path: String) throws(WAVError) {
        let opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard opened >= 0 else { throw WAVError(description: String(cString: strerror(errno))) }
        descriptor = opened
        writeHeader()
    }

    deinit {
        writeHeader()
        close(descriptor)
    }

    /// Appends samples: mono, 48 kHz, Int16, any number.
    func append(_ samples: UnsafeBufferPointer<Int16>) {
        let bytes = UnsafeRawBufferPointer(samples)
        guard failure == 0, dataByteCount + bytes.count <= Int(UInt32.max) - Self.headerByteCount else { return }
        let count = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(Self.headerByteCount + dataByteCount))
        guard count == bytes.count else {
            failure = count < 0 ? errno : ENOSPC
            return
        }
        dataByteCount += bytes.count
        framesSinceHeader += 1
        if framesSinceHeader >= Self.framesPerHeader { writeHeader() }
    }

    /// Leaves out a while, which then reads as silence.
    func skip(sampleCount: Int) {
        guard sampleCount > 0, dataByteCount + 2 * sampleCount <= Int(UInt32.max) - Self.headerByteCount else { return }
        dataByteCount += 2 * sampleCount
    }

    private func writeHeader() {
        framesSinceHeader = 0
        withUnsafeTemporaryAllocation(byteCount: Self.headerByteCount, alignment: 4) { header in
            // Canonical form: RIFF, fmt of 16 bytes, data. Host order is little-endian on every machine this is built for.
            func put(_ text: StaticString, at offset: Int) {
                header.baseAddress?.advanced(by: offset).copyMemory(from: text.utf8Start, byteCount: 4)
            }
            func put(_ number: Int, at offset: Int) {
                header.storeBytes(
                    of: UInt32(truncatingIfNeeded: number).littleEndian, toByteOffset: offset, as: UInt32.self)
            }
            put("RIFF", at: 0)
            put(Self.headerByteCount - 8 + dataByteCount, at: 4)
            put("WAVE", at: 8)
            put("fmt ", at: 12)
            put(16, at: 16)
            put(1 | 1 << 16, at: 20)  // WAVE_FORMAT_PCM, one channel
            put(48_000, at: 24)
            put(96_000, at: 28)
            put(2 | 16 << 16, at: 32)  // bytes per frame, bits per sample
            put("data", at: 36)
            put(dataByteCount, at: 40)
            if pwrite(descriptor, header.baseAddress, header.count, 0) != header.count, failure == 0 { failure = errno }
        }
    }
}
