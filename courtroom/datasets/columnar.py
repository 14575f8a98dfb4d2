"""Rows of Parquet and Arrow files. Few bytes can stand for any number of values, so each row is measured first."""

import struct
from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from courtroom.cases.archives import UnpackLimit
from courtroom.errors import CourtroomError

BROKEN = (pa.ArrowException, MemoryError, IndexError, struct.error)
"""What a file raises that is damaged, or says of itself what is not so."""
MAX_PIECE_BYTES = 8 * 2**20
_UNPACKED, _PACKED, _HEADERS, _VALUES = 2, 3, (5, 7, 8), 1
"""Fields in Parquet's page headers (parquet.thrift): sizes, the header of the page's kind, and its number of values."""
_FILE_BEGINS = b"ARROW1\0\0"
_MESSAGE_HEADER, _BATCH_OF_DICTIONARY, _COMPRESSION = 2, 1, 3
"""Places of fields in Arrow's messages (Message.fbs), from 0."""
_PLAIN = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def parquet(name: str, file: IO[bytes]) -> tuple[pa.Schema, Iterator[dict[str, Any]]]:
    """Schema and rows of a Parquet file. Raises `UnpacksTooMuch`: its pages unpack to far more than its size."""
    size = _size(file)
    source = pq.ParquetFile(file)
    limit, metadata = UnpackLimit(name, lambda: size), source.metadata
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        limit.add(max(0, group.num_rows))
        for column in map(group.column, range(group.num_columns)):
            for unpacked in _pages(file, column):
                limit.add(unpacked)
    return source.schema_arrow, _groups(file, source, UnpackLimit(name, lambda: size))


def _pages(file: IO[bytes], column: pq.ColumnChunkMetaData) -> Iterator[int]:
    """What each page of a column unpacks to, in bytes or values: as its own header says, which is what room is made
    for. The footer names sizes as well, but nothing that reads the pages depends on them."""
    at = column.data_page_offset
    if column.has_dictionary_page:
        at = min(at, column.dictionary_page_offset)
    end = at + column.total_compressed_size
    while at < end:
        file.seek(at)
        header = _thrift(file)
        unpacked, packed = header.get(_UNPACKED, -1), header.get(_PACKED, -1)
        if unpacked < 0 or packed < 0:
            raise struct.error
        yield max(unpacked, *(header.get(kind, {}).get(_VALUES, 0) for kind in _HEADERS))
        at = file.tell() + packed


def _thrift(file: IO[bytes], depth: int = 0) -> dict[int, Any]:
    """The whole numbers and structures in a structure in Thrift's compact form, by the numbers of their fields."""
    fields: dict[int, Any] = {}
    number = 0
    while head := file.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _signed(file)
        kind = head & 15
        if kind in (4, 5, 6):
            fields[number] = _signed(file)
        elif kind == 12 and depth < 4:
            fields[number] = _thrift(file, depth + 1)
        elif kind in (3, 7, 8):  # a byte, a float, a text
            file.seek({3: 1, 7: 8}.get(kind) or min(_varint(file), 2**31), 1)
        elif kind not in (1, 2):
            raise struct.error
    return fields


def _varint(file: IO[bytes]) -> int:
    value = 0
    for place in range(0, 70, 7):
        byte = file.read(1)[0]
        value |= (byte & 127) << place
        if byte < 128:
            break
    return value


def _signed(file: IO[bytes]) -> int:
    value = _varint(file)
    return value >> 1 ^ -(value & 1)


