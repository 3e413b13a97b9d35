"""Would catch a byte that changes on disk and is taken for what was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from thalweg.core.errors import CheckpointError
from thalweg.flows.command import ADD, DROP, Command
from thalweg.kernel.pipeline.identity import Identity
from thalweg.runtime.distributed.checkpoint.checksums import open_json, sealed_arrow, sealed_json
from thalweg.runtime.distributed.checkpoint.control import check_commands, read_command, write_command
from thalweg.runtime.distributed.checkpoint.files import ArrayFile, map_stream, write_arrays
from thalweg.runtime.distributed.checkpoint.flow_commands import Commands
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.checkpoint.manifest import manifest_path, read_manifest_and_state
from thalweg.runtime.distributed.checkpoint.query_file import PinnedChoice, QueryFile
from thalweg.runtime.distributed.checkpoint.store import ShardStore
from thalweg.runtime.distributed.exchange.blobs import BlobFiles
from thalweg.runtime.distributed.exchange.codec import pack, unpack

TREE = {"version": 7, "text": 'a "checksum": "\u00e4', "list": [1, 2.5, None]}


def damages(content: bytes) -> list[bytes]:
    """Every bit flipped, and every shorter file."""
    flips = [
        content[:i] + bytes([content[i] ^ (1 << bit)]) + content[i + 1 :]
        for i in range(len(content))
        for bit in range(8)
    ]
    return flips + [content[:size] for size in range(len(content))]


def none_is_silent(path: Path, read: Callable[[], object]) -> None:
    """Each damage to a file is either an error that names the file, or changes nothing of what is read."""
    whole, right = path.read_bytes(), repr(read())
    for damage in damages(whole):
        path.write_bytes(damage)
        try:
            assert repr(read()) == right
        except CheckpointError as error:
            assert path.name in str(error)
            assert error.hint
    path.unlink()
    with pytest.raises(CheckpointError):
        read()


@pytest.mark.parametrize("indent", [None, 2])
def test_json(indent: int | None) -> None:
    sealed = sealed_json(TREE, indent)
    path = Path("some.json")
    assert open_json(path, sealed, 7) == TREE
    assert json.loads(sealed) == {**TREE, "checksum": json.loads(sealed)["checksum"]}, "any reader of JSON can read it"
    noticed = 0
    for damage in damages(sealed):
        try:
            assert open_json(path, damage, 7) == TREE
        except CheckpointError as error:
            noticed += "some.json cannot be read" in str(error)
    assert noticed >= 9 * len(sealed) - 40, "only the space at the end may change"
    assert open_json(path, b'{"version": 6, "a": 1}', 7) == {"version": 6, "a": 1}, "older files have no checksum"


def test_query_file(tmp_path: Path) -> None:
    QueryFile(Identity("plan", "digest", "auto"), PinnedChoice()).write(tmp_path)
    none_is_silent(tmp_path / "query.json", lambda: QueryFile.read(tmp_path))


def test_layouts(tmp_path: Path) -> None:
    Layouts(4, ()).changed(0, 2).changed(3, 4).write(tmp_path)
    none_is_silent(tmp_path / "layouts.json", lambda: Layouts.read(tmp_path))


@pytest.mark.parametrize(
    "tree",
    [
        {"groups": 4, "layouts": []},
        {"groups": 4, "layouts": [{"since": 1, "shards": 2}]},
        {"groups": 3, "layouts": [{"since": 0, "shards": 4}]},
        {"groups": 1e999, "layouts": [{"since": 0, "shards": 4}]},
        {"groups": 4, "layouts": [{"since": 0, "shards": "4"}]},
        {"groups": 4, "layouts": [{"since": 0, "shards": 2}, {"since": 0, "shards": 3}]},
        {"groups": 4},
        [],
    ],
)
def test_layouts_that_make_no_sense_are_refused_even_without_a_checksum(tmp_path: Path, tree: object) -> None:
    (tmp_path / "layouts.json").write_text(json.dumps(tree))
    with pytest.raises(CheckpointError, match=r"layouts\.json cannot be read"):
        Layouts.read(tmp_path)


def test_manifests(tmp_path: Path) -> None:
    ShardStore(tmp_path).save(3, {"a": (np.arange(3),), "b": [1, "x"]})
    none_is_silent(manifest_path(tmp_path, 3), lambda: read_manifest_and_state(tmp_path, 3))


def test_run_files(tmp_path: Path) -> None:
    path, arrays = tmp_path / "runs-0-abc.arrow", [np.arange(3), np.array([[0.5, 1.5]])]
    seal = write_arrays(path, arrays)

    def read() -> list[object]:
        file = ArrayFile(path, seal)
        return [file[i].tolist() for i in range(len(file))]

    none_is_silent(path, read)


def test_an_old_manifest_is_read_and_the_next_one_has_checksums(tmp_path: Path) -> None:
    store, array = ShardStore(tmp_path), np.arange(5)
    store.save(0, {"a": (array,)})
    path = manifest_path(tmp_path, 0)
    first, state = path.read_bytes().split(b"\n")
    tree = json.loads(first)
    del tree["checksum"], tree["state"]
    old = {**tree, "version": 4, "files": list(tree["files"])}
    path.write_bytes(json.dumps(old).encode() + b"\n" + state)
    again = ShardStore(tmp_path)
    loaded = again.load(0)
    assert loaded["a"][0].tolist() == array.tolist()
    again.save(1, loaded)
    (run_file,) = tmp_path.glob("runs-0-*")
    content = run_file.read_bytes()
    run_file.write_bytes(content[:-20] + bytes([content[-20] ^ 1]) + content[-19:])
    with pytest.raises(CheckpointError, match=r"runs-0-\w+\.arrow cannot be read: its checksum must be"):
        ShardStore(tmp_path).load(1)


@pytest.mark.parametrize("name", ["../runs-0-abc.arrow", "/etc/passwd", "runs-0-abc.arrow/../x"])
def test_a_manifest_names_files_of_its_folder_only(tmp_path: Path, name: str) -> None:
    ShardStore(tmp_path).save(0, {})
    path = manifest_path(tmp_path, 0)
    tree = json.loads(path.read_bytes().split(b"\n")[0])
    del tree["checksum"], tree["state"]
    path.write_bytes(json.dumps({**tree, "version": 4, "files": [name]}).encode() + b"\n{}")
    with pytest.raises(CheckpointError, match="is no name of a run file"):
        ShardStore(tmp_path).load(0)


def hostile(path: Path, dtype: str, shape: list[int]) -> ArrayFile:
    schema = pa.schema([("dtype", pa.string()), ("shape", pa.list_(pa.int64())), ("data", pa.large_binary())])
    table = pa.table([[dtype], [shape], pa.array([b"12345678"], pa.large_binary())], schema=schema)
    with pa.ipc.new_file(str(path), schema) as writer:
        writer.write_table(table)
    return ArrayFile(path)


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [("|O", [1]), ("<i8", [2]), ("<i8", [-1]), ("<i8", [2**62, 4]), ("i8,f8", [1]), ("nonsense", [1]), ("", [1])],
)
def test_types_and_shapes_are_checked_before_an_array_is_made(tmp_path: Path, dtype: str, shape: list[int]) -> None:
    file = hostile(tmp_path / "runs-0-abc.arrow", dtype, shape)
    with pytest.raises(CheckpointError, match=r"runs-0-abc\.arrow cannot be read"):
        file[0]


def test_arrow_streams(tmp_path: Path) -> None:
    path, rows = tmp_path / "t.arrow", pa.RecordBatch.from_pydict({"a": [1, 2], "b": ["x", None]})
    path.write_bytes(sealed_arrow(pack(rows)))
    assert unpack(path.read_bytes()).equals(rows), "any reader of Arrow streams can read it"
    none_is_silent(path, lambda: unpack(map_stream(path)).to_pylist())
    path.write_bytes(pack(rows))
    assert unpack(map_stream(path)).equals(rows), "older files have no trailer"


def obeyed(commands: Commands) -> list[Command]:
    commands.check(3)
    return commands.all()


def test_commands_to_a_flow(tmp_path: Path) -> None:
    commands = Commands(tmp_path)
    commands.add(Command(1, ADD, "q1"))
    commands.add(Command(2, ADD, "q2"), Command(3, DROP, "q1"))
    assert commands.begin(has_begun=False) == commands.begin(has_begun=True)
    none_is_silent(tmp_path / "commands" / "00000003.json", lambda: obeyed(commands))
    commands.add(Command(2, ADD, "q2"), Command(3, DROP, "q1"))
    none_is_silent(tmp_path / "commands" / "00000001.json", commands.all)
    none_is_silent(tmp_path / "begin.json", lambda: commands.begin(has_begun=True))


def test_commands_without_checksums_are_read(tmp_path: Path) -> None:
    commands = Commands(tmp_path)
    text = Command(1, ADD, "q1").line()
    (commands.folder / "00000001.json").write_text(json.dumps({"command": text}) + "\n")
    (tmp_path / "begin.json").write_text(json.dumps([text]))
    commands.add(Command(2, DROP, "q1"))
    assert [command.seq for command in commands.all()] == [1, 2]
    assert commands.begin(has_begun=True) == (text,)


def test_control(tmp_path: Path) -> None:
    write_command(tmp_path, 5)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for damage in damages(whole):
        path.write_bytes(damage)
        try:
            check_commands(tmp_path)
            assert read_command(path, path.read_bytes()) == 5
        except CheckpointError as error:
            assert path.name in str(error)
    assert read_command(path, b'{"clock": null}') is None, "older ones have no checksum"
    with pytest.raises(CheckpointError):
        read_command(path, b'{"clocj": 5}')


def test_blobs(tmp_path: Path) -> None:
    (ref,) = BlobFiles(tmp_path).write(0, [b"some bytes"])
    none_is_silent(tmp_path / "exchange" / ref.file, lambda: BlobFiles(tmp_path).read(ref).to_pybytes())
