// What a call costs at least: a C program with the libraries, threads and wake-ups of talkpost and nothing else.
//
// A capture thread wakes each 10 ms and encodes each 20 ms, a playback thread wakes each 10 ms and decodes each 20 ms, a
// network thread waits in epoll on a UDP socket, a wake-up and a timer, and protects and unprotects each packet. Before that
// there are one DTLS handshake (with itself) and one HTTP request (refused), since no call is without them. The libraries that a
// call of simulated parts has no work for (audio processing, ALSA, speexdsp, libgpiod, jansson, libsystemd) are loaded as in
// talkpost, then rest.
//
//   floor PORT SECONDS SPEECH.wav     PORT of 127.0.0.1 sends each datagram back
#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <arpa/inet.h>
#include <curl/curl.h>
#include <gpiod.h>
#include <jansson.h>
#include <math.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <opus/opus.h>
#include <pthread.h>
#include <speex/speex_resampler.h>
#include <srtp2/srtp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "CAudioProcessing.h"

enum { frame_samples = 480, packet_samples = 960, slots = 64, slot_bytes = 1500 };

struct queue {
    pthread_mutex_t lock;
    int first, count, sizes[slots];
    unsigned char bytes[slots][slot_bytes];
};

static struct queue microphone = {.lock = PTHREAD_MUTEX_INITIALIZER}, speaker = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int wake, udp;
static struct sockaddr_in peer;
static volatile int is_over;

static void push(struct queue *queue, const void *bytes, int size) {
    pthread_mutex_lock(&queue->lock);
    if (queue->count == slots) {
        queue->first = (queue->first + 1) % slots;
        queue->count--;
    }
    int slot = (queue->first + queue->count++) % slots;
    queue->sizes[slot] = size;
    memcpy(queue->bytes[slot], bytes, size);
    pthread_mutex_unlock(&queue->lock);
}

static int pop(struct queue *queue, void *bytes) {
    int size = 0;
    pthread_mutex_lock(&queue->lock);
    if (queue->count > 0) {
        size = queue->sizes[queue->first];
        memcpy(bytes, queue->bytes[queue->first], size);
        queue->first = (queue->first + 1) % slots;
        queue->count--;
    }
    pthread_mutex_unlock(&queue->lock);
    return size;
}

static void next_frame(struct timespec *time) {
    time->tv_nsec += 10000000;
    if (time->tv_nsec >= 1000000000) {
        time->tv_nsec -= 1000000000;
        time->tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, time, NULL);
}

static void *capture(void *speech) {
    OpusEncoder *encoder = opus_encoder_create(48000, 1, OPUS_APPLICATION_VOIP, NULL);
    opus_encoder_ctl(encoder, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
    opus_encoder_ctl(encoder, OPUS_SET_BITRATE(32000));
    opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(5));
    opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(1));
    opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(10));
    FILE *file = fopen(speech, "rb");
    short pcm[packet_samples];
    unsigned char packet[1276];
    int half = 0;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    while (!is_over) {
        next_frame(&time);
        if (!file || fread(pcm + half, 2, frame_samples, file) != frame_samples) {
            memset(pcm + half, 0, 2 * frame_samples);
            if (file) fseek(file, 44, SEEK_SET);
        }
        half = frame_samples - half;
        if (half) continue;
        int size = opus_encode(encoder, pcm, packet_samples, packet, sizeof packet);
        if (size > 0) push(&microphone, packet, size);
        eventfd_write(wake, 1);
    }
    return NULL;
}

static void *playback(void *unused) {
    (void)unused;
    OpusDecoder *decoder = opus_decoder_create(48000, 1, NULL);
    short pcm[5760];
    unsigned char packet[slot_bytes];
    int left = 0;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    while (!is_over) {
        next_frame(&time);
        if (left >= frame_samples) {
            left -= frame_samples;
            continue;
        }
        int size = pop(&speaker, packet);
        left = opus_decode(decoder, size ? packet : NULL, size, pcm, packet_samples, 0) - frame_samples;
    }
    return NULL;
}

static srtp_t session(srtp_ssrc_type_t type) {
    static unsigned char key[28] = "an example key for the floor";
    srtp_policy_t policy;
    memset(&policy, 0, sizeof policy);
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
    policy.ssrc.type = type;
    policy.key = key;
    policy.window_size = 128;
    srtp_t made;
    if (srtp_create(&made, &policy) != srtp_err_status_ok) exit(1);
    return made;
}

