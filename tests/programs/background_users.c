/* Collective calls on windows, files and communicators, which wait for all members inside the library, while a collective is under way
 * that other members wait for before they make the same call. Four ranks or more. */
#include "check.h"

static MPI_Comm copy, alone, other;
static MPI_Win window;
static MPI_File file;

static void fence(void) { MPI_Win_fence(0, window); }
static void window_free(void) { MPI_Win_free(&window); }
static void set_view(void) { MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); }
static void set_size(void) { MPI_File_set_size(file, 400); }
static void write_all(void) { MPI_File_write_at_all(file, rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE); }
static void write_ordered(void) { MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE); }
static void sync_file(void) { MPI_File_sync(file); }
static void close_file(void) { MPI_File_close(&file); }
static void disconnect(void) { MPI_Comm_disconnect(&copy); }
/* Rank 0 is one group, and all others are the other one. */
static void between(void) { MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 7, &other); }

/* Rank 0 begins a barrier and makes the call; the others begin the barrier later, and wait for it before they make the call. */
static void late(const char *name, void (*call)(void)) {
    int go = 0;
    MPI_Request barrier, sends[64];
    if (rank == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        for (int r = 1; r < size; r++) MPI_Isend(&go, 1, MPI_INT, r, 1, MPI_COMM_WORLD, &sends[r - 1]);
        MPI_Waitall(size - 1, sends, MPI_STATUSES_IGNORE);
        call();
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        printf("%s\n", name);
        fflush(stdout);
    } else {
        MPI_Recv(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(20000);
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        call();
    }
}

int main(int argc, char **argv) {
    void *memory;
    begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &alone);
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, copy, &memory, &window);
    MPI_File_open(copy, "users", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    late("fence", fence);
    late("set_view", set_view);
    late("set_size", set_size);
    late("write_all", write_all);
    late("write_ordered", write_ordered);
    late("sync", sync_file);
    late("between", between);
    late("window_free", window_free);
    late("close", close_file);
    late("disconnect", disconnect);
    MPI_Comm_free(&alone);
    MPI_Comm_free(&other);
    return end();
}
