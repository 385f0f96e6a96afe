/* Accesses a file in every way that says where: by explicit offset, by pointer, and through a view with gaps. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, data[250] = {0};
    MPI_File file;
    MPI_Datatype mine;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);

    MPI_File_write_at_all(file, rank * 1000, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read(file, data, 400, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read(file, data, 400, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 100, MPI_SEEK_CUR);
    MPI_File_iread(file, data, 100, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* The file ends before. */
    if (rank == size - 1) MPI_File_read_at(file, 1000 * size - 10, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE);

    MPI_Type_vector(10, 1, size, MPI_INT, &mine);
    MPI_Type_create_resized(mine, 0, 40 * size, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, 2000 + 4 * rank, MPI_INT, mine, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, data, 10, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_all(file, data, 10, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at_all_begin(file, 5, data, 1, MPI_INT);
    MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);

    MPI_File_close(&file);
    MPI_Type_free(&mine);
    MPI_Finalize();
    return 0;
}
