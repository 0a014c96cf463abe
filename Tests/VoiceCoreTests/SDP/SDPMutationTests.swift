import Glibc
import Testing

@testable import Support
@testable import VoiceCore

/// Whatever is done to a description, reading it ends, in time, with a value or an error.
@Suite struct SDPMutationTests {
    /// Reads it as the engine does, from both sides.
    private func read(_ bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let description = try? SessionDescription(parsing: text) else { return }
        for kind in [DescriptionKind.offer, .answer] {
            guard let media = try? description.negotiated(as: kind) else { continue }
            #expect(media.fingerprints.isEmpty == false)
            #expect(media.setup != .actpass)
            #expect(media.candidates.count <= 64)
        }
    }

    /// Answers it where it can be answered; what we say must be readable in its turn.
    private func answer(_ bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        var entropy = Entropy.seeded(1)
        let local = LocalDescription(
            credentials: ICECredentials(from: &entropy),
            fingerprint: Fingerprint(algorithm: .sha256, digest: entropy.bytes(32)), candidates: [], ssrc: 1,
            cname: "c", entropy: &entropy)
        guard let description = try? SessionDescription(parsing: text),
            let answer = try? local.answer(to: description)
        else { return }
        #expect(throws: Never.self) { try SessionDescription(parsing: answer).negotiated(as: .answer) }
    }

    @Test func truncationAtEveryByteDoesNoHarm() throws {
        let bytes = Array(try SDPFixture.everythingOdd.text.utf8)
        for count in 0...bytes.count { read(bytes[..<count]) }
    }

    @Test(arguments: SDPFixture.allCases)
    func changedBytesDoNoHarm(fixture: SDPFixture) throws {
        let original = Array(try fixture.text.utf8)
        var entropy = Entropy.seeded(2)
        for _ in 0..<25 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...8, using: &entropy) {
                let index = Int.random(in: bytes.indices, using: &entropy)
                switch Int.random(in: 0...3, using: &entropy) {
                case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &entropy)
                case 1: bytes[index] = UInt8.random(in: .min ... .max, using: &entropy)
                case 2: bytes.remove(at: index)
                default: bytes.insert(UInt8(ascii: "9"), at: index)
                }
            }
            read(bytes)
        }
    }

    @Test(arguments: SDPFixture.allCases)
    func linesDroppedRepeatedAndSwappedDoNoHarm(fixture: SDPFixture) throws {
        let original = try fixture.text.split { $0.isNewline }
        var entropy = Entropy.seeded(3)
        for _ in 0..<20 {
            var lines = original
            for _ in 0..<Int.random(in: 1...6, using: &entropy) {
                let index = Int.random(in: lines.indices, using: &entropy)
                let other = Int.random(in: lines.indices, using: &entropy)
                switch Int.random(in: 0...2, using: &entropy) {
                case 0: lines.remove(at: index)
                case 1: lines.insert(lines[index], at: other)
                default: lines.swapAt(index, other)
                }
            }
            answer(lines.joined(separator: "\r\n").utf8)
        }
    }

    @Test(arguments: SDPFixture.allCases)
    func oddNumbersInPlaceOfEachNumberDoNoHarm(fixture: SDPFixture) throws {
        let odd = ["", "-1", "0", "65536", "4294967296", "18446744073709551616", "1e9", "9\0"]
        let words = try fixture.text.split(separator: " ", omittingEmptySubsequences: false)
        var entropy = Entropy.seeded(4)
        for index in words.indices where words[index].allSatisfy(\.isNumber) {
            var changed = words
            changed[index] = odd.randomElement(using: &entropy).map { $0[...] } ?? ""
            read(changed.joined(separator: " ").utf8)
        }
    }

    @Test func theLargestTextsAreReadInBoundedTime() {
        let candidate = "a=candidate:1 1 udp 1 192.0.2.1 1 typ host\n"
        let group = "\na=group:BUNDLE " + String(repeating: "a ", count: 2_000)
        let answerLines = smallestAnswer.joined(separator: "\n")
        let formats = String(repeating: "1 ", count: 2_000)
        let audio = "\nm=audio 9 RTP/SAVPF 96\na=mid:b\na=rtpmap:96 opus/48000"
        let channel = "\nm=application 9 UDP/DTLS/SCTP x\na=mid:b"
        var texts = [String(repeating: "\n", count: 262_140)]
        texts.append("v=0\n" + String(repeating: "m=audio 9 RTP/SAVPF \(formats)\n", count: 63))
        texts.append("\(answerLines)\n" + String(repeating: candidate, count: 5_500))
        texts.append("v=0\(group)" + String(repeating: audio, count: 64))
        let grouped = smallestAnswer[1...].joined(separator: "\n")
        texts.append("v=0\(group)\n\(grouped)\na=mid:a" + String(repeating: channel, count: 63))
        for text in texts {
            let started = threadCPUTime()
            answer(text.utf8)
            #expect(threadCPUTime() - started < .seconds(2))
        }
    }

    /// Of this thread alone: other work on the machine must not fail the test.
    private func threadCPUTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
