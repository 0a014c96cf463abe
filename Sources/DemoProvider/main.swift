// The offering side and answering side live in VoiceCore.
print("talkpost-provider")
