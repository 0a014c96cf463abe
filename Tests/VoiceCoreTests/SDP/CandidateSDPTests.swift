import Testing

@testable import VoiceCore

@Suite struct CandidateSDPTests {
    @Test(arguments: [
        "1 1 udp 2130706431 192.0.2.1 50000 typ host",
        "28d09117ed7be62fd2553196dd6100b6 1 udp 1 2001:db8::1 1 typ prflx",
        "2 1 udp 1694498815 198.51.100.40 50000 typ srflx raddr 192.0.2.40 rport 50001",
        "3 1 tcp 1518280447 192.0.2.40 9 typ host tcptype active",
        "4 1 tcp 1671430143 192.0.2.40 443 typ relay raddr 192.0.2.1 rport 0 tcptype passive",
        "5 1 tcp 1671430143 192.0.2.40 443 typ host tcptype so",
    ])
    func whatIsReadIsWrittenAlike(text: String) throws {
        #expect(try #require(Candidate(sdp: SDPText(text))).sdp == text)
    }

    @Test(arguments: [
        ("1 1 UDP 5 192.0.2.1 7 TYP HOST generation 0 network-id 1 network-cost 50", "1 1 udp 5 192.0.2.1 7 typ host"),
        ("1 1 udp 5 192.0.2.1 7 typ host tcptype passive", "1 1 udp 5 192.0.2.1 7 typ host"),
        ("1  1\tudp 5 192.0.2.1 7 typ host ufrag", "1 1 udp 5 192.0.2.1 7 typ host"),
        ("1 1 udp 0 192.0.2.1 7 typ host", "1 1 udp 1 192.0.2.1 7 typ host"),
        ("1 1 udp 4294967295 192.0.2.1 7 typ host", "1 1 udp 2147483647 192.0.2.1 7 typ host"),
        ("1 1 udp 5 192.0.2.1 7 typ srflx raddr name.example rport 9", "1 1 udp 5 192.0.2.1 7 typ srflx"),
    ])
    func oddFormsAreTaken(text: String, meaning: String) throws {
        #expect(try #require(Candidate(sdp: SDPText(text))).sdp == meaning)
    }

    @Test(arguments: [
        "", "1", "1 1 udp 5 192.0.2.1 7", "1 1 udp 5 192.0.2.1 7 typ", "1 1 udp 5 192.0.2.1 7 typ other",
        "1 2 udp 5 192.0.2.1 7 typ host", "1 1 sctp 5 192.0.2.1 7 typ host", "1 1 tcp 5 192.0.2.1 7 typ host",
        "1 1 tcp 5 192.0.2.1 7 typ host tcptype other", "1 1 udp -5 192.0.2.1 7 typ host",
        "1 1 udp 5 peer.local 7 typ host", "1 1 udp 5 192.0.2 7 typ host", "1 1 udp 5 192.0.2.1\0 7 typ host",
        "1 1 udp 5 fe80::1%eth0 7 typ host", "1 1 udp 5 0.0.0.0 7 typ host", "1 1 udp 5 :: 7 typ host",
        "1 1 udp 5 224.0.0.1 7 typ host", "1 1 udp 5 255.255.255.255 7 typ host", "1 1 udp 5 ff02::1 7 typ host",
        "1 1 udp 5 192.0.2.1 0 typ host", "1 1 udp 5 192.0.2.1 65536 typ host", "1 1 udp 5 192.0.2.1 +7 typ host",
    ])
    func whatCannotBeUsedIsNotTaken(text: String) {
        #expect(Candidate(sdp: SDPText(text)) == nil)
    }
}
