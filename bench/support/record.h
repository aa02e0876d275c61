// The record of a benchmark run: one JSON object a line, appended to the file that
// JACKDAW_BENCH_RECORD names, for tools/plot_bench.py. Nothing where it names none.

#ifndef JACKDAW_BENCH_SUPPORT_RECORD_H_
#define JACKDAW_BENCH_SUPPORT_RECORD_H_

#include <string>

namespace jackdaw::bench {

// `text` as a JSON string. Names are ours: they hold no control characters.
[[nodiscard]] std::string Quoted(const std::string& text);

// Appends an object with this program's name, `title`, `unit`, and `rest`: further members of it.
// Ends the program where the file cannot be written.
void Record(const std::string& title, const std::string& unit, const std::string& rest);

}  // namespace jackdaw::bench

#endif  // JACKDAW_BENCH_SUPPORT_RECORD_H_
