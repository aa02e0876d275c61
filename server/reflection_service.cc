#include "server/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"

namespace jackdaw {
namespace {

namespace pb = google::protobuf;
using Names = std::shared_ptr<const std::vector<std::string>>;

// `file` and, after it, what it imports, each once.
void AddFile(const pb::FileDescriptor& file, std::set<std::string>& added, auto* response) {
  if (!added.insert(file.name()).second) return;
  pb::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response->add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddFile(*file.dependency(i), added, response);
  }
}

void AnswerFile(const pb::FileDescriptor* file, const std::string& wanted, auto* response) {
  if (file == nullptr) {
    response->mutable_error_response()->set_error_code(
        static_cast<int>(absl::StatusCode::kNotFound));
    response->mutable_error_response()->set_error_message(
        absl::StrCat("there is no ", wanted, " on this server"));
    return;
  }
  std::set<std::string> added;
  AddFile(*file, added, response->mutable_file_descriptor_response());
}

void AnswerExtensions(const std::string& type, auto* response) {
  const pb::DescriptorPool& pool = *pb::DescriptorPool::generated_pool();
  const pb::Descriptor* message = pool.FindMessageTypeByName(type);
  if (message == nullptr) return AnswerFile(nullptr, type, response);
  std::vector<const pb::FieldDescriptor*> extensions;
  pool.FindAllExtensions(message, &extensions);
  auto* answer = response->mutable_all_extension_numbers_response();
  answer->set_base_type_name(type);
  for (const pb::FieldDescriptor* extension : extensions) {
    answer->add_extension_number(extension->number());
  }
}

template <typename Request, typename Response>
void Answer(const Request& request, const std::vector<std::string>& listed, Response* response) {
  const pb::DescriptorPool& pool = *pb::DescriptorPool::generated_pool();
  response->set_valid_host(request.host());
  *response->mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Request::kFileByFilename:
      return AnswerFile(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(),
                        response);
    case Request::kFileContainingSymbol:
      return AnswerFile(pool.FindFileContainingSymbol(request.file_containing_symbol()),
                        request.file_containing_symbol(), response);
    case Request::kFileContainingExtension: {
      const auto& asked = request.file_containing_extension();
      const pb::Descriptor* type = pool.FindMessageTypeByName(asked.containing_type());
      const pb::FieldDescriptor* extension =
          type == nullptr ? nullptr : pool.FindExtensionByNumber(type, asked.extension_number());
      return AnswerFile(
          extension == nullptr ? nullptr : extension->file(),
          absl::StrCat("extension ", asked.extension_number(), " of ", asked.containing_type()),
          response);
    }
    case Request::kAllExtensionNumbersOfType:
      return AnswerExtensions(request.all_extension_numbers_of_type(), response);
    case Request::kListServices:
      for (const std::string& name : listed) {
        response->mutable_list_services_response()->add_service()->set_name(name);
      }
      return;
    case Request::MESSAGE_REQUEST_NOT_SET:
      break;
  }
  response->mutable_error_response()->set_error_code(
      static_cast<int>(absl::StatusCode::kInvalidArgument));
  response->mutable_error_response()->set_error_message("the request asks for nothing");
}

template <typename Request, typename Response>
Rpc Reflect(std::shared_ptr<Call> call, Names listed) {
  grpc::ByteBuffer buffer;
  absl::Status end;
  for (;;) {
    auto read = call->Read(&buffer);
    const bool more = co_await read;
    if (!more) break;
    Request request;
    end = Parse(buffer, &request);
    if (!end.ok()) break;
    Response response;
    Answer(request, *listed, &response);
    auto write = call->Write(response);
    const bool listening = co_await write;
    if (!listening) break;
  }
  auto finish = call->Finish(end);
  co_await finish;
}

}  // namespace

void RegisterReflection(const std::vector<std::string>& listed, RpcService* service) {
  const auto names = std::make_shared<const std::vector<std::string>>(listed);
  const bool alpha = absl::StrContains(service->name(), "v1alpha");
  service->Handle("ServerReflectionInfo", [names, alpha](std::shared_ptr<Call> call) {
    namespace reflection = grpc::reflection;
    return alpha ? Reflect<reflection::v1alpha::ServerReflectionRequest,
                           reflection::v1alpha::ServerReflectionResponse>(std::move(call), names)
                 : Reflect<reflection::v1::ServerReflectionRequest,
                           reflection::v1::ServerReflectionResponse>(std::move(call), names);
  });
}

}  // namespace jackdaw
