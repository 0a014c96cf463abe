#pragma once
#ifdef __cplusplus
extern "C" {
#endif

/// The version of the audio processing library this was built against, for example "0.3" or "1.3".
const char *talkpost_audio_processing_version(void);

#ifdef __cplusplus
}
#endif
