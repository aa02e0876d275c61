// LocalMap: the values of a task's local keys. Users see LocalKey.
//
// A persistent map: a change makes a new table and leaves the old one to whoever shares it. So
// a task inherits all values of its parent for one pointer, and a task without any has none.
// Tables are small (see LocalKeyId), and to set a value copies one.
//
// Thread safety: as std::shared_ptr. A table is never written once it is shared.

#ifndef JACKDAW_SCHEDULER_ASYNC_LOCAL_MAP_H_
#define JACKDAW_SCHEDULER_ASYNC_LOCAL_MAP_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace jackdaw {

// Keys that a program may make in its life. They are few, and static, as thread-locals are:
// one more than this ends the program.
inline constexpr std::uint32_t kMaxLocalKeys = 1024;

// The name of a key, never used again.
class LocalKeyId {
 public:
  LocalKeyId();
  [[nodiscard]] std::uint32_t number() const { return number_; }

 private:
  const std::uint32_t number_;
};

class LocalMap {
 public:
  using Value = std::shared_ptr<const void>;

  // Null where there is none.
  [[nodiscard]] Value Find(const LocalKeyId& key) const;
  // Null removes.
  void Set(const LocalKeyId& key, Value value);

 private:
  struct Entry {
    std::uint32_t key;
    Value value;
  };
  std::shared_ptr<const std::vector<Entry>> entries_;  // Null: none. No order.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_LOCAL_MAP_H_
