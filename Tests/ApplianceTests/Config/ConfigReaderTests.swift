import Hardware
import Testing

@testable import Appliance

@Suite struct ConfigReaderTests {
    private func read(_ text: String) throws(ConfigProblems) -> Configuration {
        try ConfigReader.read(Array(text.utf8))
    }

    private func problems(_ text: String) -> [ConfigProblem] {
        problems(Array(text.utf8))
    }

    private func problems(_ bytes: [UInt8]) -> [ConfigProblem] {
        do {
            _ = try ConfigReader.read(bytes)
            return []
        } catch {
            return error.problems
        }
    }

    @Test func theReferenceConfigSaysTheDefaultsAndEveryKeyOnce() throws {
        let bytes = try #require(repositoryFile("config/talkpost.conf"))
        #expect(try ConfigReader.read(bytes) == Configuration())
        let keys = INILines.read(bytes).compactMap { line -> String? in
            guard case .setting(let key, _) = line.content else { return nil }
            return key
        }
        #expect(keys == ConfigKey.all.map(\.name))
    }

    @Test func anEmptyFileIsTheDefaults() throws {
        #expect(try read("") == Configuration())
    }

    @Test func everyKeyReachesItsPlace() throws {
        let configuration = try read(
            """
            [backend]
            url = https://example.net/v/{chat}
            close_url = https://example.net/v/{voice}/end
            chat = "a # b"
            apikey_credential = key
            bearer_credential = /etc/talkpost/token
            timeout = 2.5 s
            kind = whip
            answer_url = https://example.net/v/{voice}/answer
            refresh_url = https://example.net/token
            refresh_credential = refresh
            refresh_body = form
            ca_file = /etc/talkpost/ca.pem
            client_certificate_credential = post.crt
            client_key_credential = post.key
            pinned_key = sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=;sha256//BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB=
            proxy = http://proxy.example.net:3128
            proxy_credential = proxy
            [talk]
            mode = hold
            release_tail = 0 ms
            idle_end = 1 min
            transmit_limit = 30 s
            [sound]
            microphone = wav:/tmp/a b.wav
            speaker = none
            session = app
            volume = 0
            microphone_volume = 100
            outputs = Speaker, Line Out
            [tones]
            earcons = /usr/share/tones
            notice = hello.wav
            volume = 70
            [state]
            directory = /var/lib/x
            [button]
            source = script:steps
            active = high
            bias = as-is
            [led]
            output = none
            active = low
            drive = open-drain
            [network]
            interfaces = eth0, wlan0
            loopback = yes
            ice_servers = stun:stun.example.net, turns:turn.example.net:443
            turn_credential = turn
            proxy = http://proxy.example.net:3128
            proxy_credential = /etc/talkpost/proxy
            [voice]
            bitrate = 24000
            complexity = 9
            expected_loss = 15
            [log]
            target = console
            level = debug
            """)
        var expected = Configuration()
        expected.backend.url = "https://example.net/v/{chat}"
        expected.backend.closeURL = "https://example.net/v/{voice}/end"
        expected.backend.chat = "a # b"
        expected.backend.apikeyCredential = "key"
        expected.backend.bearerCredential = "/etc/talkpost/token"
        expected.backend.timeout = .milliseconds(2500)
        expected.backend.kind = .whip
        expected.backend.answerURL = "https://example.net/v/{voice}/answer"
        expected.backend.refreshURL = "https://example.net/token"
        expected.backend.refreshCredential = "refresh"
        expected.backend.refreshBody = .form
        expected.backend.caFile = "/etc/talkpost/ca.pem"
        expected.backend.clientCertificate = "post.crt"
        expected.backend.clientKey = "post.key"
        expected.backend.pinnedKeys =
            "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=;sha256//BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB="
        expected.backend.proxy = "http://proxy.example.net:3128"
        expected.backend.proxyCredential = "proxy"
        expected.talk.mode = .hold
        expected.talk.releaseTail = .zero
        expected.talk.idleEnd = .seconds(60)
        expected.talk.transmitLimit = .seconds(30)
        expected.sound.microphone = .wav("/tmp/a b.wav")
        expected.sound.speaker = .none
        expected.sound.session = .app
        expected.sound.mixer = MixerSettings(
            speakerPercent: 0, microphonePercent: 100, outputs: ["Speaker", "Line Out"])
        expected.state.directory = "/var/lib/x"
        expected.tones.earcons = .directory("/usr/share/tones")
        expected.tones.notice = "hello.wav"
        expected.tones.volume = 70
        expected.button.source = .script("steps")
        expected.button.polarity = .high
        expected.button.bias = .asIs
        expected.led.output = .none
        expected.led.polarity = .low
        expected.led.drive = .openDrain
        expected.network.interfaces = ["eth0", "wlan0"]
        expected.network.offersLoopback = true
        expected.network.iceServers = ["stun:stun.example.net", "turns:turn.example.net:443"]
        expected.network.turnCredential = "turn"
        expected.network.proxy = "http://proxy.example.net:3128"
        expected.network.proxyCredential = "/etc/talkpost/proxy"
        expected.voice.bitsPerSecond = 24_000
        expected.voice.encoderComplexity = 9
        expected.voice.expectedLossPercent = 15
        expected.log.target = .console
        expected.log.level = .debug
        #expect(configuration == expected)
    }

