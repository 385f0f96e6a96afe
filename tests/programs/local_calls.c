/* A third of a second of CPU time of rank 0 in calls that concern it alone. `callback`: in the function that deletes an
   attribute, before and after a barrier, for which rank 1 computes as long. `nobody`: in messages to nobody. 2 ranks. */
#include "check.h"
#include <time.h>

enum { MILLISECONDS = 333, NUMBERS = 1 << 20 };

static double in[2 * NUMBERS], out[NUMBERS];

static void compute(void (*call)(void)) {
    struct timespec now, first;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &first);
    do {
        if (call) call();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 < MILLISECONDS);
}

static MPI_Datatype every_other;
static MPI_Op sum;

static void add(void *a, void *b, int *length, MPI_Datatype *type) {
    for (int i = 0; i < *length; i++) ((double *)b)[i] += ((double *)a)[i];
}

static void unpack(void) {
    int position = 0;
    MPI_Unpack(out, sizeof out, &position, in, 1, every_other, MPI_COMM_WORLD);
}

static void reduce(void) { MPI_Reduce_local(in, out, NUMBERS, MPI_DOUBLE, sum); }

static void types(void) {
    static int lengths[10000], places[10000];
    MPI_Datatype type;
    for (int i = 0; i < 10000; i++) lengths[i] = 1, places[i] = 2 * i;
    MPI_Type_indexed(10000, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&type);
}

static void look_at_clock(void) {
    for (int i = 0; i < 1000; i++) MPI_Wtime();
}

static void requests(void) {
    MPI_Request request;
    for (int i = 0; i < 100; i++) {
        MPI_Recv_init(out, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
}

static void nobody(void) {
    for (int i = 0; i < 1000; i++) {
        MPI_Sendrecv(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static int deleted(MPI_Comm comm, int keyval, void *value, void *extra) {
    compute(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    compute(NULL);
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    const char *how = argv[1];
    begin(&argc, &argv);
    MPI_Type_vector(NUMBERS, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Op_create(add, 1, &sum);
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "callback")) {
        if (rank == 0) {
            MPI_Comm_set_attr(MPI_COMM_SELF, key, &rank);
            MPI_Comm_delete_attr(MPI_COMM_SELF, key);
        } else {
            compute(NULL);
            compute(NULL);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    } else if (rank == 0) {
        if (!strcmp(how, "unpack")) compute(unpack);
        if (!strcmp(how, "reduce")) compute(reduce);
        if (!strcmp(how, "types")) compute(types);
        if (!strcmp(how, "clock")) compute(look_at_clock);
        if (!strcmp(how, "requests")) compute(requests);
        if (!strcmp(how, "nobody")) compute(nobody);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
