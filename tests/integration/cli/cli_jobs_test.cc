// The verbs about jobs and tasks that exist already, and those that need no server.

#include <gmock/gmock.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/integration/cli/cli_process.h"

namespace jackdaw::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CliJobsTest : public CliTest {
 protected:
  std::string LongJob() const {
    return WriteFile("long.yaml", "name: long\ntasks: [{id: nap, command: [sleep, '600']}]");
  }
};

TEST_F(CliJobsTest, SubmittedJobIsListedGotCancelledWatchedAndDeleted) {
  const CliResult submitted = Cli({"submit", LongJob(), "--job-id", "one"});
  EXPECT_EQ(submitted.code, 0);
  EXPECT_EQ(submitted.out, "jobs/one\n");

  const auto list = Json(Cli({"list", "--json", "--state", "running"}).out);
  ASSERT_EQ(list.fields().at("jobs").list_value().values_size(), 1);
  EXPECT_THAT(Cli({"list"}).out, HasSubstr("one  long  RUNNING"));
  EXPECT_THAT(Cli({"get", "one"}).out, HasSubstr("state    RUNNING"));
  EXPECT_EQ(Cli({"delete", "one"}).code, 4) << "it is not done";

  const auto watch = StartCli({"watch", "jobs/one"});
  ASSERT_TRUE(Eventually([&] { return watch->err().find("jobs/one") != std::string::npos; }));
  EXPECT_EQ(Cli({"cancel", "one", "--reason", "had enough"}).code, 0);
  EXPECT_EQ(watch->Wait(), 1);
  EXPECT_THAT(watch->out(), StartsWith("jobs/one CANCELLED"));
  EXPECT_THAT(watch->out(), HasSubstr("had enough"));

  const auto job = Json(Cli({"get", "one", "--json"}).out);
  EXPECT_EQ(job.fields().at("state").string_value(), "CANCELLED");
  EXPECT_EQ(Cli({"delete", "one"}).code, 0);
  const CliResult gone = Cli({"get", "one"});
  EXPECT_EQ(gone.code, 4);
  EXPECT_THAT(gone.err, HasSubstr("NOT_FOUND"));
}

TEST_F(CliJobsTest, SameRequestIdMakesOneJob) {
  const CliResult first = Cli({"submit", LongJob(), "--request-id", "nightly"});
  const CliResult second = Cli({"submit", LongJob(), "--request-id", "nightly"});
  EXPECT_EQ(first.code, 0);
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(Json(Cli({"list", "--json"}).out).fields().at("jobs").list_value().values_size(), 1);
}

