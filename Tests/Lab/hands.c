// The lab's hands inside the machine: run what the host asks, pull the button's line, watch the LED's, freeze a thread.
//   hands agent PORT               serves the host over a virtio-serial port
//   hands do STEP...               takes the steps, watching the LED all the while; see `steps` for what there is
//   hands ready                    the least service there is: tells systemd so and waits
//   hands wakes                    the processor time of a thousand wake-ups
//   hands freeze PID NAME SECONDS  keeps one thread of a process from turning, as a lock never given back would
// Times are seconds of CLOCK_MONOTONIC, which the appliance and systemd use too.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUTTON "/run/lab/BUTTON/pull"
#define LED "/run/lab/LED/value"

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void fail(const char *what) {
    fprintf(stderr, "hands: %s: %s\n", what, strerror(errno));
    exit(2);
}

// MARK: - Agent

static int read_all(int from, char *into, size_t count) {
    while (count > 0) {
        ssize_t got = read(from, into, count);
        if (got <= 0) return -1;
        into += got;
        count -= got;
    }
    return 0;
}

static void write_all(int to, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t put = write(to, bytes, count);
        if (put < 0) fail("port");
        bytes += put;
        count -= put;
    }
}

// The command's end is the shell's end: what it left running in the background may keep its output open.
static int run(const char *script, char **output, size_t *length) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) fail("pipe");
    pid_t child = fork();
    if (child == 0) {
        setsid();
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        execl("/bin/sh", "sh", "-c", script, NULL);
        _exit(127);
    }
    close(ends[1]);
    int status = 0, ended = 0;
    *output = NULL;
    *length = 0;
    for (;;) {
        struct pollfd waiting = {.fd = ends[0], .events = POLLIN};
        int ready = poll(&waiting, 1, ended ? 0 : 20);
        if (ready > 0) {
            *output = realloc(*output, *length + 65536);
            ssize_t got = read(ends[0], *output + *length, 65536);
            if (got > 0) {
                *length += got;
                continue;
            }
            if (!ended) waitpid(child, &status, 0);
            break;
        }
        if (ended) break;
        ended = waitpid(child, &status, WNOHANG) == child;
    }
    close(ends[0]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A request is `LENGTH\n` and a shell script, an answer `CODE LENGTH\n` and what it printed. `ready 0\n` says that it is served.
static _Noreturn void agent(const char *path) {
    int port = open(path, O_RDWR | O_CLOEXEC);
    if (port < 0) fail(path);
    write_all(port, "ready 0\n", 8);
    for (;;) {
        char header[32] = "";
        for (size_t i = 0; i < sizeof header - 1; i++) {
            if (read_all(port, header + i, 1) < 0) {
                // Nobody listens on the host; the port says so by an end of file.
                usleep(100000);
                i = -1;
                continue;
            }
            if (header[i] == '\n') break;
        }
        size_t wanted = strtoul(header, NULL, 10), length;
        if (wanted == 0) {  // what the clock says, as quickly as can be
            char now[32];
            int digits = snprintf(now, sizeof now, "%.6f", seconds());
            dprintf(port, "0 %d\n%s", digits, now);
            continue;
        }
        char *script = calloc(1, wanted + 1), *output;
        if (read_all(port, script, wanted) < 0) continue;
        int code = run(script, &output, &length);
        int size = snprintf(header, sizeof header, "%d %zu\n", code, length);
        write_all(port, header, size);
        write_all(port, output, length);
        free(script);
        free(output);
        while (waitpid(-1, NULL, WNOHANG) > 0) {}
    }
}

// MARK: - Ready

// sd_notify(3), for a path or an abstract name.
static _Noreturn void ready(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *name = getenv("NOTIFY_SOCKET");
    int from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (!name || strlen(name) >= sizeof to.sun_path || from < 0) fail("NOTIFY_SOCKET");
    memcpy(to.sun_path, name, strlen(name));
    if (*name == '@') to.sun_path[0] = 0;
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + strlen(name);
    if (sendto(from, "READY=1", 7, 0, (struct sockaddr *)&to, size) < 0) fail(name);
    for (;;) pause();
}

// MARK: - Steps

static int led = -1, lit = -1;

static void look(void) {
    char value = '?';
    if (pread(led, &value, 1, 0) == 1 && value - '0' != lit) {
        lit = value - '0';
        printf("%.6f led %d\n", seconds(), lit);
    }
}

// Watches until the time is over, or the LED shows `wanted` (-1: nothing is wanted). Returns whether it did.
static int watch(double until, int wanted) {
    for (;;) {
        look();
        if (wanted >= 0 && lit == wanted) return 1;
        if (seconds() >= until) return 0;
        usleep(1000);
    }
}

static void stream(const char *path) {
    char text[512] = "", *at, *delay;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[got > 0 ? got : 0] = 0;
    at = strstr(text, "trigger_time:");
    delay = strstr(text, "\ndelay");
    if (at && delay) printf("%.6f stream %.6f %d\n", seconds(), atof(at + 13), atoi(strchr(delay, ':') + 1));
    else printf("%.6f stream closed\n", seconds());
}

static int steps(int count, char **step) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    led = open(LED, O_RDONLY | O_CLOEXEC);
    int button = open(BUTTON, O_WRONLY | O_CLOEXEC);
    if (led < 0 || button < 0) fail(led < 0 ? LED : BUTTON);
    look();
    for (int i = 0; i < count; i++) {
        char *name = step[i], *value = strchr(name, '=');
        if (!value) fail(name);
        *value++ = 0;
        if (!strcmp(name, "pull")) {  // pull=up, pull=down: the button's line
            printf("%.6f pull %s\n", seconds(), value);
            if (dprintf(button, "pull-%s", value) < 0) fail(BUTTON);
        } else if (!strcmp(name, "wait")) {  // wait=SECONDS
            watch(seconds() + atof(value), -1);
        } else if (!strcmp(name, "led")) {  // led=VALUE:SECONDS: until it shows that
            double limit = atof(strchr(value, ':') + 1);
            int reached = watch(seconds() + limit, atoi(value));
            printf("%.6f %s %c\n", seconds(), reached ? "reached" : "missed", *value);
        } else if (!strcmp(name, "running")) {  // running=FILE:SECONDS: until a sound stream's status says so
            char text[256] = "", *limit = strchr(value, ':');
            *limit++ = 0;
            for (double until = seconds() + atof(limit); seconds() < until && !strstr(text, "RUNNING"); watch(seconds() + 0.002, -1)) {
                int file = open(value, O_RDONLY | O_CLOEXEC);
                ssize_t got = file < 0 ? 0 : read(file, text, sizeof text - 1);
                text[got > 0 ? got : 0] = 0;
                if (file >= 0) close(file);
            }
            printf("%.6f running %d\n", seconds(), strstr(text, "RUNNING") != NULL);
        } else if (!strcmp(name, "stream")) {  // stream=FILE: since when a sound stream runs, and how many samples lie in it
            stream(value);
        } else if (!strcmp(name, "run")) {  // run=COMMAND: in the background
            printf("%.6f run\n", seconds());
            if (fork() == 0) {
                dup2(open("/dev/null", O_RDWR), 1);
                execl("/bin/sh", "sh", "-c", value, NULL);
                _exit(127);
            }
        } else if (!strcmp(name, "kill")) {  // kill=SIGNAL:PID
            printf("%.6f kill %d\n", seconds(), atoi(value));
            if (kill(atoi(strchr(value, ':') + 1), atoi(value)) < 0) fail("kill");
        } else {
            errno = EINVAL;
            fail(name);
        }
    }
    look();
    return 0;
}

