// The verbs of `jackdaw`, each in a file of its own. Each Add...() declares its arguments and
// sets `selected` to what is to be done when the command line names it.

#ifndef JACKDAW_CLIENT_CLI_VERBS_H_
#define JACKDAW_CLIENT_CLI_VERBS_H_

#include <CLI/CLI.hpp>
#include <functional>

#include "client/cli/context.h"

namespace jackdaw::cli {

// Returns the exit code.
using Selected = std::function<int()>;

void AddRun(CLI::App& app, Context& context, Selected& selected);
void AddSubmit(CLI::App& app, Context& context, Selected& selected);
void AddJobs(CLI::App& app, Context& context, Selected& selected);  // list get cancel delete
void AddWatch(CLI::App& app, Context& context, Selected& selected);
void AddTasks(CLI::App& app, Context& context, Selected& selected);  // tasks result logs
void AddGraph(CLI::App& app, Context& context, Selected& selected);
void AddWorkers(CLI::App& app, Context& context, Selected& selected);
void AddBench(CLI::App& app, Context& context, Selected& selected);
void AddCompletion(CLI::App& app, Context& context, Selected& selected);
void AddHealth(CLI::App& app, Context& context, Selected& selected);
void AddVersion(CLI::App& app, Context& context, Selected& selected);

// A verb with its help and its examples, one a line.
CLI::App* AddVerb(CLI::App& app, const char* name, const char* help, const char* examples);
void AddJsonFlag(CLI::App* verb, Context& context);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_VERBS_H_
