// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the numbers in system calls on files: opening, paths, descriptors, notification. */
#include "event/pretty_tables.h"

/* The bits between O_APPEND and O_NOATIME that architectures place differently come last. */
#define ACCESS_FLAGS                                                                               \
	PART(O_RDONLY, 0, 3), PART(O_WRONLY, 1, 3), PART(O_RDWR, 2, 3), PART(O_ACCMODE, 3, 3)
#define OPEN_FLAGS                                                                                 \
	FLAG(O_CREAT, 0x40), FLAG(O_EXCL, 0x80), FLAG(O_NOCTTY, 0x100), FLAG(O_TRUNC, 0x200),      \
		FLAG(O_APPEND, 0x400), FLAG(O_NONBLOCK, 0x800), FLAG(O_SYNC, 0x101000),            \
		FLAG(O_DSYNC, 0x1000), FLAG(O_ASYNC, 0x2000)
#define OPEN_FLAGS_END                                                                             \
	FLAG(O_NOATIME, 0x40000), FLAG(O_CLOEXEC, 0x80000), FLAG(O_PATH, 0x200000),                \
		FLAG(__O_SYNC, 0x100000), FLAG(__O_TMPFILE, 0x400000)

static const struct named open_flags_names[] = {
	ACCESS_FLAGS,
	OPEN_FLAGS,
	FLAG(O_DIRECT, 0x4000),
	FLAG(O_LARGEFILE, 0x8000),
	FLAG(O_TMPFILE, 0x410000),
	FLAG(O_DIRECTORY, 0x10000),
	FLAG(O_NOFOLLOW, 0x20000),
	OPEN_FLAGS_END,
};
NAME_SET(open_flags, 0);

static const struct named open_flags_arm_names[] = {
	ACCESS_FLAGS,
	OPEN_FLAGS,
	FLAG(O_TMPFILE, 0x404000),
	FLAG(O_DIRECTORY, 0x4000),
	FLAG(O_NOFOLLOW, 0x8000),
	FLAG(O_DIRECT, 0x10000),
	FLAG(O_LARGEFILE, 0x20000),
	OPEN_FLAGS_END,
};
NAME_SET(open_flags_arm, 0);

static const struct named open_flags_ppc_names[] = {
	ACCESS_FLAGS,
	OPEN_FLAGS,
	FLAG(O_TMPFILE, 0x404000),
	FLAG(O_DIRECTORY, 0x4000),
	FLAG(O_NOFOLLOW, 0x8000),
	FLAG(O_LARGEFILE, 0x10000),
	FLAG(O_DIRECT, 0x20000),
	OPEN_FLAGS_END,
};
NAME_SET(open_flags_ppc, 0);

static const struct named pipe_flags_names[] = {
	FLAG(O_NOTIFICATION_PIPE, 0x80),
	FLAG(O_NONBLOCK, 0x800),
	FLAG(O_DIRECT, 0x4000),
	FLAG(O_CLOEXEC, 0x80000),
};
NAME_SET(pipe_flags, 0);

static const struct named pipe_flags_arm_names[] = {
	FLAG(O_NOTIFICATION_PIPE, 0x80),
	FLAG(O_NONBLOCK, 0x800),
	FLAG(O_DIRECT, 0x10000),
	FLAG(O_CLOEXEC, 0x80000),
};
NAME_SET(pipe_flags_arm, 0);

static const struct named pipe_flags_ppc_names[] = {
	FLAG(O_NOTIFICATION_PIPE, 0x80),
	FLAG(O_NONBLOCK, 0x800),
	FLAG(O_DIRECT, 0x20000),
	FLAG(O_CLOEXEC, 0x80000),
};
NAME_SET(pipe_flags_ppc, 0);

static const struct named file_mode_names[] = {
	PART(S_IFIFO, 0x1000, 0xf000),	PART(S_IFCHR, 0x2000, 0xf000),
	PART(S_IFDIR, 0x4000, 0xf000),	PART(S_IFBLK, 0x6000, 0xf000),
	PART(S_IFREG, 0x8000, 0xf000),	PART(S_IFLNK, 0xa000, 0xf000),
	PART(S_IFSOCK, 0xc000, 0xf000),
};
NAME_SET(file_mode, SET_OCTAL);

static const struct named access_mode_names[] = {
	IS(F_OK, 0),
	FLAG(R_OK, 4),
	FLAG(W_OK, 2),
	FLAG(X_OK, 1),
};
NAME_SET(access_mode, 0);

