"""What the commands print as JSON is valid by the schema that they print."""

import json

import jsonschema
import pytest

from conftest import EXAMPLES, SPEED_WORDS, command


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("replay", ("replay", "--json", *SPEED_WORDS, "--platform", EXAMPLES / "cluster16.toml", EXAMPLES / "ring.txt")),
        ("info", ("info", "--json", EXAMPLES / "ring.txt")),
    ],
)
def test_what_is_printed_is_valid(name, words):
    schema = json.loads(command("titr", "schema", name))
    jsonschema.Draft202012Validator(schema).validate(json.loads(command("titr", *words)))
