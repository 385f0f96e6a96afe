//! Datatypes (chapter 5).

super::chapter! {
    local:
        MPI_Address(2), MPI_Aint_add(2), MPI_Aint_diff(2), MPI_Get_address(2), MPI_Get_elements(3),
        MPI_Get_elements_c(3), MPI_Get_elements_x(3), MPI_Pack(7), MPI_Pack_c(7), MPI_Pack_external(7),
        MPI_Pack_external_c(7), MPI_Pack_external_size(4), MPI_Pack_external_size_c(4), MPI_Pack_size(4),
        MPI_Pack_size_c(4), MPI_Type_commit(1), MPI_Type_contiguous(3), MPI_Type_contiguous_c(3),
        MPI_Type_create_darray(10), MPI_Type_create_darray_c(10), MPI_Type_create_f90_complex(3),
        MPI_Type_create_f90_integer(2), MPI_Type_create_f90_real(3), MPI_Type_create_hindexed(5),
        MPI_Type_create_hindexed_block(5), MPI_Type_create_hindexed_block_c(5), MPI_Type_create_hindexed_c(5),
        MPI_Type_create_hvector(5), MPI_Type_create_hvector_c(5), MPI_Type_create_indexed_block(5),
        MPI_Type_create_indexed_block_c(5), MPI_Type_create_keyval(4), MPI_Type_create_resized(4),
        MPI_Type_create_resized_c(4), MPI_Type_create_struct(5), MPI_Type_create_struct_c(5),
        MPI_Type_create_subarray(7), MPI_Type_create_subarray_c(7), MPI_Type_delete_attr(2), MPI_Type_dup(2),
        MPI_Type_extent(2), MPI_Type_free(1), MPI_Type_free_keyval(1), MPI_Type_get_attr(4),
        MPI_Type_get_contents(7), MPI_Type_get_contents_c(9), MPI_Type_get_envelope(5),
        MPI_Type_get_envelope_c(6), MPI_Type_get_extent(3), MPI_Type_get_extent_c(3), MPI_Type_get_extent_x(3),
        MPI_Type_get_name(3), MPI_Type_get_true_extent(3), MPI_Type_get_true_extent_c(3),
        MPI_Type_get_true_extent_x(3), MPI_Type_get_value_index(3), MPI_Type_hindexed(5), MPI_Type_hvector(5),
        MPI_Type_indexed(5),
        MPI_Type_indexed_c(5), MPI_Type_lb(2), MPI_Type_match_size(3), MPI_Type_set_attr(3),
        MPI_Type_set_name(2), MPI_Type_size(2), MPI_Type_size_c(2), MPI_Type_size_x(2), MPI_Type_struct(5),
        MPI_Type_ub(2), MPI_Type_vector(5), MPI_Type_vector_c(5), MPI_Unpack(7), MPI_Unpack_c(7),
        MPI_Unpack_external(7), MPI_Unpack_external_c(7);
}
