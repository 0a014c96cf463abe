#pragma once
#include <jansson.h>

// A macro with an argument: how many digits a number is written with.
static inline size_t talkpost_json_digits(unsigned count) { return JSON_REAL_PRECISION(count); }
