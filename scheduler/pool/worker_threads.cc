#include "scheduler/pool/worker_threads.h"

#include <signal.h>

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
  std::string name;
  Body body;
};

void* WorkerThreads::Main(void* start) {
  const std::unique_ptr<Entry> entry(static_cast<Entry*>(start));
  pthread_setname_np(pthread_self(), entry->name.c_str());
  entry->threads->released_.WaitForNotification();
  entry->body(entry->index);
  return nullptr;
}

int WorkerThreads::Start(int count, const std::string& name, const Create& create, Body body) {
  const BlockedSignals blocked;
  absl::MutexLock lock(&mutex_);
  for (int index = 0; index < count; ++index) {
    auto entry = std::make_unique<Entry>(Entry{this, index, WorkerThreadName(name, index), body});
    pthread_t thread;
    const int error = create ? create(&thread, &WorkerThreads::Main, entry.get())
                             : pthread_create(&thread, nullptr, &WorkerThreads::Main, entry.get());
    if (error != 0) break;
    (void)entry.release();  // The thread's from now on.
    threads_.push_back(thread);
  }
  return static_cast<int>(threads_.size());
}

void WorkerThreads::Join() {
  absl::MutexLock lock(&mutex_);
  for (pthread_t thread : threads_) pthread_join(thread, nullptr);
  threads_.clear();
}

void WorkerThreads::Abandon() {
  absl::MutexLock lock(&mutex_);
  for (pthread_t thread : threads_) pthread_detach(thread);
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
