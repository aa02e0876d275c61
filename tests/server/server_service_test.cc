// ServerService, health and reflection: what a server says about itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using ::testing::Contains;

class ServerServiceTest : public ::testing::Test {
 protected:
  grpc::Status ListWorkers(const v1::ListWorkersRequest& request,
                           v1::ListWorkersResponse* response) {
    grpc::ClientContext context;
    return server_.info().ListWorkers(&context, request, response);
  }

  TestServer server_;
};

TEST_F(ServerServiceTest, GetServerTellsWhatItAccepts) {
  grpc::ClientContext context;
  v1::Server server;
  ASSERT_TRUE(server_.info().GetServer(&context, {}, &server).ok());
  EXPECT_FALSE(server.version().empty());
  EXPECT_FALSE(server.durable());
  EXPECT_FALSE(server.draining());
  EXPECT_FALSE(server.commands_allowed());
  EXPECT_THAT(server.functions(), Contains("sha256"));
  EXPECT_THAT(server.functions(), Contains("gate"));
  EXPECT_THAT(server.runners(), ::testing::ElementsAre("compute"));
  EXPECT_EQ(server.limits().max_message_bytes(), 32 << 20);
  EXPECT_EQ(server.limits().request_id_retention().seconds(), 3600);
  EXPECT_THAT(server.addresses(), ::testing::ElementsAre(server_.address()));
}

TEST_F(ServerServiceTest, WorkersAreListedWithWhatTheyRan) {
  v1::Job job;
  v1::TaskArray* array = job.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("noop");
  array->set_count(1000);
  server_.AwaitEnd(server_.Create(job));
  v1::ListWorkersRequest request;
  v1::ListWorkersResponse response;
  std::int64_t tasks = 0;
  // The worker that ended the job may still be counting.
  while (tasks < 1000) {
    ASSERT_TRUE(ListWorkers(request, &response).ok());
    ASSERT_EQ(response.workers_size(), 2);
    tasks = 0;
    for (const auto& worker : response.workers()) {
      tasks += worker.own_deque_tasks() + worker.stolen_tasks() + worker.injector_tasks() +
               worker.mailbox_tasks() + worker.inline_tasks();
    }
  }
  EXPECT_EQ(response.workers(1).name(), "runners/compute/workers/1");
  request.set_page_size(1);
  request.set_parent("runners/compute");
  ASSERT_TRUE(ListWorkers(request, &response).ok());
  ASSERT_EQ(response.workers_size(), 1);
  request.set_page_token(response.next_page_token());
  ASSERT_TRUE(ListWorkers(request, &response).ok());
  ASSERT_EQ(response.workers_size(), 1);
  EXPECT_EQ(response.workers(0).index(), 1);
  EXPECT_EQ(response.next_page_token(), "");
}

TEST_F(ServerServiceTest, ListWorkersRefusesWhatItDoesNotKnow) {
  v1::ListWorkersRequest request;
  v1::ListWorkersResponse response;
  request.set_parent("compute");
  EXPECT_EQ(Describe(ListWorkers(request, &response)), "INVALID_ARGUMENT INVALID_NAME parent");
  request.set_parent("runners/gpu");
  EXPECT_EQ(Describe(ListWorkers(request, &response)), "NOT_FOUND RUNNER_NOT_FOUND");
  request.set_parent("runners/-");
  request.set_page_size(-1);
  EXPECT_EQ(Describe(ListWorkers(request, &response)), "INVALID_ARGUMENT INVALID_FIELD page_size");
  request.set_page_size(0);
  request.set_page_token("x");
  EXPECT_EQ(Describe(ListWorkers(request, &response)),
            "INVALID_ARGUMENT INVALID_PAGE_TOKEN page_token");
}

TEST_F(ServerServiceTest, WhatComesLaterIsUnimplemented) {
  const std::string expected = "UNIMPLEMENTED METHOD_NOT_IMPLEMENTED";
  {
    grpc::ClientContext context;
    v1::ListRunnersResponse response;
    EXPECT_EQ(Describe(server_.info().ListRunners(&context, {}, &response)), expected);
  }
  {
    grpc::ClientContext context;
    v1::DrainResponse response;
    EXPECT_EQ(Describe(server_.info().Drain(&context, {}, &response)), expected);
  }
  grpc::ClientContext context;
  const auto handlers = v1::HandlerService::NewStub(server_.channel());
  EXPECT_EQ(Describe(handlers->Serve(&context)->Finish()), expected);
}

