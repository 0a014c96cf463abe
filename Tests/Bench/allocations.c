// Counts the heap allocations of a program, by thread and by the library that asked. Loaded with LD_PRELOAD.
//
// Each second one JSON line goes to the file that TALKPOST_ALLOCATIONS names: {"at": seconds of CLOCK_MONOTONIC, "threads":
// [{"name": thread, "own": n, "srtp": n, "dtls": n, "other": n}]}, counted since the start. "srtp" is libsrtp2 and the NSS libraries
// it sits on, "dtls" is OpenSSL, "own" is the program itself and what it is linked to statically.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum kind { own, srtp, dtls, other, kinds };
static const char *const kind_names[kinds] = {"own", "srtp", "dtls", "other"};

enum { most_ranges = 512, most_threads = 64 };
static struct range {
    unsigned long start, end;
    enum kind kind;
} ranges[most_ranges];
static int range_count;

static struct counts {
    char name[16];
    unsigned long by_kind[kinds];
} counts[most_threads];
static int thread_count;
static _Thread_local struct counts *mine;
static _Thread_local int is_inside;

// The program itself comes first. Libraries are only ever added, so that those loaded later are known a second later.
static int add_object(struct dl_phdr_info *info, size_t size, void *is_first) {
    (void)size;
    enum kind kind = *(int *)is_first ? own : other;
    const char *name = info->dlpi_name;
    *(int *)is_first = 0;
    if (strstr(name, "libsrtp") || strstr(name, "libnss") || strstr(name, "libfreebl") || strstr(name, "libsoftokn") ||
        strstr(name, "libnspr") || strstr(name, "libplc"))
        kind = srtp;
    if (strstr(name, "libssl") || strstr(name, "libcrypto")) kind = dtls;
    for (int index = 0; index < info->dlpi_phnum && range_count < most_ranges; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type != PT_LOAD) continue;
        unsigned long start = info->dlpi_addr + part->p_vaddr;
        int known = 0;
        while (known < range_count && ranges[known].start != start) known++;
        if (known < range_count) continue;
        ranges[known] = (struct range){start, start + part->p_memsz, kind};
        __atomic_store_n(&range_count, known + 1, __ATOMIC_RELEASE);
    }
    return 0;
}

static void note(void *caller) {
    if (is_inside) return;
    is_inside = 1;
    if (!mine) {
        int index = __atomic_fetch_add(&thread_count, 1, __ATOMIC_RELAXED);
        mine = &counts[index < most_threads ? index : most_threads - 1];
    }
    enum kind kind = other;
    for (int index = 0; index < range_count; index++)
        if ((unsigned long)caller >= ranges[index].start && (unsigned long)caller < ranges[index].end) {
            kind = ranges[index].kind;
            break;
        }
    if (mine->by_kind[kind]++ % 64 == 0) prctl(PR_GET_NAME, mine->name, 0, 0, 0);
    is_inside = 0;
}

// The immediate caller decides: what libstdc++ or another library allocates on behalf of its caller counts as "other".
void *malloc(size_t size) {
    note(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note(__builtin_return_address(0));
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    note(__builtin_return_address(0));
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    note(__builtin_return_address(0));
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : 12;
}

static void *report(void *file) {
    is_inside = 1;
    prctl(PR_SET_NAME, "counting", 0, 0, 0);
    for (;;) {
        int is_first = 1;
        dl_iterate_phdr(add_object, &is_first);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        char line[16384];
        int length = snprintf(line, sizeof line, "{\"at\": %ld.%03ld, \"threads\": [", now.tv_sec, now.tv_nsec / 1000000);
        int threads = thread_count < most_threads ? thread_count : most_threads;
        for (int index = 0; index < threads && length < 15000; index++) {
            length += snprintf(
                line + length, sizeof line - length, "%s{\"name\": \"%s\"", index ? ", " : "", counts[index].name);
            for (int kind = 0; kind < kinds; kind++)
                length += snprintf(
                    line + length, sizeof line - length, ", \"%s\": %lu", kind_names[kind], counts[index].by_kind[kind]);
            length += snprintf(line + length, sizeof line - length, "}");
        }
        length += snprintf(line + length, sizeof line - length, "]}\n");
        fwrite(line, 1, length, file);
        fflush(file);
        sleep(1);
    }
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TALKPOST_ALLOCATIONS");
    if (!path) return;
    int is_first = 1;
    dl_iterate_phdr(add_object, &is_first);
    unsetenv("LD_PRELOAD");
    FILE *file = fopen(path, "w");
    pthread_t thread;
    if (file) pthread_create(&thread, NULL, report, file);
}
