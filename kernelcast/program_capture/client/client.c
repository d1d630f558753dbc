#include "client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SOCKET_VARIABLE "KERNELCAST_CAPTURE_SOCKET"
#define EXIT_LOST 99

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int connection = -1;
static pid_t owner;
static kc_session session;
static char *everything; /* a second view of the shared memory, all of it readable and writable */
static uint64_t inside_ns, began_ns;
static volatile int has_said_goodbye;

static uint64_t now_ns(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time); /* the program's clock may be predicted */
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void lost(const char *why) {
  fprintf(stderr, "kernelcast capture: %s; the program cannot go on\n", why);
  _exit(EXIT_LOST);
}

static void send_all(struct iovec *parts, int count) {
  while (count > 0) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    ssize_t sent = sendmsg(connection, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) lost("the connection to kernelcast is gone");
    while (count > 0 && (size_t)sent >= parts->iov_len) {
      sent -= (ssize_t)parts->iov_len;
      parts++, count--;
    }
    if (count > 0) {
      parts->iov_base = (char *)parts->iov_base + sent;
      parts->iov_len -= (size_t)sent;
    }
  }
}

static void receive(void *into, size_t bytes) {
  for (char *at = into; bytes > 0;) {
    ssize_t got = recv(connection, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) lost("kernelcast has ended");
    at += got, bytes -= (size_t)got;
  }
}

static void drop(size_t bytes) {
  char rest[4096];
  while (bytes > 0) {
    size_t part = bytes < sizeof rest ? bytes : sizeof rest;
    receive(rest, part);
    bytes -= part;
  }
}

static void put(uint32_t kind, const void *words, size_t word_bytes, const void *bytes,
                size_t byte_count) {
  if (word_bytes + byte_count > UINT32_MAX) lost("a request of more than 4 GiB");
  kc_request_header header = {kind, (uint32_t)(word_bytes + byte_count),
                              now_ns() - began_ns - inside_ns};
  struct iovec parts[] = {{&header, sizeof header},
                          {(void *)words, word_bytes},
                          {(void *)bytes, byte_count}};
  send_all(parts, 3);
}

static void copy_rows(const kc_copy *copy) {
  char *to = kc_visible(copy->to);
  const char *from = kc_visible(copy->from);
  int is_plain = copy->depth == 1 && (copy->height == 1 || (copy->to_pitch == copy->width &&
                                                            copy->from_pitch == copy->width));
  if (is_plain) {
    memmove(to, from, copy->width * copy->height);
    return;
  }
  for (uint64_t slice = 0; slice < copy->depth; slice++)
    for (uint64_t row = 0; row < copy->height; row++)
      memmove(to + slice * copy->to_slice + row * copy->to_pitch,
              from + slice * copy->from_slice + row * copy->from_pitch, copy->width);
}

/* Does what the server asks for on the way to its answer. The lock is held; a function of the program
   may call this library again, so that it is given up for the call. */
static void act(const kc_answer_header *header) {
  if (header->action == KC_ACT_COPY) {
    kc_copy copy;
    receive(&copy, sizeof copy);
    drop(header->bytes - sizeof copy);
    copy_rows(&copy);
  } else if (header->action == KC_ACT_CALL) {
    uint64_t words[2];
    receive(words, sizeof words);
    drop(header->bytes - sizeof words);
    ((void (*)(void *))(uintptr_t)words[0])((void *)(uintptr_t)words[1]);
  } else {
    char text[4096];
    for (size_t left = header->bytes; left > 0;) {
      size_t part = left < sizeof text ? left : sizeof text;
      receive(text, part);
      fwrite(text, 1, part, stdout);
      left -= part;
    }
  }
  put(KC_DONE, NULL, 0, NULL, 0);
}

static int answer_to(void *answer, size_t room, size_t *answered) {
  kc_answer_header header;
  for (;;) {
    receive(&header, sizeof header);
    if (header.action == KC_ANSWERED) break;
    act(&header);
  }
  size_t kept = header.bytes < room ? header.bytes : room;
  if (kept) receive(answer, kept);
  drop(header.bytes - kept);
  if (answered) *answered = header.bytes;
  return header.status;
}

