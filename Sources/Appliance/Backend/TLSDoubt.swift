/// What is wrong with the far end's certificate or keys, or with ours in its eyes.
enum TLSDoubt: Equatable, Sendable {
    case notYetValid
    case expired
    /// It is another host's.
    case otherName
    /// Nobody whom this machine trusts has signed it.
    case unknownIssuer
    /// It does not hold the key that `pinned_key` names.
    case otherKey
    /// The far end wants a certificate of ours, or another one.
    case clientCertificate
    case other

    /// By OpenSSL's verdict on the chain (x509_vfy.h, X509_V_ERR_…), where the check of the far end's certificate failed.
    init(verdict: Int) {
        switch verdict {
        // The chain is sound, or not judged yet: what libcurl checks by itself is the name.
        case 0, 1: self = .otherName
        case 9: self = .notYetValid
        case 10: self = .expired
        case 18, 19, 20, 21: self = .unknownIssuer  // self-signed, or the issuer is not known
        case 62, 64: self = .otherName  // host name, IP address
        default: self = .other
        }
    }

    /// Whether the certificate would do at another time.
    var isAboutTime: Bool {
        switch self {
        case .notYetValid, .expired: true
        case .otherName, .unknownIssuer, .otherKey, .clientCertificate, .other: false
        }
    }

    /// What to do about it.
    var cure: String {
        switch self {
        case .notYetValid: "its certificate is not valid yet: check this machine's clock, and the certificate"
        case .expired: "its certificate is not valid any longer: have it renewed, and check this machine's clock"
        case .otherName:
            "its certificate is another host's: check url in [backend], and that no portal stands in between"
        case .unknownIssuer:
            "nobody whom this machine trusts has signed its certificate: name its CA in ca_file in [backend]"
        case .otherKey:
            "its key is not the one of pinned_key in [backend]: find out why it changed before you change it here"
        case .clientCertificate:
            "it wants a client certificate: check client_certificate_credential and client_key_credential in [backend]"
        case .other: "check its certificate, this machine's clock, and that no portal stands in between"
        }
    }
}
