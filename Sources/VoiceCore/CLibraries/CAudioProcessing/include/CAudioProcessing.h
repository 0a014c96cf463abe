#pragma once
#ifdef __cplusplus
extern "C" {
#endif

/// The audio processing library's object, for one microphone.
typedef struct talkpost_audio_processing talkpost_audio_processing;

/// Makes one with everything switched off; null where the library cannot.
talkpost_audio_processing *talkpost_audio_processing_create(void);

/// Ends one.
void talkpost_audio_processing_destroy(talkpost_audio_processing *processing);

/// The version of the audio processing library this was built against, for example "0.3" or "1.3".
const char *talkpost_audio_processing_version(void);

#ifdef __cplusplus
}
#endif