static void network(int seconds) {
    srtp_t outbound = session(ssrc_any_outbound), inbound = session(ssrc_any_inbound);
    int poll = epoll_create1(0);
    struct epoll_event watch = {.events = EPOLLIN, .data.fd = udp}, ready[16];
    epoll_ctl(poll, EPOLL_CTL_ADD, udp, &watch);
    watch = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.fd = wake};
    epoll_ctl(poll, EPOLL_CTL_ADD, wake, &watch);
    unsigned char packet[slot_bytes + 200];
    unsigned short sequence = 1;
    unsigned timestamp = 0;
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        struct timespec timeout = {.tv_sec = 1};
        int count = epoll_pwait2(poll, ready, 16, &timeout, NULL);
        for (int index = 0; index < count; index++) {
            if (ready[index].data.fd != udp) continue;
            struct sockaddr_storage from;
            socklen_t length = sizeof from;
            int size = recvfrom(udp, packet, slot_bytes, 0, (struct sockaddr *)&from, &length);
            if (size > 12 && srtp_unprotect(inbound, packet, &size) == srtp_err_status_ok)
                push(&speaker, packet + 12, size - 12);
        }
        int size;
        while ((size = pop(&microphone, packet + 12)) > 0) {
            unsigned header[3] = {htonl(0x806F0000u | sequence++), htonl(timestamp += packet_samples), htonl(4711)};
            memcpy(packet, header, 12);
            size += 12;
            if (srtp_protect(outbound, packet, &size) == srtp_err_status_ok)
                sendto(udp, packet, size, MSG_NOSIGNAL, (struct sockaddr *)&peer, sizeof peer);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < seconds);
    is_over = 1;
}

static void shake_hands(void) {
    SSL_CTX *context = SSL_CTX_new(DTLS_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
    SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AEAD_AES_128_GCM");
    SSL *client = SSL_new(context), *server = SSL_new(context);
    // A stream between them carries records as well as datagrams would: none is lost.
    BIO *near, *far;
    BIO_new_bio_pair(&near, 65536, &far, 65536);
    SSL_set_bio(client, near, near);
    SSL_set_bio(server, far, far);
    SSL_set_options(client, SSL_OP_NO_QUERY_MTU);
    SSL_set_options(server, SSL_OP_NO_QUERY_MTU);
    SSL_set_mtu(client, 1200);
    SSL_set_mtu(server, 1200);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    for (int round = 0; round < 10; round++) {
        SSL_do_handshake(client);
        SSL_do_handshake(server);
    }
    if (!SSL_is_init_finished(client) || !SSL_is_init_finished(server)) {
        fprintf(stderr, "floor: the DTLS handshake did not finish\n");
        exit(1);
    }
    SSL_free(client);
    SSL_free(server);
    X509_free(certificate);
    EVP_PKEY_free(key);
    SSL_CTX_free(context);
}

static void ask(CURLM *multi) {
    CURL *request = curl_easy_init();
    curl_easy_setopt(request, CURLOPT_URL, "http://127.0.0.1:9/voice/lobby");
    curl_easy_setopt(request, CURLOPT_POSTFIELDS, "{}");
    curl_multi_add_handle(multi, request);
    int running = 1;
    while (running && curl_multi_perform(multi, &running) == CURLM_OK)
        if (running) curl_multi_poll(multi, NULL, 0, 100, NULL);
    curl_multi_remove_handle(multi, request);
    curl_easy_cleanup(request);
}

static const char *talkpost_gpiod_version(void) {
#ifdef GPIOD_LINE_BULK_MAX_LINES  // 1.6
    return gpiod_version_string();
#else
    return gpiod_api_version();
#endif
}

int main(int count, char **words) {
    if (count != 4) {
        fprintf(stderr, "floor PORT SECONDS SPEECH.wav\n");
        return 2;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    ask(multi);
    shake_hands();
    srtp_init();
    sd_notify(0, "STATUS=floor");
    json_decref(json_object());
    printf("audio processing %s, ALSA %s, libgpiod %s, %s\n", talkpost_audio_processing_version(), snd_asoundlib_version(),
           talkpost_gpiod_version(), speex_resampler_strerror(0));

    udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    peer = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    wake = eventfd(0, EFD_NONBLOCK);
    pthread_t capturing, playing;
    pthread_create(&capturing, NULL, capture, words[3]);
    pthread_create(&playing, NULL, playback, NULL);
    network(atoi(words[2]));
    pthread_join(capturing, NULL);
    pthread_join(playing, NULL);
    curl_multi_cleanup(multi);
    return 0;
}
