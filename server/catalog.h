// Catalog: what the tasks of a request may name on this server, for one caller.
//
// Thread safety: a value; what it points to outlives it and is safe on its own.

#ifndef JACKDAW_SERVER_CATALOG_H_
#define JACKDAW_SERVER_CATALOG_H_

#include <string>
#include <vector>

#include "scheduler/exec/commands.h"
#include "scheduler/exec/functions.h"
#include "server/options.h"

namespace jackdaw {

struct Catalog {
  const Functions* functions = nullptr;
  Commands* commands = nullptr;
  const ServerLimits* limits = nullptr;
  std::vector<std::string> runners;  // The first is the default.
  // Commands are refused for a caller that is neither on this machine nor known.
  bool caller_may_run_commands = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_CATALOG_H_
