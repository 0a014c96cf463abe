#pragma once
#include <stdint.h>

/// From now on gettimeofday, as this process's libraries see it, gives this many microseconds since 1970 on the calling thread;
/// a negative value gives the real time back. OpenSSL's DTLS timers read it.
void talkpost_set_virtual_time(int64_t microseconds);
