/* Threads that probe for messages and receive what they found. The library gives the handle of a message that one thread has
   received to the next that another finds. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 8, ROUNDS = 5000 };

static void *thread(void *number) {
    int me = (int)(long)number, value;
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0) {
            value = i;
            MPI_Send(&value, 1, MPI_INT, 1, me, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Message message;
            MPI_Status status;
            for (int found = 0; !found;) MPI_Improbe(0, me, MPI_COMM_WORLD, &found, &message, &status);
            if (i % 2) {
                MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
            } else {
                MPI_Request request;
                MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
                MPI_Wait(&request, &status);
            }
            CHECK(value == i && message == MPI_MESSAGE_NULL);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return end();
}
