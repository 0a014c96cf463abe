#pragma once
#include <srtp2/srtp.h>
#include <string.h>

// One direction of a session for whatever SSRC comes: the same policy for RTP and RTCP. `key` is the master key followed by the
// master salt; the library copies it. The session is to be ended by srtp_dealloc.
static inline srtp_err_status_t talkpost_srtp_create(srtp_t *session, int is_gcm, int is_inbound, unsigned char *key,
                                                     unsigned long window_size) {
    srtp_policy_t policy;
    memset(&policy, 0, sizeof policy);
    if (is_gcm) {
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
    } else {
        srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80(&policy.rtp);
        srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80(&policy.rtcp);
    }
    policy.ssrc.type = is_inbound ? ssrc_any_inbound : ssrc_any_outbound;
    policy.key = key;
    policy.window_size = window_size;
    policy.allow_repeat_tx = 0;
    return srtp_create(session, &policy);
}

// Overwrites with zeros in a way no compiler leaves out.
static inline void talkpost_erase(void *bytes, size_t byte_count) {
    memset(bytes, 0, byte_count);
    __asm__ volatile("" : : "r"(bytes) : "memory");
}
