// Reporter: shows how a watched job goes: one block that is drawn again and again on a
// terminal, lines in a pipe, an object per event for machines, or nothing.
//
// Thread safety: one thread calls; the live one draws from a thread of its own.

#ifndef JACKDAW_CLIENT_CLI_REPORTER_H_
#define JACKDAW_CLIENT_CLI_REPORTER_H_

#include <memory>
#include <string>

#include "client/cli/context.h"
#include "client/cli/progress.h"
#include "jackdaw/v1/job.pb.h"

namespace jackdaw::cli {

class Reporter {
 public:
  virtual ~Reporter() = default;
  // Takes over an event and shows it.
  virtual void OnEvent(const v1::JobEvent& event) = 0;
  // Shows a line beside the progress. Any thread.
  virtual void Say(const std::string& line) = 0;
  // Removes what is not to stay. Call once, before anything else is printed.
  virtual void End() = 0;
  // What the events told. Not while OnEvent() runs.
  [[nodiscard]] virtual const Progress& progress() const = 0;
};

// On a terminal: a block on `context.err`, drawn at most ten times a second.
[[nodiscard]] std::unique_ptr<Reporter> MakeLiveReporter(const Context& context, Progress progress);
// In a pipe: a line on `context.err` for each task that ended, or for large jobs a line with
// the counts now and then.
[[nodiscard]] std::unique_ptr<Reporter> MakePlainReporter(const Context& context,
                                                          Progress progress);
// Nothing but what is said.
[[nodiscard]] std::unique_ptr<Reporter> MakeSilentReporter(const Context& context,
                                                           Progress progress);
// One of the first two.
[[nodiscard]] std::unique_ptr<Reporter> MakeReporter(const Context& context, Progress progress);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_REPORTER_H_
