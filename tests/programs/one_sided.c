/* One-sided communication: every access, and every way to separate accesses. 4 ranks. */
#include "check.h"

#define WORLD MPI_COMM_WORLD

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int window[8] = {0}, data[8], result[8], one = 1, zero = 0, next = (rank + 1) % size, last = (rank + size - 1) % size;
    int *memory, flag;
    MPI_Win win, shared, dynamic;
    MPI_Request request;
    MPI_Group world, group;
    for (int i = 0; i < 8; i++) data[i] = 10 * rank + i;

    /* Active target, everybody: fences. */
    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(data, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Get(result, 3, MPI_INT, next, 4, 3, MPI_INT, win);
    MPI_Put(data, 2, MPI_INT, MPI_PROC_NULL, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(window[0] == 10 * last && window[1] == 10 * last + 1 && result[0] == 0);
    MPI_Accumulate(data, 1, MPI_INT, 0, 7, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(rank != 0 || window[7] == 60);
    window[7] = 0;
    MPI_Win_fence(MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win);

    /* Active target, neighbours: post, start, complete, wait. */
    MPI_Comm_group(WORLD, &world);
    if (rank == 0) {
        MPI_Group_incl(world, 2, (int[]){3, 1}, &group);
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
        CHECK(window[1] == 15 && window[3] == 35);
    } else if (rank % 2) {
        MPI_Group_incl(world, 1, &zero, &group);
        MPI_Win_start(group, 0, win);
        MPI_Put(&data[5], 1, MPI_INT, 0, rank, 1, MPI_INT, win);
        MPI_Win_complete(win);
    } else {
        MPI_Group_incl(world, 1, &rank, &group);
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        MPI_Win_complete(win);
        do MPI_Win_test(win, &flag); while (!flag);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Barrier(WORLD);

    /* Passive target: locks, atomics, requests, flushes. */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get_accumulate(&one, 1, MPI_INT, result, 1, MPI_INT, 0, 7, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
    MPI_Get(result, 1, MPI_INT, 0, 7, 1, MPI_INT, win);
    MPI_Win_flush_local(0, win);
    MPI_Win_unlock(0, win);
    CHECK(result[0] == size);
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &result[0], MPI_INT, 0, 6, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Compare_and_swap(&one, &zero, &result[1], MPI_INT, next, 5, win);
    MPI_Win_flush_all(win);
    MPI_Win_flush_local_all(win);
    MPI_Rput(data, 4, MPI_INT, next, 0, 4, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(next, win);
    MPI_Rget(result, 4, MPI_INT, next, 0, 4, MPI_INT, win, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    CHECK(result[3] == 10 * rank + 3);
    MPI_Raccumulate(data, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget_accumulate(data, 1, MPI_INT, result, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);

    /* Memory that MPI gives, and memory that comes later. */
    MPI_Win_allocate(16 * (rank + 1), 1, MPI_INFO_NULL, WORLD, &memory, &win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &dynamic);
    MPI_Win_attach(dynamic, data, sizeof data);
    MPI_Win_detach(dynamic, data);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, WORLD, &memory, &shared);
    MPI_Win_fence(0, shared);
    MPI_Win_free(&shared);
    MPI_Win_free(&dynamic);
    return end();
}