static int received_file(void *into, size_t bytes) {
  char control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {into, bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                           .msg_controllen = sizeof control};
  ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (!head || head->cmsg_type != SCM_RIGHTS) lost("kernelcast refused the connection");
  int file;
  memcpy(&file, CMSG_DATA(head), sizeof file);
  if ((size_t)got < bytes) receive((char *)into + got, bytes - (size_t)got);
  return file;
}

static void map_memory(int file) {
  void *wanted = (void *)(uintptr_t)session.base;
  size_t seen_by_device = session.host_base - session.base;
  int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void *got = mmap(wanted, seen_by_device, PROT_NONE, flags, file, 0);
  void *host = mmap((char *)wanted + seen_by_device, session.size - seen_by_device,
                    PROT_READ | PROT_WRITE, flags, file, (off_t)seen_by_device);
  everything = mmap(NULL, session.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (got != wanted || host != (char *)wanted + seen_by_device || everything == MAP_FAILED)
    lost("the addresses of device memory are taken in this process");
}

/* A thread that ends the program with kernelcast, however long it makes no call. */
static void *watch(void *unused) {
  (void)unused;
  struct pollfd end = {.fd = connection};
  while (poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
  if (!has_said_goodbye && !(end.revents & POLLNVAL)) lost("kernelcast has ended");
  return NULL;
}

static void begin_to_watch(void) {
  sigset_t all, before;
  pthread_t made;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own threads */
  if (!pthread_create(&made, NULL, watch, NULL)) pthread_detach(made);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void connect_to_server(void) {
  const char *path = getenv(SOCKET_VARIABLE);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || strlen(path) >= sizeof address.sun_path)
    lost("start the program as `kernelcast capture -- PROGRAM`");
  strcpy(address.sun_path, path);
  connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address))
    lost("kernelcast does not answer");
  began_ns = now_ns();
  inside_ns = 0;
  uint64_t words[] = {KC_PROTOCOL_VERSION, (uint64_t)getpid(), 0};
  const char *name = program_invocation_name;
  put(KC_HELLO, words, sizeof words, name, strlen(name));
  kc_answer_header header;
  int file = received_file(&header, sizeof header);
  if (header.status || header.bytes != sizeof session) lost("this library is of another kernelcast");
  receive(&session, sizeof session);
  session.file = file;
  owner = getpid();
  map_memory(file);
  begin_to_watch();
}

/* The lock is held. A forked child has lost its device, as with CUDA: it may not use it. */
static void be_connected(void) {
  if (connection >= 0 && owner == getpid()) return;
  if (connection >= 0)
    lost("a forked process uses the GPU of its parent; fork before the first CUDA call");
  connect_to_server();
}

static void enter(uint64_t *since) {
  pthread_mutex_lock(&lock);
  be_connected();
  *since = now_ns();
}

static void leave(uint64_t since) {
  inside_ns += now_ns() - since;
  pthread_mutex_unlock(&lock);
}

int kc_ask(uint32_t kind, const void *words, size_t word_bytes, const void *bytes, size_t byte_count,
           void *answer, size_t room, size_t *answered) {
  uint64_t since;
  enter(&since);
  put(kind, words, word_bytes, bytes, byte_count);
  int status = answer_to(answer, room, answered);
  leave(since);
  return status;
}

void kc_post(uint32_t kind, const void *words, size_t word_bytes, const void *bytes,
             size_t byte_count) {
  uint64_t since;
  enter(&since);
  put(kind | KC_NO_ANSWER, words, word_bytes, bytes, byte_count);
  leave(since);
}

const kc_session *kc_connected(void) {
  uint64_t since;
  enter(&since);
  leave(since);
  return &session;
}

int kc_began(uint64_t *when_ns) {
  *when_ns = began_ns;
  return connection >= 0 && owner == getpid();
}

