#pragma once
// Only what Swift's Glibc module lacks, and what the pure folders may use of the C library. _GNU_SOURCE is not defined here:
// it would give the system's structures another shape than Glibc's module has.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// prctl is variadic, which Swift cannot call. The kernel keeps 15 bytes of the name.
static inline void talkpost_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
