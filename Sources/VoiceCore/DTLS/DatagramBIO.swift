internal import COpenSSL

/// What OpenSSL reads from and writes to: one write is one datagram, one read is one record of the datagram at hand.
///
/// OpenSSL 3.0 has no datagram memory BIO. Owned by a DTLSTransport, which outlives the BIO made of it; on the network thread. It never
/// blocks: without a record it asks to be read again.
final class DatagramBIO {
    /// The datagram at hand, only while `DTLSTransport.receive` runs.
    var records: DTLSRecords?
    var outbound = DatagramQueue(byteCount: 32 * 1_280)
    /// The last alert that OpenSSL took from the far end.
    var alertReceived: UInt8?

    /// A BIO over this object, without a reference to it; SSL_set_bio takes it.
    func makeBIO() throws(DTLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let method = DatagramBIO.method, let bio = BIO_new(method) else { throw .library("BIO_new") }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    /// The object behind an SSL.
    static func behind(_ ssl: OpaquePointer?) -> DatagramBIO? {
        of(SSL_get_rbio(ssl))
    }

    private static func of(_ bio: OpaquePointer?) -> DatagramBIO? {
        BIO_get_data(bio).map { Unmanaged<DatagramBIO>.fromOpaque($0).takeUnretainedValue() }
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let record = records?.next() else { return nil }
        let count = min(record.count, buffer.count)
        UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: record[..<count]))
        return count
    }

    // Made once and never changed or freed, so any thread may read it.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagram") else { return nil }
        BIO_meth_set_write(method) { bio, bytes, count in
            talkpost_bio_clear_retry(bio)
            guard count > 0, let bytes, let object = DatagramBIO.of(bio) else { return 0 }
            object.outbound.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        BIO_meth_set_read(method) { bio, bytes, count in
            talkpost_bio_clear_retry(bio)
            guard count > 0, let bytes, let object = DatagramBIO.of(bio),
                let read = object.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            else {
                talkpost_bio_ask_to_retry_read(bio)
                return -1
            }
            return Int32(truncatingIfNeeded: read)
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // All else, MTU questions among it, is answered by 0: not known.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        return method
    }()
}

extension DTLSError {
    /// The failed operation, with OpenSSL's oldest reason for it. The error queue is empty afterwards.
    static func library(_ operation: String) -> DTLSError {
        .library(operation: operation, reason: takeOpenSSLReason().text)
    }

    /// The oldest reason in this thread's error queue, which is empty afterwards.
    static func takeOpenSSLReason() -> (code: Int32, text: String) {
        let error = ERR_peek_error()
        let code = ERR_GET_REASON(error)
        let text = ERR_reason_error_string(error).map { String(cString: $0) } ?? "no reason given"
        ERR_clear_error()
        return (code, text)
    }
}
