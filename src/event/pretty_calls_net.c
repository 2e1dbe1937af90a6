// SPDX-License-Identifier: GPL-2.0-or-later
/* The arguments of system calls on sockets. */
#include "event/pretty_tables.h"

static const struct call_spec calls[] = {
	{"socket", ARGS3(family, SOCK_DOMAIN, type, SOCK_TYPE, protocol, PROTOCOL)},
	{"socketpair",
	 ARGS4(family, SOCK_DOMAIN, type, SOCK_TYPE, protocol, PROTOCOL, usockvec, PTR)},
	{"bind", ARGS3(fd, FD, umyaddr, PTR, addrlen, INT)},
	{"listen", ARGS2(fd, FD, backlog, INT)},
	{"accept", ARGS3(fd, FD, upeer_sockaddr, PTR, upeer_addrlen, PTR)},
	{"accept4", ARGS4(fd, FD, upeer_sockaddr, PTR, upeer_addrlen, PTR, flags, SOCK_CREATE)},
	{"connect", ARGS3(fd, FD, uservaddr, PTR, addrlen, INT)},
	{"shutdown", ARGS2(fd, FD, how, SHUTDOWN)},
	{"getsockname", ARGS3(fd, FD, usockaddr, PTR, usockaddr_len, PTR)},
	{"getpeername", ARGS3(fd, FD, usockaddr, PTR, usockaddr_len, PTR)},
	{"send", ARGS4(fd, FD, buff, PTR, len, SIZE, flags, MSG_FLAGS)},
	{"sendto", ARGS6(fd, FD, buff, PTR, len, SIZE, flags, MSG_FLAGS, addr, PTR, addr_len, INT)},
	{"sendmsg", ARGS3(fd, FD, msg, PTR, flags, MSG_FLAGS)},
	{"sendmmsg", ARGS4(fd, FD, mmsg, PTR, vlen, UINT, flags, MSG_FLAGS)},
	{"recv", ARGS4(fd, FD, ubuf, PTR, size, SIZE, flags, MSG_FLAGS)},
	{"recvfrom",
	 ARGS6(fd, FD, ubuf, PTR, size, SIZE, flags, MSG_FLAGS, addr, PTR, addr_len, PTR)},
	{"recvmsg", ARGS3(fd, FD, msg, PTR, flags, MSG_FLAGS)},
	{"recvmmsg", ARGS5(fd, FD, mmsg, PTR, vlen, UINT, flags, MSG_FLAGS, timeout, PTR)},
	{"setsockopt",
	 ARGS5(fd, FD, level, SOCK_LEVEL, optname, SOCKOPT, optval, PTR, optlen, INT)},
	{"getsockopt",
	 ARGS5(fd, FD, level, SOCK_LEVEL, optname, SOCKOPT, optval, PTR, optlen, PTR)},
	{"socketcall", ARGS2(call, SOCKETCALL, args, PTR)},
};

const struct call_list pretty_calls_net = {calls, sizeof(calls) / sizeof(calls[0])};