TEST_F(ServerServiceTest, HealthKnowsEachServiceAndTheWhole) {
  const auto health = Health::NewStub(server_.channel());
  const auto check = [&](const std::string& service, HealthCheckResponse* response) {
    grpc::ClientContext context;
    HealthCheckRequest request;
    request.set_service(service);
    return health->Check(&context, request, response);
  };
  HealthCheckResponse response;
  for (const char* service : {"", "jackdaw.v1.JobService", "grpc.health.v1.Health"}) {
    ASSERT_TRUE(check(service, &response).ok()) << service;
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  }
  EXPECT_EQ(Describe(check("no.such.Service", &response)), "NOT_FOUND SERVICE_NOT_FOUND");
}

TEST_F(ServerServiceTest, AHealthWatcherIsToldOfTheDrain) {
  const auto health = Health::NewStub(server_.channel());
  grpc::ClientContext context;
  const auto reader = health->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  server_.server().BeginDrain();
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  context.TryCancel();
  EXPECT_FALSE(reader->Finish().ok());
}

template <typename Stub, typename Request, typename Response>
void ExpectReflection(Stub& stub) {
  grpc::ClientContext context;
  const auto stream = stub.ServerReflectionInfo(&context);
  const auto ask = [&](const Request& request) {
    Response response;
    EXPECT_TRUE(stream->Write(request));
    EXPECT_TRUE(stream->Read(&response));
    return response;
  };
  Request request;
  request.set_list_services("");
  std::set<std::string> services;
  const Response listed = ask(request);
  for (const auto& service : listed.list_services_response().service()) {
    services.insert(service.name());
  }
  EXPECT_THAT(services, Contains("jackdaw.v1.JobService"));
  EXPECT_THAT(services, Contains("grpc.health.v1.Health"));
  for (const std::string& service : services) {
    request.set_file_containing_symbol(service);
    EXPECT_GT(ask(request).file_descriptor_response().file_descriptor_proto_size(), 0) << service;
  }
  request.set_file_by_filename("jackdaw/v1/task.proto");
  EXPECT_GT(ask(request).file_descriptor_response().file_descriptor_proto_size(), 3);
  request.set_file_by_filename("none.proto");
  EXPECT_EQ(ask(request).error_response().error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ask(Request()).error_response().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.set_all_extension_numbers_of_type("jackdaw.v1.Job");
  EXPECT_EQ(ask(request).all_extension_numbers_response().extension_number_size(), 0);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ServerServiceTest, ReflectionDescribesEveryServiceItLists) {
  namespace reflection = grpc::reflection;
  const auto stub = reflection::v1::ServerReflection::NewStub(server_.channel());
  ExpectReflection<reflection::v1::ServerReflection::Stub, reflection::v1::ServerReflectionRequest,
                   reflection::v1::ServerReflectionResponse>(*stub);
  const auto older = reflection::v1alpha::ServerReflection::NewStub(server_.channel());
  ExpectReflection<reflection::v1alpha::ServerReflection::Stub,
                   reflection::v1alpha::ServerReflectionRequest,
                   reflection::v1alpha::ServerReflectionResponse>(*older);
}

TEST_F(ServerServiceTest, AStreamCutInTheMiddleLeavesTheServerAlive) {
  const auto stub = grpc::reflection::v1::ServerReflection::NewStub(server_.channel());
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    const auto stream = stub->ServerReflectionInfo(&context);
    grpc::reflection::v1::ServerReflectionRequest request;
    request.set_list_services("");
    stream->Write(request);
    context.TryCancel();
    EXPECT_FALSE(stream->Finish().ok());
  }
  grpc::ClientContext context;
  v1::Server server;
  EXPECT_TRUE(server_.info().GetServer(&context, {}, &server).ok());
}

// Listeners.

TEST(ListenTest, HealthAloneIsOnItsOwnAddress) {
  TestServer server([](ServerOptions& options) { options.health = "127.0.0.1:0"; });
  const auto channel =
      grpc::CreateChannel(server.server().health_address(), grpc::InsecureChannelCredentials());
  HealthCheckResponse response;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(Health::NewStub(channel)->Check(&context, {}, &response).ok());
  }
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  grpc::ClientContext context;
  v1::Server info;
  EXPECT_EQ(v1::ServerService::NewStub(channel)->GetServer(&context, {}, &info).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST(ListenTest, ASocketThatIsInUseIsNotTakenOver) {
  TestServer first;
  ServerOptions options;
  options.listen = {first.address()};
  options.metrics.clear();
  Server second(options);
  EXPECT_EQ(second.Start().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(ListenTest, APortThatIsInUseIsNotShared) {
  TestServer first([](ServerOptions& options) { options.listen = {"127.0.0.1:0"}; });
  ServerOptions options;
  options.listen = {first.address()};
  options.metrics.clear();
  Server second(options);
  EXPECT_EQ(second.Start().code(), absl::StatusCode::kUnavailable);
}

TEST(ListenTest, OptionsOutOfRangeAreNamed) {
  ServerOptions options;
  options.listen = {"nonsense"};
  Server server(options);
  EXPECT_EQ(server.Start().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace jackdaw
