#define _GNU_SOURCE
#include "CVirtualTime.h"
#include <sys/time.h>
#include <time.h>

static _Thread_local int64_t virtual_microseconds = -1;

void talkpost_set_virtual_time(int64_t microseconds) { virtual_microseconds = microseconds; }

// Takes the place of the C library's: the executable's symbols come first.
__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    if (virtual_microseconds >= 0) {
        time->tv_sec = virtual_microseconds / 1000000;
        time->tv_usec = virtual_microseconds % 1000000;
        return 0;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}
