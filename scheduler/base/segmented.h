// Segmented: an append-only array whose elements never move. Segment k holds kFirst * 2^k
// elements, so a small array is small, a large one costs few allocations, and an index
// finds its element with two loads.
//
// Thread safety
//   Grow()        one thread at a time (the owner's lock).
//   operator[]    any thread, for an index below a size that the reader learned with
//                 acquire from a store that followed Grow().
//
// Memory: segments of 2 MiB and more come straight from the system, on huge pages where
// there are any (a fresh 4 KiB page costs microseconds on a virtual machine), and go
// straight back.

#ifndef JACKDAW_SCHEDULER_BASE_SEGMENTED_H_
#define JACKDAW_SCHEDULER_BASE_SEGMENTED_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "scheduler/base/pages.h"

namespace jackdaw {

template <typename T, std::size_t kFirst = 32>
class Segmented {
  static_assert(std::has_single_bit(kFirst));

 public:
  Segmented() = default;
  Segmented(const Segmented&) = delete;
  Segmented& operator=(const Segmented&) = delete;
  ~Segmented() {
    for (std::size_t i = 0; i < size_; ++i) std::destroy_at(&(*this)[i]);
    for (std::size_t k = 0; k < segments_; ++k) FreePages(segment_[k], SegmentBytes(k), alignof(T));
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  // Appends `count` value-initialised elements.
  void Grow(std::size_t count) {
    const std::size_t end = size_ + count;
    while (Capacity(segments_) < end) {
      segment_[segments_] = static_cast<T*>(AllocatePages(SegmentBytes(segments_), alignof(T)));
      ++segments_;
    }
    for (; size_ < end; ++size_) std::construct_at(&(*this)[size_]);
  }

  [[nodiscard]] T& operator[](std::size_t index) { return *Find(index); }
  [[nodiscard]] const T& operator[](std::size_t index) const { return *Find(index); }

 private:
  static constexpr int kFirstBits = std::countr_zero(kFirst);
  static constexpr std::size_t kMaxSegments = 32;

  static std::size_t SegmentBytes(std::size_t k) { return (kFirst << k) * sizeof(T); }
  static std::size_t Capacity(std::size_t segments) { return kFirst * ((1ull << segments) - 1); }

  // Index i lies where i + kFirst has its top bit: segment k covers [kFirst*2^k, kFirst*2^(k+1)).
  T* Find(std::size_t index) const {
    const std::size_t place = index + kFirst;
    const int top = std::bit_width(place) - 1;
    return segment_[static_cast<std::size_t>(top - kFirstBits)] + (place ^ (std::size_t{1} << top));
  }

  std::array<T*, kMaxSegments> segment_{};
  std::size_t segments_ = 0;
  std::size_t size_ = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_SEGMENTED_H_
