#pragma once
// One face for libgpiod 1.6 (Debian 12) and 2.2 (Debian 13), whose interfaces have nothing in common; nothing above this file knows
// which of them it is. Where a function fails, errno says why.
#include <errno.h>
#include <gpiod.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Only 1.6 has lines in bulk.
#ifdef GPIOD_LINE_BULK_MAX_LINES
#define TALKPOST_GPIOD_1 1
#else
#define TALKPOST_GPIOD_1 0
#endif

// GPIO_MAX_NAME_SIZE, 32 with its final zero (linux/gpio.h); libgpiod hands out no more.
enum { TALKPOST_GPIO_NAME_SIZE = 32 };

struct talkpost_gpio_chip_description {
    char label[TALKPOST_GPIO_NAME_SIZE];
    unsigned line_count;
};

struct talkpost_gpio_line_description {
    char name[TALKPOST_GPIO_NAME_SIZE];      // empty: it has none
    char consumer[TALKPOST_GPIO_NAME_SIZE];  // empty: unknown
    bool is_used;
};

enum talkpost_gpio_bias {
    TALKPOST_GPIO_BIAS_AS_IS,
    TALKPOST_GPIO_BIAS_NONE,
    TALKPOST_GPIO_BIAS_PULL_UP,
    TALKPOST_GPIO_BIAS_PULL_DOWN,
};

enum talkpost_gpio_drive {
    TALKPOST_GPIO_DRIVE_PUSH_PULL,
    TALKPOST_GPIO_DRIVE_OPEN_DRAIN,
    TALKPOST_GPIO_DRIVE_OPEN_SOURCE,
};

struct talkpost_gpio_settings {
    bool is_output;       // else an input that reports both edges
    bool is_active;       // an output's value from the first moment on
    bool is_active_low;
    enum talkpost_gpio_bias bias;    // of an input
    enum talkpost_gpio_drive drive;  // of an output
};

// A line that was asked for and granted. Its owner hands it to talkpost_gpio_release once.
struct talkpost_gpio_line {
    struct gpiod_chip *chip;  // 1.6: lives as long as its lines
#if TALKPOST_GPIOD_1
    struct gpiod_line *request;
#else
    struct gpiod_line_request *request;
    struct gpiod_edge_event_buffer *edges;  // NULL: an output
#endif
    unsigned offset;
    int fd;  // readable when there is an edge; -1: an output
};

struct talkpost_gpio_edge {
    uint64_t nanoseconds;    // CLOCK_MONOTONIC
    unsigned long sequence;  // counts the line's edges from 1, the lost ones too; 0: not counted (1.6)
    bool is_active;          // the level after it
};

// What the kernel keeps for a line that is not read: 16 edges in both of its interfaces, as neither is asked for more. Then the
// newest is lost (1.6), or the oldest (2.2).
enum { TALKPOST_GPIO_EDGE_LIMIT = 16 };

static inline void talkpost_gpio_copy_name(char to[TALKPOST_GPIO_NAME_SIZE], const char *from) {
    memset(to, 0, TALKPOST_GPIO_NAME_SIZE);
    if (from) strncpy(to, from, TALKPOST_GPIO_NAME_SIZE - 1);
}

static inline struct gpiod_chip *talkpost_gpio_open_chip(const char *path) { return gpiod_chip_open(path); }

static inline void talkpost_gpio_close_chip(struct gpiod_chip *chip) { gpiod_chip_close(chip); }

// 0, or -1.
static inline int talkpost_gpio_describe_chip(struct gpiod_chip *chip, struct talkpost_gpio_chip_description *out) {
#if TALKPOST_GPIOD_1
    talkpost_gpio_copy_name(out->label, gpiod_chip_label(chip));
    out->line_count = gpiod_chip_num_lines(chip);
#else
    struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
    if (!info) return -1;
    talkpost_gpio_copy_name(out->label, gpiod_chip_info_get_label(info));
    out->line_count = (unsigned)gpiod_chip_info_get_num_lines(info);
    gpiod_chip_info_free(info);
#endif
    return 0;
}

// 0, or -1.
static inline int talkpost_gpio_describe_line(struct gpiod_chip *chip, unsigned offset,
                                              struct talkpost_gpio_line_description *out) {
#if TALKPOST_GPIOD_1
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line) return -1;
    talkpost_gpio_copy_name(out->name, gpiod_line_name(line));
    talkpost_gpio_copy_name(out->consumer, gpiod_line_consumer(line));
    out->is_used = gpiod_line_is_used(line);
