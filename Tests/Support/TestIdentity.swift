internal import COpenSSL

@testable import VoiceCore

/// Certificates as other peers have them. RSA keys are slow to make: one of each for the whole process.
enum TestIdentity {
    static let p256 = Result { () throws(DTLSError) in try DTLSIdentity() }
    static let rsa2048 = Result { () throws(DTLSError) in try makeRSA(bits: 2_048) }
    static let rsa4096 = Result { () throws(DTLSError) in try makeRSA(bits: 4_096) }

    private static func makeRSA(bits: Int32) throws(DTLSError) -> DTLSIdentity {
        let parameters = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil)
        defer { EVP_PKEY_CTX_free(parameters) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(parameters) == 1, EVP_PKEY_CTX_set_rsa_keygen_bits(parameters, bits) == 1,
            EVP_PKEY_keygen(parameters, &key) == 1, let key
        else { throw .library(operation: "EVP_PKEY_keygen", reason: "RSA") }
        return try DTLSIdentity(privateKey: key)
    }
}
