import Synchronization
import Testing

@testable import Appliance

@Suite struct LogTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private func lines(_ threshold: LogLevel, _ body: (Log) -> Void) -> [String] {
        let lines = Lines()
        body(Log(threshold) { level, sentence, _ in lines.all.withLock { $0.append("\(level) \(sentence)") } })
        return lines.all.withLock { $0 }
    }

    @Test(arguments: zip(LogLevel.allCases, 1...4))
    func eachLevelIncludesThoseBeforeIt(threshold: LogLevel, count: Int) {
        let written = lines(threshold) { log in
            log.error("a")
            log.warning("b")
            log.info("c")
            log.debug("d")
        }
        #expect(written == Array(["error a", "warning b", "info c", "debug d"].prefix(count)))
    }

    @Test func aStrangersTextCannotSteerTheTerminal() {
        let written = lines(.info) { $0.info("a\u{1B}[2Jb\nc\u{202E}d") }
        #expect(written == ["info a [2Jb c d"])
    }

    @Test func aStrangersTextHasAnEnd() throws {
        let written = lines(.info) { $0.info(String(repeating: "é", count: 5000)) }
        #expect(try #require(written.first).utf8.count < 2020)
    }
}
