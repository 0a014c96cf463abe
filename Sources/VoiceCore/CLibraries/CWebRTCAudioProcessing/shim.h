// Carries the compile and link flags of webrtc-audio-processing; the C interface is in CAudioProcessing.
