// Completion scripts for shells, made from the command line's own tables. CLI11 has none.

#ifndef JACKDAW_CLIENT_CLI_COMPLETION_TEXT_H_
#define JACKDAW_CLIENT_CLI_COMPLETION_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace jackdaw::cli {

struct CompletionOption {
  std::vector<std::string> names;  // "--json", "-q".
  std::string help;
  bool takes_value = false;
  std::vector<std::string> choices;  // Of its value; empty: anything.
};

struct CompletionVerb {
  std::string name;
  std::string help;
  std::vector<CompletionOption> options;
  bool takes_file = false;
  std::vector<std::string> choices;  // Of its first argument.
};

struct CompletionTable {
  std::string program;
  std::vector<CompletionOption> options;  // Good before and after every verb.
  std::vector<CompletionVerb> verbs;
};

[[nodiscard]] std::string BashCompletion(const CompletionTable& table);
[[nodiscard]] std::string ZshCompletion(const CompletionTable& table);
[[nodiscard]] std::string FishCompletion(const CompletionTable& table);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_COMPLETION_TEXT_H_
