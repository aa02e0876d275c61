#include "bench/simulation/machine.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace jackdaw::simulation {
namespace {

constexpr std::size_t kStackBytes = 512 * 1024;  // Of which the pages in use take memory.
constexpr std::size_t kGuardBytes = 4096;        // Below the stack: overrunning it is a fault.

[[noreturn]] void Die(const char* why) {
  std::fprintf(stderr, "simulated machine: %s\n", why);
  std::abort();
}

}  // namespace

// The first switch to a thread enters its stack by a ucontext. Later ones jump: _longjmp() goes
// to another stack as well and, unlike swapcontext(), makes no system call.
struct Machine::Thread {
  explicit Thread(int number) : index(number) {}
  ~Thread() {
    if (stack != nullptr) munmap(stack, kStackBytes);
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  const int index;
  std::function<void()> body = nullptr;
  double at_ns = 0;  // Its clock, while it does not run.
  bool entered = false;
  bool ended = false;
  int joiner = -1;
  std::vector<char> locals = {};
  void* stack = nullptr;
  ucontext_t entry = {};
  jmp_buf jump = {};
};

Machine* Machine::current_machine = nullptr;

Machine::Machine(Options options)
    : options_(std::move(options)),
      first_locals_(options_.thread_locals.begin(), options_.thread_locals.end()),
      host_(std::make_unique<Thread>(-1)),
      running_(host_.get()) {
  host_->entered = true;
}

Machine::~Machine() = default;

void Machine::Run(std::function<void()> body) {
  if (current_machine != nullptr || !threads_.empty()) Die("Run() is called once, one at a time");
  current_machine = this;
  Start(std::move(body));
  SwitchToNext();
  current_machine = nullptr;
  for (const auto& thread : threads_) {
    if (!thread->ended) Die("everybody waits: a wake-up was lost");
  }
}

double Machine::CrossCore(int from) const {
  const bool far = options_.distance && from >= 0 && from != self_;
  return far ? costs().cross_core_ns * options_.distance(from, self_) : costs().cross_core_ns;
}

int Machine::Start(std::function<void()> body) {
  if (threads_.size() == kMaxThreads) Die("too many threads");
  const int number = static_cast<int>(threads_.size());
  Thread& thread = *threads_.emplace_back(std::make_unique<Thread>(number));
  thread.body = std::move(body);
  thread.at_ns = now_ns_;
  thread.locals = first_locals_;
  thread.stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (thread.stack == MAP_FAILED || mprotect(thread.stack, kGuardBytes, PROT_NONE) != 0) {
    Die("no memory for a stack");
  }
  getcontext(&thread.entry);
  thread.entry.uc_stack.ss_sp = thread.stack;
  thread.entry.uc_stack.ss_size = kStackBytes;
  makecontext(&thread.entry, &Machine::Main, 0);
  ready_.push({thread.at_ns, number});
  return number;
}

void Machine::Main() {
  Machine& machine = *current_machine;
  machine.running_->body();
  machine.End();
}

void Machine::End() {
  running_->ended = true;
  running_->body = nullptr;
  if (running_->joiner >= 0) Resume(running_->joiner, now_ns_);
  SwitchToNext();
}

void Machine::Join(int thread) {
  Order();
  if (Of(thread).ended) return;
  Of(thread).joiner = self_;
  Block();
}

void Machine::Block() { SwitchToNext(); }

void Machine::Resume(int thread, double at_ns) {
  Thread& resumed = Of(thread);
  if (at_ns > resumed.at_ns) resumed.at_ns = at_ns;
  ready_.push({resumed.at_ns, thread});
}

void Machine::Sleep(const void* word) {
  sleepers_[word].push_back(self_);
  Charge(costs().syscall_ns);
  Block();
}

void Machine::Wake(const void* word) {
  Order();
  const auto sleepers = sleepers_.find(word);
  if (sleepers == sleepers_.end()) return Charge(costs().syscall_ns);
  const int woken = sleepers->second.front();
  sleepers->second.pop_front();
  if (sleepers->second.empty()) sleepers_.erase(sleepers);
  Resume(woken, now_ns_ + costs().wake_latency_ns);
  Charge(costs().wake_call_ns);
}

void Machine::Requeue() {
  ready_.push({now_ns_, self_});
  SwitchToNext();
}

// The running thread stops here, and goes on when it is the least of those that are ready. When
// nobody is, the host sees what became of the program.
void Machine::SwitchToNext() {
  running_->at_ns = now_ns_;
  if (ready_.empty()) return SwitchTo(*host_);
  const int next = ready_.top().thread;
  ready_.pop();
  SwitchTo(Of(next));
}

void Machine::SwitchTo(Thread& to) {
  if (&to == running_) return;
  Thread& from = *std::exchange(running_, &to);
  const absl::Span<char> locals = options_.thread_locals;
  from.locals.assign(locals.begin(), locals.end());
  const std::vector<char>& wanted = to.index < 0 ? first_locals_ : to.locals;
  if (!locals.empty()) std::memcpy(locals.data(), wanted.data(), locals.size());
  self_ = to.index;
  now_ns_ = to.at_ns;
  if (_setjmp(from.jump) != 0) return;
  if (std::exchange(to.entered, true)) _longjmp(to.jump, 1);
  setcontext(&to.entry);
}

}  // namespace jackdaw::simulation
