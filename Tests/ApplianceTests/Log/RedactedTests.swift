import Testing

@testable import Appliance

@Suite struct RedactedTests {
    @Test func whateverPrintsItPrintsNothingOfIt() {
        let secret = Redacted("s3cr3t")
        var dumped = ""
        dump(["key": secret], to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), String(describing: [secret]), dumped] {
            #expect(!text.contains("s3cr3t"))
        }
        #expect(secret.reveal() == "s3cr3t")
    }
}
