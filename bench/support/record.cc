#include "bench/support/record.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace jackdaw::bench {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

void Record(const std::string& title, const std::string& unit, const std::string& rest) {
  const char* path = std::getenv("JACKDAW_BENCH_RECORD");
  if (path == nullptr) return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "a"), std::fclose);
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write %s: %s\n", path, std::strerror(errno));
    std::exit(1);
  }
  std::fprintf(file.get(),
               R"({"program": %s, "title": %s, "unit": %s, %s})"
               "\n",
               Quoted(program_invocation_short_name).c_str(), Quoted(title).c_str(),
               Quoted(unit).c_str(), rest.c_str());
}

}  // namespace jackdaw::bench
