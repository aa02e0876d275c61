#include "scheduler/async/pipeline_core.h"

#include <algorithm>
#include <utility>

#include "scheduler/async/future_result.h"

namespace jackdaw {
namespace {

constexpr int kSlotsPerWorker = 4;

int WindowOf(const PipelineOptions& options, const Runner& runner) {
  if (options.window > 0) return options.window;
  return kSlotsPerWorker * std::max(1, runner.size());
}

}  // namespace

PipelineCore::PipelineCore(Runner& runner, PipelineOptions options)
    : runner_(runner),
      options_(std::move(options)),
      window_(WindowOf(options_, runner)),
      slots_(std::make_unique<Slot[]>(static_cast<std::size_t>(window_))),
      lane_started_(static_cast<std::size_t>(window_), 0),
      promise_(&runner),
      ready_(static_cast<std::size_t>(window_), nullptr) {
  for (int i = window_ - 1; i >= 0; --i) {
    Slot& slot = slots_[static_cast<std::size_t>(i)];
    slot.core = this;
    slot.index = i;
    free_slots_.push_back(&slot);
    free_lanes_.push_back(i);
  }
}

PipelineCore::~PipelineCore() = default;

Future<void> PipelineCore::Start() {
  Future<void> future = promise_.future();
  Slot* first;
  {
    absl::MutexLock lock(&mutex_);
    first = NextReader();
  }
  StartReader(first);
  return future;
}

absl::Status PipelineCore::RunHere() {
  absl::Status status;
  while (status.ok()) {
    const absl::StatusOr<bool> more = ReadChunk(0);
    status = more.status();
    if (status.ok() && !*more) break;
    if (status.ok()) status = WorkWithLane(0, 0);
    if (status.ok()) status = WriteChunk(0);
  }
  CloseLanes();
  return status;
}

void PipelineCore::Slot::Invoked(Task* task, Verb verb) noexcept {
  auto* slot = static_cast<Slot*>(task);
  PipelineCore& core = *slot->core;
  if (verb == Verb::kDrop) {
    core.GiveUp(*slot, DroppedError(core.runner_.name()));
  } else {
    core.Run(*slot);
  }
}

void PipelineCore::Run(Slot& slot) {
  if (ReadStage(slot)) {
    WorkStage(slot);
    WriteStage(slot);
  }
  Leave();
}

// Whether a chunk was read. The next reader is on its way then, if there is room for it.
bool PipelineCore::ReadStage(Slot& slot) {
  absl::StatusOr<bool> more = false;
  if (promise_.cancel_requested()) {
    more = CancelRequestedError();
  } else if (!failed()) {
    more = ReadChunk(slot.index);
  }
  Slot* next = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    reading_ = false;
    Keep(more.status());
    if (!more.ok() || !*more) {
      input_over_ = true;
      free_slots_.push_back(&slot);
      return false;
    }
    slot.number = read_++;
    next = NextReader();
  }
  StartReader(next);
  return true;
}

void PipelineCore::WorkStage(Slot& slot) {
  int lane;
  {
    absl::MutexLock lock(&mutex_);
    lane = free_lanes_.back();
    free_lanes_.pop_back();
  }
  absl::Status status = failed() ? absl::OkStatus() : WorkWithLane(slot.index, lane);
  absl::MutexLock lock(&mutex_);
  free_lanes_.push_back(lane);
  Keep(std::move(status));
}

// Puts the chunk where it is written from, and writes what is due, unless somebody does.
void PipelineCore::WriteStage(Slot& slot) {
  Slot* due;
  {
    absl::MutexLock lock(&mutex_);
    const std::int64_t place = options_.order == PipelineOrder::kKept ? slot.number : placed_++;
    ready_[static_cast<std::size_t>(place % window_)] = &slot;
    if (writing_) return;
    due = TakeReady();
    writing_ = due != nullptr;
  }
  while (due != nullptr) {
    absl::Status status = failed() ? absl::OkStatus() : WriteChunk(due->index);
    Slot* reader;
    {
      absl::MutexLock lock(&mutex_);
      Keep(std::move(status));
      free_slots_.push_back(due);
      reader = NextReader();
      due = TakeReady();
      writing_ = due != nullptr;
    }
    StartReader(reader);
  }
}

// The reader of `slot` will not run.
void PipelineCore::GiveUp(Slot& slot, absl::Status reason) {
  {
    absl::MutexLock lock(&mutex_);
    reading_ = false;
    Keep(std::move(reason));
    free_slots_.push_back(&slot);
  }
  Leave();
}

// A free slot to read into, if there is one and nobody reads. The caller starts it.
PipelineCore::Slot* PipelineCore::NextReader() {
  if (reading_ || input_over_ || failed() || free_slots_.empty()) return nullptr;
  reading_ = true;
  ++tasks_;
  Slot* slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void PipelineCore::StartReader(Slot* slot) {
  if (slot == nullptr || runner_.Submit(slot)) return;
  GiveUp(*slot, RunnerGoneError(runner_.name()));
}

PipelineCore::Slot* PipelineCore::TakeReady() {
  Slot* slot = std::exchange(ready_[static_cast<std::size_t>(written_ % window_)], nullptr);
  if (slot != nullptr) ++written_;
  return slot;
}

absl::Status PipelineCore::WorkWithLane(int slot, int lane) {
  char& started = lane_started_[static_cast<std::size_t>(lane)];
  if (started == 0 && options_.start_lane != nullptr) {
    const absl::Status status = CallForResult(options_.start_lane, lane);
    if (!status.ok()) return status;
  }
  started = 1;
  return WorkOnChunk(slot, lane);
}

void PipelineCore::CloseLanes() {
  if (options_.end_lane == nullptr) return;
  for (int lane = 0; lane < window_; ++lane) {
    if (lane_started_[static_cast<std::size_t>(lane)] == 0) continue;
    CallForResult(options_.end_lane, lane).IgnoreError();
  }
}

// The first error counts.
void PipelineCore::Keep(absl::Status status) {
  if (status.ok() || failed()) return;
  error_ = std::move(status);
  failed_.store(true, std::memory_order_relaxed);
}

// A task ends. The last one ends the pipeline, which is gone then.
void PipelineCore::Leave() {
  absl::Status error;
  {
    absl::MutexLock lock(&mutex_);
    if (--tasks_ != 0) return;
    error = error_;
  }
  CloseLanes();
  const Promise<void> promise = std::move(promise_);
  delete this;
  promise.Fulfil(std::move(error));
}

}  // namespace jackdaw
