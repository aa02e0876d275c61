#include "tests/model/simulation.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace jackdaw {

thread_local Simulation* Simulation::current_ = nullptr;
thread_local Simulation::Thread* Simulation::self_ = nullptr;

Simulation::Outcome Simulation::Run(std::uint64_t seed, std::function<void()> body) {
  const std::shared_ptr<Simulation> simulation(new Simulation(seed));
  simulation->Start(std::move(body));
  std::unique_lock<std::mutex> lock(simulation->mutex_);
  simulation->running_ = simulation->threads_.front().get();
  simulation->running_->turn.notify_one();
  simulation->end_.wait(lock, [&] { return simulation->over_; });
  return simulation->outcome_;
}

Simulation::Simulation(std::uint64_t seed)
    : random_(seed), period_(std::uint64_t{4} << (2 * random_.Below(4))) {}

int Simulation::Start(std::function<void()> body) {
  auto made = std::make_unique<Thread>();
  Thread& thread = *made;
  thread.number = static_cast<int>(threads_.size());
  thread.priority = static_cast<std::int64_t>(1 + random_.Below(1'000'000));
  threads_.push_back(std::move(made));
  std::thread([this, &thread, keep = shared_from_this(), body = std::move(body)] {
    Main(thread, body);
  }).detach();
  return thread.number;
}

void Simulation::Main(Thread& self, const std::function<void()>& body) {
  current_ = this;
  self_ = &self;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    self.turn.wait(lock, [&] { return running_ == &self; });
  }
  body();
  self.ended = true;
  WakeAll(&self);
  if (std::ranges::all_of(threads_, [](const auto& thread) { return thread->ended; })) {
    std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
    end_.notify_one();
    return;
  }
  Thread* next = Next();
  if (next == nullptr) Stop(Deadlock());
  std::lock_guard<std::mutex> lock(mutex_);
  running_ = next;
  next->turn.notify_one();
}

void Simulation::Step() {
  if (current_ == nullptr) return;
  if (current_->random_.Below(current_->period_) == 0) self_->priority = --current_->lowest_;
  current_->GoOn(*self_);
}

void Simulation::Yield() {
  if (current_ == nullptr) return;
  self_->priority = --current_->lowest_;
  current_->GoOn(*self_);
}

void Simulation::Wait(const void* what, const char* as) {
  self_->waits_for = what;
  self_->waits_as = as;
  current_->GoOn(*self_);
}

void Simulation::Wake(const void* what) { current_->WakeAll(what); }

void Simulation::WakeAll(const void* what) {
  for (const auto& thread : threads_) {
    if (thread->waits_for == what) thread->waits_for = nullptr;
  }
}

int Simulation::Spawn(std::function<void()> body) {
  const int number = current_->Start(std::move(body));
  Step();
  return number;
}

void Simulation::Join(int thread) {
  const Thread& joined = *current_->threads_[static_cast<std::size_t>(thread)];
  Step();
  while (!joined.ended) Wait(&joined, "the end of a thread");
}

void Simulation::Fail(const std::string& what) { current_->Stop(what); }

std::int64_t Simulation::now() { return current_ == nullptr ? 0 : current_->outcome_.steps; }

Simulation::Thread* Simulation::Next() const {
  Thread* best = nullptr;
  for (const auto& thread : threads_) {
    if (thread->ended || thread->waits_for != nullptr) continue;
    if (best == nullptr || thread->priority > best->priority) best = thread.get();
  }
  return best;
}

// Hands the baton to whoever is next, and returns when it is back.
void Simulation::GoOn(Thread& self) {
  if (++outcome_.steps > kMostSteps) Stop("livelock: too many steps");
  Thread* next = Next();
  if (next == nullptr) Stop(Deadlock());
  outcome_.fingerprint = (outcome_.fingerprint ^ static_cast<std::uint64_t>(next->number + 1)) *
                         0x100000001b3u;  // FNV-1a.
  if (next == &self) return;
  std::unique_lock<std::mutex> lock(mutex_);
  running_ = next;
  next->turn.notify_one();
  self.turn.wait(lock, [&] { return running_ == &self; });
}

void Simulation::Stop(std::string failure) {
  std::unique_lock<std::mutex> lock(mutex_);
  outcome_.failure = std::move(failure);
  over_ = true;
  running_ = nullptr;
  end_.notify_one();
  // For ever: the stack may hold what others of this simulation still point at.
  std::condition_variable never;
  never.wait(lock, [] { return false; });
  std::abort();
}

std::string Simulation::Deadlock() const {
  std::string text = "deadlock:";
  for (const auto& thread : threads_) {
    if (!thread->ended) {
      absl::StrAppend(&text, " thread ", thread->number, " waits for ", thread->waits_as, ";");
    }
  }
  return text;
}

}  // namespace jackdaw
