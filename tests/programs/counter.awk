# Lists the functions of MPI that the preprocessed mpi.h declares: `FUNCTION(NAME, (PARAMETERS), (ARGUMENTS), WHAT TO DO BEFORE,
# AND AFTERWARDS)`. A function with a destination sends a message, or makes a request that does. Conversions of handles are left
# out, and so is what tells the version of the library.
BEGIN { RS = ";" }
{ gsub(/[ \n\t]+/, " ") }
match($0, /(^|[ )])int MPI_[A-Za-z_0-9]+ ?\(/) && !/typedef|\.\.\.|_f2c|_c2f|_f082|2f08|_fromint|_toint|_version|Abi_/ {
    name = substr($0, RSTART, RLENGTH)
    sub(/.*MPI_/, "", name)
    sub(/ ?\(/, "", name)
    parameters = substr($0, RSTART + RLENGTH)
    sub(/\).*/, "", parameters)
    arguments = after = ""
    delete has
    n = parameters == "void" ? 0 : split(parameters, parameter, /,/)
    for (i = 1; i <= n; i++) {
        word = parameter[i]
        sub(/ ?(\[[^]]*\])+$/, "", word)
        sub(/.*[ *]/, "", word)
        has[word] = parameter[i]
        arguments = arguments (i > 1 ? ", " : "") word
    }
    sends = "sendcount" in has ? "sendcount, sendtype" : "count, datatype"
    if ("dest" in has && name !~ /^P/) after = name ~ /_init/ ? "keep(*request, dest, " sends ")" : "sent(dest, " sends ")"
    if (name == "Start") after = "started(1, request)"
    if (name == "Startall") after = "started(count, array_of_requests)"
    if (name == "Recv_init") after = "forget(*request)"
    before = name == "Abort" ? "write_counts()" : ""
    if (name ~ /^Init(_thread)?$/) { before = "is_on = 1"; after = "begin()" }
    if (name == "Finalize") after = "is_on = 0"
    if (!seen[name]++) printf "FUNCTION(%s, (%s), (%s), %s, %s)\n", name, parameters, arguments, before, after
}
