// Segmented: an append-only array whose elements never move. Segment k holds kFirst * 2^k
// elements, so a small array is small, a large one costs few allocations, and an index
// finds its element with two loads; a Cursor that stays in one segment with one comparison.
//
// Thread safety
//   Grow()        one thread at a time (the owner's lock).
//   operator[]    any thread, for an index below a size that the reader learned with
//                 acquire from a store that followed Grow(). The same for a Cursor's, which
//                 belongs to one thread.
//
// Memory: segments of 2 MiB and more come straight from the system, on huge pages where
// there are any (a fresh 4 KiB page costs microseconds on a virtual machine), and go
// straight back.

#ifndef JACKDAW_SCHEDULER_BASE_SEGMENTED_H_
#define JACKDAW_SCHEDULER_BASE_SEGMENTED_H_

#include <algorithm>
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
    for (std::size_t k = 0; k < segments_; ++k) {
      std::destroy_n(segment_[k], std::min(size_, Capacity(k + 1)) - Capacity(k));
      FreePages(segment_[k], SegmentBytes(k), alignof(T));
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  // Appends `count` value-initialised elements.
  void Grow(std::size_t count) {
    Grow(count, [](T* place, std::size_t) { std::construct_at(place); });
  }
  // Appends `count` elements; `make(place, index)` constructs each.
  template <typename Make>
  void Grow(std::size_t count, Make make) {
    for (const std::size_t end = size_ + count; size_ < end;) {
      if (size_ == Capacity(segments_)) AddSegment();
      const std::size_t stop = std::min(end, Capacity(segments_));
      T* place = Find(size_);
      for (std::size_t i = size_; i < stop; ++i, ++place) make(place, i);
      size_ = stop;
    }
  }

  [[nodiscard]] T& operator[](std::size_t index) { return *Find(index); }
  [[nodiscard]] const T& operator[](std::size_t index) const { return *Find(index); }

  class Cursor {
   public:
    explicit Cursor(const Segmented& array) : array_(array) {}

    [[nodiscard]] T& operator[](std::size_t index) {
      if (index - begin_ >= size_) Seek(index);
      return segment_[index - begin_];
    }

   private:
    void Seek(std::size_t index) {
      const std::size_t k = SegmentOf(index);
      segment_ = array_.segment_[k];
      begin_ = Capacity(k);
      size_ = kFirst << k;
    }

    const Segmented& array_;
    T* segment_ = nullptr;
    std::size_t begin_ = 0;
    std::size_t size_ = 0;
  };

 private:
  static constexpr int kFirstBits = std::countr_zero(kFirst);
  static constexpr std::size_t kMaxSegments = 32;

  static std::size_t SegmentBytes(std::size_t k) { return (kFirst << k) * sizeof(T); }
  static std::size_t Capacity(std::size_t segments) { return kFirst * ((1ull << segments) - 1); }
  // Index i lies where i + kFirst has its top bit: segment k covers [kFirst*2^k, kFirst*2^(k+1)).
  static std::size_t SegmentOf(std::size_t index) {
    return static_cast<std::size_t>(std::bit_width(index + kFirst) - 1 - kFirstBits);
  }

  void AddSegment() {
    segment_[segments_] = static_cast<T*>(AllocatePages(SegmentBytes(segments_), alignof(T)));
    ++segments_;
  }
  T* Find(std::size_t index) const {
    const std::size_t k = SegmentOf(index);
    return segment_[k] + (index - Capacity(k));
  }

  std::array<T*, kMaxSegments> segment_{};
  std::size_t segments_ = 0;
  std::size_t size_ = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_SEGMENTED_H_