TEST_F(CliJobsTest, ValidateOnlyStartsNothing) {
  const CliResult checked = Cli({"submit", LongJob(), "--validate-only"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("is right"));
  EXPECT_EQ(Json(Cli({"list", "--json"}).out).fields().at("jobs").list_value().values_size(), 0);
}

TEST_F(CliJobsTest, WatchInJsonIsAnObjectALine) {
  ASSERT_EQ(Cli({"submit", Example("hello.yaml"), "--job-id", "hello"}).code, 0);
  const CliResult watch = Cli({"watch", "hello", "--json"});
  EXPECT_EQ(watch.code, 0);
  std::string state;
  for (const auto line : absl::StrSplit(watch.out, '\n', absl::SkipEmpty())) {
    const auto event = Json(std::string(line));
    if (event.fields().contains("job")) {
      state = event.fields().at("job").struct_value().fields().at("state").string_value();
    }
  }
  EXPECT_EQ(state, "SUCCEEDED");
}

TEST_F(CliJobsTest, TasksResultAndLogs) {
  ASSERT_EQ(Cli({"run", Example("policies.yaml"), "--job-id", "p", "--quiet"}).code, 1);
  const auto tasks = Json(Cli({"tasks", "p", "--json"}).out);
  ASSERT_EQ(tasks.fields().at("tasks").list_value().values_size(), 5);
  const CliResult failed = Cli({"tasks", "p", "--state", "failed"});
  EXPECT_THAT(failed.out, HasSubstr("unlucky"));
  EXPECT_THAT(failed.out, Not(HasSubstr("plan-b")));
  EXPECT_EQ(Cli({"result", "p", "plan-b"}).out, "plan B\n");
  EXPECT_EQ(Cli({"result", "p", "3"}).out, "plan B\n") << "by index";
  EXPECT_EQ(Cli({"logs", "p", "unlucky"}).out, "no luck today\n");
  EXPECT_EQ(Cli({"logs", "p", "unlucky", "--attempt", "1"}).out, "no luck today\n");
  EXPECT_EQ(Cli({"result", "p", "unlucky"}).code, 4);
  EXPECT_EQ(Cli({"result", "p", "nobody"}).code, 4);
}

TEST_F(CliJobsTest, ResultIsPrintedByteForByte) {
  const std::string path =
      WriteFile("bytes.yaml", "tasks: [{id: a, function: echo, payload: !!binary AAH/Cg==}]");
  ASSERT_EQ(Cli({"run", path, "--job-id", "bytes", "--quiet"}).code, 0);
  EXPECT_EQ(Cli({"result", "bytes", "a"}).out, std::string("\x00\x01\xff\n", 4));
  const auto json = Json(Cli({"result", "bytes", "a", "--json"}).out);
  EXPECT_EQ(json.fields().at("output_base64").string_value(), "AAH/Cg==");
}

TEST_F(CliJobsTest, GraphOfAFileNeedsNoServerAndOfAJobShowsStates) {
  const CliResult file = CliAt("unix:/nowhere", {"graph", Example("licenses.yaml")});
  EXPECT_EQ(file.code, 0);
  EXPECT_THAT(file.out, StartsWith("digraph \"licenses\" {"));
  EXPECT_THAT(file.out, Not(HasSubstr("#c8e6c9")));
  ASSERT_EQ(Cli({"run", Example("hello.yaml"), "--job-id", "hello", "--quiet"}).code, 0);
  const CliResult job = Cli({"graph", "jobs/hello"});
  EXPECT_THAT(job.out, HasSubstr("n2 [label=\"sentence\", fillcolor=\"#c8e6c9\""));
  EXPECT_THAT(job.out, HasSubstr("  n0 -> n2;\n  n1 -> n2;\n"));
  const CliResult mermaid = Cli({"graph", "jobs/hello", "--format", "mermaid"});
  EXPECT_THAT(mermaid.out, HasSubstr("class n0,n1,n2 succeeded"));
  EXPECT_EQ(Cli({"graph", "jobs/hello", "--limit", "2"}).code, 2);
}

TEST_F(CliJobsTest, WorkersTellWhatTheyDid) {
  ASSERT_EQ(Cli({"run", Example("hello.yaml"), "--quiet"}).code, 0);
  const auto json = Json(Cli({"workers", "--json"}).out);
  const auto& workers = json.fields().at("workers").list_value().values();
  ASSERT_EQ(workers.size(), 2);
  for (const auto& worker : workers) {
    for (const char* field : {"tasks", "steals_taken", "idle_spins", "queue_depth"}) {
      EXPECT_TRUE(worker.struct_value().fields().contains(field)) << field;
    }
  }
  EXPECT_THAT(Cli({"workers"}).out, HasSubstr("IDLE SPINS"));
}

TEST_F(CliJobsTest, BashTakesTheCompletionScript) {
  const CliResult script = Cli({"completion", "bash"});
  ASSERT_EQ(script.code, 0);
  const std::string path = WriteFile("completion", script.out);
  const CliResult checked = Program({"bash", "-n", path});
  EXPECT_EQ(checked.code, 0) << checked.err;
  const CliResult words =
      Program({"bash", "-c",
               absl::StrCat("source ", path,
                            "; COMP_WORDS=(jackdaw graph --format ''); COMP_CWORD=3; _jackdaw; "
                            "echo \"${COMPREPLY[@]}\"; COMP_WORDS=(jackdaw wo); COMP_CWORD=1; "
                            "_jackdaw; echo \"${COMPREPLY[@]}\"")});
  EXPECT_EQ(words.out, "dot mermaid\nworkers\n");
  EXPECT_EQ(Cli({"completion", "zsh"}).code, 0);
  EXPECT_EQ(Cli({"completion", "fish"}).code, 0);
  EXPECT_EQ(Cli({"completion", "cmd"}).code, 2);
}

TEST_F(CliJobsTest, HelpOfEveryVerbHasExamples) {
  for (const char* verb :
       {"run", "submit", "list", "get", "watch", "tasks", "result", "logs", "cancel", "delete",
        "graph", "workers", "bench", "health", "completion", "version"}) {
    const CliResult help = Cli({verb, "--help"});
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_THAT(help.out, HasSubstr(absl::StrCat("Examples:\n  "))) << verb;
  }
}

TEST_F(CliJobsTest, HealthTellsWhetherTheServerTakesJobs) {
  EXPECT_EQ(Cli({"health"}).code, 0);
  EXPECT_EQ(Cli({"health"}).out, "SERVING\n");
  EXPECT_EQ(Cli({"health", "--json"}).out, "{\"status\":\"SERVING\"}\n");
  EXPECT_EQ(Cli({"health", "--server", "unix:/nowhere", "--deadline", "1s"}).code, 3);
}

TEST_F(CliJobsTest, VersionOfBoth) {
  EXPECT_THAT(Cli({"version"}).out, StartsWith("jackdaw "));
  EXPECT_THAT(Cli({"version", "--ask-server"}).out, HasSubstr("\njackdawd "));
}

}  // namespace
}  // namespace jackdaw::testing
