#pragma once
#include <curl/curl.h>
#include <sys/prctl.h>

// libcurl's own functions are variadic, which Swift does not import: one typed function for each kind of value.

static inline CURLcode talkpost_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode talkpost_curl_set_text(CURL *easy, CURLoption option, const char *text) {
    return curl_easy_setopt(easy, option, text);
}

static inline CURLcode talkpost_curl_set_pointer(CURL *easy, CURLoption option, void *pointer) {
    return curl_easy_setopt(easy, option, pointer);
}

// libcurl keeps a copy of the body.
static inline CURLcode talkpost_curl_set_body(CURL *easy, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, (const char *)bytes) : code;
}

static inline CURLcode talkpost_curl_set_write(CURL *easy, size_t (*function)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
}

static inline CURLcode talkpost_curl_set_before_request(CURL *easy, int (*function)(void *, char *, char *, int, int)) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode talkpost_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode talkpost_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

// The text belongs to the easy handle.
static inline CURLcode talkpost_curl_get_text(CURL *easy, CURLINFO info, const char **text) {
    return curl_easy_getinfo(easy, info, text);
}

static inline CURLcode talkpost_curl_get_socket(CURL *easy, curl_socket_t *socket) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, socket);
}

static inline CURLMcode talkpost_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// A finished transfer's handle and result; NULL where none is left. The union in CURLMsg is read here.
static inline CURL *talkpost_curl_next_finished(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

static inline const char *talkpost_curl_version(void) {
    return curl_version_info(CURLVERSION_NOW)->version;
}

// At most 15 characters. pthread_setname_np is not in Swift's Glibc module, prctl is variadic.
static inline void talkpost_name_backend_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
