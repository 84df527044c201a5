#include "embedded/apiserver/router/read_body.h"

#include <string>

#include "api/status.h"
#include "embedded/apiserver/http/decode.h"
#include "embedded/apiserver/http/options.h"
#include "embedded/apiserver/router/refusals.h"

namespace berth::apiserver::http {

std::optional<api::RestResponse> read_body(const ParsedRequest& in, const ResourceInfo& info,
                                           api::RestRequest& request) {
  const bool writes = request.verb == api::Verb::kCreate || request.verb == api::Verb::kUpdate;
  const bool deletes = request.verb == api::Verb::kDelete || request.verb == api::Verb::kDeleteCollection;
  const bool patches = request.verb == api::Verb::kPatch;
  if (patches) {
    if (!in.patch) return unsupported_patch();
    if (info.custom && *in.patch == api::PatchType::kStrategicMerge) return unsupported_media_type(kCustomPatchTypes);
    request.patch_type = *in.patch;
  }
  const bool has_object = writes || (deletes && !in.http.body.empty());
  if (has_object && !in.syntax) return unsupported_media_type(info.custom ? kCustomBodyTypes : kBodyTypes);
  // Custom kinds have no protobuf form; DeleteOptions have one for every kind.
  if (writes && info.custom && *in.syntax == BodySyntax::kProtobuf) return unsupported_media_type(kCustomBodyTypes);
  if (in.http.body_too_large && (writes || deletes || patches)) return too_large();
  if (deletes && !in.http.body.empty()) {
    if (!in.body.error.empty()) return undecodable_object("DeleteOptions", in.http.body, in.body.error);
    request.body = in.body.value;
  }
  if (auto refusal = apply_options(in.target.query, in.http.header("User-Agent"), request)) return refusal;
  if (patches && !in.body.error.empty()) return api::bad_request("error decoding patch: " + in.body.error);
  if (patches && in.http.body.empty()) return api::bad_request("error decoding patch: unexpected end of JSON input");
  if (writes) {
    const std::string error = !in.body.error.empty()      ? in.body.error
                              : in.http.body.empty()      ? "json parse error: unexpected end of JSON input"
                              : in.body.value.is_object() ? ""
                                                          : "json parse error: expected an object";
    if (!error.empty()) return undecodable_object(info.kind, in.http.body, error);
  }
  if (writes || patches) {
    request.body = in.body.value;
    request.duplicate_fields = in.body.duplicates;
  }
  return std::nullopt;
}

}  // namespace berth::apiserver::http
