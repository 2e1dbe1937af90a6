# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads protobuf messages by the description that protoc makes of a .proto file.

A message becomes a dict: a repeated field is a list, a message within it a dict, a string its text, bytes are bytes.
text() prints one as `protoc --decode` does.
"""
import struct
import subprocess

DOUBLE, FLOAT, INT64, UINT64, INT32, FIXED64, FIXED32, BOOL, STRING, GROUP, MESSAGE, BYTES, UINT32, ENUM = range(1, 15)
SIGNED = {INT64, INT32, ENUM}
REPEATED = 3


def varint(data, at):
    byte = data[at]
    at += 1
    if byte < 0x80:
        return byte, at
    value, shift = byte & 0x7f, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value & 0xffffffffffffffff, at
        shift += 7


def fields(data, at=0, end=None):
    """(number, wire type, value) of the fields of a message; bytes are (start, end)."""
    end = len(data) if end is None else end
    while at < end:
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from('<Q', data, at)[0], at + 8
        elif wire == 2:
            size, at = varint(data, at)
            value, at = (at, at + size), at + size
        else:
            raise ValueError(f'wire type {wire}')
        if at > end:
            raise ValueError('a field reaches beyond its message')
        yield tag >> 3, wire, value


class Schema:
    """The messages that a .proto file describes."""

    def __init__(self, folder, name):
        made = subprocess.run(['protoc', f'-I{folder}', '--descriptor_set_out=/dev/stdout', name], check=True,
                              stdout=subprocess.PIPE).stdout
        self.messages = {}
        for number, _, (at, end) in fields(made):
            for inner, _, value in fields(made, at, end):
                if number == 1 and inner == 4:
                    self._message(made, *value, '')

    def _message(self, data, at, end, outer):
        parts = list(fields(data, at, end))
        name = next(f'{outer}.{data[a:e].decode()}' for number, _, (a, e) in (p for p in parts if p[0] == 1))
        self.messages[name] = table = {}
        for number, _, value in parts:
            if number == 3:
                self._message(data, *value, name)
            elif number == 2:
                about = {n: v for n, _, v in fields(data, *value)}
                kind = data[slice(*about[6])].decode() if 6 in about else None
                table[about[3]] = (data[slice(*about[1])].decode(), about[5], about[4] == REPEATED, kind)

    def decode(self, name, data, at=0, end=None):
        """A message; what the schema does not know is an error."""
        table, out = self.messages[name], {}
        for number, wire, value in fields(data, at, end):
            label, kind, repeated, message = table[number]
            if kind == MESSAGE:
                value = self.decode(message, data, *value)
            elif kind == STRING:
                value = data[value[0]:value[1]].decode()
            elif kind == BYTES:
                value = bytes(data[value[0]:value[1]])
            elif wire == 2:
                out.setdefault(label, []).extend(self._packed(data, *value, kind))
                continue
            else:
                value = scalar(kind, value)
            if repeated:
                out.setdefault(label, []).append(value)
            else:
                out[label] = value
        return out

    def _packed(self, data, at, end, kind):
        while at < end:
            value, at = varint(data, at)
            yield scalar(kind, value)

    def text(self, name, message, depth=0):
        """Lines as protoc prints them."""
        space = '  ' * depth
        for number in sorted(self.messages[name]):
            label, kind, repeated, inner = self.messages[name][number]
            if label not in message:
                continue
            for value in message[label] if repeated else [message[label]]:
                if kind == MESSAGE:
                    yield f'{space}{label} {{'
                    yield from self.text(inner, value, depth + 1)
                    yield f'{space}}}'
                elif kind in (STRING, BYTES):
                    yield f'{space}{label}: "{escaped(value)}"'
                else:
                    yield f'{space}{label}: {str(value).lower() if kind == BOOL else value}'


def scalar(kind, value):
    if kind == BOOL:
        return bool(value)
    if kind in SIGNED and value >> 63:
        return value - (1 << 64)
    if kind == UINT32 and value >> 32:
        raise ValueError(f'{value} is no uint32')
    return value


def escaped(value):
    short = {'\n': '\\n', '\r': '\\r', '\t': '\\t', '"': '\\"', "'": "\\'", '\\': '\\\\'}
    data = value.encode() if isinstance(value, str) else value
    return ''.join(short.get(chr(c)) or (chr(c) if 32 <= c < 127 else f'\\{c:03o}') for c in data)
