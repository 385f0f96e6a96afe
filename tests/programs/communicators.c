/* Every way to make a communicator, and messages and collectives on it. 4 ranks. */
#include "check.h"

/* A collective and a message on a communicator: its last member sends to its first. */
static void use(MPI_Comm comm, int bytes) {
    char data[100] = {0};
    int me, members;
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &members);
    MPI_Bcast(data, bytes, MPI_CHAR, members - 1, comm);
    if (members == 1) return;
    if (me == members - 1) MPI_Send(data, bytes, MPI_CHAR, 0, 7, comm);
    if (me == 0) MPI_Recv(data, bytes, MPI_CHAR, members - 1, 7, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm comm, row, column, inter, merged, graph;
    MPI_Group world, group;
    MPI_Request request;
    int dims[2] = {2, 2}, periods[2] = {1, 0}, keep[2] = {0, 1};
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, 1);
    MPI_Comm_free(&comm);

    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    use(comm, 14);
    MPI_Comm_free(&comm);

    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(comm, 2);
    MPI_Comm_free(&comm);

    /* Backwards, and without rank 2. */
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2 ? MPI_UNDEFINED : 0, -rank, &comm);
    use(comm, 3);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use(comm, 4);
    MPI_Comm_free(&comm);

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, (int[]){3, 1}, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    use(comm, 5);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    if (rank % 2 == 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &comm);
        use(comm, 6);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);

    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Cart_sub(comm, keep, &row);
    use(row, 7);
    MPI_Comm_split(row, 0, 0, &column);
    use(column, 8);
    MPI_Comm_free(&column);
    MPI_Comm_free(&row);
    MPI_Comm_free(&comm);

    /* A grid that leaves ranks out, and one row of it kept. */
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){3}, periods, 0, &comm);
    use(comm, 15);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);

    MPI_Graph_create(MPI_COMM_WORLD, 4, (int[]){1, 2, 3, 4}, (int[]){1, 2, 3, 0}, 0, &graph);
    use(graph, 9);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    use(graph, 10);
    MPI_Comm_free(&graph);
    /* Without this, Open MPI 4.1.4 now and then hangs in the next call, traced or not. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, (int[]){1}, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    use(graph, 11);
    MPI_Comm_free(&graph);

    /* Two halves, a message between them, and one again. */
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &comm);
    MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 5, &inter);
    char data = 0;
    if (rank < 2)
        MPI_Send(&data, 1, MPI_CHAR, rank, 6, inter);
    else
        MPI_Recv(&data, 1, MPI_CHAR, rank - 2, 6, inter, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(inter, rank < 2, &merged);
    use(merged, 12);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_disconnect(&comm);

    use(MPI_COMM_SELF, 13);
    return end();
}
