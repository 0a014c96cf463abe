// The one place that knows which generation of webrtc-audio-processing is installed.
#define WEBRTC_POSIX 1
#define WEBRTC_LINUX 1

#include "CAudioProcessing.h"

#if __has_include(<modules/audio_processing/include/audio_processing.h>)
#include <modules/audio_processing/include/audio_processing.h>

static const char *const version = "1.3";

static webrtc::AudioProcessing *create() {
    rtc::scoped_refptr<webrtc::AudioProcessing> processing(webrtc::AudioProcessingBuilder().Create());
    if (processing) processing->AddRef();  // the caller's own
    return processing.get();
}

static void destroy(webrtc::AudioProcessing *processing) { processing->Release(); }
#else
#include <webrtc/modules/audio_processing/include/audio_processing.h>

static const char *const version = "0.3";

static webrtc::AudioProcessing *create() { return webrtc::AudioProcessing::Create(); }

static void destroy(webrtc::AudioProcessing *processing) { delete processing; }
#endif

talkpost_audio_processing *talkpost_audio_processing_create(void) {
    return reinterpret_cast<talkpost_audio_processing *>(create());
}

void talkpost_audio_processing_destroy(talkpost_audio_processing *processing) {
    destroy(reinterpret_cast<webrtc::AudioProcessing *>(processing));
}

const char *talkpost_audio_processing_version(void) { return version; }
