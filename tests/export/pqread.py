# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of the Parquet files that spur writes: of no others, and it believes nothing they say about themselves.

    table = pqread.read(path)       table.rows: {column: [value...]}; table.types, table.groups
"""
import ctypes
import ctypes.util
import struct

MAGIC = b'PAR1'
TYPES = {1: 'int32', 2: 'int64', 6: 'bytes'}
PLAIN, RLE, DELTA, DICTIONARY = 0, 3, 5, 8
ZSTD = 6
LONG = 256  # bytes of a text that may make the statistics go without


class Bad(Exception):
    """The file is not what it should be."""


# ---- Thrift's compact protocol -----------------------------------------------------------------

class Thrift:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def number(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            self.at += 1
            return struct.unpack_from('b', self.data, self.at - 1)[0]
        if kind in (4, 5, 6):
            return self.number()
        if kind == 8:
            size = self.varint()
            self.at += size
            return bytes(self.data[self.at - size:self.at])
        if kind == 9:
            head = self.data[self.at]
            self.at += 1
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(count)]
        if kind == 12:
            return self.struct()
        raise Bad(f'Thrift type {kind}')

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.data[self.at]
            self.at += 1
            if not head:
                return fields
            last = last + (head >> 4) if head >> 4 else self.number()
            if last in fields:
                raise Bad(f'field {last} twice')
            fields[last] = self.value(head & 15)


# ---- encodings -----------------------------------------------------------------------------------

def hybrid(data, at, width, count):
    """Numbers in runs of either kind; and where they end."""
    out, thrift = [], Thrift(data, at)
    while len(out) < count:
        head = thrift.varint()
        if head & 1:
            size = (head >> 1) * width
            bits = int.from_bytes(data[thrift.at:thrift.at + size], 'little')
            if thrift.at + size > len(data):
                raise Bad('a run ends behind the page')
            out += [bits >> i * width & (1 << width) - 1 for i in range((head >> 1) * 8)] if width % 8 else \
                unpacked(data, thrift.at, width // 8, (head >> 1) * 8)
            thrift.at += size
        else:
            size = (width + 7) // 8
            out += [int.from_bytes(data[thrift.at:thrift.at + size], 'little')] * (head >> 1)
            thrift.at += size
    return out[:count], thrift.at


def unpacked(data, at, size, count):
    return [int.from_bytes(data[i:i + size], 'little') for i in range(at, at + size * count, size)]


def delta(data, at, bits):
    thrift = Thrift(data, at)
    block, parts, count, value = thrift.varint(), thrift.varint(), thrift.varint(), thrift.number()
    mask, out = (1 << bits) - 1, [value]
    while len(out) < count:
        least = thrift.number()
        widths = data[thrift.at:thrift.at + parts]
        thrift.at += parts
        for width in widths:
            if len(out) >= count:
                break
            if width > bits or width % 8:
                raise Bad(f'a width of {width}')
            size = width * (block // parts) // 8
            if thrift.at + size > len(data):
                raise Bad('a part ends behind the page')
            for number in unpacked(data, thrift.at, width // 8, block // parts) if width else [0] * (block // parts):
                value = value + least + number & mask
                value -= (value >> bits - 1) << bits
                out.append(value)
            thrift.at += size
    return out[:count], thrift.at


def plain(data, at, kind, count):
    if kind != 'bytes':
        size, code = (4, 'i') if kind == 'int32' else (8, 'q')
        return list(struct.unpack_from(f'<{count}{code}', data, at)), at + size * count
    out = []
    for _ in range(count):
        size, = struct.unpack_from('<I', data, at)
        if at + 4 + size > len(data):
            raise Bad('a text ends behind the page')
        out.append(bytes(data[at + 4:at + 4 + size]))
        at += 4 + size
    return out, at


_zstd = None


def unzstd(data, size):
    global _zstd
    if not _zstd:
        _zstd = ctypes.CDLL(ctypes.util.find_library('zstd') or 'libzstd.so.1')
        _zstd.ZSTD_decompress.restype = ctypes.c_size_t
        _zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(size + 1)
    if _zstd.ZSTD_decompress(out, size + 1, bytes(data), len(data)) != size:
        raise Bad('a page is not as long as its header says')
    return out.raw[:size]


# ---- columns -------------------------------------------------------------------------------------

class Column:
    """An element of the schema."""

    def __init__(self, fields):
        self.name = fields[4].decode()
        self.kind = TYPES[fields[1]]
        self.nullable = fields[3] == 1
        logical = fields.get(10, {})
        self.unsigned = 10 in logical and logical[10][2] is False
        self.is_time = 8 in logical
        if (self.kind == 'bytes') != (1 in logical):
            raise Bad(f'{self.name}: {fields}')

    def value(self, raw):
        if raw is None or self.kind != 'bytes':
            return raw & (1 << 64) - 1 if raw is not None and self.unsigned else raw
        return raw.decode()

    def bound(self, raw):
        """A value in statistics."""
        if self.kind == 'bytes':
            return raw.decode()
        return self.value(int.from_bytes(raw, 'little', signed=True))


def read_page(data, column, page, dictionary):
    """The values of a data page, None for those that are missing."""
    count, encoding = page[1], page[2]
    at, present = 0, [1] * count
    if column.nullable:
        size, = struct.unpack_from('<I', data)
        present, end = hybrid(data, 4, 1, count)
        at = 4 + size
        if end != at:
            raise Bad('levels are not as long as they say')
    values = sum(present)
    if encoding == PLAIN:
        found, end = plain(data, at, column.kind, values)
    elif encoding == DELTA:
        found, end = delta(data, at, 32 if column.kind == 'int32' else 64)
    elif encoding == DICTIONARY:
        ids, end = hybrid(data, at + 1, data[at], values)
        found = [dictionary[i] for i in ids]
    else:
        raise Bad(f'encoding {encoding}')
    if end != len(data) or len(found) != values:
        raise Bad(f'{column.name}: {len(data) - end} bytes behind the values of a page')
    found = iter(found)
    return [next(found) if there else None for there in present]


def read_chunk(file, column, chunk, start):
    """The values of a chunk that must begin there; and where it ends."""
    about = chunk[3]
    first = about.get(11, about[9])
    if first != start or about[3] != [column.name.encode()]:
        raise Bad(f'{column.name}: a chunk at {first}, not {start}')
    end, values, dictionary, encodings, full = first + about[7], [], None, {RLE}, 0
    at = first
    while at < end:
        page, thrift = at, Thrift(file, at)
        head = thrift.struct()
        full += thrift.at - at + head[2]
        body = file[thrift.at:thrift.at + head[3]]
        at = thrift.at + head[3]
        data = unzstd(body, head[2]) if about[4] == ZSTD else body
        if head[1] == 2:
            if dictionary is not None or page != first:
                raise Bad('a dictionary that is not the first page')
            dictionary, size = plain(data, 0, column.kind, head[7][1])
            if size != len(data):
                raise Bad('more in a dictionary page than entries')
            encodings.add(head[7][2])
        else:
            if not values and page != about[9]:
                raise Bad('the first data page is elsewhere')
            encodings.add(head[5][2])
            values += read_page(data, column, head[5], dictionary)
    if at != end or full != about[6] or set(about[2]) != encodings or len(values) != about[5]:
        raise Bad(f'{column.name}: a chunk of {len(values)} values that says {about}')
    return [column.value(v) for v in values], end


def check_statistics(column, chunk, values):
    """Whether they are those of the values."""
    about = chunk[3][12]
    there = [v for v in values if v is not None]
    if about[3] != len(values) - len(there):
        raise Bad(f'{column.name}: {about[3]} nulls, not {len(values) - len(there)}')
    if column.kind == 'bytes':
        there = [v.encode() for v in there]
    if 5 not in about and (not there or column.kind == 'bytes' and max(map(len, there)) > LONG):
        return
    if not there:
        raise Bad(f'{column.name}: statistics without values')
    bounds = (about[6], about[5]) if column.kind == 'bytes' else (column.bound(about[6]), column.bound(about[5]))
    if bounds != (min(there), max(there)):
        raise Bad(f'{column.name}: from {about.get(6)} to {about.get(5)}, not {min(there)} to {max(there)}')


class Table:
    pass


def read(path):
    """All of a file, with every check that one can think of."""
    with open(path, 'rb') as handle:
        file = handle.read()
    size, = struct.unpack_from('<I', file, len(file) - 8)
    if file[:4] != MAGIC or file[-4:] != MAGIC or size + 12 > len(file):
        raise Bad('no footer')
    thrift = Thrift(file, len(file) - 8 - size)
    footer = thrift.struct()
    if thrift.at != len(file) - 8:
        raise Bad('the footer is not as long as it says')
    table = Table()
    table.columns = [Column(e) for e in footer[2][1:]]
    table.rows = {c.name: [] for c in table.columns}
    table.groups = []
    if len(table.rows) != footer[2][0][5] or len(footer[7]) != len(table.columns):
        raise Bad('columns')
    at = len(MAGIC)
    for group in footer.get(4, []):
        begin = at
        for column, chunk in zip(table.columns, group[1], strict=True):
            values, at = read_chunk(file, column, chunk, at)
            if len(values) != group[3]:
                raise Bad(f'{column.name}: {len(values)} values in a group of {group[3]}')
            check_statistics(column, chunk, values)
            table.rows[column.name] += values
        ts = table.rows[table.columns[0].name][-group[3]:]
        if (4 in group) != (ts == sorted(ts)):
            raise Bad('said to be sorted and is not, or the other way round')
        if group[6] != at - begin or group[2] != sum(c[3][6] for c in group[1]):
            raise Bad('sizes of a group')
        table.groups.append({'rows': group[3], 'sorted': 4 in group, 'chunks': group[1]})
    if at != len(file) - 8 - size or footer[3] != sum(g['rows'] for g in table.groups):
        raise Bad(f'{footer[3]} rows; bytes behind the last group')
    return table
