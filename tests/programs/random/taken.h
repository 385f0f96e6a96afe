/* Messages that a receive must not get though it asks for one like them: those that a matched probe has found, and those that come
 * after a receive like theirs was cancelled. */

/* Some of several messages alike, each of another size, are found, others received meanwhile; then those that were found are, in any
 * order. */
static void out_of_order(struct comm *comm) {
    enum { MOST = 6 };
    int from = draw(comm->count[0]), to = draw(comm->count[0]), many = 2 + draw(MOST - 1), counts[MOST + 1], order[MOST], flag, asked = 0;
    for (int i = 0; i < many; i++) counts[i] = draw_count() + i;
    if (from == to || !is_member(comm)) return;
    if (comm->me == from) {
        for (int i = 0; i < many; i++) {
            MPI_Request request;
            count_sent(counts[i], &types[INT]);
            MPI(Isend, filled(counts[i] * 4L, key_of(i)), counts[i], MPI_INT, to, tag_of(0), comm->comm, &request);
            keep_sent(request);
        }
    }
    if (comm->me != to) return;
    MPI_Message found[MOST];
    MPI_Status status;
    int source = choose(3) ? from : MPI_ANY_SOURCE, taken = 1 + choose(many - 1);
    struct message m = {.comm = comm, .recv = &types[INT]};
    for (int i = 0; i < taken; i++) {
        if (choose(2)) MPI(Mprobe, source, tag_of(0), comm->comm, &found[i], &status);
        else while (MPI(Improbe, source, tag_of(0), comm->comm, &flag, &found[i], &status), !flag) patience(&asked);
        order[i] = i;
    }
    ADD(posted_messages, taken);
    for (int i = 0; i < many; i++) {
        int late = i - (many - taken), at = i + taken;
        MPI_Request request;
        if (late >= 0) {
            int other = late + choose(taken - late);
            at = order[other], order[other] = order[late];
        }
        m.key = key_of(100 + at), m.recv_count = counts[at];
        void *data = filled(received_bytes(&m), 1);
        switch ((late >= 0 ? 2 : 0) + choose(2)) {
            case 0:
            case 2:
                if (late >= 0) MPI(Mrecv, data, m.recv_count, MPI_INT, &found[at], &status);
                else MPI(Recv, data, m.recv_count, MPI_INT, source, tag_of(0), comm->comm, &status);
                note_received(&m, data, &status);
                break;
            default:
                if (late >= 0) MPI(Imrecv, data, m.recv_count, MPI_INT, &found[at], &request);
                else MPI(Irecv, data, m.recv_count, MPI_INT, source, tag_of(0), comm->comm, &request);
                keep_received(request, data, received_bytes(&m), m.key);
        }
    }
}

/* A receive is cancelled before its message is sent, which another one gets. */
static void cancelled(struct comm *comm) {
    int from = draw(comm->count[0]), to = draw(comm->count[0]), count = draw_count(), persistent = draw(2), go, flag, asked = 0;
    if (from == to || !is_member(comm)) return;
    if (comm->me == from) {
        MPI(Recv, &go, 0, MPI_INT, to, tag_of(1), comm->comm, MPI_STATUS_IGNORE);
        count_sent(count, &types[INT]);
        MPI(Send, filled(count * 4L, key_of(0)), count, MPI_INT, to, tag_of(0), comm->comm);
    }
    if (comm->me != to) return;
    MPI_Request request;
    MPI_Status status;
    struct message m = {.comm = comm, .recv = &types[INT], .recv_count = count + 3, .key = key_of(2)};
    void *data = filled(received_bytes(&m), 1);
    int source = plain || choose(2) ? from : MPI_ANY_SOURCE;
    if (persistent) {
        MPI(Recv_init, data, m.recv_count, MPI_INT, source, tag_of(0), comm->comm, &request);
        MPI(Start, &request);
    } else {
        MPI(Irecv, data, m.recv_count, MPI_INT, source, tag_of(0), comm->comm, &request);
    }
    if (choose(2)) MPI(Test, &request, &flag, &status);
    MPI(Cancel, &request);
    if (choose(2)) MPI(Wait, &request, &status);
    else while (MPI(Test, &request, &flag, &status), !flag) patience(&asked);
    MPI(Test_cancelled, &status, &flag);
    note_number(key_of(3), flag);
    count_sent(0, &types[INT]);
    MPI(Send, NULL, 0, MPI_INT, from, tag_of(1), comm->comm);
    if (persistent && choose(2)) {
        MPI(Start, &request);
        MPI(Wait, &request, &status);
    } else {
        MPI(Recv, data, m.recv_count, MPI_INT, source, tag_of(0), comm->comm, &status);
    }
    if (persistent) MPI(Request_free, &request);
    note_received(&m, data, &status);
}
