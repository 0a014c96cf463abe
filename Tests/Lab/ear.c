// The lab's ear inside the machine: records a PCM and keeps when each piece of it was taken in.
//   ear PCM FILE     writes FILE (WAV, mono, 48 kHz, 16 bits) and FILE.times, a line `SAMPLE SECONDS` for each piece:
//                    at that time of CLOCK_MONOTONIC so many samples had been taken in since the beginning
// It runs until it is told to end (SIGINT, SIGTERM); the WAV's header then has its length. An overrun ends it with code 3, because times
// before and after it would not fit together.
#include <alsa/asoundlib.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define RATE 48000
#define PERIOD 4800  // 100 ms: waking up is dear in an emulated machine, and the times come from the driver, not from the wake-up

static volatile sig_atomic_t over;

static void end(int number) {
    (void)number;
    over = 1;
}

static void need(int code, const char *what) {
    if (code >= 0) return;
    fprintf(stderr, "ear: %s: %s\n", what, snd_strerror(code));
    exit(2);
}

static void header(FILE *file, uint32_t bytes) {
    struct {
        char riff[4];
        uint32_t size;
        char wave[8];
        uint32_t length;
        uint16_t format, channels;
        uint32_t rate, bytes_per_second;
        uint16_t stride, bits;
        char data[4];
        uint32_t bytes;
    } wav = {{'R', 'I', 'F', 'F'}, 36 + bytes, {'W', 'A', 'V', 'E', 'f', 'm', 't', ' '}, 16, 1, 1, RATE, 2 * RATE, 2, 16,
             {'d', 'a', 't', 'a'}, bytes};
    rewind(file);
    fwrite(&wav, sizeof wav, 1, file);
    fseek(file, 0, SEEK_END);
}

int main(int count, char **argument) {
    if (count != 3) {
        fprintf(stderr, "ear: PCM FILE\n");
        return 2;
    }
    struct sigaction ending = {.sa_handler = end};
    sigaction(SIGINT, &ending, NULL);
    sigaction(SIGTERM, &ending, NULL);
    char path[512];
    snprintf(path, sizeof path, "%s.times", argument[2]);
    FILE *file = fopen(argument[2], "w"), *times = fopen(path, "w");
    if (!file || !times) {
        perror("ear");
        return 2;
    }
    header(file, 0);

    snd_pcm_t *pcm;
    need(snd_pcm_open(&pcm, argument[1], SND_PCM_STREAM_CAPTURE, 0), "open");
    snd_pcm_hw_params_t *hardware;
    snd_pcm_sw_params_t *software;
    snd_pcm_hw_params_alloca(&hardware);
    snd_pcm_sw_params_alloca(&software);
    unsigned rate = RATE;
    snd_pcm_uframes_t period = PERIOD, buffer = 10 * PERIOD;
    need(snd_pcm_hw_params_any(pcm, hardware), "any");
    need(snd_pcm_hw_params_set_access(pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED), "access");
    need(snd_pcm_hw_params_set_format(pcm, hardware, SND_PCM_FORMAT_S16_LE), "format");
    need(snd_pcm_hw_params_set_channels(pcm, hardware, 2), "channels");
    need(snd_pcm_hw_params_set_rate(pcm, hardware, rate, 0), "rate");
    need(snd_pcm_hw_params_set_buffer_size_near(pcm, hardware, &buffer), "buffer");
    need(snd_pcm_hw_params_set_period_size_near(pcm, hardware, &period, NULL), "period");
    need(snd_pcm_hw_params(pcm, hardware), "parameters");
    need(snd_pcm_sw_params_current(pcm, software), "current");
    need(snd_pcm_sw_params_set_tstamp_mode(pcm, software, SND_PCM_TSTAMP_ENABLE), "times");
    need(snd_pcm_sw_params_set_tstamp_type(pcm, software, SND_PCM_TSTAMP_TYPE_MONOTONIC), "clock");
    need(snd_pcm_sw_params(pcm, software), "parameters");

    snd_pcm_status_t *status;
    snd_pcm_status_alloca(&status);
    static int16_t stereo[2 * PERIOD], mono[PERIOD];
    uint64_t taken = 0;
    need(snd_pcm_start(pcm), "start");
    while (!over) {
        snd_pcm_sframes_t got = snd_pcm_readi(pcm, stereo, PERIOD);
        if (got == -EINTR || over) break;
        if (got == -EPIPE) {
            fprintf(stderr, "ear: overrun\n");
            return 3;
        }
        need(got, "read");
        for (snd_pcm_sframes_t i = 0; i < got; i++) mono[i] = (stereo[2 * i] + stereo[2 * i + 1]) / 2;
        fwrite(mono, sizeof *mono, got, file);
        taken += got;
        need(snd_pcm_status(pcm, status), "status");
        snd_htimestamp_t at;
        snd_pcm_status_get_htstamp(status, &at);
        fprintf(times, "%llu %ld.%09ld\n", (unsigned long long)(taken + snd_pcm_status_get_avail(status)), (long)at.tv_sec, at.tv_nsec);
    }
    header(file, 2 * taken);
    return fclose(file) || fclose(times) ? 2 : 0;
}
