// TraceReader: reads a timeline back, and checks it.

#ifndef JACKDAW_TESTS_SCHEDULER_TRACE_TRACE_READER_H_
#define JACKDAW_TESTS_SCHEDULER_TRACE_TRACE_READER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/json.h"

namespace jackdaw {

// A trace, checked while it is read: on each track times do not go back, every end ends the
// newest span that is open, and all spans end.
class TraceReader {
 public:
  explicit TraceReader(const std::string& text) {
    std::optional<Json> json = Json::Parse(text);
    EXPECT_TRUE(json.has_value()) << text;
    if (!json.has_value()) return;
    json_ = *std::move(json);
    for (const Json& event : json_["traceEvents"].array) Read(event);
    for (const auto& [track, open] : open_) EXPECT_TRUE(open.empty()) << track;
    EXPECT_EQ(tails_, heads_);
  }

  // "pid.tid: name" of each span, where it began; indented by what it lies in.
  [[nodiscard]] const std::vector<std::string>& spans() const { return spans_; }
  [[nodiscard]] std::size_t Count(const std::string& name) const { return counts_.at(name); }
  [[nodiscard]] bool Has(const std::string& name) const { return counts_.count(name) != 0; }
  // Track name by "pid.tid".
  [[nodiscard]] const std::map<std::string, std::string>& tracks() const { return tracks_; }
  [[nodiscard]] const std::map<int, std::string>& groups() const { return groups_; }
  [[nodiscard]] std::size_t arrows() const { return tails_.size(); }
  [[nodiscard]] double dropped() const { return json_["otherData"]["dropped_spans"].number; }

 private:
  static std::string Place(const Json& event) {
    return absl::StrCat(event["pid"].number, ".", event["tid"].number);
  }

  void Read(const Json& event) {
    const std::string& phase = event["ph"].string;
    if (phase == "M") return ReadName(event);
    const std::string track = Place(event);
    EXPECT_TRUE(tracks_.count(track) != 0) << track;
    const double ts = event["ts"].number;
    EXPECT_GE(ts, last_[track]);
    EXPECT_GE(ts, 0);
    last_[track] = ts;
    std::vector<Json>& open = open_[track];
    if (phase == "B") {
      spans_.push_back(
          absl::StrCat(track, ": ", std::string(open.size(), ' '), event["name"].string, "@", ts));
      ++counts_[event["name"].string];
      open.push_back(event);
    } else if (phase == "E") {
      ASSERT_FALSE(open.empty());
      open.pop_back();
    } else if (phase == "i") {
      ++counts_[event["name"].string];
    } else {
      ReadArrow(phase, event, open);
    }
  }

  void ReadName(const Json& event) {
    const std::string& name = event["args"]["name"].string;
    if (event["name"].string == "process_name") {
      groups_[static_cast<int>(event["pid"].number)] = name;
    } else {
      EXPECT_EQ(event["name"].string, "thread_name");
      EXPECT_TRUE(tracks_.emplace(Place(event), name).second);
    }
  }

  // Each end lies in a span that says the same.
  void ReadArrow(const std::string& phase, const Json& event, const std::vector<Json>& open) {
    ASSERT_FALSE(open.empty());
    const Json& around = open.back();
    const double id = event["id"].number;
    const std::string worker = absl::StrCat(event["tid"].number - 1);
    if (phase == "s") {
      EXPECT_EQ(around["name"].string, "stolen");
      EXPECT_TRUE(
          tails_.emplace(id, Pair{worker, absl::StrCat(around["args"]["thief"].number)}).second);
    } else {
      ASSERT_EQ(phase, "f");
      EXPECT_EQ(event["bp"].string, "e");
      EXPECT_EQ(around["name"].string, "task");
      EXPECT_THAT(around["args"]["origin"].string, testing::AnyOf("stolen", "mailbox"));
      EXPECT_TRUE(
          heads_.emplace(id, Pair{absl::StrCat(around["args"]["victim"].number), worker}).second);
    }
  }

  using Pair = std::pair<std::string, std::string>;  // Victim and thief.
  Json json_;
  std::map<std::string, std::string> tracks_;
  std::map<int, std::string> groups_;
  std::map<std::string, std::vector<Json>> open_;
  std::map<std::string, double> last_;
  std::map<std::string, std::size_t> counts_;
  std::map<double, Pair> tails_;
  std::map<double, Pair> heads_;
  std::vector<std::string> spans_;
};

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SCHEDULER_TRACE_TRACE_READER_H_
