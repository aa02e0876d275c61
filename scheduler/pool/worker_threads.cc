#include "scheduler/pool/worker_threads.h"

#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace jackdaw {
namespace {

constexpr std::size_t kLongestThreadName = 15;  // Characters; the kernel's limit.

// Blocks what should reach the program's own threads, for as long as it lives: threads
// created meanwhile inherit the mask. Faults must still reach the thread that makes them.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) {
      sigdelset(&blocked, fault);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// What a new thread is told.
struct WorkerThreads::Entry {
  WorkerThreads* threads;
  int index;
  bool extra;
  std::int64_t number;
  std::string name;
  Body body;
};

void* WorkerThreads::Main(void* start) {
  const std::unique_ptr<Entry> entry(static_cast<Entry*>(start));
  pthread_setname_np(pthread_self(), entry->name.c_str());
  entry->threads->released_.WaitForNotification();
  entry->body(entry->index);
  if (entry->extra) entry->threads->MarkEnded(entry->number);
  return nullptr;
}

bool WorkerThreads::Launch(int index, const std::string& name, const Create& create, Body body,
                           bool extra) {
  const BlockedSignals blocked;
  auto entry = std::make_unique<Entry>(
      Entry{this, index, extra, started_, WorkerThreadName(name, index), std::move(body)});
  pthread_t thread;
  const int error = create ? create(&thread, &WorkerThreads::Main, entry.get())
                           : pthread_create(&thread, nullptr, &WorkerThreads::Main, entry.get());
  if (error != 0) return false;
  (void)entry.release();  // The thread's from now on.
  if (abandoned_) {
    pthread_detach(thread);
  } else {
    threads_.push_back({thread, started_, /*ended=*/false});
  }
  ++started_;
  return true;
}

int WorkerThreads::Start(int count, const std::string& name, const Create& create, Body body) {
  absl::MutexLock lock(&mutex_);
  int started = 0;
  while (started < count && Launch(started, name, create, body, /*extra=*/false)) ++started;
  return started;
}

bool WorkerThreads::StartExtra(int index, const std::string& name, const Create& create,
                               Body body) {
  JoinEnded();
  absl::MutexLock lock(&mutex_);
  return Launch(index, name, create, std::move(body), /*extra=*/true);
}

void WorkerThreads::MarkEnded(std::int64_t number) {
  absl::MutexLock lock(&mutex_);
  for (Thread& thread : threads_) {  // Not among them: it is being joined, or was abandoned.
    if (thread.number == number) thread.ended = true;
  }
}

void WorkerThreads::JoinEnded() {
  std::vector<Thread> ended;
  {
    absl::MutexLock lock(&mutex_);
    const auto running = [](const Thread& thread) { return !thread.ended; };
    const auto first = std::partition(threads_.begin(), threads_.end(), running);
    ended.assign(first, threads_.end());
    threads_.erase(first, threads_.end());
  }
  for (const Thread& thread : ended) pthread_join(thread.handle, nullptr);
}

void WorkerThreads::Join() {
  absl::MutexLock join_lock(&join_mutex_);
  for (;;) {
    std::vector<Thread> threads;
    {
      absl::MutexLock lock(&mutex_);
      threads.swap(threads_);
    }
    if (threads.empty()) return;
    for (const Thread& thread : threads) pthread_join(thread.handle, nullptr);
  }
}

void WorkerThreads::Abandon() {
  absl::MutexLock lock(&mutex_);
  abandoned_ = true;
  for (const Thread& thread : threads_) pthread_detach(thread.handle);
  threads_.clear();
}

absl::Status NoThreadError(const std::string& runner) {
  return absl::ResourceExhaustedError(
      absl::StrCat("runner '", runner, "': the system refuses to start a thread"));
}

void EndWithoutThread(const std::string& runner) {
  std::fprintf(stderr, "%s\n", std::string(NoThreadError(runner).message()).c_str());
  std::abort();
}

std::string WorkerThreadName(const std::string& pool_name, int index) {
  const std::string suffix = absl::StrCat(".worker.", index);
  const std::size_t room = kLongestThreadName - suffix.size();
  return pool_name.substr(0, room) + suffix;
}

}  // namespace jackdaw
