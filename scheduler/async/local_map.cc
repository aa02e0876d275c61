#include "scheduler/async/local_map.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace jackdaw {
namespace {

std::uint32_t NextKey() {
  static std::atomic<std::uint32_t> next{0};
  const std::uint32_t key = next.fetch_add(1, std::memory_order_relaxed);
  if (key >= kMaxLocalKeys) {
    std::fprintf(stderr, "more than %u local keys: make them static\n", kMaxLocalKeys);
    std::abort();
  }
  return key;
}

}  // namespace

LocalKeyId::LocalKeyId() : number_(NextKey()) {}

LocalMap::Value LocalMap::Find(const LocalKeyId& key) const {
  if (entries_ == nullptr) return nullptr;
  for (const Entry& entry : *entries_) {
    if (entry.key == key.number()) return entry.value;
  }
  return nullptr;
}

void LocalMap::Set(const LocalKeyId& key, Value value) {
  std::vector<Entry> changed;
  if (entries_ != nullptr) {
    changed.reserve(entries_->size() + 1);
    for (const Entry& entry : *entries_) {
      if (entry.key != key.number()) changed.push_back(entry);
    }
  }
  if (value != nullptr) changed.push_back({key.number(), std::move(value)});
  // What dies with the old table may look at this map: it is whole by then.
  std::shared_ptr<const std::vector<Entry>> next;
  if (!changed.empty()) next = std::make_shared<const std::vector<Entry>>(std::move(changed));
  entries_.swap(next);
}

}  // namespace jackdaw