def _groups(file: IO[bytes], source: pq.ParquetFile, limit: UnpackLimit) -> Iterator[dict[str, Any]]:
    for number in range(source.metadata.num_row_groups):
        group = source.metadata.row_group(number)
        chunks = map(group.column, range(group.num_columns))
        texts = [
            one.path_in_schema
            for one in chunks
            if one.physical_type == "BYTE_ARRAY" and {"RLE_DICTIONARY", "PLAIN_DICTIONARY"} & {*one.encodings}
        ]
        size = 0
        for text in texts:  # here they stay references to a dictionary, which shows how large they become
            column = pq.ParquetFile(file, read_dictionary=[text]).read_row_group(number, columns=[text]).column(0)
            size += sum(map(_unfolded, column.chunks))
        limit.add(size)
        step = max(1, min(500, 8 * MAX_PIECE_BYTES * group.num_rows // max(1, size)))
        for batch in source.iter_batches(batch_size=step, row_groups=[number]):
            yield from batch.to_pylist()


def arrow(name: str, file: IO[bytes]) -> tuple[pa.Schema, Iterator[dict[str, Any]]]:
    """Return schema and rows of Arrow, as a stream or as a file. Raises `CourtroomError`: it is compressed, as then
    nothing says how large it becomes."""
    size = _size(file)
    start = len(_FILE_BEGINS) if file.read(len(_FILE_BEGINS)) == _FILE_BEGINS else 0  # behind it, a file holds a stream
    file.seek(start)
    for message in pa.ipc.MessageReader.open_stream(file):
        if message.type in ("record batch", "dictionary") and _is_compressed(message):
            raise CourtroomError(f"{name} is compressed Arrow. Save it uncompressed, or as Parquet.")
    file.seek(start)
    stream = pa.ipc.open_stream(file)
    return stream.schema, _rows(stream, UnpackLimit(name, lambda: size))


def _size(file: IO[bytes]) -> int:
    size = file.seek(0, 2)
    file.seek(0)
    return size


def _rows(batches: Iterable[pa.RecordBatch], limit: UnpackLimit) -> Iterator[dict[str, Any]]:
    for batch in batches:
        batch.validate(full=True)  # places in a buffer are read as they stand in the file
        size = batch.num_rows + sum(map(_unfolded, batch.columns))
        limit.add(size)
        step = max(1, batch.num_rows * MAX_PIECE_BYTES // max(size, MAX_PIECE_BYTES))
        for start in range(0, batch.num_rows, step):
            yield from batch.slice(start, step).to_pylist()


def _unfolded(array: pa.Array) -> int:
    """Bytes of all values of an array, each counted as often as it stands there."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        text = pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
        if not text and not pa.types.is_binary(kind.value_type) and not pa.types.is_large_binary(kind.value_type):
            return 8 * len(array)
        return len(array) + (pc.sum(pc.binary_length(array.dictionary).take(array.indices)).as_py() or 0)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return len(array) + _unfolded(array.flatten())
    if pa.types.is_struct(kind):
        return len(array) + sum(map(_unfolded, array.flatten()))
    if pa.types.is_map(kind):
        return len(array) + _unfolded(array.keys) + _unfolded(array.items)
    if kind in (pa.string_view(), pa.binary_view()):
        lengths = np.frombuffer(array.buffers()[1], np.int32)[::4][array.offset : array.offset + len(array)]
        return len(array) + int(lengths.sum(dtype=np.int64))
    if pa.types.is_decimal(kind) or pa.types.is_primitive(kind) or pa.types.is_null(kind) or kind in _PLAIN:
        return len(array) + int(array.nbytes)
    raise CourtroomError(f"A column has the type {kind}, which can't be read. Save it as text or numbers.")


def _is_compressed(message: pa.Message) -> bool:
    """Whether the buffers of a batch are packed; pyarrow does not tell, so this follows the fields of the message."""
    data = message.metadata.to_pybytes()
    (root,) = struct.unpack_from("<I", data)
    batch = _field(data, root, _MESSAGE_HEADER)
    if message.type == "dictionary":
        batch = _field(data, batch, _BATCH_OF_DICTIONARY)
    return _field(data, batch, _COMPRESSION) > 0


def _field(data: bytes, table: int, number: int) -> int:
    """Where a table's field leads, in FlatBuffers; 0 where the table has none."""
    (back,) = struct.unpack_from("<i", data, table)
    length, entry = struct.unpack_from("<H", data, table - back)[0], 4 + 2 * number
    offset = struct.unpack_from("<H", data, table - back + entry)[0] if entry < length else 0
    return table + offset + struct.unpack_from("<I", data, table + offset)[0] if offset else 0
