#include "scheduler/base/pages.h"

#include <sys/mman.h>

#include <new>

namespace jackdaw {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void* AllocatePages(std::size_t bytes, std::size_t alignment) {
  if (bytes < kHugePage) return ::operator new(bytes, std::align_val_t(alignment));
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, /*offset=*/0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // Advice: where it is not taken the memory works all the same.
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void FreePages(void* memory, std::size_t bytes, std::size_t alignment) {
  if (bytes < kHugePage) {
    ::operator delete(memory, std::align_val_t(alignment));
  } else {
    munmap(memory, bytes);
  }
}

}  // namespace jackdaw
