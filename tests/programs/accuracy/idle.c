/* Preloaded into ranks in the lab, where many share a processor: a rank that has nothing to do blocks until one of its connections is ready,
 * instead of asking again and again. On a cluster each rank has a processor, and its polling keeps nobody from sending. Open MPI asks its
 * connections with a poll that returns at once, handles those that are ready, and then calls sched_yield (`mpi_yield_when_idle`). */
#define _GNU_SOURCE
#include <linux/sched/types.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds after which a blocked rank asks again: ranks of one host write into each other's memory, which makes no connection ready. */
enum { ALONE = 1000000, BESIDE_OTHERS = 50000 };

/* The connections that this thread asked about last, and whether any was ready since it last yielded: it may have what it waits for. */
enum { MOST = 256 };
static __thread struct pollfd asked[MOST];
static __thread nfds_t count;
static __thread int handled;

/* Ranks that compute take turns of 0.1 ms, so that a rank whose message comes need not wait long for its processor. */
__attribute__((constructor)) static void take_short_turns(void) {
    struct sched_attr turns = {.size = sizeof turns, .sched_runtime = 100000};
    syscall(SYS_sched_setattr, 0, &turns, 0);
}

int poll(struct pollfd *connections, nfds_t number, int milliseconds) {
    const struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    int ready = ppoll(connections, number, milliseconds < 0 ? NULL : &limit, NULL);
    if (milliseconds == 0) {
        count = number <= MOST ? number : 0;
        memcpy(asked, connections, count * sizeof *asked);
        handled |= ready > 0;
    }
    return ready;
}

int sched_yield(void) {
    static __thread struct timespec moment;
    if (!moment.tv_nsec) {
        const char *ranks = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
        moment.tv_nsec = ranks && strcmp(ranks, "1") == 0 ? ALONE : BESIDE_OTHERS;
        prctl(PR_SET_TIMERSLACK, 1000);
    }
    if (!handled) ppoll(asked, count, &moment, NULL);
    handled = 0;
    return 0;
}
