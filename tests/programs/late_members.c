/* One rank calls what waits for another rank, which first waits for a collective that the one has a part in. */
#include "check.h"

static MPI_Request request;
static int sum;

/* Begins a reduction of all ranks; all but the first wait for it. */
static void reduce(void) {
    static int one = 1;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void finish(void) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size);
    sum = 0;
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    MPI_Group group;
    MPI_Win window;
    MPI_File file;
    int data[100], peer;
    begin(&argc, &argv);
    peer = rank ^ 1;

    reduce();
    for (int i = 0; i < 100; i++) data[i] = rank + i;
    if (peer < size) {
        MPI_Status status;
        MPI_Sendrecv_replace(data, 100, MPI_INT, peer, 1, peer, 1, MPI_COMM_WORLD, &status);
        CHECK(data[99] == peer + 99 && status.MPI_SOURCE == peer);
    }
    finish();
    reduce();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    finish();
    MPI_Comm_free(&comm);
    reduce();
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
    finish();
    MPI_Comm_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    for (int tag = 0; tag < 2; tag++) {
        reduce();
        MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm);
        finish();
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    reduce();
    MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    finish();
    MPI_Win_free(&window);
    reduce();
    MPI_File_open(MPI_COMM_WORLD, "file", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    finish();
    MPI_File_close(&file);
    MPI_Finalize();
    if (rank == 0) puts("done");
    return 0;
}
