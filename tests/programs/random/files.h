/* Files: small ones, written and read in every way, each rank in a place of its own. */

static void file_name(char *name, int space, const struct comm *comm, int others) {
    const char *directory = getenv("TMPDIR");
    /* The members know each other by their lowest rank. */
    int lowest = comm->group[0][0];
    snprintf(name, space, "%s/random-%ld-%d-%d-%d-%d", directory == NULL ? "/tmp" : directory, (long)program.seed, program.thread,
             program.step, lowest, others);
}

static void write_file(MPI_File file, int how, char *data, int bytes, MPI_Offset at) {
    MPI_Request request;
    MPI_Status status;
    switch (how) {
        case 0: MPI(File_write_at, file, at, data, bytes, MPI_CHAR, &status); break;
        case 1: MPI(File_write_at_all, file, at, data, bytes, MPI_CHAR, &status); break;
        case 2:
            MPI(File_seek, file, at, MPI_SEEK_SET);
            MPI(File_write, file, data, bytes, MPI_CHAR, &status);
            break;
        case 3:
            MPI(File_seek, file, at, MPI_SEEK_SET);
            MPI(File_write_all, file, data, bytes, MPI_CHAR, &status);
            break;
        case 4:
            MPI(File_iwrite_at, file, at, data, bytes, MPI_CHAR, &request);
            MPI(Wait, &request, &status);
            break;
        case 5:
            MPI(File_seek, file, at, MPI_SEEK_SET);
            MPI(File_iwrite, file, data, bytes, MPI_CHAR, &request);
            MPI(Wait, &request, &status);
            break;
        case 6:
            MPI(File_write_at_all_begin, file, at, data, bytes, MPI_CHAR);
            MPI(File_write_at_all_end, file, data, &status);
            break;
        default:
            MPI(File_iwrite_at_all, file, at, data, bytes, MPI_CHAR, &request);
            MPI(Wait, &request, &status);
    }
}

static void read_file(MPI_File file, int how, char *data, int bytes, MPI_Offset at) {
    MPI_Request request;
    MPI_Status status;
    switch (how) {
        case 0: MPI(File_read_at, file, at, data, bytes, MPI_CHAR, &status); break;
        case 1: MPI(File_read_at_all, file, at, data, bytes, MPI_CHAR, &status); break;
        case 2:
            MPI(File_seek, file, at, MPI_SEEK_SET);
            MPI(File_read, file, data, bytes, MPI_CHAR, &status);
            break;
        case 3:
            MPI(File_seek, file, at, MPI_SEEK_SET);
            MPI(File_read_all, file, data, bytes, MPI_CHAR, &status);
            break;
        case 4:
            MPI(File_iread_at, file, at, data, bytes, MPI_CHAR, &request);
            MPI(Wait, &request, &status);
            break;
        case 5:
            MPI(File_seek, file, at, MPI_SEEK_SET);
            MPI(File_iread, file, data, bytes, MPI_CHAR, &request);
            MPI(Wait, &request, &status);
            break;
        case 6:
            MPI(File_read_at_all_begin, file, at, data, bytes, MPI_CHAR);
            MPI(File_read_at_all_end, file, data, &status);
            break;
        default:
            MPI(File_iread_at_all, file, at, data, bytes, MPI_CHAR, &request);
            MPI(Wait, &request, &status);
    }
}

static void files(struct comm *comm) {
    int bytes = draw_count() % 5000, write = draw(8), read = draw(8), view = draw(3) == 0, shared = draw(5) == 0;
    char name[300], *data, *back;
    MPI_File file;
    MPI_Offset length, at;
    MPI_Status status;
    if (!is_member(comm)) return;
    file_name(name, sizeof name, comm, comm->count[0]);
    note_number(key_of(0), MPI(File_open, comm->comm, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                               MPI_INFO_NULL, &file));
    data = filled(bytes, key_of(rank + 1)), back = filled(bytes, 1);
    at = (MPI_Offset)comm->me * bytes;
    if (view) {
        MPI(File_set_view, file, at, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
        at = 0;
    }
    if (shared && !view) {
        MPI(File_write_ordered, file, data, bytes, MPI_CHAR, &status);
    } else {
        write_file(file, write, data, bytes, at);
    }
    MPI(File_sync, file);
    MPI(Barrier, comm->comm);
    MPI(File_get_size, file, &length);
    note_number(key_of(1), length);
    read_file(file, read, back, bytes, at);
    note(key_of(2), back, bytes);
    MPI(File_close, &file);
    /* Errors of files are returned unless something else is asked for. */
    strcat(name, "-nowhere");
    note_error(key_of(3), MPI(File_open, comm->comm, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
}
