// Bytes: an immutable run of bytes, shared and never copied. One word wide, so that
// a task can afford one for its payload and one for its output.
//
// Thread safety
//   As a std::shared_ptr<const T>: distinct handles may be used from distinct threads
//   even when they share the bytes; one handle needs outside synchronisation to change.
//
// Invariants
//   (1) The bytes of a handle never change.
//   (2) A null handle is the empty run. An empty run never allocates.

#ifndef JACKDAW_SCHEDULER_BASE_BYTES_H_
#define JACKDAW_SCHEDULER_BASE_BYTES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace jackdaw {

class Bytes {
 public:
  Bytes() = default;
  // Takes over `data`; a small cost for the control block, none for the contents.
  explicit Bytes(std::string data);
  static Bytes Copy(absl::string_view data) { return Bytes(std::string(data)); }

  Bytes(const Bytes& other) : block_(other.block_) { Ref(); }
  Bytes(Bytes&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Bytes& operator=(const Bytes& other) {
    Bytes copy(other);
    std::swap(block_, copy.block_);
    return *this;
  }
  Bytes& operator=(Bytes&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Bytes() { Unref(); }

  // Valid as long as any handle to the same bytes lives.
  [[nodiscard]] absl::string_view view() const {
    return block_ == nullptr ? absl::string_view() : absl::string_view(block_->data);
  }
  [[nodiscard]] std::size_t size() const { return block_ == nullptr ? 0 : block_->data.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }

  friend bool operator==(const Bytes& a, const Bytes& b) { return a.view() == b.view(); }

 private:
  struct Block {
    explicit Block(std::string d) : data(std::move(d)) {}
    std::atomic<std::uint32_t> references{1};
    const std::string data;
  };

  void Ref() const {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  // The decrement releases this thread's reads to the one that deletes, which acquires them.
  void Unref() const {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete block_;
    }
  }

  Block* block_ = nullptr;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_BYTES_H_
