import COpenSSL
import Glibc
import Testing

@testable import Support
@testable import VoiceCore

/// A client and OpenSSL's own server with bytes carried between them in memory.
private final class TLSPair {
    let client: TLSClient
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private let scratch = Scratch()
    private(set) var serverHeard: [UInt8] = []

    init(host: String, identity: DTLSIdentity, trusted: String?) throws {
        client = try TLSClient(host: host, authorities: trusted)
        context = try #require(SSL_CTX_new(TLS_server_method()))
        ssl = try #require(SSL_new(context))
        SSL_use_certificate(ssl, identity.certificate)
        SSL_use_PrivateKey(ssl, identity.privateKey)
        incoming = try #require(BIO_new(BIO_s_mem()))
        outgoing = try #require(BIO_new(BIO_s_mem()))
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    func exchange() {
        for _ in 0..<10 {
            while let byteCount = client.nextOutgoing(into: scratch.bytes) {
                BIO_write(incoming, scratch.bytes.baseAddress, Int32(byteCount))
            }
            let heard = SSL_read(ssl, scratch.bytes.baseAddress, Int32(scratch.bytes.count))
            if heard > 0 { serverHeard += scratch.bytes[..<Int(heard)] }
            let count = BIO_read(outgoing, scratch.bytes.baseAddress, Int32(scratch.bytes.count))
            if count > 0 { client.receive(UnsafeRawBufferPointer(rebasing: scratch.bytes[..<Int(count)])) }
        }
    }

    func serverSays(_ text: String) {
        SSL_write(ssl, text, Int32(text.utf8.count))
        exchange()
    }

    func endByServer() {
        SSL_shutdown(ssl)
        exchange()
    }

    func clientHears() -> String {
        var text: [UInt8] = []
        while let byteCount = client.read(into: scratch.bytes) { text += scratch.bytes[..<byteCount] }
        return String(decoding: text, as: UTF8.self)
    }
}

@Suite struct TLSClientTests {
    /// A file with the certificate in it, as an authority.
    private func trusted(_ identity: DTLSIdentity) throws -> String {
        let path = "/tmp/talkpost-tls-\(UInt64.random(in: 0 ... .max)).pem"
        let file = try #require(BIO_new_file(path, "w"))
        defer { BIO_free(file) }
        try #require(PEM_write_bio_X509(file, identity.certificate) == 1)
        return path
    }

    @Test func aTrustedServerOfTheRightNameIsSpokenWith() throws {
        let identity = try TestIdentity.p256.get()
        let file = try trusted(identity)
        defer { remove(file) }
        // The name that our own certificates have.
        let pair = try TLSPair(host: "WebRTC", identity: identity, trusted: file)
        pair.exchange()
        #expect(pair.client.phase == .established)
        Array("hello".utf8).withUnsafeBytes { pair.client.write($0) }
        pair.exchange()
        #expect(String(decoding: pair.serverHeard, as: UTF8.self) == "hello")
        pair.serverSays("good day")
        #expect(pair.clientHears() == "good day")
        pair.endByServer()
        #expect(pair.clientHears().isEmpty)
        #expect(pair.client.phase == .closed)
    }

    @Test func aServerThatNobodyVouchesForIsRefused() throws {
        let pair = try TLSPair(host: "WebRTC", identity: try TestIdentity.p256.get(), trusted: nil)
        pair.exchange()
        guard case .failed(.certificate) = pair.client.phase else {
            Issue.record("\(pair.client.phase)")
            return
        }
    }

    @Test(arguments: ["relay.example", "192.0.2.1"])
    func aServerOfAnotherNameIsRefused(host: String) throws {
        let identity = try TestIdentity.p256.get()
        let file = try trusted(identity)
        defer { remove(file) }
        let pair = try TLSPair(host: host, identity: identity, trusted: file)
        pair.exchange()
        guard case .failed(.certificate(let why)) = pair.client.phase else {
            Issue.record("\(pair.client.phase)")
            return
        }
        #expect(why.contains("mismatch"))
    }

    @Test func whatIsNoTLSFails() throws {
        let client = try TLSClient(host: "relay.example")
        Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).withUnsafeBytes { client.receive($0) }
        #expect(client.phase == .failed(.protocolError))
    }
}
