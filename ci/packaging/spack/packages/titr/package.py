# A recipe for Spack: `spack repo add ci/packaging/spack`, then `spack install titr`. Set `git` to the repository that you have.

from spack.package import *


class Titr(Package):
    """Traces MPI programs, and predicts their time on networks that need not exist."""

    git = "file:///path/to/titr"

    license("MIT")

    version("main", branch="main")

    variant("tracer", default=True, description="Install the tracer, which needs libclang to build")

    depends_on("c", type="build")
    depends_on("rust@1.93:", type="build")
    depends_on("binutils", type="build")
    depends_on("llvm+clang", type="build", when="+tracer")
    depends_on("mpi", type="build", when="+tracer")

    def install(self, spec, prefix):
        parts = ["commands", "network"]
        if "+tracer" in spec:
            parts.append("tracer")
        Executable("ci/install-to")(prefix, *parts)

    def setup_run_environment(self, env):
        env.set("TITR_ROOT", self.prefix)
