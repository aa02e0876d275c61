// Streams of many requests that end as they should not: half-closed without an end message,
// cut in the middle, cancelled, with bytes that are no message. Each gets a clear status
// where somebody is left to read it, no job and no call is left behind, the server goes on.

#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "tests/server/raw_http2.h"
#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

constexpr std::int64_t kMaxMessageBytes = 1 << 20;
constexpr absl::Duration kPatience = absl::Seconds(30);
constexpr char kUnimplemented[] = "UNIMPLEMENTED METHOD_NOT_IMPLEMENTED";
// Of a message that is no protobuf: a field whose length runs past the end.
constexpr char kGarbage[] = "\x0a\xff\xff\x03 garbage";

// A stream of bytes, by the generic stub.
class RawStream {
 public:
  RawStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method)
      : stub_(channel), stream_(stub_.PrepareCall(&context_, method, &queue_)) {
    stream_->StartCall(this);
    Await();
  }

  // False if the stream is over.
  bool Write(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    stream_->Write(grpc::ByteBuffer(&slice, 1), this);
    return Await();
  }
  bool Read() {
    grpc::ByteBuffer bytes;
    stream_->Read(&bytes, this);
    return Await();
  }
  void HalfClose() {
    stream_->WritesDone(this);
    Await();
  }
  void Cancel() { context_.TryCancel(); }
  grpc::Status Finish() {
    grpc::Status status;
    stream_->Finish(&status, this);
    Await();
    return status;
  }

 private:
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    return ok;
  }

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
};

// Begins a job that is to have a task.
std::string UploadStart() {
  v1::UploadJobRequest request;
  AddTask(request.mutable_start()->mutable_create()->mutable_job(), "a", "noop");
  return request.SerializeAsString();
}

std::string HandlerHello() {
  v1::ServeRequest request;
  request.mutable_hello()->set_handler_name("camera");
  request.mutable_hello()->add_functions("resize");
  return request.SerializeAsString();
}

std::string Question() {
  grpc::reflection::v1::ServerReflectionRequest request;
  request.set_list_services("");
  return request.SerializeAsString();
}

struct Case {
  const char* name;
  std::string method;
  std::string (*good_message)();
  bool implemented;
};

class BrokenStreamTest : public ::testing::TestWithParam<Case> {
 protected:
  BrokenStreamTest()
      : server_([](ServerOptions& options) {
          options.metrics = "127.0.0.1:0";
          options.limits.max_message_bytes = kMaxMessageBytes;
        }) {}

  void TearDown() override {
    grpc::ClientContext context;
    v1::ListJobsResponse listed;
    ASSERT_TRUE(server_.jobs().ListJobs(&context, v1::ListJobsRequest(), &listed).ok());
    EXPECT_EQ(listed.jobs_size(), 0);
    // gRPC tells the server of a lost client in its own time.
    while (SumSeries(server_.Scrape(), "jackdaw_rpc_streams{") != 0) {
    }
    v1::Job good;
    AddTask(&good, "a", "noop");
    EXPECT_EQ(server_.AwaitEnd(server_.Create(good)).state(), v1::Job::STATE_SUCCEEDED);
  }

  static std::string Expected(const std::string& of_the_implemented) {
    return GetParam().implemented ? of_the_implemented : kUnimplemented;
  }
  std::unique_ptr<RawStream> Begin() {
    return std::make_unique<RawStream>(server_.channel(), GetParam().method);
  }

  TestServer server_;
};

TEST_P(BrokenStreamTest, HalfClosedAtOnce) {
  const auto stream = Begin();
  stream->HalfClose();
  EXPECT_EQ(Describe(stream->Finish()), Expected("OK "));
}

TEST_P(BrokenStreamTest, HalfClosedWithoutItsEndMessage) {
  const auto stream = Begin();
  stream->Write(GetParam().good_message());
  EXPECT_EQ(stream->Read(), GetParam().implemented);
  stream->HalfClose();
  EXPECT_EQ(Describe(stream->Finish()), Expected("OK "));
}

TEST_P(BrokenStreamTest, CancelledInTheMiddle) {
  for (int i = 0; i < 20; ++i) {
    const auto stream = Begin();
    stream->Write(GetParam().good_message());
    stream->Cancel();
    const grpc::Status end = stream->Finish();
    if (GetParam().implemented || end.error_code() != grpc::StatusCode::UNIMPLEMENTED) {
      EXPECT_EQ(end.error_code(), grpc::StatusCode::CANCELLED);
    }
  }
}

TEST_P(BrokenStreamTest, AMessageThatDoesNotParse) {
  const auto stream = Begin();
  stream->Write(kGarbage);
  EXPECT_FALSE(stream->Read());
  EXPECT_EQ(Describe(stream->Finish()), Expected("INVALID_ARGUMENT MALFORMED_MESSAGE host"));
}

TEST_P(BrokenStreamTest, AMessageOverTheLimit) {
  const auto stream = Begin();
  stream->Write(std::string(kMaxMessageBytes + 1, 'x'));
  const grpc::StatusCode expected = GetParam().implemented ? grpc::StatusCode::RESOURCE_EXHAUSTED
                                                           : grpc::StatusCode::UNIMPLEMENTED;
  EXPECT_EQ(stream->Finish().error_code(), expected);
}

TEST_P(BrokenStreamTest, HalfClosedInTheMiddleOfAMessage) {
  RawHttp2 raw(server_.address());
  raw.BeginCall(1, GetParam().method);
  // The head of a message of 100 bytes, then 10 of them.
  raw.Send({RawHttp2::kData, RawHttp2::kEndStream, 1,
            std::string("\0\0\0\0\x64", 5) + std::string(10, 'x')});
  int code = -1;
  while (code < 0) {
    const auto headers = raw.ReadUntil(RawHttp2::kHeaders, absl::Now() + kPatience);
    ASSERT_TRUE(headers.has_value());
    code = GrpcStatusIn(*headers);
  }
  // gRPC 1.51 does not tell such an end from an orderly one; an end message would.
  EXPECT_EQ(code, GetParam().implemented ? grpc::StatusCode::OK : grpc::StatusCode::UNIMPLEMENTED);
}

TEST_P(BrokenStreamTest, CutInTheMiddleOfAMessage) {
  for (int i = 0; i < 20; ++i) {
    RawHttp2 raw(server_.address());
    raw.BeginCall(1, GetParam().method);
    raw.Send({RawHttp2::kData, 0, 1, std::string("\0\0\0\0\x64", 5) + std::string(10, 'x')});
  }
}

INSTANTIATE_TEST_SUITE_P(
    EveryStreamOfManyRequests, BrokenStreamTest,
    ::testing::Values(Case{"UploadJob", "/jackdaw.v1.JobService/UploadJob", UploadStart, false},
                      Case{"Serve", "/jackdaw.v1.HandlerService/Serve", HandlerHello, false},
                      Case{"Reflection",
                           "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Question,
                           true},
                      Case{"OlderReflection",
                           "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                           Question, true}),
    [](const ::testing::TestParamInfo<Case>& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace jackdaw