// MARK: - Freeze

static int freeze(int process, const char *name, double duration) {
    char path[64], comm[64];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *tasks = opendir(path);
    if (!tasks) fail(path);
    for (struct dirent *entry; (entry = readdir(tasks));) {
        int thread = atoi(entry->d_name);
        char file[128];
        snprintf(file, sizeof file, "/proc/%d/task/%d/comm", process, thread);
        int source = thread ? open(file, O_RDONLY) : -1;
        ssize_t length = source < 0 ? 0 : read(source, comm, sizeof comm - 1);
        if (source >= 0) close(source);
        if (length <= 0) continue;
        comm[length - 1] = 0;
        if (strcmp(comm, name)) continue;
        if (ptrace(PTRACE_SEIZE, thread, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, thread, 0, 0) < 0) fail("ptrace");
        printf("%.6f frozen %d\n", seconds(), thread);
        fflush(stdout);
        // A thread that dies while it is traced stays, and its process with it, until the tracer has asked for it.
        for (double until = seconds() + duration; seconds() < until; usleep(20000)) {
            int status;
            if (waitpid(thread, &status, __WALL | WNOHANG) == thread && !WIFSTOPPED(status)) break;
        }
        return 0;  // the end of this process lets the thread go on
    }
    fprintf(stderr, "hands: no thread is named %s\n", name);
    return 1;
}

static int wakes(void) {
    for (int i = 0; i < 1000; i++) usleep(1000);
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    printf("%.6f\n", used.tv_sec + used.tv_nsec / 1e9);
    return 0;
}

int main(int count, char **argument) {
    if (count == 3 && !strcmp(argument[1], "agent")) agent(argument[2]);
    if (count == 2 && !strcmp(argument[1], "ready")) ready();
    if (count == 2 && !strcmp(argument[1], "wakes")) return wakes();
    if (count >= 3 && !strcmp(argument[1], "do")) return steps(count - 2, argument + 2);
    if (count == 5 && !strcmp(argument[1], "freeze")) return freeze(atoi(argument[2]), argument[3], atof(argument[4]));
    fprintf(stderr, "hands: agent PORT | do STEP... | ready | wakes | freeze PID NAME SECONDS\n");
    return 2;
}