#else
    struct gpiod_line_info *info = gpiod_chip_get_line_info(chip, offset);
    if (!info) return -1;
    talkpost_gpio_copy_name(out->name, gpiod_line_info_get_name(info));
    talkpost_gpio_copy_name(out->consumer, gpiod_line_info_get_consumer(info));
    out->is_used = gpiod_line_info_is_used(info);
    gpiod_line_info_free(info);
#endif
    return 0;
}

#if TALKPOST_GPIOD_1

static inline int talkpost_gpio_flags(const struct talkpost_gpio_settings *settings) {
    int flags = settings->is_active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0;
    if (settings->is_output) {
        switch (settings->drive) {
        case TALKPOST_GPIO_DRIVE_PUSH_PULL: break;
        case TALKPOST_GPIO_DRIVE_OPEN_DRAIN: flags |= GPIOD_LINE_REQUEST_FLAG_OPEN_DRAIN; break;
        case TALKPOST_GPIO_DRIVE_OPEN_SOURCE: flags |= GPIOD_LINE_REQUEST_FLAG_OPEN_SOURCE; break;
        }
        return flags;
    }
    switch (settings->bias) {
    case TALKPOST_GPIO_BIAS_AS_IS: break;
    case TALKPOST_GPIO_BIAS_NONE: flags |= GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE; break;
    case TALKPOST_GPIO_BIAS_PULL_UP: flags |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP; break;
    case TALKPOST_GPIO_BIAS_PULL_DOWN: flags |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN; break;
    }
    return flags;
}

// 0, or -1. Takes the chip either way.
static inline int talkpost_gpio_request(struct gpiod_chip *chip, unsigned offset,
                                        const struct talkpost_gpio_settings *settings,
                                        struct talkpost_gpio_line *out) {
    struct gpiod_line_request_config config;
    config.consumer = "talkpost";
    config.request_type = settings->is_output ? GPIOD_LINE_REQUEST_DIRECTION_OUTPUT : GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES;
    config.flags = talkpost_gpio_flags(settings);
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line || gpiod_line_request(line, &config, settings->is_active) != 0) {
        int reason = errno;
        gpiod_chip_close(chip);
        errno = reason;
        return -1;
    }
    out->chip = chip;
    out->request = line;
    out->offset = offset;
    out->fd = settings->is_output ? -1 : gpiod_line_event_get_fd(line);
    return 0;
}

static inline void talkpost_gpio_release(struct talkpost_gpio_line *line) {
    gpiod_line_release(line->request);
    gpiod_chip_close(line->chip);
}

// 1 active, 0 inactive, or -1.
static inline int talkpost_gpio_get(struct talkpost_gpio_line *line) { return gpiod_line_get_value(line->request); }

// 0, or -1.
static inline int talkpost_gpio_set(struct talkpost_gpio_line *line, bool is_active) {
    return gpiod_line_set_value(line->request, is_active);
}

static inline int talkpost_gpio_take_edges(struct talkpost_gpio_line *line, struct talkpost_gpio_edge *out) {
    struct gpiod_line_event events[TALKPOST_GPIO_EDGE_LIMIT];
    int count = gpiod_line_event_read_fd_multiple(line->fd, events, TALKPOST_GPIO_EDGE_LIMIT);
    for (int i = 0; i < count; i++) {
        // CLOCK_MONOTONIC since Linux 5.7.
        out[i].nanoseconds = (uint64_t)events[i].ts.tv_sec * 1000000000u + (uint64_t)events[i].ts.tv_nsec;
        out[i].sequence = 0;
        out[i].is_active = events[i].event_type == GPIOD_LINE_EVENT_RISING_EDGE;
    }
    return count;
}

#else

