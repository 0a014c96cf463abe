#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <sys/time.h>

// What OpenSSL has as macros only, which Swift cannot call. Each returns 1 where it succeeded, unless its comment says otherwise.

static inline int talkpost_ssl_ctx_set_dtls12_only(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1;
}

static inline int talkpost_ssl_ctx_set_tls12_at_least(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

static inline int talkpost_ssl_set_server_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name) == 1;
}

static inline int talkpost_ssl_ctx_set_groups(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_groups_list(context, list) == 1;
}

// Neither tickets, resumption, renegotiation nor compression, and no question to the BIO about its MTU.
static inline void talkpost_ssl_ctx_set_fixed_options(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_QUERY_MTU | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}

static inline void talkpost_ssl_ctx_set_largest_certificate(SSL_CTX *context, long byte_count) {
    SSL_CTX_set_max_cert_list(context, byte_count);
}

static inline int talkpost_ssl_set_mtu(SSL *ssl, long byte_count) { return SSL_set_mtu(ssl, byte_count) > 0; }

// Microseconds until the DTLS retransmission timer runs out, 0 where it has, -1 where none runs.
static inline int64_t talkpost_dtls_timer_microseconds(SSL *ssl) {
    struct timeval left;
    if (DTLSv1_get_timeout(ssl, &left) != 1) return -1;
    return (int64_t)left.tv_sec * 1000000 + left.tv_usec;
}

// 1: retransmitted, 0: nothing was due, -1: failed.
static inline int talkpost_dtls_handle_timeout(SSL *ssl) { return (int)DTLSv1_handle_timeout(ssl); }

static inline void talkpost_bio_ask_to_retry_read(BIO *bio) { BIO_set_retry_read(bio); }

static inline void talkpost_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

// SHA-1 whose state lies with the caller. The EVP interface makes a context on the heap for each use, which STUN's
// MESSAGE-INTEGRITY, computed for every message, must not. These three cannot fail: they return 1 always.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline void talkpost_sha1_start(SHA_CTX *state) { SHA1_Init(state); }

static inline void talkpost_sha1_add(SHA_CTX *state, const void *bytes, size_t count) {
    SHA1_Update(state, bytes, count);
}

/// `digest` has room for 20 bytes.
static inline void talkpost_sha1_finish(SHA_CTX *state, unsigned char *digest) { SHA1_Final(digest, state); }
#pragma GCC diagnostic pop
