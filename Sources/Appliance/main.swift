print("talkpost")
