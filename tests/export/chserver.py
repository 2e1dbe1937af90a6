# SPDX-License-Identifier: GPL-2.0-or-later
"""ClickHouse servers of our own on loopback, and one in between that misbehaves."""
import http.client
import os
import pwd
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

PROGRAM = '/usr/sbin/clickhouse-server'
CLUSTER = 'two'

CONFIG = '''<yandex>
<logger><level>warning</level><log>{home}/log</log><errorlog>{home}/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<path>{home}/data/</path><tmp_path>{home}/tmp/</tmp_path><users_config>{home}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size><uncompressed_cache_size>0</uncompressed_cache_size>
<keep_alive_timeout>10</keep_alive_timeout>
<remote_servers><two>{shards}</two></remote_servers></yandex>'''
SHARD = '<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>'
USER = ('<{0}><password>{1}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>'
        '<quota>default</quota></{0}>')
USERS = ('<yandex><profiles><default></default></profiles><users>' + USER.format('default', '') +
         USER.format('boards', 'secret') + '</users><quotas><default></default></quotas></yandex>')


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(('127.0.0.1', 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Server:
    """One clickhouse-server with everything it has in a folder; not root's."""

    def __init__(self, home, http_port, tcp_port, shards):
        self.home, self.port, self.child = home, http_port, None
        for folder in ('', 'data', 'tmp'):
            os.mkdir(os.path.join(home, folder))
        text = CONFIG.format(home=home, http=http_port, tcp=tcp_port, shards=''.join(SHARD.format(p) for p in shards))
        for name, content in (('config.xml', text), ('users.xml', USERS)):
            with open(f'{home}/{name}', 'w') as file:
                file.write(content)
        self.who = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam('nobody')
            for folder, _, files in os.walk(home):
                for path in [folder] + [f'{folder}/{f}' for f in files]:
                    os.chown(path, nobody.pw_uid, nobody.pw_gid)
            self.who = {'user': nobody.pw_uid, 'group': nobody.pw_gid, 'extra_groups': []}

    def start(self):
        with open(f'{self.home}/../output', 'ab') as out:
            self.child = subprocess.Popen([PROGRAM, f'--config-file={self.home}/config.xml'], stdin=subprocess.DEVNULL,
                                          stdout=out, stderr=out, cwd='/', **self.who)
        for _ in range(600):
            try:
                if self.ask('SELECT 1') == '1\n':
                    return
            except OSError:
                pass
            if self.child.poll() is not None:
                break
            time.sleep(0.05)
        raise OSError('clickhouse-server does not start')

    def kill(self):
        if self.child:
            self.child.send_signal(signal.SIGKILL)
            self.child.wait()
            self.child = None

    def cpu(self):
        """Seconds it has worked so far."""
        with open(f'/proc/{self.child.pid}/stat') as file:
            fields = file.read().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def ask(self, sql, body=None, **settings):
        settings['query'] = sql
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        try:
            c.request('POST', '/?' + urllib.parse.urlencode(settings), body or b'')
            answer = c.getresponse()
            text = answer.read().decode('utf-8', 'surrogateescape')
        finally:
            c.close()
        if answer.status != 200:
            raise RuntimeError(text)
        return text

    def rows(self, sql):
        return [line.split('\t') for line in self.ask(sql).split('\n') if line]


class Cluster:
    """Two of them that know each other as two shards."""

    def __init__(self, directory):
        os.chmod(directory, 0o755)
        ports = free_ports(4)
        self.servers = [Server(f'{directory}/shard{i}', ports[i], ports[2 + i], ports[2:]) for i in range(2)]

    def __enter__(self):
        for s in self.servers:
            s.start()
        return self

    def __exit__(self, *_):
        for s in self.servers:
            s.kill()

    def host_of(self, shard):
        """The name of a machine whose rows go to this shard."""
        names = (f'board{i}' for i in range(1000))
        return next(n for n in names if int(self.servers[0].ask(f"SELECT cityHash64('{n}') % 2")) == shard)


# What the one in between may say instead of a server.
GARBAGE = {
    'no HTTP': b'SSH-2.0-OpenSSH_9.2\r\n',
    'nothing': b'',
    'zeros': b'\0' * 5000,
    'a long line': b'HTTP/1.1 200 OK\r\nX: ' + b'x' * 100000,
    'many headers': b'HTTP/1.1 200 OK\r\n' + b'X-Y: z\r\n' * 20000 + b'\r\n',
    'a page': b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n<html></html',
    'half an answer': b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n1\n',
    'no number of chunks': b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n1\n\r\n0\r\n\r\n',
    'a large chunk': b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc',
    'a negative length': b'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n',
    'a busy proxy': b'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9\r\n\r\ncome back',
    'an endless body': b'HTTP/1.1 200 OK\r\n\r\n' + b'1\n' * (20 << 20),
}


class Between:
    """Stands before a server and passes on what is said, unless it is told otherwise.

    mode: 'pass', 'garbage' (says self.garbage), 'never' (takes everything, says nothing), 'slow' (a byte now and then).
    on_insert: {n: what to do with the n-th insert}: 'answer' is cut off, the 'body' is, or a function that is called
    when half of it has gone through ('half', function) or all of it ('whole', function); nothing is answered then.
    """

    def __init__(self, port, context=None):
        self.port_behind, self.context = port, context
        self.mode, self.garbage = 'pass', b''
        self.on_insert, self.inserts = {}, 0
        self.closing = False
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.closing = True
        self.listener.close()

    def accept(self):
        while not self.closing:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            if self.context:
                client = self.context.wrap_socket(client, server_side=True)
            while self.one(client):
                pass
        except (OSError, ssl.SSLError, http.client.HTTPException):
            pass
        finally:
            client.close()

    @staticmethod
    def request(client):
        data = b''
        while b'\r\n\r\n' not in data:
            piece = client.recv(65536)
            if not piece:
                return None, b''
            data += piece
        head, body = data.split(b'\r\n\r\n', 1)
        length = int(re.search(rb'Content-Length: (\d+)', head)[1])
        while len(body) < length:
            piece = client.recv(1 << 20)
            if not piece:
                return None, b''
            body += piece
        return head + b'\r\n\r\n', body

    def one(self, client):
        head, body = self.request(client)
        if head is None:
            return False
        if self.mode == 'garbage':
            client.sendall(self.garbage)
            return False
        if self.mode in ('never', 'slow'):
            for byte in b'HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n':
                if self.closing or self.mode == 'pass':
                    break
                time.sleep(0.2)
                if self.mode == 'slow':
                    client.sendall(bytes([byte]))
            return False
        plan = None
        if b'query=INSERT' in head:
            plan = self.on_insert.get(self.inserts)
            self.inserts += 1
        with socket.create_connection(('127.0.0.1', self.port_behind)) as server:
            kind = plan[0] if isinstance(plan, tuple) else plan
            if kind in ('body', 'half'):
                server.sendall(head + body[:len(body) // 2])
                time.sleep(0.2)
            else:
                server.sendall(head + body)
            if isinstance(plan, tuple):
                plan[1]()
                return False
            if kind == 'body':
                return False
            answer = http.client.HTTPResponse(server)
            answer.begin()
            content = answer.read()
            if kind == 'answer':
                return False
            client.sendall(f'HTTP/1.1 {answer.status} X\r\nContent-Length: {len(content)}\r\n\r\n'.encode() + content)
        return True


def certificate(directory, name):
    """A key and a certificate of its own for an address: (path of both, path of the certificate), or None."""
    if not shutil.which('openssl'):
        return None
    key, cert = f'{directory}/{name}.key', f'{directory}/{name}.crt'
    done = subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key,
                           '-out', cert, '-subj', f'/CN={name}', '-addext',
                           f'subjectAltName={"IP" if name[0].isdigit() else "DNS"}:{name}'],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, cert