    @Test func buttonAndLEDCanBeGPIOLines() throws {
        let configuration = try read("[button]\nsource = gpio:pinctrl-bcm2835:17\n[led]\noutput = gpio: GPIO27")
        let button = try #require(GPIOLineName("pinctrl-bcm2835:17"))
        let led = try #require(GPIOLineName("GPIO27"))
        #expect(configuration.button.source == .gpio(button))
        #expect(configuration.led.output == .gpio(led))
    }

    @Test func microphoneAndSpeakerAreCards() throws {
        let configuration = try read("[sound]\nmicrophone = card:auto\nspeaker = card:Loopback,0,3")
        #expect(configuration.sound.microphone == .card(.auto))
        let card = try #require(CardName("Loopback,0,3"))
        #expect(configuration.sound.speaker == .card(card))
    }

    @Test(arguments: [
        ("[talk]\nrelease_tial = 1 s", 2, "there is no key \"release_tial\" in [talk]", "did you mean release_tail?"),
        ("[talk]\nbitrate = 1", 2, "there is no key \"bitrate\" in [talk]", "it belongs under [voice]"),
        (
            "[talk]\nx = 1", 2, "there is no key \"x\" in [talk]",
            "the keys of [talk] are mode, turns, release_tail, idle_end, transmit_limit"
        ),
        (
            "[tones]\nearcons = synthesized", 2, "the value \"synthesized\" of earcons cannot be used",
            "it must be synthesised, none, or the path of a directory of WAV files, with a / in it"
        ),
        ("[bakend]\nnonsense = 1", 1, "there is no section \"bakend\"", "did you mean [backend]?"),
        ("loopback = yes", 1, "\"loopback\" stands before the first section", "put it under [network]"),
        (
            "[voice]\nbitrate = 5999", 2, "the value \"5999\" of bitrate cannot be used",
            "it must be a whole number from 6000 to 128000 bits per second"
        ),
        (
            "[talk]\n\n# tail\nrelease_tail = 300", 4, "the value \"300\" of release_tail cannot be used",
            "it must be a time with its unit (ms, s or min), from 0 ms to 5 s"
        ),
        ("[log]\nlevel = info\nlevel = debug", 3, "level was set before, on line 2", "keep one of the two lines"),
        ("[talk]\nmode =", 2, "mode has no value", "it must be auto, hold, toggle or hands-free"),
        (
            "[led]\noutput = lamp", 2, "the value \"lamp\" of output cannot be used",
            "it must be terminal, none, or gpio: and a line such as GPIO27 or gpiochip0:27"
        ),
        (
            "[button]\nsource = gpio:gpiochip0:", 2, "the value \"gpio:gpiochip0:\" of source cannot be used",
            "it must be keyboard, gpio: and a line such as GPIO17 or gpiochip0:17, or script: and the path of a file of steps"
        ),
        (
            "[sound]\nmicrophone = card:0", 2, "the value \"card:0\" of microphone cannot be used",
            "it must be card: and auto or a card's id as in /proc/asound/cards, or wav: and the path of a WAV file"
        ),
        (
            "[state]\ndirectory = state", 2, "the value \"state\" of directory cannot be used",
            "it must be a folder's absolute path"
        ),
        (
            "[button]\nbias = up", 2, "the value \"up\" of bias cannot be used",
            "it must be pull-up, pull-down, none or as-is"
        ),
        (
            "[backend]\nurl = http://h/{chatt}", 2, "the value of url cannot be used",
            "it must be an http:// or https:// address in which only {chat} stands in braces"
        ),
    ])
    func aMistakeIsNamedWithItsLineAndItsCure(text: String, line: Int, what: String, cure: String) throws {
        let found = problems(text)
        let problem = try #require(found.first)
        #expect(found.count == 1)
        #expect(problem.line == line)
        #expect(problem.what == what)
        #expect(problem.cure == cure)
    }

