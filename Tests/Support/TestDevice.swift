import Glibc
import Synchronization

@testable import VoiceCore

/// A sound device for tests of the runtime: silent unless told to speak, paced by the clock, and telling what was done with it.
final class TestDevice: AudioDevice {
    struct Uses: Equatable {
        var capturesOpen = 0
        var playbacksOpen = 0
        var activations: [PBAudioSession] = []
        var deactivations = 0
        var framesRead = 0
        var framesWritten = 0
        /// Frames that held sound.
        var loudFramesWritten = 0
    }

    let refusal: AudioDeviceError?
    let sessionRefusal: AudioDeviceError?
    /// `openCapture` waits for as long as this is true.
    let holdsMicrophone = Atomic(false)
    let isHolding = Atomic(false)
    /// Whether the microphone hears a tone.
    let speaks = Atomic(false)
    /// The microphone's card is gone.
    let isPulledOut = Atomic(false)
    fileprivate let uses = Mutex(Uses())

    init(refusal: AudioDeviceError? = nil, sessionRefusal: AudioDeviceError? = nil) {
        self.refusal = refusal
        self.sessionRefusal = sessionRefusal
    }

    var used: Uses { uses.withLock { $0 } }
    /// Nothing of it is open and every activation was undone.
    var isReleased: Bool {
        let used = used
        return used.capturesOpen == 0 && used.playbacksOpen == 0 && used.activations.count == used.deactivations
    }

    func openCapture() throws(AudioDeviceError) -> TestCapture {
        while holdsMicrophone.load(ordering: .acquiring) {
            isHolding.store(true, ordering: .releasing)
            usleep(1_000)
        }
        if let refusal { throw refusal }
        if isPulledOut.load(ordering: .relaxed) { throw AudioDeviceError(.absent, "It is not there.") }
        return TestCapture(self)
    }

    func activate(_ session: PBAudioSession) throws(AudioDeviceError) {
        if let sessionRefusal { throw sessionRefusal }
        uses.withLock { $0.activations.append(session) }
    }

    func openPlayback() throws(AudioDeviceError) -> TestPlayback {
        TestPlayback(self)
    }

    func deactivate() {
        uses.withLock { $0.deactivations += 1 }
    }
}

final class TestCapture: AudioCapture {
    private let device: TestDevice

    init(_ device: TestDevice) {
        self.device = device
        device.uses.withLock { $0.capturesOpen += 1 }
    }

    deinit {
        device.uses.withLock { $0.capturesOpen -= 1 }
    }

    func read(into frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        usleep(10_000)
        if device.isPulledOut.load(ordering: .relaxed) { throw AudioDeviceError(.lost, "It is gone.") }
        let isLoud = device.speaks.load(ordering: .relaxed)
        // 1 kHz: 24 samples up, 24 down.
        for index in frame.indices { frame[index] = isLoud ? (index % 48 < 24 ? 8000 : -8000) : 0 }
        device.uses.withLock { $0.framesRead += 1 }
        return .now
    }
}

final class TestPlayback: AudioPlayback {
    private let device: TestDevice

    init(_ device: TestDevice) {
        self.device = device
        device.uses.withLock { $0.playbacksOpen += 1 }
    }

    deinit {
        device.uses.withLock { $0.playbacksOpen -= 1 }
    }

    func write(_ frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        usleep(10_000)
        let isLoud = frame.contains { abs(Int($0)) > 1000 }
        device.uses.withLock {
            $0.framesWritten += 1
            if isLoud { $0.loudFramesWritten += 1 }
        }
        return .now
    }
}