/* ---- AT_…: one bit means different things in different calls ---- */

static const struct named at_flags_names[] = {
	FLAG(AT_SYMLINK_NOFOLLOW, 0x100),
	FLAG(AT_SYMLINK_FOLLOW, 0x400),
	FLAG(AT_NO_AUTOMOUNT, 0x800),
	FLAG(AT_EMPTY_PATH, 0x1000),
	PART(AT_STATX_FORCE_SYNC, 0x2000, 0x6000),
	PART(AT_STATX_DONT_SYNC, 0x4000, 0x6000),
	FLAG(AT_RECURSIVE, 0x8000),
	FLAG(AT_EXECVE_CHECK, 0x10000),
};
NAME_SET(at_flags, 0);

static const struct named at_unlink_names[] = {
	FLAG(AT_REMOVEDIR, 0x200),
};
NAME_SET(at_unlink, 0);

static const struct named at_access_names[] = {
	FLAG(AT_SYMLINK_NOFOLLOW, 0x100),
	FLAG(AT_EACCESS, 0x200),
	FLAG(AT_EMPTY_PATH, 0x1000),
};
NAME_SET(at_access, 0);

static const struct named at_handle_names[] = {
	FLAG(AT_HANDLE_MNT_ID_UNIQUE, 1), FLAG(AT_HANDLE_CONNECTABLE, 2),
	FLAG(AT_SYMLINK_NOFOLLOW, 0x100), FLAG(AT_HANDLE_FID, 0x200),
	FLAG(AT_SYMLINK_FOLLOW, 0x400),	  FLAG(AT_EMPTY_PATH, 0x1000),
};
NAME_SET(at_handle, 0);

static const struct named rename_names[] = {
	FLAG(RENAME_NOREPLACE, 1),
	FLAG(RENAME_EXCHANGE, 2),
	FLAG(RENAME_WHITEOUT, 4),
};
NAME_SET(rename, 0);

static const struct named statx_mask_names[] = {
	FLAG(STATX_ALL, 0xfff),
	FLAG(STATX_BASIC_STATS, 0x7ff),
	FLAG(STATX_TYPE, 0x1),
	FLAG(STATX_MODE, 0x2),
	FLAG(STATX_NLINK, 0x4),
	FLAG(STATX_UID, 0x8),
	FLAG(STATX_GID, 0x10),
	FLAG(STATX_ATIME, 0x20),
	FLAG(STATX_MTIME, 0x40),
	FLAG(STATX_CTIME, 0x80),
	FLAG(STATX_INO, 0x100),
	FLAG(STATX_SIZE, 0x200),
	FLAG(STATX_BLOCKS, 0x400),
	FLAG(STATX_BTIME, 0x800),
	FLAG(STATX_MNT_ID, 0x1000),
	FLAG(STATX_DIOALIGN, 0x2000),
	FLAG(STATX_MNT_ID_UNIQUE, 0x4000),
	FLAG(STATX_SUBVOL, 0x8000),
	FLAG(STATX_WRITE_ATOMIC, 0x10000),
	FLAG(STATX_DIO_READ_ALIGN, 0x20000),
};
NAME_SET(statx_mask, 0);

static const struct named xattr_flags_names[] = {
	FLAG(XATTR_CREATE, 1),
	FLAG(XATTR_REPLACE, 2),
};
NAME_SET(xattr_flags, 0);

/* ---- what is done with an open file ---- */

static const struct named seek_names[] = {
	IS(SEEK_SET, 0), IS(SEEK_CUR, 1), IS(SEEK_END, 2), IS(SEEK_DATA, 3), IS(SEEK_HOLE, 4),
};
NAME_SET(seek, SET_NUMBER);