static inline struct gpiod_line_settings *talkpost_gpio_native(const struct talkpost_gpio_settings *settings) {
    struct gpiod_line_settings *native = gpiod_line_settings_new();
    if (!native) return NULL;
    gpiod_line_settings_set_active_low(native, settings->is_active_low);
    if (settings->is_output) {
        gpiod_line_settings_set_direction(native, GPIOD_LINE_DIRECTION_OUTPUT);
        gpiod_line_settings_set_output_value(
            native, settings->is_active ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
        switch (settings->drive) {
        case TALKPOST_GPIO_DRIVE_PUSH_PULL: break;
        case TALKPOST_GPIO_DRIVE_OPEN_DRAIN: gpiod_line_settings_set_drive(native, GPIOD_LINE_DRIVE_OPEN_DRAIN); break;
        case TALKPOST_GPIO_DRIVE_OPEN_SOURCE: gpiod_line_settings_set_drive(native, GPIOD_LINE_DRIVE_OPEN_SOURCE); break;
        }
        return native;
    }
    gpiod_line_settings_set_direction(native, GPIOD_LINE_DIRECTION_INPUT);
    gpiod_line_settings_set_edge_detection(native, GPIOD_LINE_EDGE_BOTH);
    gpiod_line_settings_set_event_clock(native, GPIOD_LINE_CLOCK_MONOTONIC);
    switch (settings->bias) {
    case TALKPOST_GPIO_BIAS_AS_IS: break;
    case TALKPOST_GPIO_BIAS_NONE: gpiod_line_settings_set_bias(native, GPIOD_LINE_BIAS_DISABLED); break;
    case TALKPOST_GPIO_BIAS_PULL_UP: gpiod_line_settings_set_bias(native, GPIOD_LINE_BIAS_PULL_UP); break;
    case TALKPOST_GPIO_BIAS_PULL_DOWN: gpiod_line_settings_set_bias(native, GPIOD_LINE_BIAS_PULL_DOWN); break;
    }
    return native;
}

// 0, or -1. Takes the chip either way.
static inline int talkpost_gpio_request(struct gpiod_chip *chip, unsigned offset,
                                        const struct talkpost_gpio_settings *settings,
                                        struct talkpost_gpio_line *out) {
    struct gpiod_line_settings *native = talkpost_gpio_native(settings);
    struct gpiod_line_config *lines = gpiod_line_config_new();
    struct gpiod_request_config *config = gpiod_request_config_new();
    struct gpiod_edge_event_buffer *edges =
        settings->is_output ? NULL : gpiod_edge_event_buffer_new(TALKPOST_GPIO_EDGE_LIMIT);
    struct gpiod_line_request *request = NULL;
    if (native && lines && config && (edges || settings->is_output) &&
        gpiod_line_config_add_line_settings(lines, &offset, 1, native) == 0) {
        gpiod_request_config_set_consumer(config, "talkpost");
        request = gpiod_chip_request_lines(chip, config, lines);
    }
    int reason = errno;
    if (config) gpiod_request_config_free(config);
    if (lines) gpiod_line_config_free(lines);
    if (native) gpiod_line_settings_free(native);
    gpiod_chip_close(chip);
    if (!request) {
        if (edges) gpiod_edge_event_buffer_free(edges);
        errno = reason;
        return -1;
    }
    out->chip = NULL;
    out->request = request;
    out->edges = edges;
    out->offset = offset;
    out->fd = settings->is_output ? -1 : gpiod_line_request_get_fd(request);
    return 0;
}

static inline void talkpost_gpio_release(struct talkpost_gpio_line *line) {
    gpiod_line_request_release(line->request);
    if (line->edges) gpiod_edge_event_buffer_free(line->edges);
}

// 1 active, 0 inactive, or -1.
static inline int talkpost_gpio_get(struct talkpost_gpio_line *line) {
    return gpiod_line_request_get_value(line->request, line->offset);
}

// 0, or -1.
static inline int talkpost_gpio_set(struct talkpost_gpio_line *line, bool is_active) {
    return gpiod_line_request_set_value(line->request, line->offset,
                                        is_active ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
}

static inline int talkpost_gpio_take_edges(struct talkpost_gpio_line *line, struct talkpost_gpio_edge *out) {
    int count = gpiod_line_request_read_edge_events(line->request, line->edges, TALKPOST_GPIO_EDGE_LIMIT);
    for (int i = 0; i < count; i++) {
        struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(line->edges, (unsigned long)i);
        out[i].nanoseconds = gpiod_edge_event_get_timestamp_ns(event);
        out[i].sequence = gpiod_edge_event_get_line_seqno(event);
        out[i].is_active = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
    }
    return count;
}

#endif

// Takes the edges that wait, at most TALKPOST_GPIO_EDGE_LIMIT, oldest first: how many, or -1 (ENODEV: the chip is gone). Never blocks.
static inline int talkpost_gpio_read_edges(struct talkpost_gpio_line *line, struct talkpost_gpio_edge *out) {
    struct pollfd waiting = {.fd = line->fd, .events = POLLIN, .revents = 0};
    int ready = poll(&waiting, 1, 0);
    if (ready <= 0) return ready;
    if (waiting.revents & POLLIN) return talkpost_gpio_take_edges(line, out);
    errno = ENODEV;
    return -1;
}
