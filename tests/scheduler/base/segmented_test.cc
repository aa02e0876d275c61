#include "scheduler/base/segmented.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/base/pages.h"

namespace jackdaw {
namespace {

TEST(SegmentedTest, ElementsKeepTheirPlaceAndValueWhileItGrows) {
  Segmented<std::uint64_t, 4> array;
  std::vector<std::uint64_t*> places;
  std::uint64_t count = 0;
  for (const std::size_t more : {1u, 3u, 1u, 0u, 100u, 1000u, 20'000u}) {
    array.Grow(more);
    for (; count < array.size(); ++count) {
      ASSERT_EQ(array[count], 0u);
      array[count] = count * 3;
      places.push_back(&array[count]);
    }
  }
  ASSERT_EQ(array.size(), 21'105u);
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(&array[i], places[i]);
    ASSERT_EQ(array[i], i * 3);
  }
}

TEST(SegmentedTest, DestroysEachElementOnce) {
  const auto shared = std::make_shared<int>(1);
  {
    Segmented<std::shared_ptr<int>, 2> array;
    array.Grow(777);
    for (std::size_t i = 0; i < 777; ++i) array[i] = shared;
    EXPECT_EQ(shared.use_count(), 778);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(SegmentedTest, ElementsAreAlignedInSmallAndMappedSegments) {
  struct alignas(64) Line {
    char bytes[64];
  };
  Segmented<Line> array;
  array.Grow(100'000);
  for (const std::size_t i : {0u, 31u, 32u, 1000u, 99'999u}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&array[i]) % 64, 0u) << i;
  }
}

TEST(PagesTest, MemoryOfEverySizeIsAlignedAndWritable) {
  constexpr std::size_t kMapped = std::size_t{2} << 20;
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{4096}, kMapped - 1, kMapped, kMapped + 1}) {
    for (const std::size_t alignment : {std::size_t{8}, std::size_t{64}, std::size_t{4096}}) {
      void* memory = AllocatePages(bytes, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u);
      std::memset(memory, 1, bytes);
      FreePages(memory, bytes, alignment);
    }
  }
}

}  // namespace
}  // namespace jackdaw