static const struct named fcntl_cmd_names[] = {
	IS(F_DUPFD, 0),
	IS(F_GETFD, 1),
	IS(F_SETFD, 2),
	IS(F_GETFL, 3),
	IS(F_SETFL, 4),
	IS(F_GETLK, 5),
	IS(F_SETLK, 6),
	IS(F_SETLKW, 7),
	IS(F_SETOWN, 8),
	IS(F_GETOWN, 9),
	IS(F_SETSIG, 10),
	IS(F_GETSIG, 11),
	IS(F_GETLK64, 12),
	IS(F_SETLK64, 13),
	IS(F_SETLKW64, 14),
	IS(F_SETOWN_EX, 15),
	IS(F_GETOWN_EX, 16),
	IS(F_GETOWNER_UIDS, 17),
	IS(F_OFD_GETLK, 36),
	IS(F_OFD_SETLK, 37),
	IS(F_OFD_SETLKW, 38),
	IS(F_SETLEASE, 1024),
	IS(F_GETLEASE, 1025),
	IS(F_NOTIFY, 1026),
	IS(F_DUPFD_QUERY, 1027),
	IS(F_CREATED_QUERY, 1028),
	IS(F_CANCELLK, 1029),
	IS(F_DUPFD_CLOEXEC, 1030),
	IS(F_SETPIPE_SZ, 1031),
	IS(F_GETPIPE_SZ, 1032),
	IS(F_ADD_SEALS, 1033),
	IS(F_GET_SEALS, 1034),
	IS(F_GET_RW_HINT, 1035),
	IS(F_SET_RW_HINT, 1036),
	IS(F_GET_FILE_RW_HINT, 1037),
	IS(F_SET_FILE_RW_HINT, 1038),
};
NAME_SET(fcntl_cmd, SET_NUMBER);

static const struct named fd_flags_names[] = {
	FLAG(FD_CLOEXEC, 1),
};
NAME_SET(fd_flags, 0);

static const struct named lease_names[] = {
	IS(F_RDLCK, 0),
	IS(F_WRLCK, 1),
	IS(F_UNLCK, 2),
};
NAME_SET(lease, SET_NUMBER);

static const struct named dnotify_names[] = {
	FLAG(DN_ACCESS, 1),
	FLAG(DN_MODIFY, 2),
	FLAG(DN_CREATE, 4),
	FLAG(DN_DELETE, 8),
	FLAG(DN_RENAME, 16),
	FLAG(DN_ATTRIB, 32),
	FLAG(DN_MULTISHOT, 0x80000000),
};
NAME_SET(dnotify, 0);

static const struct named seals_names[] = {
	FLAG(F_SEAL_SEAL, 1),  FLAG(F_SEAL_SHRINK, 2),	      FLAG(F_SEAL_GROW, 4),
	FLAG(F_SEAL_WRITE, 8), FLAG(F_SEAL_FUTURE_WRITE, 16), FLAG(F_SEAL_EXEC, 32),
};
NAME_SET(seals, 0);

static const struct named flock_op_names[] = {
	FLAG(LOCK_SH, 1),    FLAG(LOCK_EX, 2),	  FLAG(LOCK_NB, 4),    FLAG(LOCK_UN, 8),
	FLAG(LOCK_RW, 0xc0), FLAG(LOCK_MAND, 32), FLAG(LOCK_READ, 64), FLAG(LOCK_WRITE, 128),
};
NAME_SET(flock_op, 0);

static const struct named fallocate_names[] = {
	FLAG(FALLOC_FL_KEEP_SIZE, 0x1),	     FLAG(FALLOC_FL_PUNCH_HOLE, 0x2),
	FLAG(FALLOC_FL_NO_HIDE_STALE, 0x4),  FLAG(FALLOC_FL_COLLAPSE_RANGE, 0x8),
	FLAG(FALLOC_FL_ZERO_RANGE, 0x10),    FLAG(FALLOC_FL_INSERT_RANGE, 0x20),
	FLAG(FALLOC_FL_UNSHARE_RANGE, 0x40), FLAG(FALLOC_FL_WRITE_ZEROES, 0x80),
};
NAME_SET(fallocate, 0);

static const struct named fadvise_names[] = {
	IS(POSIX_FADV_NORMAL, 0),   IS(POSIX_FADV_RANDOM, 1),	IS(POSIX_FADV_SEQUENTIAL, 2),
	IS(POSIX_FADV_WILLNEED, 3), IS(POSIX_FADV_DONTNEED, 4), IS(POSIX_FADV_NOREUSE, 5),
};
NAME_SET(fadvise, SET_NUMBER);

static const struct named fadvise_s390x_names[] = {
	IS(POSIX_FADV_NORMAL, 0),   IS(POSIX_FADV_RANDOM, 1),	IS(POSIX_FADV_SEQUENTIAL, 2),
	IS(POSIX_FADV_WILLNEED, 3), IS(POSIX_FADV_DONTNEED, 6), IS(POSIX_FADV_NOREUSE, 7),
};
NAME_SET(fadvise_s390x, SET_NUMBER);

