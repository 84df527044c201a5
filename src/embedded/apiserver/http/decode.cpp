#include "embedded/apiserver/http/decode.h"

#include "api/status.h"
#include "base/yaml.h"
#include "embedded/apiserver/http/message.h"
#include "embedded/apiserver/http/protobuf.h"

namespace berth::apiserver::http {
namespace {

constexpr std::size_t kQuotedBodyBytes = 100;  // bytes of an invalid body that the error message quotes

std::string quoted(std::string_view bytes) {
  if (bytes.empty()) return "<empty>";
  std::string text(bytes.substr(0, kQuotedBodyBytes));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '.';
  }
  if (bytes.size() > kQuotedBodyBytes) text += "...";
  return text;
}

DecodedBody decode_json(std::string_view bytes) {
  DecodedBody body;
  auto value = parse_json(bytes, {}, &body.duplicates);
  if (value) {
    body.value = std::move(*value);
  } else {
    // For truncated input, use the message of Go's decoder, which users recognise.
    const bool cut = value.error().message.find("incomplete") != std::string::npos;
    body.error = "json parse error: " + (cut ? std::string("unexpected end of JSON input") : value.error().message);
  }
  return body;
}

DecodedBody decode_yaml(std::string_view bytes) {
  DecodedBody body;
  YamlLimits limits;
  limits.max_bytes = kMaxBodyBytes;
  auto documents = parse_yaml(bytes, limits);
  if (!documents) {
    body.error = "yaml parse error: " + documents.error().message;
  } else if (documents->size() > 1) {
    body.error = "yaml parse error: expected one document, got " + std::to_string(documents->size());
  } else if (documents->size() == 1) {
    body.value = std::move(documents->front());
  }
  return body;
}

}  // namespace

std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  for (char& c : type) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return type;
}

std::optional<BodySyntax> object_syntax(std::string_view content_type) {
  const std::string type = media_type(content_type);
  if (type.empty() || type == "application/json") return BodySyntax::kJson;
  if (type == "application/yaml") return BodySyntax::kYaml;
  if (type == kProtobufType) return BodySyntax::kProtobuf;
  return std::nullopt;
}

std::optional<api::PatchType> patch_type(std::string_view content_type) {
  const std::string type = media_type(content_type);
  if (type == "application/json-patch+json") return api::PatchType::kJson;
  if (type == "application/merge-patch+json") return api::PatchType::kMerge;
  if (type == "application/strategic-merge-patch+json") return api::PatchType::kStrategicMerge;
  if (type == "application/apply-patch+yaml") return api::PatchType::kApply;
  return std::nullopt;
}

DecodedBody decode_body(std::string_view bytes, BodySyntax syntax) {
  if (syntax == BodySyntax::kJson) return decode_json(bytes);
  if (syntax == BodySyntax::kYaml) return decode_yaml(bytes);
  auto object = decode_protobuf(bytes);
  DecodedBody body;
  if (object) {
    body.value = std::move(*object);
  } else {
    body.error = object.error().message;
  }
  return body;
}

api::RestResponse undecodable_object(std::string_view kind, std::string_view bytes, std::string_view error) {
  return api::bad_request("the object provided is unrecognized (must be of type " + std::string(kind) +
                          "): couldn't get version/kind; " + std::string(error) + " (" + quoted(bytes) + ")");
}

api::RestResponse unsupported_media_type(std::string_view accepted) {
  const std::string message =
      "the body of the request was in an unknown format - accepted media types include: " + std::string(accepted);
  return {415, api::make_status(415, "UnsupportedMediaType", message), {}};
}

api::RestResponse too_large() {
  const std::string message = "Request entity too large: limit is " + std::to_string(kMaxBodyBytes);
  return {413, api::make_status(413, "RequestEntityTooLarge", message), {}};
}

}  // namespace berth::apiserver::http
