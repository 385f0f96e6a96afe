/* Preloaded into ranks in the lab, where many share a processor: a rank that has nothing to do asks a few times, and then sleeps for a
 * moment instead of asking again and again. On a cluster each rank has a processor, and its polling keeps nobody from sending. Open MPI
 * calls sched_yield when it is idle (`mpi_yield_when_idle`). */
#include <sys/prctl.h>
#include <time.h>

/* Calls in a row that return at once. A rank that has done something since the last call, which takes longer than to ask, begins anew. */
enum { PROMPT = 16, ASKING = 5000, MOMENT = 50000 };

static long nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

int sched_yield(void) {
    static __thread int idle, is_exact;
    static __thread long last;
    const struct timespec moment = {0, MOMENT};
    if (!is_exact) is_exact = prctl(PR_SET_TIMERSLACK, 1000) == 0;
    idle = nanoseconds() - last > ASKING ? 0 : idle + 1;
    int result = idle < PROMPT ? 0 : nanosleep(&moment, NULL);
    last = nanoseconds();
    return result;
}
