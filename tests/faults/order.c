/* Records in which order a server writes, syncs, hears and answers. Preloaded into its process: LD_PRELOAD, ORDER_LOG.
 *
 * A record is one character (w: written to a file, s: a file synced, r: heard from a client, a: sent to a client), the
 * number of the file and of bytes, a line end, and the bytes. A sync is recorded once it is done, everything else
 * before it is done or as it arrives: so an answer that is recorded after a sync was sent after it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int out = -1;

static int is_socket(int fd) {
  struct stat about;
  return fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
}

static int is_log(int fd) { /* SQLite's log of writes */
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  return length > 4 && memcmp(path + length - 4, "-wal", 4) == 0;
}

static void record(char kind, int fd, const struct iovec *parts, int count) {
  char head[64];
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
  int length = snprintf(head, sizeof head, "%c %d %zu\n", kind, fd, bytes);
  pthread_mutex_lock(&turn);
  if (out < 0) out = syscall(SYS_openat, AT_FDCWD, getenv("ORDER_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  syscall(SYS_write, out, head, length);
  for (int i = 0; i < count; i++) syscall(SYS_write, out, parts[i].iov_base, parts[i].iov_len);
  pthread_mutex_unlock(&turn);
}

static void note(char kind, int fd, const void *data, size_t bytes) {
  struct iovec part = {(void *)data, bytes};
  record(kind, fd, &part, 1);
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t bytes) {
  REAL(write);
  if (is_socket(fd)) note('a', fd, data, bytes);
  return real(fd, data, bytes);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  if (is_socket(fd)) record('a', fd, parts, count);
  return real(fd, parts, count);
}

ssize_t send(int fd, const void *data, size_t bytes, int flags) {
  REAL(send);
  note('a', fd, data, bytes);
  return real(fd, data, bytes, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  REAL(sendmsg);
  record('a', fd, message->msg_iov, message->msg_iovlen);
  return real(fd, message, flags);
}

ssize_t read(int fd, void *data, size_t bytes) {
  REAL(read);
  ssize_t got = real(fd, data, bytes);
  if (got > 0 && is_socket(fd)) note('r', fd, data, got);
  return got;
}

ssize_t recv(int fd, void *data, size_t bytes, int flags) {
  REAL(recv);
  ssize_t got = real(fd, data, bytes, flags);
  if (got > 0) note('r', fd, data, got);
  return got;
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t place) {
  REAL(pwrite64);
  if (is_log(fd)) note('w', fd, data, bytes);
  return real(fd, data, bytes, place);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t place) {
  REAL(pwrite);
  if (is_log(fd)) note('w', fd, data, bytes);
  return real(fd, data, bytes, place);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  int result = real(fd);
  if (result == 0 && is_log(fd)) note('s', fd, "", 0);
  return result;
}

int fsync(int fd) {
  REAL(fsync);
  int result = real(fd);
  if (result == 0 && is_log(fd)) note('s', fd, "", 0);
  return result;
}
