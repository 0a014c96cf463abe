// The one place that knows which generation of webrtc-audio-processing is installed.
#define WEBRTC_POSIX 1
#define WEBRTC_LINUX 1

#include "CAudioProcessing.h"

#if __has_include(<modules/audio_processing/include/audio_processing.h>)
#include <modules/audio_processing/include/audio_processing.h>
static const char *const version = "1.3";
#else
#include <webrtc/modules/audio_processing/include/audio_processing.h>
static const char *const version = "0.3";
#endif

const char *talkpost_audio_processing_version(void) { return version; }
