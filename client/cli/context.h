// Context: what all verbs share: where the server is, where to write and what to look like.
//
// Thread safety: none; the main thread's. Reporters write to `err` while the main thread
// waits.

#ifndef JACKDAW_CLIENT_CLI_CONTEXT_H_
#define JACKDAW_CLIENT_CLI_CONTEXT_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cpp/client.h"

namespace jackdaw::cli {

struct Context {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool err_is_terminal = false;
  bool colour = false;
  // Columns of the terminal, asked anew each time: windows change.
  std::function<int()> width = [] { return 80; };

  std::string server = client::kDefaultAddress;
  std::string deadline = "30s";  // As given; for each call.
  bool json = false;

  // Prints why not, and returns null, for a wrong address or deadline.
  [[nodiscard]] std::unique_ptr<Client> Connect() const;

  // Prints the error as a line "jackdaw: ..." and returns its exit code.
  int Fail(const absl::Status& status) const;
  // The same for a mistake of the user.
  int FailUsage(absl::string_view message) const;
};

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_CONTEXT_H_