    @Test func aProblemReadsAsOneLine() {
        let problem = ConfigProblem(
            line: 7, key: "mode", what: "mode has no value", cure: "it must be auto, hold, toggle or hands-free")
        #expect(
            problem.described(inFile: "a.conf")
                == "a.conf:7: mode has no value; it must be auto, hold, toggle or hands-free")
    }

    @Test func allMistakesAreToldAtOnceInTheirOrder() {
        let found = problems("[talk]\nmode = holt\nidle = 1 s\n[sound]\nspeaker = loud\nnonsense\n")
        #expect(found.map(\.line) == [2, 3, 5, 6])
    }

    @Test func noMoreMistakesAreToldThanAnyoneReads() {
        let text = "[talk]\n" + String(repeating: "wrong = 1\n", count: 10_000)
        #expect(problems(text).count == ConfigReader.problemLimit)
    }

    @Test(arguments: [
        "[backend]\napikey = s3cr3t", "[backend]\nbearer = s3cr3t", "[backend]\nApi-Token = s3cr3t", "token = s3cr3t",
        "[talk]\npassword = s3cr3t", "[backend]\nbearer_credential = eyJs3cr3t",
        "[backend]\napikey_credential = sk-s3cr3t",
        "[backend]\nbearer_credential = Bearer s3cr3t", "[backend]\nurl = https://me:s3cr3t@h/{chat}",
        "[backend]\nurl = https://h/{chat}?apikey=s3cr3t", "[network]\nproxy = http://me:s3cr3t@h",
    ])
    func aSecretInTheConfigIsRefusedAndNotRepeated(text: String) throws {
        let found = problems(text)
        let problem = try #require(found.first)
        #expect(found.count == 1)
        #expect(problem.what.contains("secret"))
        #expect(problem.cure.contains("file"))
        #expect(!problem.described(inFile: "f").contains("s3cr3t"))
    }

    @Test(
        arguments: [
            ([0x5B, 0x74, 0x00, 0x5D], "control character"), ([0x61, 0x3D, 0xFF, 0xFE], "not UTF-8"),
            ([0x5B, 0x74], "does not end"), ([0x3D, 0x61], "no key before"),
            (Array("k = \"open".utf8), "has no second"), (Array("[a] b".utf8), "follows the section"),
        ] as [([UInt8], String)])
    func bytesThatAreNoConfigAreNamed(bytes: [UInt8], what: String) throws {
        let problem = try #require(problems(bytes).first)
        #expect(problem.line == 1)
        #expect(problem.what.contains(what))
    }

    @Test func windowsLineEndsAndAByteOrderMarkAreTaken() throws {
        let configuration = try ConfigReader.read([0xEF, 0xBB, 0xBF] + Array("[log]\r\nlevel = error\r\n".utf8))
        #expect(configuration.log.level == .error)
    }

    @Test func aFileThatIsTooLargeIsOneProblem() {
        let found = problems([UInt8](repeating: 0x61, count: ConfigReader.byteLimit + 1))
        #expect(found.count == 1)
        #expect(found.first?.line == nil)
    }

    @Test func aLineOfAMegabyteIsOneProblemWithAShortMessage() throws {
        let found = problems([UInt8](repeating: 0x61, count: ConfigReader.byteLimit))
        #expect(found.count == 1)
        #expect(try #require(found.first).what.utf8.count < 200)
    }

    @Test func mutatedConfigsNeverTrap() throws {
        let original = try #require(repositoryFile("config/talkpost.conf"))
        var random = SeededBytes(seed: 1)
        var refused = 0
        for _ in 0..<3000 {
            // A tenth of the file at a time, so that thousands of mutations fit the time there is.
            let start = random.below(original.count)
            var bytes = Array(original[start..<min(original.count, start + original.count / 10)])
            for _ in 0...random.below(8) where !bytes.isEmpty {
                let index = random.below(bytes.count)
                switch random.below(5) {
                case 0: bytes[index] = UInt8(random.below(256))
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(UInt8(random.below(256)), at: index)
                case 3: bytes.insert(contentsOf: Array("[]={}\"#;\n\0".utf8), at: index)
                default: bytes.removeSubrange(index..<min(bytes.count, index + random.below(40)))
                }
            }
            if !problems(bytes).isEmpty { refused += 1 }
        }
        #expect(refused > 1000)
    }
}

/// The same numbers for the same seed (SplitMix64), so that a test that fails can be run again.
struct SeededBytes {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((z ^ z >> 31) % UInt64(max(1, limit)))
    }
}
