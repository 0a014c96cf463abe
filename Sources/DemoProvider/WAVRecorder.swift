import Glibc

/// Why a WAV file cannot be used: a sentence.
struct WAVError: Error, Equatable {
    var message: String
}

/// Records mono, 48 kHz, Int16 into a WAV file whose header is valid at every moment, so that a killed program leaves a good file.
///
/// The sound is handed to the system each 100 ms. One thread at a time; takes nothing from the heap after its init.
final class WAVRecorder {
    private static let headerByteCount = 44
    private static let blockSampleCount = 4_800

    private let file: Int32
    private let block: UnsafeMutablePointer<Int16>
    private var blockCount = 0
    private var writtenSampleCount = 0

    /// - Throws: where the file cannot be made.
    init(path: String) throws(WAVError) {
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            throw WAVError(message: "The recording \(path) cannot be written (\(String(cString: strerror(errno)))).")
        }
        block = .allocate(capacity: Self.blockSampleCount)
        writeHeader()
    }

    deinit {
        guard file >= 0 else { return }
        flush()
        block.deallocate()
        close(file)
    }

    /// - Parameter frame: any number of samples, mono, 48 kHz, Int16.
    func write(_ frame: UnsafeBufferPointer<Int16>) {
        for sample in frame {
            block[blockCount] = sample
            blockCount += 1
            if blockCount == Self.blockSampleCount { flush() }
        }
    }

    /// Hands the rest to the system: first the sound, then the header that speaks of it.
    func flush() {
        guard blockCount > 0 else { return }
        // RIFF holds sizes of 32 bits: after twelve hours nothing more is recorded.
        guard writtenSampleCount < 2_000_000_000 else {
            blockCount = 0
            return
        }
        let count = blockCount * 2
        if pwrite(file, block, count, Self.headerByteCount + writtenSampleCount * 2) == count {
            writtenSampleCount += blockCount
            writeHeader()
        }  // a full disk: the file stays as it was
        blockCount = 0
    }

    private func writeHeader() {
        withUnsafeTemporaryAllocation(byteCount: Self.headerByteCount, alignment: 4) { header in
            let dataByteCount = UInt32(clamping: writtenSampleCount * 2)
            func put(_ text: StaticString, at offset: Int) {
                for index in 0..<4 { header[offset + index] = text.utf8Start[index] }
            }
            func put(_ value: UInt32, at offset: Int) {
                header.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
            }
            put("RIFF", at: 0)
            put(36 + dataByteCount, at: 4)
            put("WAVE", at: 8)
            put("fmt ", at: 12)
            put(16, at: 16)
            put(1 | 1 << 16, at: 20)  // PCM, one channel
            put(48_000, at: 24)
            put(96_000, at: 28)
            put(2 | 16 << 16, at: 32)  // two bytes a sample time, 16 bits a sample
            put("data", at: 36)
            put(dataByteCount, at: 40)
            _ = pwrite(file, header.baseAddress, Self.headerByteCount, 0)
        }
    }
}
