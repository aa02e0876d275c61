// The scheduler by itself, without server, gRPC or files: a graph of tasks on a
// work-stealing pool inside this process.
//
// With an installed Jackdaw: find_package(Jackdaw), then link jackdaw::scheduler.

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/exec/functions.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/engine.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace {

// A function of our own: the sum of its inputs and its payload, all numbers as text.
absl::StatusOr<jackdaw::Bytes> Sum(jackdaw::Attempt& attempt) {
  std::int64_t sum = 0;
  const auto add = [&sum](const jackdaw::Bytes& text) {
    if (!text.empty()) sum += std::stoll(std::string(text.view()));
  };
  add(attempt.payload());
  for (std::size_t i = 0; i < attempt.input_count(); ++i) add(attempt.input(i));
  return jackdaw::Bytes(absl::StrCat(sum));
}

// Adds a task after tasks of the same batch and returns its place.
std::uint32_t AddTask(jackdaw::TaskBatch& batch, std::string payload,
                      std::initializer_list<std::uint32_t> after) {
  batch.kind.push_back(0);
  batch.dependency_count.push_back(static_cast<std::uint32_t>(after.size()));
  for (const std::uint32_t place : after) {
    batch.dependencies.push_back(jackdaw::TaskBatch::InBatch(place));
  }
  batch.payloads.push_back(jackdaw::Bytes(std::move(payload)));
  return static_cast<std::uint32_t>(batch.size() - 1);
}

}  // namespace

int main() {
  jackdaw::WorkStealingPool pool({});
  jackdaw::TimerQueue timers;
  jackdaw::JobEngine::Options options;
  options.pool = &pool;
  options.timers = &timers;
  jackdaw::JobEngine engine(options);

  jackdaw::Functions functions;
  if (!functions.Register("sum", Sum).ok()) return 1;

  jackdaw::TaskBatch batch;
  batch.kinds.push_back({functions.Find("sum"), {}});
  const std::uint32_t one = AddTask(batch, "1", {});
  const std::uint32_t two = AddTask(batch, "2", {});
  const std::uint32_t three = AddTask(batch, "", {one, two});
  const std::uint32_t last = AddTask(batch, "4", {three, two});

  jackdaw::JobOptions job_options;
  job_options.id = "sums";
  const auto job = engine.Create(std::move(job_options), std::move(batch), /*seal=*/true);
  if (!job.ok()) {
    std::cerr << job.status() << "\n";
    return 1;
  }
  (*job)->Wait();
  std::cout << "(1 + 2) + 2 + 4 = " << (*job)->Task(last).output.view() << "\n";
  return (*job)->state() == jackdaw::JobState::kSucceeded ? 0 : 1;
}
