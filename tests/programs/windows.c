/* One way to synchronise accesses to windows, or the messages that do the same: windows WAY BYTES [messages]. 4 ranks. Each
 * moves BYTES between all ranks and their next ones, or between each even rank and its next one. */
#include "check.h"

#define WORLD MPI_COMM_WORLD

static int next, last;
static MPI_Win win;
static char *mine, *data;
static int bytes;

static MPI_Group one(int member) {
    MPI_Group world, group;
    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 1, &member, &group);
    MPI_Group_free(&world);
    return group;
}

static void put(int to) { MPI_Put(data, bytes, MPI_CHAR, to, 0, bytes, MPI_CHAR, win); }

/* A ring of large messages, none of which can be sent before it is received. */
static void exchange(void) {
    MPI_Request requests[2];
    MPI_Irecv(mine, bytes, MPI_CHAR, last, 0, WORLD, &requests[0]);
    MPI_Isend(data, bytes, MPI_CHAR, next, 0, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void token(int from, int to) {
    if (rank == from) MPI_Send(NULL, 0, MPI_CHAR, to, 1, WORLD);
    if (rank == to) MPI_Recv(NULL, 0, MPI_CHAR, from, 1, WORLD, MPI_STATUS_IGNORE);
}

static void fence(int messages) {
    if (messages) {
        exchange();
        MPI_Barrier(WORLD);
        return;
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    put(next);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(mine[0] == last && mine[bytes - 1] == last);
}

static void pscw(int messages) {
    if (messages) {
        MPI_Sendrecv(NULL, 0, MPI_CHAR, last, 1, NULL, 0, MPI_CHAR, next, 1, WORLD, MPI_STATUS_IGNORE);
        exchange();
        MPI_Sendrecv(NULL, 0, MPI_CHAR, next, 1, NULL, 0, MPI_CHAR, last, 1, WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Group origins = one(last), targets = one(next);
    MPI_Win_post(origins, 0, win);
    MPI_Win_start(targets, 0, win);
    put(next);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK(mine[0] == last && mine[bytes - 1] == last);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

static void locks(int messages) {
    if (messages) {
        int even = rank - rank % 2;
        token(even, even + 1);
        token(even + 1, even);
        if (rank % 2) MPI_Recv(mine, bytes, MPI_CHAR, even, 0, WORLD, MPI_STATUS_IGNORE);
        else MPI_Ssend(data, bytes, MPI_CHAR, next, 0, WORLD);
        token(even + 1, even);
    } else if (rank % 2 == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
        put(next);
        MPI_Win_unlock(next, win);
    }
    MPI_Barrier(WORLD);
    CHECK(messages || rank % 2 == 0 || (mine[0] == last && mine[bytes - 1] == last));
}

static void flush(int messages) {
    char *read = malloc(bytes);
    memset(mine, rank, bytes);
    if (messages) {
        int even = rank - rank % 2;
        token(even, even + 1);
        if (rank % 2) MPI_Ssend(mine, bytes, MPI_CHAR, even, 0, WORLD);
        else MPI_Recv(read, bytes, MPI_CHAR, next, 0, WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(WORLD);
    } else {
        MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
        MPI_Win_sync(win);
        MPI_Barrier(WORLD);
        if (rank % 2 == 0) {
            MPI_Get(read, bytes, MPI_CHAR, next, 0, bytes, MPI_CHAR, win);
            MPI_Win_flush(next, win);
            CHECK(read[0] == next && read[bytes - 1] == next);
            MPI_Win_flush_local_all(win);
        }
        MPI_Barrier(WORLD);
        MPI_Win_unlock_all(win);
    }
    free(read);
}

static void requests(int messages) {
    char *read = malloc(bytes);
    MPI_Request request[2];
    memset(mine, rank, bytes);
    MPI_Barrier(WORLD);
    if (messages) {
        int even = rank - rank % 2;
        token(even, even + 1);
        if (rank % 2) MPI_Ssend(mine, bytes, MPI_CHAR, even, 0, WORLD);
        else MPI_Recv(read, bytes, MPI_CHAR, next, 0, WORLD, MPI_STATUS_IGNORE);
        if (rank % 2) MPI_Recv(mine, bytes, MPI_CHAR, even, 0, WORLD, MPI_STATUS_IGNORE);
        else MPI_Ssend(data, bytes, MPI_CHAR, next, 0, WORLD);
    } else if (rank % 2 == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, win);
        MPI_Rget(read, bytes, MPI_CHAR, next, 0, bytes, MPI_CHAR, win, &request[0]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        CHECK(read[0] == next && read[bytes - 1] == next);
        MPI_Rput(data, bytes, MPI_CHAR, next, 0, bytes, MPI_CHAR, win, &request[1]);
        MPI_Waitall(1, &request[1], MPI_STATUSES_IGNORE);
        MPI_Win_unlock(next, win);
    }
    MPI_Barrier(WORLD);
    free(read);
}

/* Memory that is attached to a window, whose address each rank tells the others. */
static void dynamic(int messages) {
    MPI_Win attached;
    MPI_Aint address, *addresses = malloc(size * sizeof *addresses);
    MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &attached);
    MPI_Win_attach(attached, mine, bytes);
    MPI_Get_address(mine, &address);
    MPI_Allgather(&address, 1, MPI_AINT, addresses, 1, MPI_AINT, WORLD);
    if (messages) {
        exchange();
        MPI_Barrier(WORLD);
    } else {
        MPI_Win_fence(0, attached);
        MPI_Put(data, bytes, MPI_CHAR, next, addresses[next], bytes, MPI_CHAR, attached);
        MPI_Win_fence(0, attached);
        CHECK(mine[0] == last && mine[bytes - 1] == last);
    }
    MPI_Win_detach(attached, mine);
    MPI_Win_free(&attached);
    free(addresses);
}

static void shared(int messages) {
    char *memory;
    MPI_Win host;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, WORLD, &memory, &host);
    if (messages) {
        exchange();
        MPI_Barrier(WORLD);
    } else {
        MPI_Win_fence(0, host);
        MPI_Put(data, bytes, MPI_CHAR, next, 0, bytes, MPI_CHAR, host);
        MPI_Win_fence(0, host);
        CHECK(memory[0] == last && memory[bytes - 1] == last);
    }
    MPI_Win_free(&host);
}

int main(int argc, char **argv) {
    const struct { const char *name; void (*way)(int); } ways[] = {{"fence", fence}, {"pscw", pscw}, {"locks", locks},
        {"flush", flush}, {"requests", requests}, {"dynamic", dynamic}, {"shared", shared}};
    begin(&argc, &argv);
    CHECK(argc > 2 && size % 2 == 0);
    bytes = atoi(argv[2]);
    next = (rank + 1) % size, last = (rank + size - 1) % size;
    data = malloc(bytes);
    memset(data, rank, bytes);
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, WORLD, &mine, &win);
    for (int i = 0; i < 7; i++)
        if (!strcmp(argv[1], ways[i].name)) ways[i].way(argc > 3);
    MPI_Win_free(&win);
    return end();
}
