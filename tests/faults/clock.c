/* A wrong clock for one process: adds the seconds that the file named in CLOCK_OFFSET says now to the time of day.
   Preloaded by the dynamic linker (LD_PRELOAD); clocks that only count on are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void)
{
    static int file = -2;
    char text[24];
    ssize_t length;
    if (file == -2) {
        const char *name = getenv("CLOCK_OFFSET");
        file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    }
    if (file < 0 || (length = pread(file, text, sizeof text - 1, 0)) <= 0)
        return 0;
    text[length] = 0;
    return strtol(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, now);
    if (code == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += offset();
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;
    (void) zone;
    if (clock_gettime(CLOCK_REALTIME, &exact))
        return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now)
        *now = exact.tv_sec;
    return exact.tv_sec;
}
