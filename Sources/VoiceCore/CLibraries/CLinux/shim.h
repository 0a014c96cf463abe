#pragma once
// Only what Swift's Glibc module lacks, and what the pure folders may use of the C library. _GNU_SOURCE is not defined here:
// it would give the system's structures another shape than Glibc's module has.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
