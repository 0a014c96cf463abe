import Glibc
import Testing
import VoiceCore

@testable import Appliance

@Suite struct CaptionsTests {
    private func lines(_ happenings: [Happening]) -> [String] {
        var captions = Captions()
        return happenings.flatMap { captions.take($0) }.map { String(decoding: $0.encoded, as: UTF8.self) }
    }

    private func said(_ role: VoiceLine.Role, _ id: String, _ step: VoiceLine.Step) -> Happening {
        .line(VoiceLine(role: role, id: id, step: step))
    }

    private func message(_ role: String, _ id: String, _ status: String, _ text: String) -> String {
        let head = #"{"message":{"id":"\#(id)","kind":"voice","status":"\#(status)","text":"\#(text)","#
        return head + #""voice":{"role":"\#(role)"}}}"#
    }

    @Test func aVoiceIsToldFromItsStartToItsClose() {
        #expect(
            lines([.voice(id: "v"), .closing(.pressed), .closed(id: "v", seconds: 1.5)]) == [
                #"{"state":{"voice":{"mine":true,"status":"started"}}}"#,
                #"{"state":{"voice":{"closeReason":"pressed","mine":true,"seconds":1.5,"status":"closed"}}}"#,
            ])
    }

    @Test func aLineBeginsGoesOnAndEndsAndBothMaySpeakAtOnce() {
        #expect(
            lines([
                said(.assistant, "a", .added("Good ")), said(.user, "u", .added("Hel")),
                said(.assistant, "a", .added("day.")), said(.user, "u", .ended("Hello.")),
                said(.assistant, "a", .ended("Good day.")),
            ]) == [
                message("assistant", "a", "begin", ""), message("assistant", "a", "more", "Good "),
                message("user", "u", "begin", ""), message("user", "u", "more", "Hel"),
                message("assistant", "a", "more", "day."), message("user", "u", "end", "Hello."),
                message("assistant", "a", "end", "Good day."),
            ])
    }

    @Test func aLineOfWhichOnlyTheEndIsToldHasABeginningToo() {
        #expect(
            lines([said(.user, "", .ended("Hello."))]) == [
                message("user", "", "begin", ""), message("user", "", "end", "Hello."),
            ])
    }

    @Test func nothingElseIsTold() {
        #expect(
            lines([.ready, .button(isPressed: true), .led(.open), .firstSound, .error(code: "x", message: "y")]) == [])
    }
}

@Suite @MainActor struct CaptionSocketTests {
    private let folder = WAVDeviceTests.Folder()

    private func reader(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isConnected)
        return descriptor
    }

    nonisolated private func read(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test func whoeverComesLateHearsTheStateFirstAndThenEachLine() async throws {
        let path = "\(folder.path)/captions"
        let captions = try CaptionSocket(path: path)
        captions.saw(.voice(id: "v"), at: Instant(nanoseconds: 0))
        let late = try reader(path)
        // Blocks until the main queue has accepted: on another thread, so that it can.
        let greeting = await Task.detached { read(late) }.value
        #expect(greeting == #"{"state":{"voice":{"mine":true,"status":"started"}}}"# + "\n")
        captions.saw(.line(VoiceLine(role: .user, id: "", step: .added("Hel"))), at: Instant(nanoseconds: 0))
        #expect(read(late).contains(#""text":"Hel""#))
        captions.finish()
        #expect(read(late) == "")
        #expect(access(path, F_OK) != 0)
        close(late)
    }

    @Test func aSocketThatAnEarlierRunLeftIsReplacedAndAnythingElseIsNot() throws {
        let path = "\(folder.path)/captions"
        let first = try CaptionSocket(path: path)
        let second = try CaptionSocket(path: path)
        second.finish()
        first.finish()
        #expect(throws: CaptionSocket.Unusable.self) { _ = try CaptionSocket(path: folder.path) }
    }
}
