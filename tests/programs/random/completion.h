/* Requests that are completed later, in every way that MPI has. */

static void completed(struct pending *pending, const MPI_Status *status) {
    if (pending->kind == RECEIVED) {
        int bytes;
        MPI(Get_count, status, MPI_BYTE, &bytes);
        note_number(pending->key, status->MPI_SOURCE * 100000L + status->MPI_TAG + bytes * 10000000000L);
    }
    if (pending->kind == RECEIVED || pending->kind == COLLECTIVE)
        note_parts(pending->key, pending->buffer, pending->note, pending->parts);
    pending->request = MPI_REQUEST_NULL;
}

/* Removes what is done. */
static void sweep(void) {
    int left = 0;
    for (int i = 0; i < program.pendings; i++)
        if (program.pending[i].request != MPI_REQUEST_NULL) program.pending[left++] = program.pending[i];
    program.pendings = left;
}

/* Completes the requests `from` and after in a way of this rank's own choice. */
static void complete(int from, int many) {
    struct pending *first = program.pending + from;
    MPI_Request requests[PENDING];
    MPI_Status statuses[PENDING];
    int indices[PENDING], done = 0, flag, which, asked = 0;
    if (many == 0) return;
    for (int i = 0; i < many; i++) requests[i] = first[i].request;
    /* Persistent requests go inactive, and are not MPI_REQUEST_NULL then: MPI passes over both. */
    switch (choose(10)) {
        case 0:
            for (int i = 0; i < many; i++) {
                MPI(Wait, &requests[i], &statuses[i]);
                completed(&first[i], &statuses[i]);
            }
            break;
        case 1:
        case 2:
            MPI(Waitall, many, requests, statuses);
            for (int i = 0; i < many; i++) completed(&first[i], &statuses[i]);
            break;
        case 3:
            for (; done < many; done++) {
                MPI(Waitany, many, requests, &which, statuses);
                completed(&first[which], statuses);
            }
            break;
        case 4:
            while (done < many) {
                MPI(Waitsome, many, requests, &which, indices, statuses);
                for (int i = 0; i < which; i++) completed(&first[indices[i]], &statuses[i]);
                done += which;
            }
            break;
        case 5:
            for (int i = 0; i < many; i++) {
                while (MPI(Test, &requests[i], &flag, &statuses[i]), !flag) patience(&asked);
                completed(&first[i], &statuses[i]);
            }
            break;
        case 6:
            while (MPI(Testall, many, requests, &flag, statuses), !flag) patience(&asked);
            for (int i = 0; i < many; i++) completed(&first[i], &statuses[i]);
            break;
        case 7:
            while (done < many) {
                MPI(Testany, many, requests, &which, &flag, statuses);
                if (flag && which != MPI_UNDEFINED) completed(&first[which], statuses), done++;
                else patience(&asked);
            }
            break;
        case 8:
            while (done < many) {
                MPI(Testsome, many, requests, &which, indices, statuses);
                for (int i = 0; i < which; i++) completed(&first[indices[i]], &statuses[i]);
                done += which;
                if (which == 0) patience(&asked);
            }
            break;
        default:
            for (int i = 0; i < many; i++) {
                while (MPI(Request_get_status, requests[i], &flag, &statuses[i]), !flag) patience(&asked);
                MPI(Wait, &requests[i], &statuses[i]);
                completed(&first[i], &statuses[i]);
            }
    }
    sweep();
}

/* Completes some, or asks once, in one way or the other, or gives a send up to MPI. */
static void complete_some(void) {
    if (program.pendings == 0) return;
    int from = choose(program.pendings), many = 1 + choose(program.pendings - from), flag;
    struct pending *one = &program.pending[from];
    MPI_Status status;
    switch (choose(7)) {
        case 2: MPI(Request_get_status, one->request, &flag, &status); break;
        case 0:
            MPI(Test, &one->request, &flag, &status);
            if (flag) completed(one, &status);
            break;
        case 1:
            if (one->kind == SENT && one->set < 0) MPI(Request_free, &one->request);
            break;
        default: complete(from, many);
    }
    sweep();
}

static void complete_all(void) { complete(0, program.pendings); }

/* Keeps a request for later. */
static struct pending *keep(MPI_Request request) {
    if (program.pendings == PENDING) complete(0, 1 + choose(PENDING));
    struct pending *pending = &program.pending[program.pendings++];
    *pending = (struct pending){.request = request, .set = -1};
    return pending;
}

static void keep_sent(MPI_Request request) { keep(request)->kind = SENT; }

static void keep_received(MPI_Request request, void *buffer, long bytes, uint64_t key) {
    struct pending *pending = keep(request);
    pending->kind = RECEIVED, pending->buffer = buffer, pending->note = bytes, pending->key = key;
}

static void keep_collective(MPI_Request request, void *buffer, long bytes, uint64_t key, struct parts parts, MPI_Comm comm) {
    keep_received(request, buffer, bytes, key);
    struct pending *pending = &program.pending[program.pendings - 1];
    pending->kind = COLLECTIVE, pending->comm = comm, pending->parts = parts;
}

/* Completes the collectives of a communicator that is to be freed: Open MPI 4.1 crashes if one is under way then. */
static void complete_collectives(MPI_Comm comm) {
    for (int i = 0; i < program.pendings; i++) {
        struct pending *pending = &program.pending[i];
        if (pending->kind != COLLECTIVE || pending->comm != comm) continue;
        MPI(Wait, &pending->request, MPI_STATUS_IGNORE);
        completed(pending, MPI_STATUS_IGNORE);
    }
    sweep();
}