static const struct named sync_range_names[] = {
	FLAG(SYNC_FILE_RANGE_WAIT_BEFORE, 1),
	FLAG(SYNC_FILE_RANGE_WRITE, 2),
	FLAG(SYNC_FILE_RANGE_WAIT_AFTER, 4),
};
NAME_SET(sync_range, 0);

static const struct named splice_names[] = {
	FLAG(SPLICE_F_MOVE, 1),
	FLAG(SPLICE_F_NONBLOCK, 2),
	FLAG(SPLICE_F_MORE, 4),
	FLAG(SPLICE_F_GIFT, 8),
};
NAME_SET(splice, 0);

static const struct named rwf_flags_names[] = {
	FLAG(RWF_HIPRI, 0x1),	FLAG(RWF_DSYNC, 0x2),	   FLAG(RWF_SYNC, 0x4),
	FLAG(RWF_NOWAIT, 0x8),	FLAG(RWF_APPEND, 0x10),	   FLAG(RWF_NOAPPEND, 0x20),
	FLAG(RWF_ATOMIC, 0x40), FLAG(RWF_DONTCACHE, 0x80),
};
NAME_SET(rwf_flags, 0);

static const struct named close_range_names[] = {
	FLAG(CLOSE_RANGE_UNSHARE, 2),
	FLAG(CLOSE_RANGE_CLOEXEC, 4),
};
NAME_SET(close_range, 0);

/* ---- descriptors that are no files ---- */

static const struct named epoll_create_names[] = {
	FLAG(EPOLL_CLOEXEC, 0x80000),
};
NAME_SET(epoll_create, 0);

static const struct named epoll_op_names[] = {
	IS(EPOLL_CTL_ADD, 1),
	IS(EPOLL_CTL_DEL, 2),
	IS(EPOLL_CTL_MOD, 3),
};
NAME_SET(epoll_op, SET_NUMBER);

static const struct named eventfd_names[] = {
	FLAG(EFD_SEMAPHORE, 1),
	FLAG(EFD_NONBLOCK, 0x800),
	FLAG(EFD_CLOEXEC, 0x80000),
};
NAME_SET(eventfd, 0);

static const struct named signalfd_names[] = {
	FLAG(SFD_NONBLOCK, 0x800),
	FLAG(SFD_CLOEXEC, 0x80000),
};
NAME_SET(signalfd, 0);

static const struct named timerfd_names[] = {
	FLAG(TFD_NONBLOCK, 0x800),
	FLAG(TFD_CLOEXEC, 0x80000),
};
NAME_SET(timerfd, 0);

static const struct named timerfd_set_names[] = {
	FLAG(TFD_TIMER_ABSTIME, 1),
	FLAG(TFD_TIMER_CANCEL_ON_SET, 2),
};
NAME_SET(timerfd_set, 0);

static const struct named userfaultfd_names[] = {
	FLAG(UFFD_USER_MODE_ONLY, 1),
	FLAG(O_NONBLOCK, 0x800),
	FLAG(O_CLOEXEC, 0x80000),
};
NAME_SET(userfaultfd, 0);

static const struct named memfd_flags_names[] = {
	FLAG(MFD_CLOEXEC, 1),
	FLAG(MFD_ALLOW_SEALING, 2),
	FLAG(MFD_HUGETLB, 4),
	FLAG(MFD_NOEXEC_SEAL, 8),
	FLAG(MFD_EXEC, 16),
	PART(MFD_HUGE_2MB, 21u << 26, 63u << 26),
	PART(MFD_HUGE_1GB, 30u << 26, 63u << 26),
};
NAME_SET(memfd_flags, 0);

/* ---- notification ---- */

static const struct named inotify_init_names[] = {
	FLAG(IN_NONBLOCK, 0x800),
	FLAG(IN_CLOEXEC, 0x80000),
};
NAME_SET(inotify_init, 0);

static const struct named inotify_mask_names[] = {
	FLAG(IN_ALL_EVENTS, 0xfff),
	FLAG(IN_ACCESS, 0x1),
	FLAG(IN_MODIFY, 0x2),
	FLAG(IN_ATTRIB, 0x4),
	FLAG(IN_CLOSE_WRITE, 0x8),
	FLAG(IN_CLOSE_NOWRITE, 0x10),
	FLAG(IN_OPEN, 0x20),
	FLAG(IN_MOVED_FROM, 0x40),
	FLAG(IN_MOVED_TO, 0x80),
	FLAG(IN_CREATE, 0x100),
	FLAG(IN_DELETE, 0x200),
	FLAG(IN_DELETE_SELF, 0x400),
	FLAG(IN_MOVE_SELF, 0x800),
	FLAG(IN_UNMOUNT, 0x2000),
	FLAG(IN_Q_OVERFLOW, 0x4000),
	FLAG(IN_IGNORED, 0x8000),
	FLAG(IN_ONLYDIR, 0x1000000),
	FLAG(IN_DONT_FOLLOW, 0x2000000),
	FLAG(IN_EXCL_UNLINK, 0x4000000),
	FLAG(IN_MASK_CREATE, 0x10000000),
	FLAG(IN_MASK_ADD, 0x20000000),
	FLAG(IN_ISDIR, 0x40000000),
	FLAG(IN_ONESHOT, 0x80000000),
};
NAME_SET(inotify_mask, 0);

