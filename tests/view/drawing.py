# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures without a browser: `spur view --svg`, `--png` and `--html`.

The trace is made here: ten milliseconds, which are a thousand pixels, so that it is known what must be where.
SVG is read with an XML parser, PNG is unpacked here, and pages are opened in Chromium where there is one.
"""
import base64
import hashlib
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

sys.path.insert(1, 'tests/tables')
import mktrace
import page

GUTTER = 200
WIDTH = GUTTER + 1000  # 100 pixels are a millisecond
STORY = '''
comm 100 alpha
comm 101 beta
comm 103 <b>&
comm 104 busy
1000000 0 0     switch swapper/0:0 R alpha:100
2000000 1 0     switch swapper/1:0 R beta:101
2500000 1 101   sys_enter_read __syscall_nr=0 fd=3 count=10
3000000 0 100   switch alpha:100 S swapper/0:0
3500000 1 101   sys_exit_read __syscall_nr=0 ret=10
4000000 1 101   switch beta:101 D swapper/1:0
6000000 1 0     waking beta:101 1
6000000 1 0     wakeup beta:101 1
7000000 1 0     switch swapper/1:0 R beta:101
7400000 0 0     switch swapper/0:0 R alpha:100
7500000 0 100   switch alpha:100 S swapper/0:0
8000000 0 lost 17
8000000 0 0     switch swapper/0:0 R <b>&:103
9000000 0 103   switch <b>&:103 S swapper/0:0
11000000 1 101  switch beta:101 S swapper/1:0
'''
NR_EVENTS = 14
LINES = 40  # of a wait's words in a page
WAITS = 5
UNKNOWN = '''
comm 100 alpha
1000000 0 0     switch swapper/0:0 R alpha:100
3000000 0 100   sys_enter_read __syscall_nr=0 fd=3 count=10
6000000 0 103   switch gamma:103 S swapper/0:0
7000000 2 0     switch swapper/2:0 R alpha:100
11000000 0 0    switch swapper/0:0 R beta:101
'''
# The same as in PLACES, and whether it is hatched.
UNKNOWN_PLACES = [
    ('CPU 0', 1.5, 'name alpha', False),
    ('CPU 0', 3.5, 'state unknown', True),
    ('CPU 0', 7.3, 'theme row', False),
    ('CPU 1', 0.5, 'state unknown', True),
    ('CPU 1', 9.5, 'state unknown', True),
    ('CPU 2', 8.0, 'name alpha', False),
]
# Row, milliseconds from the first event, and whose colour is at the bottom of the row's first lane.
PLACES = [
    ('CPU 0', 1.9, 'name alpha'),
    ('CPU 0', 7.95, 'name <b>&'),
    ('CPU 1', 2.9, 'name beta'),
    ('CPU 1', 9.9, 'name beta'),
    ('beta 101', 1.9, 'name beta'),
    ('beta 101', 5.9, 'state runnable'),
    ('alpha 100', 1.9, 'name alpha'),
    ('alpha 100', 4.0, 'state sleeping'),
    ('CPU 0', 2.5, 'theme row'),
    ('CPU 1', 4.5, 'theme row'),
]
TEXTS = ['CPU 0', 'CPU 1', 'alpha 100', 'beta 101', '<b>& 103', 'blocked', 'runnable', 'read', 'system calls',
         'events lost', 'story.dat', '0.001000 – 0.011000 s, 10.00 ms', '2 ms', '10 ms']
# Arguments, exit status, what is said.
WRONG = [
    (['--svg', 'OUT', 'nobody.dat'], 2, 'nobody.dat: No such file'),
    (['--svg', 'OUT', '/dev/null'], 4, '/dev/null'),
    (['--svg', 'OUT', 'empty.dat'], 3, 'there are no events'),
    (['--svg', 'nowhere/x.svg', 'story.dat'], 2, 'nowhere/x.svg'),
    (['--svg', 'OUT', '--since', '1', 'story.dat'], 3, 'they are from 0.001000000 to 0.011000000 s'),
    (['--svg', 'OUT', '--until', '1us', 'story.dat'], 3, 'they are from'),
    (['--svg', 'OUT', '--since', '5ms', '--until', '4ms', 'story.dat'], 1, 'is not after'),
    (['--svg', 'OUT', '--since', 'noon', 'story.dat'], 1, "'noon' is not a time"),
    (['--svg', 'OUT', '--rows', 'cpu9', 'story.dat'], 1, "no row is 'cpu9'"),
    (['--svg', 'OUT', '--rows', 'alpha,gamma*', 'story.dat'], 1, "no row is 'gamma*'"),
    (['--svg', 'OUT', '--rows', ',', 'story.dat'], 1, 'no rows are named'),
    (['--png', 'OUT', '--width', '10', 'story.dat'], 1, '--width: between 400 and 20000'),
    (['--png', 'OUT', '--height', '-3', 'story.dat'], 1, '--height: between'),
    (['--html', 'OUT', '--size-limit', 'much', 'story.dat'], 1, '--size-limit'),
    (['--html', 'OUT', '--size-limit', '100k', 'story.dat'], 1, 'has at least'),
    (['--html', 'OUT', '--size-limit', '64k', 'story.dat'], 1, 'has at least'),
    (['--html', 'OUT', '--size-limit', '63k', 'story.dat'], 1, 'between 64k and 1G'),
    (['--dark', 'story.dat'], 1, '--dark goes with --svg'),
    (['--since', '1ms', 'story.dat'], 1, '--since goes with --svg'),
    (['--html', 'OUT', '--rows', 'cpu0', 'story.dat'], 1, '--rows goes with --svg or --png'),
    (['--svg', 'OUT', '--size-limit', '1M', 'story.dat'], 1, '--size-limit goes with --html'),
    (['--svg', 'OUT', '--port', '0', 'story.dat'], 1, '--port does not go with --svg'),
    (['--svg', 'OUT', '--bind', '0.0.0.0', 'story.dat'], 1, '--bind does not go'),
    (['--png', 'OUT', '--web', '.', 'story.dat'], 1, '--web does not go'),
    (['--svg', '-', '--png', '-', 'story.dat'], 1, 'a file each'),
    (['--svg', 'OUT', '--html', 'OUT', 'story.dat'], 1, 'a file each'),
    (['--svg', 'story.dat', 'story.dat'], 2, 'is a recording and is not replaced'),
    (['--png', './busy.dat', 'story.dat', 'busy.dat'], 2, 'is a recording and is not replaced'),
    (['--html', 'other-name.dat', 'story.dat'], 2, 'is a recording and is not replaced'),
    (['--force', '--html', 'other-name.dat', 'story.dat'], 1, 'is an input'),
    (['--svg', 'OUT', 'pipe.dat'], 2, 'pipe.dat'),
]


STACKS = '''
sym ffffffff81000000 inner
sym ffffffff81001000 outer
sym ffffffff81002000 end
1000000 0 100   my_kprobe arg1=1
1000100 0 100   kernel_stack size=2 caller=0xffffffff81000010,0xffffffff81001010
2000000 0 100   my_kprobe arg1=2
'''
PROCESSES = '''
1000000 0 0     switch swapper/0:0 R server:500
1100000 0 500   task_newtask pid=501 comm=server clone_flags=0x10000
3000000 0 500   switch server:500 S lonely:700
4500000 0 700   switch lonely:700 S worker:501
5000000 0 501   switch worker:501 S swapper/0:0
'''


def crowded():
    """A task waits while fifty others run."""
    lines = ['1000000 0 0 switch swapper/0:0 R t0:200', '1000500 0 200 waking victim:100 0']
    for i in range(50):
        lines.append(f'{1010000 + i * 10000} 0 {200 + i} switch t{i}:{200 + i} S t{i + 1}:{201 + i}')
    return lines + ['1600000 0 250 switch t50:250 S victim:100', '1700000 0 100 switch victim:100 S swapper/0:0']


def busy():
    """More slices than a coarse tile has room for."""
    lines, t = STORY.strip().split('\n'), 1000000
    lines = [line for line in lines if line.startswith('comm')]
    while t < 11000000:
        lines.append(f'{t} 0 0 switch swapper/0:0 R busy:104')
        lines.append(f'{t + 700} 0 104 switch busy:104 S swapper/0:0')
        t += 1000
    return lines


class Colours:
    """The tables of the page."""

    def __init__(self, dark=False):
        with open('web/colours.js', encoding='utf-8') as file:
            script = file.read()
        with open('web/theme.css', encoding='utf-8') as file:
            light, night = re.findall(r'\{\n\tcolor-scheme: .*?\}', file.read(), re.S)
        self.states = {m[0]: m[1 + dark] for m in re.findall(r'(\w+): \["#(\w+)", "#(\w+)"\]', script)}
        self.fills = re.findall(r'"#(\w+)"', re.search(r'const FILLS = \[(.*?)\];', script, re.S).group(1))
        classes = re.search(r'const CLASS_COLOURS = \[(.*?)\n\];', script, re.S).group(1)
        self.classes = re.findall(r'\["#(\w+)", "#(\w+)"\]', classes)
        self.theme = dict(re.findall(r'--([\w-]+): #(\w+)', night if dark else light))
        self.dark = dark

    def name(self, text):
        h = 0x811c9dc5
        for c in re.sub(r'[/:#-]?\d.*$', '', text):
            h = (h ^ ord(c)) * 0x01000193 & 0xffffffff
        n = (h ^ h >> 15) % (2 * len(self.fills))
        rgb = bytes.fromhex(self.fills[n % len(self.fills)])
        for _ in range(self.dark + (n >= len(self.fills))):
            rgb = bytes(int(c * 0.86 + 0.5) for c in rgb)
        return rgb.hex()

    def of(self, what):
        kind, _, name = what.partition(' ')
        return {'name': self.name, 'state': self.states.get, 'theme': self.theme.get}[kind](name)


def tables_agree():
    """What differs between the page's tables and those of draw/colours.c, or ''."""
    with open('src/view/draw/colours.c', encoding='utf-8') as file:
        code = file.read()
    light, dark = Colours(), Colours(True)

    def table(name):
        return re.findall(r'0x(\w{6})', re.search(name + r'.*?= \{(.*?)\n\};', code, re.S).group(1))

    names = {'lost': 'mark-b'}
    themes = re.findall(r'\.(\w+) = 0x(\w{6})', re.search(r'themes\[\] = \{(.*?)\n\};', code, re.S).group(1))
    pairs = [
        ('states', table('state_colours'),
         [c for name in light.states for c in (light.states[name], dark.states[name])]),
        ('fills', table(r'fills\[\]'), light.fills),
        ('classes', table('class_colours'), [c for pair in light.classes for c in pair]),
        ('themes', [c for _, c in themes],
         [(light, dark)[i >= len(themes) // 2].theme[names.get(name, name)] for i, (name, _) in enumerate(themes)]),
    ]
    return '; '.join(f'{name}: {ours} and {theirs}' for name, ours, theirs in pairs if ours != theirs or not ours)


class Svg:
    """A picture: rectangles and texts, in the order in which they are painted."""

    def __init__(self, data):
        root = xml.etree.ElementTree.fromstring(data)
        self.size = int(root.get('width')), int(root.get('height'))
        self.rects, self.texts, self.soft = [], [], []
        for e in root.iter():
            tag = e.tag.rpartition('}')[2]
            if tag == 'path' and e.get('fill'):
                for m in re.finditer(r'M(\d+) (\d+)h(\d+)v(\d+)h-\3z', e.get('d')):
                    self.rects.append((*map(int, m.groups()), e.get('fill')[1:]))
            elif tag == 'rect' and e.get('fill')[0] == '#':
                self.rects.append((0, 0, *self.size, e.get('fill')[1:]))
            elif tag == 'text':
                self.texts.append((e.text, float(e.get('x')), float(e.get('y')), int(e.get('font-size'))))
            elif tag in ('rect', 'svg') and e is not root:
                self.soft.append(tuple(int(e.get(k)) for k in ('x', 'y', 'width', 'height')))

    def colour(self, x, y):
        return [c for rx, ry, w, h, c in self.rects if rx <= x < rx + w and ry <= y < ry + h][-1]

    def is_plain(self, x, y):
        """Whether no text and nothing hatched is near."""
        return not any(rx - 1 <= x <= rx + w and ry - 1 <= y <= ry + h for rx, ry, w, h in self.soft) and not any(
            tx - 15 * len(t) < x < tx + 15 * len(t) and abs(y - ty) < 2 * size for t, tx, ty, size in self.texts)

    def row(self, title):
        """Where the bottom of the first lane of a row is."""
        name = title.rpartition(' ')[0] if not title.startswith('CPU') else title
        y = next(ty for t, tx, ty, size in self.texts if t == name and tx < GUTTER and size == 12)
        return round(y - 0.36 * 12) - 12 + 20


def read_png(data):
    """(width, height, lines of bytes); every sum is checked."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at, parts = 8, {}
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), kind
        parts[kind] = body
        at += 12 + size
    width, height, *rest = struct.unpack('>IIBBBBB', parts[b'IHDR'])
    assert rest == [8, 2, 0, 0, 0] and parts[b'IEND'] == b''
    packed, lines, above = zlib.decompress(parts[b'IDAT']), [], bytes(3 * width)
    for y in range(height):
        line = packed[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
        assert line[0] == 2
        above = bytes(a + b & 255 for a, b in zip(above, line[1:]))
        lines.append(above)
    assert len(packed) == height * (3 * width + 1)
    return width, height, lines


class Drawing:
    def __init__(self, t, directory):
        self.t, self.directory = t, directory

    def path(self, name):
        return os.path.join(self.directory, name)

    def spur(self, *arguments):
        return self.t.run(['view', *arguments], cwd=self.directory, seconds=60)

    def draw(self, *arguments):
        """What is written to standard output."""
        result = self.spur(*arguments)
        assert result.status == 0 and not result.trouble, result
        return result.out

    def svg(self, *arguments):
        return Svg(self.draw('--svg', '-', '--width', str(WIDTH), *arguments))


def problems(function, *arguments):
    try:
        return function(*arguments) or ''
    except (AssertionError, ValueError, KeyError, IndexError, StopIteration, zlib.error,
            xml.etree.ElementTree.ParseError) as error:
        return f'{type(error).__name__}: {error}' or 'an assertion failed'


def check_svg(d, dark):
    svg = d.svg('story.dat', *(['--dark'] if dark else []))
    colours = Colours(dark)
    texts = {text for text, *_ in svg.texts}
    wrong = [f'no text {text}' for text in TEXTS if text not in texts]
    for row, ms, what in PLACES:
        got = svg.colour(GUTTER + int(ms * 100), svg.row(row) - 2)
        if got != colours.of(what):
            wrong.append(f'{row} at {ms} ms: {got}, not {colours.of(what)} ({what})')
    return '; '.join(wrong)


def check_unknown(d):
    """A CPU of which nothing is known does not look idle."""
    svg, wrong = d.svg('unknown.dat'), []
    if sum(text == 'unknown' for text, *_ in svg.texts) < 3:
        wrong.append('it is not named')
    for row, ms, what, hatched in UNKNOWN_PLACES:
        x, y = GUTTER + int(ms * 100), svg.row(row) - 2
        if svg.colour(x, y) != Colours().of(what):
            wrong.append(f'{row} at {ms} ms: {svg.colour(x, y)} is not {what}')
        if hatched != any(rx <= x < rx + w and ry <= y < ry + h for rx, ry, w, h in svg.soft):
            wrong.append(f'{row} at {ms} ms is {"not " if hatched else ""}hatched')
    return '; '.join(wrong)


def check_png(d):
    """The same as the SVG wherever there is neither text nor a pattern."""
    svg = d.svg('story.dat')
    d.draw('--png', 'story.png', '--width', str(WIDTH), 'story.dat')
    with open(d.path('story.png'), 'rb') as file:
        width, height, lines = read_png(file.read())
    if (width, height) != svg.size:
        return f'{width} x {height} pixels, not {svg.size}'
    colours, luck = Colours(), random.Random(1)

    def pixel(x, y):
        return lines[y][3 * x:3 * x + 3].hex()

    places = [(GUTTER + int(ms * 100), svg.row(row) - 2, colours.of(what)) for row, ms, what in PLACES]
    for _ in range(3000):
        x, y = luck.randrange(width), luck.randrange(height)
        if svg.is_plain(x, y):
            places.append((x, y, svg.colour(x, y)))
    if len(places) < 500:
        return f'only {len(places)} places were compared'
    wrong = [f'{pixel(x, y)} at {x}, {y} instead of {c}' for x, y, c in places if pixel(x, y) != c]
    ink = sum(pixel(x, y) < '404040' for y in range(10, 26) for x in range(5, 100))
    if ink < 40:
        wrong.append(f'the title has {ink} dark pixels')
    return '; '.join(wrong[:5])


def check_rows(d):
    svg = d.svg('story.dat', '--rows', 'beta,cpu1', '--since', '2ms', '--until', '3ms')
    labels = [text for text, x, *_ in svg.texts if x == 20 or x == 33]
    if labels != ['beta', 'CPU 1']:
        return f'rows are {labels}'
    if svg.colour(GUTTER + 900, svg.row('beta 101') - 2) != Colours().name('beta'):
        return 'beta does not run to the end'
    high = d.svg('story.dat', '--height', '300')
    return '' if high.size == (WIDTH, 300) else f'the height is {high.size[1]}'


def check_even(d):
    """A CPU that is always busy is drawn as high as its lane, everywhere."""
    for options in ([], ['--since', '2ms', '--until', '12.7ms'], ['--since', '5ms', '--until', '6.1ms'],
                    ['--since', '13ms', '--until', '14.9ms']):
        svg = d.svg('steady.dat', '--rows', 'cpu0', *options)
        top = svg.row('CPU 0') - 18
        holes = [x for x in range(GUTTER, WIDTH - 3) if svg.colour(x, top) == Colours().of('theme row')]
        if holes:
            return f'{options}: {len(holes)} columns are not full: {holes[:5]}'
    return ''


def check_crowd(d):
    """Two thousand tasks: the busiest are drawn, and it says so."""
    svg = d.svg('crowd.dat')
    note = ''.join(text for text, *_ in svg.texts if text.startswith('the busiest'))
    fine = re.fullmatch(r'the busiest \d\d of 2000', note) and svg.size[1] < 1100
    return '' if fine else f'{note} {svg.size}'


def check_processes(d):
    """Threads stand below the name of their process, what is alone behind them."""
    heads = [[text for text, x, _, size in svg.texts if x == 10 and size == 11 and text not in ('time', 'spur view')]
             for svg in (d.svg('processes.dat'), d.svg('--processes', 'processes.dat'))]
    want = [['CPUs', 'Tasks'], ['CPUs', 'server 500', 'Other tasks']]
    if heads != want:
        return f'headings are {heads}, not {want}'
    labels = [text for text, x, *_ in d.svg('--processes', 'processes.dat').texts if x == 33]
    if labels != ['server', 'worker', 'lonely']:
        return f'tasks are {labels}'
    saved = page_parts(d.draw('--html', '-', '--processes', 'processes.dat'))[1]
    return '' if saved['processes'] else 'the page does not group them'


def page_parts(data):
    text = data.decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    embedded = re.search(r'<script type="application/json" id="embedded">(.*?)</script>', text, re.S).group(1)
    script = re.search(r'<script type="module">(.*)</script>', text, re.S).group(1)
    style = re.search(r'<style>(.*?)</style>', text, re.S).group(1)
    return policy, json.loads(embedded), script, style


def check_page(d):
    policy, data, script, style = page_parts(d.draw('--html', '-', 'story.dat'))
    for part in script, style:
        if base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() not in policy:
            return 'the policy does not allow what is in the page'
    if re.search(r'\b(src|href)="(?!data:)', script) or 'connect-src' in policy:
        return 'it needs something else'
    events = [e for packed in data['events'] for e in json.loads(zlib.decompress(base64.b64decode(packed)))['rows']]
    if len(events) != NR_EVENTS or events[2]['event'] != 'sys_enter_read':
        return f'{len(events)} events'
    more = [e for packed in data['details'] for e in json.loads(zlib.decompress(base64.b64decode(packed)))['rows']]
    if [e['n'] for e in more] != [e['n'] for e in events]:
        return f'details of {len(more)} events'
    fields = {f['name']: f['value'] for f in more[2]['fields']}
    if fields.get('count') != 10 or fields.get('common_pid') != 101:
        return f'fields are {fields}'
    stack = page_parts(d.draw('--html', '-', 'stacks.dat'))[1]['details'][0]
    stack = json.loads(zlib.decompress(base64.b64decode(stack)))['rows'][0]['stack']
    if stack != [{'kind': 'kernel', 'frames': ['inner', 'outer']}]:
        return f'the stack is {stack}'
    magic = {zlib.decompress(base64.b64decode(text))[:4] for _, _, text in data['tiles']}
    return '' if magic == {b'SPT1'} else f'tiles begin with {magic}'


def check_whys(d):
    """Of the longest waits there are the words of `spur why`, of long ones the first lines."""
    waits = 0
    for name, arguments in (('story.dat', []), ('crowded.dat', []), ('story.dat', ['--since', '5.5ms', '--until', '6.5ms'])):
        data = page_parts(d.draw('--html', '-', *arguments, name))[1]
        for row, start, words in (w for packed in data['whys'] for w in json.loads(zlib.decompress(base64.b64decode(packed)))):
            question = f'{data["rows"][row]["pid"]}@{int(data["trace"]["origin"]) + start}ns'
            lines = d.t.run(['why', name, question], cwd=d.directory).out.decode().splitlines(keepends=True)
            wanted = ''.join(lines) if len(lines) <= LINES else ''.join(lines[:LINES]) + '  …'
            if words != wanted:
                return f'{name}: {question}: {words!r} instead of {wanted!r}'
            if name == 'crowded.dat' and question.startswith('100@') and len(lines) <= LINES:
                return f'{question} has only {len(lines)} lines'
            waits += 1
    # Of beta in the first and in the third one, of the task that waits for the crowd in the second.
    return '' if waits == WAITS else f'{waits} waits'


def check_limits(d):
    """Pages are never larger than they may be, and larger ones have more in them."""
    before = 0
    for limit in ('400k', '500k', '800k'):
        data = d.draw('--html', '-', '--size-limit', limit, 'busy.dat')
        tiles = len(page_parts(data)[1]['tiles'])
        if len(data) > int(limit[:-1]) << 10 or tiles < before or not tiles:
            return f'{limit}: {len(data)} bytes, {tiles} tiles'
        before = tiles
    return ''


def check_browser(d):
    t = d.t
    reason, home = page.why_not()
    if reason:
        t.skip('drawing: pages in a browser', reason)
        return
    d.draw('--html', 'whole.html', 'story.dat')
    d.draw('--html', 'part.html', '--since', '3ms', '--until', '4ms', 'story.dat')
    d.draw('--html', 'small.html', '--size-limit', '400k', 'busy.dat')
    d.draw('--html', 'stacks.html', 'stacks.dat')
    d.draw('--html', 'processes.html', '--processes', 'processes.dat')
    colours = Colours()
    places = [{'row': row, 'ms': ms, 'colour': list(bytes.fromhex(colours.of(what)))} for row, ms, what in PLACES]
    facts = {'playwright': home, 'directory': d.directory, 'events': NR_EVENTS, 'places': places}
    done = subprocess.run(['node', 'tests/view/page/saved.mjs', json.dumps(facts)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL, timeout=300, check=False)
    lines = [line.split('\t') for line in done.stdout.splitlines()]
    for line in lines:
        if line[0] in ('ok', 'FAIL'):
            t.check(f'drawing: a page {line[1]}', line[2] if line[0] == 'FAIL' else '')
        else:
            print('  ' + '\t'.join(line), flush=True)
    if done.returncode:
        t.fail('drawing: pages in a browser', f'saved.mjs ended with {done.returncode}')


def check_kept(d):
    """A kept index that is damaged, in its tables or in what they refer to, is made anew."""
    os.mkdir(d.path('cache'))
    arguments = ['--cache', 'cache', '--svg', '-', 'busy.dat']
    good = d.draw(*arguments)
    name = d.path('cache/' + os.listdir(d.path('cache'))[0])
    with open(name, 'rb') as file:
        kept = file.read()
    tables = struct.unpack_from('<Q', kept, 64)[0]
    store = (128 + tables + 4095) // 4096 * 4096
    for first, last in ((128, 160), (store, store + 16), (store + 5000, len(kept)), (len(kept) - 9, len(kept) - 8)):
        wrong = kept[:first] + bytes(b ^ 0x55 for b in kept[first:last]) + kept[last:]
        with open(name, 'wb') as file:
            file.write(wrong)
        assert d.draw(*arguments) == good, f'another picture with wrong bytes from {first} on'
        with open(name, 'rb') as file:
            assert file.read() != wrong, f'it is as wrong as it was from {first} on'


def check_wrong(d, arguments, status, words):
    out = d.path('OUT')
    result = d.spur(*(out if a == 'OUT' else a for a in arguments))
    said = result.err.decode(errors='replace')
    if result.trouble or result.status != status or words not in said or len(said.splitlines()) != 1:
        return f'{result.status} {result.trouble} {said}'
    return 'something was written' if os.path.exists(out) else ''


def check(t):
    t.check('drawing: colours are those of the page', tables_agree())
    with tempfile.TemporaryDirectory() as directory:
        d = Drawing(t, directory)
        traces = {'story': STORY.strip().split('\n'), 'busy': busy(), 'crowded': crowded(), 'crowd': page.crowd(),
                  'empty': ['comm 1 init'], 'steady': page.steady(), 'stacks': STACKS.strip().split('\n'),
                  'processes': PROCESSES.strip().split('\n'), 'unknown': UNKNOWN.strip().split('\n')}
        for name, lines in traces.items():
            with open(d.path(f'{name}.dat'), 'wb') as file:
                file.write(mktrace.make(lines))
        os.symlink('story.dat', d.path('other-name.dat'))
        os.mkfifo(d.path('pipe.dat'))
        t.check('drawing: svg', problems(check_svg, d, False))
        t.check('drawing: svg, dark', problems(check_svg, d, True))
        t.check('drawing: what is not known', problems(check_unknown, d))
        t.check('drawing: png', problems(check_png, d))
        t.check('drawing: rows', problems(check_rows, d))
        t.check('drawing: even', problems(check_even, d))
        t.check('drawing: many tasks', problems(check_crowd, d))
        t.check('drawing: processes', problems(check_processes, d))
        t.check('drawing: page', problems(check_page, d))
        t.check('drawing: why tasks waited, in a page', problems(check_whys, d))
        t.check('drawing: limits of pages', problems(check_limits, d))
        t.check('drawing: kept indexes', problems(check_kept, d))
        check_browser(d)
        for case in WRONG:
            t.check('drawing: ' + ' '.join(case[0]), problems(check_wrong, d, *case))
