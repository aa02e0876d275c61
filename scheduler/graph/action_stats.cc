#include "scheduler/graph/action_stats.h"

#include <bit>
#include <utility>

#include "scheduler/base/cache_line.h"

namespace jackdaw {
namespace {

// Bucket i holds spans up to 4^i microseconds.
int BucketOf(std::int64_t ns) {
  const auto us = static_cast<std::uint64_t>(ns <= 1000 ? 1 : (ns + 999) / 1000);
  const int bucket = (std::bit_width(us - 1) + 1) / 2;
  return bucket < ActionStats::kBucketCount ? bucket : ActionStats::kBucketCount - 1;
}

}  // namespace

// One writer at a time owns a cell of its own and adds without a read-modify-write; the
// shared cell is added to by any thread.
struct alignas(kCacheLine) ActionStats::Cell {
  using Counter = std::atomic<std::int64_t>;
  explicit Cell(bool is_shared) : shared(is_shared) {}

  void Add(Counter& counter, std::int64_t amount) const {
    if (shared) {
      counter.fetch_add(amount, std::memory_order_relaxed);
    } else {
      counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
  }

  const bool shared;
  std::array<Counter, kTaskStateCount> ended{};
  Counter attempts{0};
  Counter retries{0};
  std::array<Counter, kBucketCount> queue_counts{};
  std::array<Counter, kBucketCount> run_counts{};
  Counter queue_ns{0};
  Counter run_ns{0};
};

double ActionStats::BucketBoundSeconds(int bucket) {
  return 1e-6 * static_cast<double>(std::int64_t{1} << (2 * bucket));
}

ActionStats::ActionStats(std::string metric_name) : metric_name_(std::move(metric_name)) {}

ActionStats::~ActionStats() {
  for (auto& cell : cells_) delete cell.load(std::memory_order_acquire);
}

ActionStats::Cell& ActionStats::CellOf(int worker) {
  const bool own = worker >= 0 && worker < kCells;
  std::atomic<Cell*>& place = cells_[own ? static_cast<std::size_t>(worker) : kCells];
  // Acquire: pairs with the release in the exchange of the thread that made the cell.
  Cell* cell = place.load(std::memory_order_acquire);
  if (cell != nullptr) return *cell;
  auto* made = new Cell(!own);
  if (place.compare_exchange_strong(cell, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *cell;
}

void ActionStats::RecordEnd(int worker, TaskState terminal, std::int64_t count) {
  Cell& cell = CellOf(worker);
  cell.Add(cell.ended[static_cast<std::size_t>(terminal)], count);
}

void ActionStats::RecordRetry(int worker) {
  Cell& cell = CellOf(worker);
  cell.Add(cell.retries, 1);
}

void ActionStats::RecordAttempts(int worker, std::int64_t queue_ns, std::int64_t run_ns,
                                 std::int64_t count) {
  Cell& cell = CellOf(worker);
  cell.Add(cell.attempts, count);
  cell.Add(cell.queue_counts[static_cast<std::size_t>(BucketOf(queue_ns))], count);
  cell.Add(cell.run_counts[static_cast<std::size_t>(BucketOf(run_ns))], count);
  cell.Add(cell.queue_ns, queue_ns * count);
  cell.Add(cell.run_ns, run_ns * count);
}

ActionStats::Snapshot ActionStats::Read() const {
  Snapshot sum;
  const auto read = [](const Cell::Counter& c) { return c.load(std::memory_order_relaxed); };
  for (const auto& place : cells_) {
    const Cell* cell = place.load(std::memory_order_acquire);
    if (cell == nullptr) continue;
    for (std::size_t i = 0; i < kTaskStateCount; ++i) sum.ended[i] += read(cell->ended[i]);
    for (std::size_t i = 0; i < kBucketCount; ++i) {
      sum.queue_time.counts[i] += read(cell->queue_counts[i]);
      sum.run_time.counts[i] += read(cell->run_counts[i]);
    }
    sum.attempts += read(cell->attempts);
    sum.retries += read(cell->retries);
    sum.queue_time.sum_seconds += 1e-9 * static_cast<double>(read(cell->queue_ns));
    sum.run_time.sum_seconds += 1e-9 * static_cast<double>(read(cell->run_ns));
  }
  return sum;
}

}  // namespace jackdaw
