// Memory for large arrays.

#ifndef JACKDAW_SCHEDULER_BASE_PAGES_H_
#define JACKDAW_SCHEDULER_BASE_PAGES_H_

#include <cstddef>

namespace jackdaw {

// `bytes` of memory aligned to `alignment`, a power of two up to 4096. From 2 MiB on it is
// mapped, with huge pages where the system has them; below, it is the heap's. Throws
// std::bad_alloc when there is none.
[[nodiscard]] void* AllocatePages(std::size_t bytes, std::size_t alignment);

// Gives back what AllocatePages(bytes, alignment) returned. A mapped run is the system's at once.
void FreePages(void* memory, std::size_t bytes, std::size_t alignment);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_PAGES_H_
