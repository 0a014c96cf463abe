#pragma once
// Only what Swift's Glibc module lacks, and what the pure folders may use of the C library. _GNU_SOURCE is not defined here:
// it would give the system's structures another shape than Glibc's module has.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// getaddrinfo_a(3), which <netdb.h> shows only under _GNU_SOURCE; the structure is glibc's gaicb.
struct addrinfo;
struct talkpost_lookup {
    const char *name;
    const char *service;
    const struct addrinfo *request;
    struct addrinfo *result;
    int state;
    int reserved[5];
};
extern int talkpost_getaddrinfo_a(int mode, struct talkpost_lookup *list[], int count, struct sigevent *event)
    __asm__("getaddrinfo_a");

// Begins a lookup; `done` is called with `context` on a thread of the library's. Returns 0, or why it cannot begin.
static inline int talkpost_look_up(struct talkpost_lookup *lookup, void (*done)(union sigval), void *context) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_ptr = context};
    event.sigev_notify_function = done;
    return talkpost_getaddrinfo_a(1, &lookup, 1, &event);
}

// prctl is variadic, which Swift cannot call. The kernel keeps 15 bytes of the name.
static inline void talkpost_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
