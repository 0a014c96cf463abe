import Testing

@testable import Appliance
@testable import VoiceCore

@Suite struct FaultTests {
    @Test func noTwoShareAnything() {
        let all = Fault.allCases
        #expect(all.count == 15)
        #expect(Set(all.map(\.printedCode)).count == all.count)
        #expect(Set(all.map(\.messageID)).count == all.count)
        #expect(Set(all.map(\.sentence)).count == all.count)
        #expect(Set(all.map { LEDPattern.fault($0).blink.turns }).count == all.count)
        #expect(Set(all.map { EarconSynthesis.notes(of: .fault($0)) }).count == all.count)
    }

    @Test func theirNumbersCanBeCounted() {
        for fault in Fault.allCases {
            #expect((2...6).contains(fault.code.place))
            #expect((1...5).contains(fault.code.detail))
        }
    }

    @Test(arguments: [
        (PBVoiceError.Code.microphoneDenied, Fault.microphoneDenied), (.audioSession, .speakerLost),
        (.refused, .refused), (.invalidAnswer, .providerError), (.noNetwork, .noNetwork),
        (.unreachable, .unreachable), (.udpBlocked, .udpBlocked), (.providerError, .providerError),
        (.invalidConfiguration, .config),
    ])
    func eachErrorOfAVoiceHasItsFault(code: PBVoiceError.Code, fault: Fault) {
        #expect(Fault(PBVoiceError(code, "")) == fault)
    }

    @Test(arguments: [
        (BackendError.Kind.invalidConfiguration, Fault.config), (.credential, .config), (.dns, .dns), (.tls, .tls),
        (.unreachable, .unreachable), (.timeout, .unreachable), (.noAnswer, .unreachable), (.refused, .refused),
        (.invalidAnswer, .providerError), (.clock, .clock), (.captivePortal, .captivePortal),
        (.unauthorized, .unauthorized), (.busy, .busy),
    ])
    func eachErrorOfTheBackendHasItsFault(kind: BackendError.Kind, fault: Fault) {
        #expect(Fault(PBVoiceError(.refused, "", underlying: BackendError(kind, ""))) == fault)
    }

    @Test func whatWasGivenUpIsNoFault() {
        #expect(Fault(PBVoiceError(.cancelled, "")) == nil)
    }

    @Test func theCatalogHasAnEntryWithACureForEach() throws {
        let catalog = String(decoding: try #require(repositoryFile("config/talkpost.catalog")), as: UTF8.self)
        let entries = catalog.split(separator: "-- ").dropFirst()
        #expect(entries.count == Fault.allCases.count)
        for fault in Fault.allCases {
            let entry = try #require(entries.first { $0.hasPrefix("\(fault.messageID)\n") }, "\(fault) has no entry")
            #expect(entry.contains("Subject: \(fault.printedCode) \(fault.rawValue): "))
            #expect(entry.contains("\nDefined-By: talkpost\n"))
            #expect(entry.split(separator: "\n\n").count >= 2)
        }
    }

    @Test func theConfigTellsTheInstallerEachCode() throws {
        let config = String(decoding: try #require(repositoryFile("config/talkpost.conf")), as: UTF8.self)
        for fault in Fault.allCases {
            #expect(config.contains("#   \(fault.printedCode)  \(fault.rawValue)"), "\(fault)")
        }
    }
}
