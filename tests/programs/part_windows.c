/* Iterations with one-sided communication and calls on a file, of which a part is to be traced: `part_windows ITERATIONS FILE [even]`.
   The windows are made and the file is opened before the first iteration. Epochs reach from each iteration into the next, and locks
   are held all the time. With `even` an iteration begins with a barrier, and nothing reaches into it but the lock of all. */
#include "check.h"
#include "../../tracer/include/titr.h"

enum { COUNT = 512, BYTES = COUNT * sizeof(double) };

static double out[COUNT], in[COUNT];

int main(int argc, char **argv) {
    MPI_Win fenced, exposed, locked, exclusive;
    MPI_File file;
    MPI_Group world, after_group, before_group;
    MPI_Request request;
    double *memory[4];
    int even = argc > 3;
    begin(&argc, &argv);
    int iterations = atoi(argv[1]), after = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Win_allocate(BYTES, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory[0], &fenced);
    MPI_Win_allocate(BYTES, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory[1], &exposed);
    MPI_Win_allocate(BYTES, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory[2], &locked);
    MPI_Win_allocate(BYTES, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory[3], &exclusive);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &after, &after_group);
    MPI_Group_incl(world, 1, &before, &before_group);
    MPI_Win_lock_all(0, locked);
    MPI_Win_fence(0, fenced);
    for (int i = 0; i < iterations; i++) {
        if (!even) {
            /* This epoch ends in the region, and the ranks begin the region one after another. */
            MPI_Win_post(before_group, 0, exposed);
            MPI_Win_start(after_group, 0, exposed);
            MPI_Put(out, COUNT / 2, MPI_DOUBLE, after, 0, COUNT / 2, MPI_DOUBLE, fenced);
            if (rank > 0) MPI_Recv(in, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        titr_region_begin("step");
        if (even) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_post(before_group, 0, exposed);
            MPI_Win_start(after_group, 0, exposed);
        }
        MPI_Put(out, COUNT, MPI_DOUBLE, after, 0, COUNT, MPI_DOUBLE, exposed);
        if (!even && rank < size - 1) MPI_Send(out, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
        MPI_Win_complete(exposed);
        MPI_Win_wait(exposed);
        MPI_Put(out, COUNT, MPI_DOUBLE, after, 0, COUNT, MPI_DOUBLE, fenced);
        MPI_Win_fence(0, fenced);
        MPI_Rget(in, COUNT, MPI_DOUBLE, before, 0, COUNT, MPI_DOUBLE, locked, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Accumulate(out, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, locked);
        MPI_Win_flush(0, locked);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, exclusive);
        MPI_Put(out, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, exclusive);
        if (!even) titr_region_end("step");
        MPI_Win_unlock(0, exclusive);
        MPI_Win_fence(0, fenced);
        MPI_File_write_at_all(file, (MPI_Offset)(i * size + rank) * BYTES, out, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE);
        MPI_File_write_at(file, (MPI_Offset)((iterations + i) * size + rank) * BYTES, out, COUNT, MPI_DOUBLE,
                          MPI_STATUS_IGNORE);
        MPI_File_iread_at(file, (MPI_Offset)(i * size + rank) * BYTES, in, COUNT, MPI_DOUBLE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_File_write_at_all_begin(file, (MPI_Offset)(i * size + rank) * BYTES, out, COUNT, MPI_DOUBLE);
        if (even) titr_region_end("step");
        MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(locked);
    MPI_File_close(&file);
    MPI_Group_free(&world);
    MPI_Group_free(&after_group);
    MPI_Group_free(&before_group);
    MPI_Win_free(&fenced);
    MPI_Win_free(&exposed);
    MPI_Win_free(&locked);
    MPI_Win_free(&exclusive);
    return end();
}
