/* Functions that a program gives to MPI, and that call MPI themselves inside the call that calls them. Each says on standard output
 * that it has run. 2 ranks. */
#include "check.h"

static void say(const char *what) {
    if (rank == 0) printf("%s\n", what);
}

static void messages(int tag) {
    int other = 1 - rank, got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, other, tag, &got, 1, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == other);
}

static void handler(MPI_Comm *comm, int *error, ...) {
    say("handler");
    messages(1);
}

/* Its last call returns to the library, where the compiler makes a jump of it (-O2). */
static int comm_deleted(MPI_Comm comm, int keyval, void *value, void *extra) {
    say("comm_deleted");
    messages(2);
    return MPI_Barrier(MPI_COMM_WORLD);
}

/* As a library that keeps a communicator of its own for each of the program's. */
static int comm_copied(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag) {
    say("comm_copied");
    MPI_Comm inner;
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Allreduce(MPI_IN_PLACE, &(int){1}, 1, MPI_INT, MPI_SUM, inner);
    MPI_Comm_free(&inner);
    *flag = 0;
    return MPI_SUCCESS;
}

static int type_deleted(MPI_Datatype type, int keyval, void *value, void *extra) {
    int data[2] = {rank, rank};
    say("type_deleted");
    MPI_Bcast(data, 2, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(data[0] == 1 && data[1] == 1);
    return MPI_SUCCESS;
}

static int win_deleted(MPI_Win win, int keyval, void *value, void *extra) {
    say("win_deleted");
    messages(3);
    return MPI_SUCCESS;
}

static int query(void *extra, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int freed(void *extra) {
    say("freed");
    messages(4);
    return MPI_SUCCESS;
}

static int cancelled(void *extra, int complete) { return MPI_SUCCESS; }

static void operation(void *in, void *out, int *count, MPI_Datatype *type) {
    int bytes;
    MPI_Type_size(*type, &bytes);
    CHECK(bytes == sizeof(int));
    for (int i = 0; i < *count; i++) ((int *)out)[i] += ((int *)in)[i];
}

static int first_deleted(MPI_Comm comm, int keyval, void *value, void *extra) {
    say("first_deleted");
    messages(5);
    fflush(stdout);
    return MPI_SUCCESS;
}

static int last_deleted(MPI_Comm comm, int keyval, void *value, void *extra) {
    say("last_deleted");
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "written", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    fflush(stdout);
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int keyval;
    MPI_Comm comm, copy;
    MPI_Errhandler errhandler;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    CHECK(MPI_Send(&rank, 1, MPI_INT, 99, 0, comm) != MPI_SUCCESS);

    MPI_Comm_create_keyval(comm_copied, comm_deleted, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, NULL);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);

    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_deleted, &keyval, NULL);
    MPI_Type_set_attr(pair, keyval, NULL);
    MPI_Type_free(&pair);

    MPI_Win win;
    MPI_Win_create(&keyval, sizeof keyval, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_deleted, &keyval, NULL);
    MPI_Win_set_attr(win, keyval, NULL);
    MPI_Win_free(&win);

    MPI_Request requests[3];
    int in = -1;
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Grequest_start(query, freed, cancelled, NULL, &requests[1]);
    MPI_Isend(&rank, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD, &requests[2]);
    MPI_Grequest_complete(requests[1]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(in == 1 - rank);

    MPI_Op op;
    int sum = -1;
    MPI_Op_create(operation, 1, &op);
    MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sum == 2);
    MPI_Op_free(&op);

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_deleted, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, first_deleted, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    say("finalize");
    MPI_Finalize();
    return 0;
}
