/* Preloaded: every clock steps back by an hour now and then, as when somebody sets it, or a virtual machine moves. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    static unsigned asked;
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    /* MPI libraries wait by the monotonic clocks: for an hour if they lie, or not at all. */
    if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE) return result;
    if (result == 0 && ++asked % 3 == 0) now->tv_sec -= now->tv_sec > 3600 ? 3600 : now->tv_sec;
    return result;
}
