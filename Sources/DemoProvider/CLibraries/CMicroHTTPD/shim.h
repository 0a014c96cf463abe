#pragma once
#include <microhttpd.h>

typedef enum MHD_Result (*talkpost_http_handler)(void *context, struct MHD_Connection *connection, const char *url,
                                                 const char *method, const char *version, const char *upload,
                                                 size_t *upload_count, void **request);
typedef void (*talkpost_http_completed)(void *context, struct MHD_Connection *connection, void **request,
                                        enum MHD_RequestTerminationCode how);

// MHD_start_daemon is variadic, which Swift does not import. One thread for each connection, so that a handler may wait; a
// connection at rest stays open.
static inline struct MHD_Daemon *talkpost_http_start(int listening_socket, talkpost_http_handler handler,
                                                     talkpost_http_completed completed, void *context) {
    return MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC, 0, NULL, NULL,
                            handler, context, MHD_OPTION_LISTEN_SOCKET, listening_socket, MHD_OPTION_NOTIFY_COMPLETED,
                            completed, context, MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_END);
}

static const enum MHD_Result talkpost_http_yes = MHD_YES;
static const enum MHD_Result talkpost_http_no = MHD_NO;

// The library keeps a copy of the body.
static inline struct MHD_Response *talkpost_http_response(const void *body, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)body, MHD_RESPMEM_MUST_COPY);
}

// A request's header; NULL where there is none. The kind is an enumeration whose values Swift does not see.
static inline const char *talkpost_http_header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}
