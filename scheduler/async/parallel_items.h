// The items of a parallel algorithm: numbers [begin, end), or the elements that two random
// access iterators enclose. Both are counted from 0 inside.

#ifndef JACKDAW_SCHEDULER_ASYNC_PARALLEL_ITEMS_H_
#define JACKDAW_SCHEDULER_ASYNC_PARALLEL_ITEMS_H_

#include <concepts>
#include <cstdint>
#include <iterator>

namespace jackdaw {

template <typename T>
concept ParallelBound = std::integral<T> || std::random_access_iterator<T>;

// How many items there are; none where `end` is before `begin`. Requires: below 2^63.
template <ParallelBound B>
[[nodiscard]] std::int64_t ItemCount(B begin, B end) {
  return begin < end ? static_cast<std::int64_t>(end - begin) : 0;
}

// The bound that is `index` items after `begin`.
template <ParallelBound B>
[[nodiscard]] B BoundAt(B begin, std::int64_t index) {
  if constexpr (std::integral<B>) {
    return static_cast<B>(begin + static_cast<B>(index));
  } else {
    return begin + static_cast<std::iter_difference_t<B>>(index);
  }
}

// The item itself: the number, or a reference to the element.
template <ParallelBound B>
[[nodiscard]] decltype(auto) ItemAt(B begin, std::int64_t index) {
  if constexpr (std::integral<B>) {
    return BoundAt(begin, index);
  } else {
    return *BoundAt(begin, index);
  }
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PARALLEL_ITEMS_H_