static const struct named fanotify_init_names[] = {
	FLAG(FAN_CLOEXEC, 0x1),
	FLAG(FAN_NONBLOCK, 0x2),
	PART(FAN_CLASS_CONTENT, 0x4, 0xc),
	PART(FAN_CLASS_PRE_CONTENT, 0x8, 0xc),
	FLAG(FAN_UNLIMITED_QUEUE, 0x10),
	FLAG(FAN_UNLIMITED_MARKS, 0x20),
	FLAG(FAN_ENABLE_AUDIT, 0x40),
	FLAG(FAN_REPORT_PIDFD, 0x80),
	FLAG(FAN_REPORT_TID, 0x100),
	FLAG(FAN_REPORT_FID, 0x200),
	FLAG(FAN_REPORT_DIR_FID, 0x400),
	FLAG(FAN_REPORT_NAME, 0x800),
	FLAG(FAN_REPORT_TARGET_FID, 0x1000),
	FLAG(FAN_REPORT_FD_ERROR, 0x2000),
	FLAG(FAN_REPORT_MNT, 0x4000),
};
NAME_SET(fanotify_init, 0);

static const struct named fanotify_mark_names[] = {
	FLAG(FAN_MARK_ADD, 0x1),
	FLAG(FAN_MARK_REMOVE, 0x2),
	FLAG(FAN_MARK_DONT_FOLLOW, 0x4),
	FLAG(FAN_MARK_ONLYDIR, 0x8),
	PART(FAN_MARK_MNTNS, 0x110, 0x110),
	FLAG(FAN_MARK_MOUNT, 0x10),
	FLAG(FAN_MARK_IGNORED_MASK, 0x20),
	FLAG(FAN_MARK_IGNORED_SURV_MODIFY, 0x40),
	FLAG(FAN_MARK_FLUSH, 0x80),
	FLAG(FAN_MARK_FILESYSTEM, 0x100),
	FLAG(FAN_MARK_EVICTABLE, 0x200),
	FLAG(FAN_MARK_IGNORE, 0x400),
};
NAME_SET(fanotify_mark, 0);

static const struct named fanotify_mask_names[] = {
	FLAG(FAN_ACCESS, 0x1),		 FLAG(FAN_MODIFY, 0x2),
	FLAG(FAN_ATTRIB, 0x4),		 FLAG(FAN_CLOSE_WRITE, 0x8),
	FLAG(FAN_CLOSE_NOWRITE, 0x10),	 FLAG(FAN_OPEN, 0x20),
	FLAG(FAN_MOVED_FROM, 0x40),	 FLAG(FAN_MOVED_TO, 0x80),
	FLAG(FAN_CREATE, 0x100),	 FLAG(FAN_DELETE, 0x200),
	FLAG(FAN_DELETE_SELF, 0x400),	 FLAG(FAN_MOVE_SELF, 0x800),
	FLAG(FAN_OPEN_EXEC, 0x1000),	 FLAG(FAN_Q_OVERFLOW, 0x4000),
	FLAG(FAN_FS_ERROR, 0x8000),	 FLAG(FAN_OPEN_PERM, 0x10000),
	FLAG(FAN_ACCESS_PERM, 0x20000),	 FLAG(FAN_OPEN_EXEC_PERM, 0x40000),
	FLAG(FAN_PRE_ACCESS, 0x100000),	 FLAG(FAN_MNT_ATTACH, 0x1000000),
	FLAG(FAN_MNT_DETACH, 0x2000000), FLAG(FAN_EVENT_ON_CHILD, 0x8000000),
	FLAG(FAN_RENAME, 0x10000000),	 FLAG(FAN_ONDIR, 0x40000000),
};
NAME_SET(fanotify_mask, SET_WIDE);
