/* The functions that no other program calls, or calls in this way, so that every function is recorded once. 2 ranks; needs
 * an MPI 4.0. */
#include "check.h"

static int data[8], room[8], ones[4] = {1, 1, 1, 1}, where[4] = {0, 1, 2, 3};
static MPI_Aint bytes[4] = {0, 4, 8, 12};
static MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Info none = MPI_INFO_NULL;

static void wait_for(MPI_Request request) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Starts a persistent collective once. */
static void once(MPI_Request request) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void messages(void) {
    int peer = 1 - rank;
    MPI_Request request;
    MPI_Isendrecv(data, 1, MPI_INT, peer, 1, room, 1, MPI_INT, peer, 1, world, &request);
    wait_for(request);
    MPI_Isendrecv_replace(data, 1, MPI_INT, peer, 2, peer, 2, world, &request);
    wait_for(request);
}

/* Receives from anybody, whose sender only the call that completes them tells. */
static void wildcards(void) {
    int flag, index, count;
    for (int way = 0; way < 6; way++) {
        MPI_Request request;
        MPI_Irecv(room, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request);
        MPI_Send(data, 1, MPI_INT, 1 - rank, way, world);
        if (way == 0) do MPI_Test(&request, &flag, MPI_STATUS_IGNORE); while (!flag);
        if (way == 1) do MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE); while (!flag);
        if (way == 2) do MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE); while (!flag);
        if (way == 3) do MPI_Testsome(1, &request, &count, &index, MPI_STATUSES_IGNORE); while (!count);
        if (way == 4) MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
        if (way == 5) MPI_Waitsome(1, &request, &count, &index, MPI_STATUSES_IGNORE);
    }
}

static void collectives(void) {
    MPI_Request request;
    MPI_Reduce_init(data, room, 2, MPI_INT, MPI_SUM, 0, world, none, &request), once(request);
    MPI_Scan_init(data, room, 2, MPI_INT, MPI_SUM, world, none, &request), once(request);
    MPI_Exscan_init(data, room, 2, MPI_INT, MPI_SUM, world, none, &request), once(request);
    MPI_Reduce_scatter_init(data, room, ones, MPI_INT, MPI_SUM, world, none, &request), once(request);
    MPI_Reduce_scatter_block_init(data, room, 1, MPI_INT, MPI_SUM, world, none, &request), once(request);
    MPI_Scatter_init(data, 1, MPI_INT, room, 1, MPI_INT, 0, world, none, &request), once(request);
    MPI_Allgather_init(data, 1, MPI_INT, room, 1, MPI_INT, world, none, &request), once(request);
    MPI_Alltoall_init(data, 1, MPI_INT, room, 1, MPI_INT, world, none, &request), once(request);
    MPI_Gatherv_init(data, 1, MPI_INT, room, ones, where, MPI_INT, 0, world, none, &request), once(request);
    MPI_Scatterv_init(data, ones, where, MPI_INT, room, 1, MPI_INT, 0, world, none, &request), once(request);
    MPI_Allgatherv_init(data, 1, MPI_INT, room, ones, where, MPI_INT, world, none, &request), once(request);
    MPI_Alltoallw_init(data, ones, where, types, room, ones, where, types, world, none, &request), once(request);
}

/* A ring of two, in which each rank has the other on both sides. */
static void neighbors(void) {
    MPI_Comm ring;
    MPI_Request request;
    MPI_Cart_create(world, 1, (int[]){2}, (int[]){1}, 0, &ring);
    MPI_Ineighbor_allgather(data, 1, MPI_INT, room, 1, MPI_INT, ring, &request), wait_for(request);
    MPI_Ineighbor_alltoallv(data, ones, where, MPI_INT, room, ones, where, MPI_INT, ring, &request), wait_for(request);
    MPI_Ineighbor_alltoallw(data, ones, bytes, types, room, ones, bytes, types, ring, &request), wait_for(request);
    MPI_Neighbor_allgather_init(data, 1, MPI_INT, room, 1, MPI_INT, ring, none, &request), once(request);
    MPI_Neighbor_allgatherv_init(data, 1, MPI_INT, room, ones, where, MPI_INT, ring, none, &request), once(request);
    MPI_Neighbor_alltoallv_init(data, ones, where, MPI_INT, room, ones, where, MPI_INT, ring, none, &request);
    once(request);
    MPI_Neighbor_alltoallw_init(data, ones, bytes, types, room, ones, bytes, types, ring, none, &request);
    once(request);
    MPI_Comm_free(&ring);
}

static void communicators(void) {
    MPI_Comm copy, half, between;
    MPI_Request request;
    MPI_Comm_idup_with_info(world, none, &copy, &request), wait_for(request);
    MPI_Comm_free(&copy);

    MPI_Group all, group, other;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, (int[]){rank}, &group);
    MPI_Group_incl(all, 1, (int[]){1 - rank}, &other);
    MPI_Intercomm_create_from_groups(group, 0, other, 0, "rare", none, MPI_ERRORS_ARE_FATAL, &between);
    MPI_Intercomm_merge(between, rank, &half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&between);
    MPI_Group_free(&other);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static void files(void) {
    MPI_File file;
    MPI_Request request;
    MPI_Offset mine = rank * sizeof(int);
    MPI_File_open(world, "file", MPI_MODE_CREATE | MPI_MODE_RDWR, none, &file);
    MPI_File_iwrite_at_all(file, mine, data, 1, MPI_INT, &request), wait_for(request);
    MPI_File_iread_at_all(file, mine, room, 1, MPI_INT, &request), wait_for(request);
    MPI_File_iwrite_all(file, data, 1, MPI_INT, &request), wait_for(request);
    MPI_File_iread_all(file, room, 1, MPI_INT, &request), wait_for(request);
    MPI_File_iwrite_shared(file, data, 1, MPI_INT, &request), wait_for(request);
    MPI_File_iread_shared(file, room, 1, MPI_INT, &request), wait_for(request);
    MPI_File_read_shared(file, room, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_ordered(file, room, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_all_begin(file, data, 1, MPI_INT);
    MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
    MPI_File_write_ordered_begin(file, data, 1, MPI_INT);
    MPI_File_write_ordered_end(file, data, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(file, mine, room, 1, MPI_INT);
    MPI_File_read_at_all_end(file, room, MPI_STATUS_IGNORE);
    MPI_File_read_ordered_begin(file, room, 1, MPI_INT);
    MPI_File_read_ordered_end(file, room, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    messages();
    wildcards();
    collectives();
    neighbors();
    communicators();
    files();
    return end();
}
