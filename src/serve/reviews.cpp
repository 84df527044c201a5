#include "serve/reviews.h"

#include <string>
#include <utility>

#include "api/kueue/conversion.h"
#include "api/kueue/types.h"
#include "api/status.h"
#include "base/base64.h"
#include "base/json_patch.h"

namespace berth::serve {
namespace {

using api::FieldErrors;

constexpr std::string_view kAdmissionVersion = "admission.k8s.io/v1";
constexpr std::string_view kConversionVersion = "apiextensions.k8s.io/v1";

// The request of a review. An error when the review has another version or kind, or no uid.
Result<const Json*> request_of(const Json& review, std::string_view version, std::string_view kind) {
  const std::string_view given = string_at(review, {"apiVersion"}), given_kind = string_at(review, {"kind"});
  if (given != version || given_kind != kind) {
    return fail("expected kind " + std::string(kind) + " of " + std::string(version) + ", got \"" +
                std::string(given_kind) + "\" of \"" + std::string(given) + "\"");
  }
  const Json* request = find(review, "request");
  if (request == nullptr || !request->is_object()) return fail(std::string(kind) + ": request: expected an object");
  if (string_at(*request, {"uid"}).empty())
    return fail(std::string(kind) + ": request.uid: expected text that is not empty");
  return request;
}

Json answer(std::string_view version, std::string_view kind, const Json& request, JsonObject response) {
  response["uid"] = string_at(request, {"uid"});
  return JsonObject{{"apiVersion", version}, {"kind", kind}, {"response", std::move(response)}};
}

Json admission_answer(const Json& request, JsonObject response) {
  return answer(kAdmissionVersion, "AdmissionReview", request, std::move(response));
}

// The parts of one review. `object` and `old` are null where the operation has none.
struct Question {
  std::string_view operation, subresource;
  const Json* object = nullptr;
  const Json* old = nullptr;
};

Result<const Json*> object_in(const Json& request, std::string_view field) {
  const Json* object = find(request, field);
  if (object == nullptr || !object->is_object())
    return fail("AdmissionReview: request." + std::string(field) + ": expected an object");
  return object;
}

Result<Question> question_of(const Json& request, std::string_view group, std::string_view resource) {
  const std::string_view given_group = string_at(request, {"resource", "group"}),
                         given = string_at(request, {"resource", "resource"});
  if (given_group != group || given != resource) {
    return fail("AdmissionReview: request.resource: expected " + std::string(resource) + " of group " +
                std::string(group) + ", got \"" + std::string(given) + "\" of \"" + std::string(given_group) +
                "\"; the path in the webhook configuration is one for another resource");
  }
  Question q;
  q.operation = string_at(request, {"operation"});
  q.subresource = string_at(request, {"subResource"});
  if (q.operation != "CREATE" && q.operation != "UPDATE" && q.operation != "DELETE" && q.operation != "CONNECT") {
    return fail("AdmissionReview: request.operation: expected CREATE, UPDATE, DELETE or CONNECT, got \"" +
                std::string(q.operation) + "\"");
  }
  if (q.operation == "CREATE" || q.operation == "UPDATE") {
    const auto object = object_in(request, "object");
    if (!object) return tl::unexpected(object.error());
    q.object = *object;
  }
  if (q.operation == "UPDATE") {
    const auto old = object_in(request, "oldObject");
    if (!old) return tl::unexpected(old.error());
    q.old = *old;
  }
  return q;
}

JsonObject mutated(const Question& q, const api::kueue::AdmissionRules& rules,
                   const api::kueue::AdmissionContext& context) {
  JsonObject response{{"allowed", true}};
  const bool concerned = q.operation == "CREATE" || (q.operation == "UPDATE" && rules.mutates_updates);
  if (!concerned || !q.subresource.empty() || !rules.mutate) return response;
  if (rules.mutates && !rules.mutates(*q.object, context)) return response;
  Json changed = *q.object;
  rules.mutate(changed, context);
  const Json patch = make_json_patch(*q.object, changed);
  if (patch.get_array().empty()) return response;
  response["patchType"] = "JSONPatch";
  response["patch"] = base64_encode(to_string(patch));
  return response;
}

Result<JsonObject> judged_deletion(const Json& request, const api::GroupVersionResource& what,
                                   const api::kueue::AdmissionRules& rules,
                                   const api::kueue::AdmissionContext& context) {
  if (!rules.remove) return JsonObject{{"allowed", true}};
  const auto object = object_in(request, "oldObject");
  if (!object) return tl::unexpected(object.error());
  const auto allowed = rules.remove(**object, context);
  if (allowed) return JsonObject{{"allowed", true}};
  return JsonObject{
      {"allowed", false},
      {"status", api::forbidden(what, string_at(**object, {"metadata", "name"}), allowed.error().message).body}};
}

JsonObject judged(const Question& q, std::string_view group, const api::kueue::AdmissionRules& rules,
                  const api::kueue::AdmissionContext& context) {
  JsonObject allowed{{"allowed", true}};
  if (q.object == nullptr) return allowed;
  const FieldErrors errors = rules.check ? rules.check(*q.object, q.old, q.subresource, context) : FieldErrors();
  if (!errors.empty()) return {{"allowed", false}, {"status", rules.refusal(group, *q.object, errors).body}};
  if (rules.warn && q.subresource.empty()) {
    if (std::string warning = rules.warn(*q.object, q.old, context); !warning.empty())
      allowed["warnings"] = JsonArray{Json(warning)};
  }
  return allowed;
}

}  // namespace

Result<Json> answer_admission(Hook hook, std::string_view group, std::string_view resource, const Json& review,
                              const api::kueue::AdmissionRules& rules, const api::kueue::AdmissionContext& context) {
  const auto request = request_of(review, kAdmissionVersion, "AdmissionReview");
  if (!request) return tl::unexpected(request.error());
  const auto question = question_of(**request, group, resource);
  if (!question) return tl::unexpected(question.error());
  if (hook == Hook::kMutate) return admission_answer(**request, mutated(*question, rules, context));
  if (question->operation == "DELETE") {
    const api::GroupVersionResource what{std::string(group), "", std::string(resource)};
    auto judged = judged_deletion(**request, what, rules, context);
    if (!judged) return tl::unexpected(judged.error());
    return admission_answer(**request, std::move(*judged));
  }
  return admission_answer(**request, judged(*question, group, rules, context));
}

Result<Json> answer_conversion(const Json& review) {
  const auto request = request_of(review, kConversionVersion, "ConversionReview");
  if (!request) return tl::unexpected(request.error());
  const std::string_view wanted = string_at(**request, {"desiredAPIVersion"});
  const Json* objects = find(**request, "objects");
  if (objects == nullptr || !objects->is_array()) return fail("ConversionReview: request.objects: expected an array");
  const auto answered = [&](JsonArray converted, const std::string& why) {
    JsonObject result{{"status", why.empty() ? "Success" : "Failure"}};
    if (!why.empty()) result["message"] = why;
    return answer(kConversionVersion, "ConversionReview", **request,
                  {{"convertedObjects", std::move(converted)}, {"result", std::move(result)}});
  };
  const std::string prefix = std::string(api::kueue::kGroup) + "/";
  if (!wanted.starts_with(prefix))
    return answered(
        {}, "cannot convert to " + std::string(wanted) + ": only versions of " + std::string(api::kueue::kGroup));
  JsonArray converted;
  for (const Json& object : objects->get_array()) {
    converted.push_back(object);
    if (auto done = api::kueue::convert(converted.back(), wanted.substr(prefix.size())); !done)
      return answered({}, done.error().message);
  }
  return answered(std::move(converted), {});
}

}  // namespace berth::serve
