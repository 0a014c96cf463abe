import Testing

@testable import Hardware

@Suite struct CardNameTests {
    @Test(
        arguments: [
            ("auto", "auto", nil, nil), ("Loopback", "Loopback", nil, nil), ("Loopback,1", "Loopback", 1, nil),
            ("C920_b-2,0,7", "C920_b-2", 0, 7), ("autos", "autos", nil, nil),
            ("ABCDEFGHIJKLMNO", "ABCDEFGHIJKLMNO", nil, nil),
        ] as [(String, String, Int?, Int?)])
    func aNameIsAnIDWithDeviceAndSubdevice(text: String, id: String, device: Int?, subdevice: Int?) throws {
        let name = try #require(CardName(text))
        #expect(name.card == (id == "auto" ? .auto : .id(id)))
        #expect(name.device == device)
        #expect(name.subdevice == subdevice)
        #expect(name.description == text)
    }

    @Test(arguments: [
        "", "0", "12", "a b", "a,", ",1", "a,b", "a,1,2,3", "a,-1", "a,1000", "hw:a", "ABCDEFGHIJKLMNOP", "ä", "a\n",
        "auto,1,x",
    ])
    func whatIsNoNameIsRefused(text: String) {
        #expect(CardName(text) == nil)
    }
}
