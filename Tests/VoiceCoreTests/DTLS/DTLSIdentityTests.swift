import COpenSSL
import Testing

@testable import Support
@testable import VoiceCore

@Suite struct DTLSIdentityTests {
    @Test func eachHasAKeyOfItsOwn() throws {
        let (one, other) = (try DTLSIdentity(), try DTLSIdentity())
        for algorithm in Fingerprint.Algorithm.allCases {
            #expect(one.fingerprint(algorithm).digest.count == algorithm.byteCount)
            #expect(one.fingerprint(algorithm) == one.fingerprint(algorithm))
            #expect(one.fingerprint(algorithm) != other.fingerprint(algorithm))
        }
    }

    @Test func theCertificateIsSelfSignedAndValidWhateverTheClock() throws {
        let identity = try DTLSIdentity()
        let certificate = identity.certificate
        let key = try #require(X509_get0_pubkey(certificate))
        #expect(X509_verify(certificate, key) == 1)
        #expect(X509_get_version(certificate) == 2)
        #expect(EVP_PKEY_get_bits(key) == 256)
        // 1 January 2001 and 1 January 2096.
        for var time in [978_307_200, 3_976_214_400] {
            #expect(X509_cmp_time(X509_get0_notBefore(certificate), &time) < 0)
            #expect(X509_cmp_time(X509_get0_notAfter(certificate), &time) > 0)
        }
        #expect(try identity.fingerprint(.sha384) == Fingerprint(of: certificate, by: .sha384))
    }

    @Test func theSerialNumberIsPositiveAndRandom() throws {
        var serials: Set<[UInt8]> = []
        for _ in 0..<8 {
            let identity = try DTLSIdentity()
            let number = X509_get0_serialNumber(identity.certificate)
            let length = Int(ASN1_STRING_length(number))
            #expect(length == 16)
            #expect(ASN1_STRING_type(number) == V_ASN1_INTEGER, "a negative one has another type")
            let bytes = try #require(ASN1_STRING_get0_data(number))
            serials.insert(Array(UnsafeBufferPointer(start: bytes, count: length)))
        }
        #expect(serials.count == 8)
    }

    @Test func theLibraryTellsItsVersion() {
        #expect(DTLSIdentity.libraryVersion.hasPrefix("OpenSSL 3."))
    }
}
