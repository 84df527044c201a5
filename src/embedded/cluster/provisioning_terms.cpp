#include "embedded/cluster/provisioning_terms.h"

#include <charconv>
#include <string>
#include <string_view>

namespace berth::cluster {
namespace {

using api::autoscaling::ProvisioningRequest;

std::optional<std::string> setting(const ProvisioningRequest& request, const std::string& name) {
  if (const auto it = request.meta.annotations.find("berth.dev/" + name); it != request.meta.annotations.end())
    return it->second;
  if (const auto it = request.parameters.find(name); it != request.parameters.end()) return it->second;
  return std::nullopt;
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

int attempt_of(const std::string& name) {
  const auto dash = name.rfind('-');
  return dash == std::string::npos ? 1 : whole_number(std::string_view(name).substr(dash + 1)).value_or(1);
}

Result<std::optional<Duration>> duration_setting(const ProvisioningRequest& request, const std::string& name) {
  const auto text = setting(request, name);
  if (!text) return std::nullopt;
  const auto duration = parse_duration(*text);
  if (!duration || *duration < Duration(0))
    return fail(name + " is \"" + *text + "\"; expected a duration such as 90s or 5m");
  return *duration;
}

}  // namespace

Result<ProvisioningTerms> provisioning_terms(const ProvisioningRequest& request) {
  ProvisioningTerms terms;
  auto delay = duration_setting(request, "provisioning-delay");
  auto expire = duration_setting(request, "expire-after");
  auto revoke = duration_setting(request, "revoke-after");
  for (const auto* each : {&delay, &expire, &revoke}) {
    if (!*each) return tl::unexpected(each->error());
  }
  terms.delay = *delay;
  terms.revoke_after = *revoke;
  if (*expire) terms.expire_after = **expire;
  if (const auto text = setting(request, "fail-attempts")) {
    const auto attempts = whole_number(*text);
    if (!attempts && *text != "all")
      return fail("fail-attempts is \"" + *text + "\"; expected a number of attempts, or all");
    terms.fails = !attempts || attempt_of(request.meta.name) <= *attempts;
  }
  return terms;
}

}  // namespace berth::cluster
