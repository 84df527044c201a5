// Defaults and validation of spec.conversion. The server calls no conversion webhooks. The versions of Kueue's kinds
// are converted in process, so their CRDs may specify a webhook; CRDs that need no conversion may, too.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
#include <algorithm>

#include "base/base64.h"
#include "embedded/apiserver/crd/internal.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kOwnGroup = "kueue.x-k8s.io";
constexpr int kDefaultPort = 443, kMaxPort = 65'535;
const std::string kPath = "spec.conversion";

bool needs_conversion(const Json& crd) {
  const JsonArray& versions = array_at(crd, {"spec", "versions"});
  auto served =
      std::count_if(versions.begin(), versions.end(), [](const Json& version) { return bool_at(version, {"served"}); });
  return served > 1 && string_at(crd, {"spec", "group"}) != kOwnGroup;
}

void check_client(const Json& webhook, api::FieldErrors& errors) {
  const std::string path = kPath + ".webhook.clientConfig";
  const Json* client = find(webhook, "clientConfig");
  if (client == nullptr) {
    errors.push_back(api::required(path, "required when strategy is set to Webhook"));
    return;
  }
  const Json* service = find(*client, "service");
  const bool by_url = !string_at(*client, {"url"}).empty();
  if (by_url == (service != nullptr)) {
    errors.push_back(api::required(path, "exactly one of url or service is required"));
  }
  if (service == nullptr) return;
  for (std::string_view key : {"name", "namespace"}) {
    if (string_at(*service, {key}).empty())
      errors.push_back(api::required(api::field_path(path + ".service", key), ""));
  }
  const std::int64_t port = int_at(*service, {"port"});
  if (port < 1 || port > kMaxPort) {
    errors.push_back(
        api::invalid_value(path + ".service.port", port, "port is not valid: must be between 1 and 65535, inclusive"));
  }
}

}  // namespace

Result<void> decode_conversion(Json& crd) {
  if (string_at(crd, {"spec", "conversion", "strategy"}).empty())
    ensure_path(crd, {"spec", "conversion", "strategy"}) = "None";
  const Json* client = find_path(crd, {"spec", "conversion", "webhook", "clientConfig"});
  if (client == nullptr) return {};
  if (!base64_decode(string_at(*client, {"caBundle"}))) {
    return fail("spec.conversion.webhook.clientConfig.caBundle: illegal base64 data");
  }
  if (find(*client, "service") != nullptr && find_path(*client, {"service", "port"}) == nullptr)
    ensure_path(crd, {"spec", "conversion", "webhook", "clientConfig", "service", "port"}) = kDefaultPort;
  return {};
}

void check_conversion(const Json& crd, api::FieldErrors& errors) {
  const Json* conversion = find_path(crd, {"spec", "conversion"});
  if (conversion == nullptr) return;
  std::string_view strategy = string_at(*conversion, {"strategy"});
  const Json* webhook = find(*conversion, "webhook");
  if (strategy.empty()) {
    errors.push_back(api::required(kPath + ".strategy", ""));
  } else if (strategy == "None") {
    if (webhook == nullptr) return;
    errors.push_back(api::forbidden_field(kPath + ".webhook", "should not be set when strategy is not set to Webhook"));
  } else if (strategy != "Webhook") {
    errors.push_back(api::not_supported(kPath + ".strategy", Json(strategy), {"None", "Webhook"}));
  } else if (needs_conversion(crd)) {  // no in-process conversion exists for this CRD
    errors.push_back(api::not_supported(kPath + ".strategy", Json(strategy), {"None"}));
  } else {
    static const Json kNone = JsonObject();
    const Json& asked = webhook == nullptr ? kNone : *webhook;
    check_client(asked, errors);
    if (array_at(asked, {"conversionReviewVersions"}).empty())
      errors.push_back(api::required(kPath + ".webhook.conversionReviewVersions", ""));
  }
}

}  // namespace berth::apiserver
