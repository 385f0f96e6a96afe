/* One thread of a rank makes requests, of messages with another rank or itself, and hands them to a second one, which
 * waits for them. Tags go round, and every third receive is from anybody. */
#include "check.h"
#include <pthread.h>

enum { ROUNDS = 20000, PLACES = 8, TAGS = 100 };

static struct {
    MPI_Request requests[2];
    int in, out;
} places[PLACES];
static int made, taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void change(int *number) {
    pthread_mutex_lock(&lock);
    ++*number;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *take(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (made == i) pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        MPI_Request *requests = places[i % PLACES].requests;
        if (i % 2) {
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        }
        CHECK(places[i % PLACES].in == i);
        change(&taken);
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    begin_threads(&argc, &argv);
    int peer = size - 1 - rank;
    pthread_create(&thread, NULL, take, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (i - taken == PLACES) pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        int *in = &places[i % PLACES].in, *out = &places[i % PLACES].out, any = i % 3 == 0;
        *out = i;
        MPI_Irecv(in, 1, MPI_INT, any ? MPI_ANY_SOURCE : peer, i % TAGS, MPI_COMM_WORLD, &places[i % PLACES].requests[0]);
        MPI_Isend(out, 1, MPI_INT, peer, i % TAGS, MPI_COMM_WORLD, &places[i % PLACES].requests[1]);
        change(&made);
    }
    pthread_join(thread, NULL);
    return end();
}
