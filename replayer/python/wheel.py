"""Puts the commands into the wheel, which is then for systems of this kind."""

import os
import re
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Commands(BuildHookInterface):
    """Adds what `cargo build --release` has built, or what is in the folder $TITR_BUILT."""

    def initialize(self, version, build_data):
        built = os.environ.get("TITR_BUILT") or os.path.join(self.root, "..", "..", "target", "release")
        build_data["shared_scripts"] = {os.path.join(built, name): name for name in ["titr", "titr-replay"]}
        build_data["tag"] = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
