#include "jobs/devices/kind.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/kueue/device_charge.h"
#include "api/meta.h"
#include "jobs/devices/workload_charge.h"

namespace berth::jobs::devices {
namespace {

// Each part with its length, so that no two lists have one text.
void append_part(std::string& out, std::string_view part) {
  out += std::to_string(part.size());
  out += ':';
  out += part;
}

std::string details_of(const api::DeviceRequest& request, bool taints) {
  std::string out;
  std::vector<std::string> selectors = request.selectors;  // all must be true: their order does not matter
  std::ranges::sort(selectors);
  for (const auto& each : selectors) append_part(out += 's', each);
  for (const auto& [dimension, amount] : request.capacity) {
    append_part(out += 'c', dimension);
    append_part(out, amount.to_string());
  }
  for (const auto& each : request.tolerations) {
    if (!taints) break;
    append_part(out += 't', each.key);
    for (const auto* part : {&each.op, &each.value, &each.effect}) append_part(out, *part);
  }
  return out;
}

Kind named(std::vector<api::DeviceRequest> alternatives, bool taints) {
  Kind out{std::string(api::kueue::kDevice), std::move(alternatives)};
  std::string details;
  bool any = out.alternatives.size() > 1;
  for (const auto& each : out.alternatives) {
    if (&each != &out.alternatives.front()) out.name += " or ";
    out.name += each.device_class;
    const std::string of_this = details_of(each, taints);
    append_part(details, of_this);
    any = any || !of_this.empty();
  }
  if (any) out.name += '\n' + details;
  return out;
}

const Json& pod_spec_of(const api::kueue::PodSet& pod_set) {
  static const Json none = JsonObject{};
  const Json* spec = pod_set.template_ ? find(*pod_set.template_, "spec") : nullptr;
  return spec == nullptr ? none : *spec;
}

void add_claims(const api::kueue::Workload& workload, std::size_t pod_set, const Inventory& inventory, bool taints,
                std::vector<Need>& out) {
  for (const Json& claim : array_at(pod_spec_of(workload.pod_sets[pod_set]), {"resourceClaims"})) {
    const auto claim_template =
        inventory.claim_template(workload.meta.ns, string_at(claim, {"resourceClaimTemplateName"}));
    if (!claim_template) continue;
    for (const auto& request : claim_template->requests) {
      auto kind = kind_of(request, taints);
      if (!kind) continue;
      const std::int64_t count = kind->alternatives.front().count;
      if (count > 0) out.push_back({pod_set, {}, std::move(*kind), count});
    }
  }
}

}  // namespace

std::optional<Kind> kind_of(const api::ClaimRequest& request, bool taints) {
  if (request.exactly) {
    if (request.exactly->admin_access || request.exactly->all) return std::nullopt;
    return named({*request.exactly}, taints);
  }
  if (request.first_available.empty() || std::ranges::any_of(request.first_available, &api::DeviceRequest::all))
    return std::nullopt;
  return named(request.first_available, taints);
}

Kind kind_of_class(std::string_view device_class) {
  api::DeviceRequest request;
  request.device_class = device_class;
  return named({std::move(request)}, true);
}

std::vector<Need> needs_of(const api::kueue::Workload& workload, const Inventory& inventory, bool extended,
                           bool taints) {
  std::vector<Need> out;
  const Uses uses = extended ? uses_of(workload) : Uses();
  for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
    add_claims(workload, i, inventory, taints, out);
    for (const auto& resource : uses.extended_resources) {
      if (const auto device_class = inventory.class_of_resource(resource))
        out.push_back({i, resource, kind_of_class(device_class->meta.name), 1});
    }
  }
  return out;
}

}  // namespace berth::jobs::devices
