#pragma once
#include <opus/opus.h>

// opus_encoder_ctl and opus_decoder_ctl are variadic, which Swift cannot call: one function per request used.
static inline int talkpost_opus_encoder_set(OpusEncoder *encoder, int request, opus_int32 value) {
    return opus_encoder_ctl(encoder, request, value);
}

static inline int talkpost_opus_decoder_set(OpusDecoder *decoder, int request, opus_int32 value) {
    return opus_decoder_ctl(decoder, request, value);
}

static inline int talkpost_opus_decoder_reset(OpusDecoder *decoder) {
    return opus_decoder_ctl(decoder, OPUS_RESET_STATE);
}