void *kc_visible(uint64_t address) {
  if (everything && address >= session.base && address < session.base + session.size)
    return everything + (address - session.base);
  return (void *)(uintptr_t)address;
}

int kc_do_copy(const kc_copy *copy) {
  if (!copy->width || !copy->height || !copy->depth) return KC_SUCCESS;
  uint64_t is_now = 0;
  int status = kc_ask(KC_COPY, copy, sizeof *copy, NULL, 0, &is_now, sizeof is_now, NULL);
  if (!status && is_now) {
    uint64_t since = now_ns();
    copy_rows(copy);
    __atomic_fetch_add(&inside_ns, now_ns() - since, __ATOMIC_RELAXED);
  }
  return status;
}

int kc_describe(uint64_t module, const char *name, kc_function *function) {
  memset(function, 0, offsetof(kc_function, places));
  return kc_ask(KC_FUNCTION, &module, sizeof module, name, strlen(name), function, sizeof *function,
                NULL);
}

static size_t page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

int kc_register(void *pointer, size_t size) {
  uintptr_t first = (uintptr_t)pointer & ~(page() - 1);
  size_t whole = (((uintptr_t)pointer + size + page() - 1) & ~(page() - 1)) - first;
  uint64_t place;
  int status = KC_ASK_FOR(place, KC_REGISTER, (uint64_t)first, whole);
  if (status) return status;
  memcpy(everything + place, (void *)first, whole);
  void *got = mmap((void *)first, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   (int)session.file, (off_t)place);
  return got == MAP_FAILED ? KC_OUT_OF_MEMORY : KC_SUCCESS;
}

int kc_unregister(void *pointer) {
  uintptr_t first = (uintptr_t)pointer & ~(page() - 1);
  uint64_t place_and_size[2];
  int status = KC_ASK_FOR(place_and_size, KC_UNREGISTER, (uint64_t)first);
  if (status) return status;
  mmap((void *)first, place_and_size[1], PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memcpy((void *)first, everything + place_and_size[0], place_and_size[1]);
  return KC_SUCCESS;
}

/* Bytes of an ELF file in memory: the end of its headers or of its last section. */
static size_t elf_bytes(const unsigned char *image) {
  uint64_t table, end;
  uint16_t entry, count;
  memcpy(&table, image + 32, 8); /* of programs */
  memcpy(&entry, image + 54, 2);
  memcpy(&count, image + 56, 2);
  end = table + (uint64_t)entry * count;
  memcpy(&table, image + 40, 8); /* of sections */
  memcpy(&entry, image + 58, 2);
  memcpy(&count, image + 60, 2);
  if (table + (uint64_t)entry * count > end) end = table + (uint64_t)entry * count;
  for (uint16_t number = 0; number < count; number++) {
    const unsigned char *section = image + table + (uint64_t)entry * number;
    uint32_t kind;
    uint64_t offset, size;
    memcpy(&kind, section + 4, 4);
    memcpy(&offset, section + 24, 8);
    memcpy(&size, section + 32, 8);
    if (kind != 8 /* SHT_NOBITS */ && offset + size > end) end = offset + size;
  }
  return end;
}

size_t kc_image_bytes(const void *image) {
  const unsigned char *bytes = image;
  uint32_t magic;
  memcpy(&magic, bytes, 4);
  if (magic == 0xBA55ED50u) {
    uint16_t head;
    uint64_t rest;
    memcpy(&head, bytes + 6, 2);
    memcpy(&rest, bytes + 8, 8);
    return head + rest;
  }
  if (!memcmp(bytes, "\177ELF", 4)) return elf_bytes(bytes);
  return strnlen(image, (size_t)1 << 28);
}

__attribute__((destructor)) static void say_goodbye(void) {
  if (connection < 0 || owner != getpid()) return;
  has_said_goodbye = 1;
  kc_ask(KC_GOODBYE, NULL, 0, NULL, 0, NULL, 0, NULL);
}
