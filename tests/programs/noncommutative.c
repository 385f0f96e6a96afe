/* Reductions by a product of matrices, which does not commute: the operands keep the order of their ranks. 5 ranks. */
#include "check.h"

enum { MOST = 4000 };

/* A matrix of two rows and two columns. */
typedef struct {
    unsigned a, b, c, d;
} Matrix;

static const Matrix ONE = {1, 0, 0, 1};
static Matrix mine[6 * MOST], all[6 * MOST];

static Matrix product(Matrix x, Matrix y) {
    return (Matrix){x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
}

static void multiply(void *left, void *right, int *count, MPI_Datatype *type) {
    Matrix *x = left, *y = right;
    (void)type;
    for (int i = 0; i < *count; i++) y[i] = product(x[i], y[i]);
}

static Matrix of(int member, int index) { return (Matrix){member + 1, index, 2, 3 * member + index}; }

/* The product over the ranks from 0 up to but without `end`. */
static int is_product(Matrix found, int end, int index) {
    Matrix expected = ONE;
    for (int member = 0; member < end; member++) expected = product(expected, of(member, index));
    return memcmp(&found, &expected, sizeof found) == 0;
}

int main(int argc, char **argv) {
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request request;
    begin(&argc, &argv);
    MPI_Type_contiguous(4, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 0, &op);
    for (int count = 1; count <= MOST; count *= 20) {
        int counts[6];
        for (int i = 0; i < size; i++) counts[i] = count;
        for (int i = 0; i < size * count; i++) mine[i] = of(rank, i);
        for (int root = 0; root < size; root++) {
            MPI_Reduce(mine, all, count, type, op, root, MPI_COMM_WORLD);
            if (rank == root) CHECK(is_product(all[count - 1], size, count - 1));
        }
        MPI_Allreduce(mine, all, count, type, op, MPI_COMM_WORLD);
        CHECK(is_product(all[count - 1], size, count - 1));
        MPI_Iallreduce(mine, all, count, type, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(is_product(all[count - 1], size, count - 1));
        MPI_Scan(mine, all, count, type, op, MPI_COMM_WORLD);
        CHECK(is_product(all[count - 1], rank + 1, count - 1));
        MPI_Exscan(mine, all, count, type, op, MPI_COMM_WORLD);
        if (rank > 0) CHECK(is_product(all[count - 1], rank, count - 1));
        MPI_Reduce_scatter_block(mine, all, count, type, op, MPI_COMM_WORLD);
        CHECK(is_product(all[0], size, rank * count));
        MPI_Reduce_scatter(mine, all, counts, type, op, MPI_COMM_WORLD);
        CHECK(is_product(all[count - 1], size, (rank + 1) * count - 1));
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    return end();
}
