// Random: a small fast generator for choices whose quality hardly matters: victims,
// jitter. Seeded by the owner, so a run can be repeated.
//
// Thread safety: none; one per thread.
//
// Source: xoshiro's seeding generator, Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014.

#ifndef JACKDAW_SCHEDULER_BASE_RANDOM_H_
#define JACKDAW_SCHEDULER_BASE_RANDOM_H_

#include <cstdint>

namespace jackdaw {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound) but for a bias below bound / 2^32. Requires 0 < bound <= 2^32.
  std::uint64_t Below(std::uint64_t bound) { return ((Next() >> 32) * bound) >> 32; }

  // Uniform in [0, 1).
  double Fraction() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_RANDOM_H_
