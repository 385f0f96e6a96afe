// The ways by which a program leaves a call of MPI that does not return: `ways_out throw` and `ways_out jump`, out of functions that
// the program has given to MPI, and `ways_out exit`, which ends the thread that is in the call. After each way 10 messages to the
// other rank and back. 2 ranks.
#include "check.h"
#include <csetjmp>
#include <pthread.h>
#include <stdexcept>

static bool jumps;
static jmp_buf back;
static int left;

static void leave() {
    if (jumps) longjmp(back, 1);
    throw std::runtime_error("left");
}

static void in_comm(MPI_Comm *, int *, ...) { leave(); }
static void in_file(MPI_File *, int *, ...) { leave(); }
static void in_operation(void *, void *, int *, MPI_Datatype *) { leave(); }
static int in_query(void *, MPI_Status *) { return leave(), MPI_SUCCESS; }
static int in_free(void *) { return MPI_SUCCESS; }
static int in_cancel(void *, int) { return MPI_SUCCESS; }

// Inside the call that is left, a call that returns and one that is left as well, from within.
static void in_both(MPI_Comm *comm, int *, ...) {
    static int depth;
    int other = 1 - rank, got = -1;
    if (depth++ == 0) {
        MPI_Sendrecv(&rank, 1, MPI_INT, other, 5, &got, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == other);
        MPI_Send(&rank, 1, MPI_INT, 98, 0, *comm);
    }
    depth = 0;
    leave();
}

// Far from the frame that is jumped back to, and deeper than the call that was left.
static __attribute__((noinline)) void messages(int depth) {
    volatile char room[1000];
    room[0] = depth;
    if (depth > 0) return messages(depth - 1), (void)room[0];
    for (int i = 0; i < 10; i++) {
        int other = 1 - rank, got = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, other, 7, &got, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == other);
    }
}

template <class Call> static __attribute__((noinline)) void way(Call call) {
    if (!jumps) {
        try {
            call();
            CHECK(false);
        } catch (const std::runtime_error &) {
            left++;
        }
    } else if (setjmp(back) == 0) {
        call();
        CHECK(false);
    } else {
        left++;
    }
    messages(left % 3);
}

static MPI_Comm handled(MPI_Comm_errhandler_function *handler) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    MPI_Errhandler_free(&errhandler);
    return comm;
}

static MPI_Comm world;

// Destructors call MPI while the exception passes.
struct Tidy {
    ~Tidy() { messages(0); }
};

static void *thread(void *) {
    Tidy tidy;
    MPI_Send(&rank, 1, MPI_INT, 99, 0, world);
    return NULL;
}

static void end_of_thread(MPI_Comm *, int *, ...) { pthread_exit(NULL); }

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    place();
    if (!strcmp(argv[1], "exit")) {
        world = handled(end_of_thread);
        for (int i = 0; i < 3; i++) {
            pthread_t other;
            pthread_create(&other, NULL, thread, NULL);
            pthread_join(other, NULL);
            messages(i);
        }
        return end();
    }
    jumps = !strcmp(argv[1], "jump");
    world = handled(in_comm);
    way([] { MPI_Send(&rank, 1, MPI_INT, 99, 0, world); });
    way([] { MPI_Comm_call_errhandler(world, MPI_ERR_OTHER); });
    static char sent[100], received[10];
    way([] {
        MPI_Request request;
        MPI_Isend(sent, 100, MPI_CHAR, rank, 1, world, &request);
        MPI_Request_free(&request);
        MPI_Recv(received, 10, MPI_CHAR, rank, 1, world, MPI_STATUS_IGNORE);
    });
    MPI_File_errhandler_function *handler = in_file;
    MPI_Errhandler of_files;
    MPI_File_create_errhandler(handler, &of_files);
    MPI_File_set_errhandler(MPI_FILE_NULL, of_files);
    way([] {
        MPI_File file;
        MPI_File_open(MPI_COMM_SELF, "nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    });
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    static MPI_Op operation;
    MPI_Op_create(in_operation, 1, &operation);
    way([] {
        int in = 1, out = 2;
        MPI_Reduce_local(&in, &out, 1, MPI_INT, operation);
    });
    way([] {
        MPI_Request request;
        MPI_Grequest_start(in_query, in_free, in_cancel, NULL, &request);
        MPI_Grequest_complete(request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    world = handled(in_both);
    way([] {
        MPI_Send(&rank, 1, MPI_INT, 99, 0, world);
    });
    if (!jumps) {
        world = handled(in_comm);
        way([] {
            Tidy tidy;
            MPI_Send(&rank, 1, MPI_INT, 99, 0, world);
        });
    }
    if (rank == 0) printf("left %d calls\n", left);
    return end();
}
