#pragma once
#include <alsa/asoundlib.h>

static inline void talkpost_alsa_say_nothing(
    const char *file, int line, const char *function, int error, const char *format, ...) {}

// alsa-lib writes each refusal to standard error by itself; ours become sentences. The handler is variadic, which Swift cannot write.
static inline void talkpost_alsa_be_quiet(void) {
    snd_lib_error_set_handler(talkpost_alsa_say_nothing);
}
