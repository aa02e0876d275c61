// A bare hand-over of work between two sleeping threads, the floor of any wake-up.

#ifndef JACKDAW_BENCH_SUPPORT_HAND_OFF_H_
#define JACKDAW_BENCH_SUPPORT_HAND_OFF_H_

namespace jackdaw::bench {

// The median time from the moment one thread wakes another, by a futex, to the moment the
// other runs, in microseconds: half a round trip, over `rounds`.
[[nodiscard]] double HandOffMicros(int rounds);

}  // namespace jackdaw::bench

#endif  // JACKDAW_BENCH_SUPPORT_HAND_OFF_H_
