"""Puts the commands into the wheel, which is then for systems of this kind."""

import os
import re
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Commands(BuildHookInterface):
    """Adds what `cargo build --release` has built, or what is in the folder $TITR_BUILT."""

    def initialize(self, version, build_data):
        built = os.environ.get("TITR_BUILT") or os.path.join(self.root, "..", "..", "target", "release")
        for name in ["titr", "titr-replay"]:
            path = os.path.join(built, name)
            if not os.path.isfile(path):
                raise FileNotFoundError(f"{path}: run cargo build --release, or name the folder of the commands in TITR_BUILT")
            build_data["shared_scripts"][path] = name
        build_data["tag"] = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
