#include "api/config/configuration.h"

#include "api/config/parts.h"
#include "api/field_error.h"
#include "base/yaml.h"

namespace berth::api::config {
namespace {

constexpr std::string_view kGroup = "config.kueue.x-k8s.io";
constexpr std::size_t kErrorsShown = 8;  // of one file, so that one line stays readable

std::optional<Version> read_version(Fields& top) {
  if (!top.present()) return std::nullopt;
  const std::string group(kGroup);
  std::string kind, version;
  top.text("kind", kind);
  top.text("apiVersion", version);
  if (kind != "Configuration") top.expected("kind", Json(kind), "Configuration");
  if (version == group + "/v1beta2") return Version::kV1beta2;
  if (version == group + "/v1beta1") return Version::kV1beta1;
  top.expected("apiVersion", Json(version), group + "/v1beta2 or " + group + "/v1beta1");
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& errors) {
  std::string out;
  for (std::size_t i = 0; i < errors.size() && i < kErrorsShown; ++i) out.append(i == 0 ? "" : "; ").append(errors[i]);
  if (errors.size() > kErrorsShown) out += "; and " + std::to_string(errors.size() - kErrorsShown) + " more";
  return out;
}

}  // namespace

Result<Configuration> read_configuration(std::string_view yaml, std::string_view origin,
                                         std::string_view own_namespace) {
  const auto refuse = [&](const std::string& what) { return fail(std::string(origin) + ": " + what); };
  const auto documents = parse_yaml(yaml);
  if (!documents) return refuse(documents.error().message);
  if (documents->size() != 1)
    return refuse("holds " + std::to_string(documents->size()) + " documents, expected one Configuration of " +
                  std::string(kGroup));
  return decode_configuration((*documents)[0], origin, own_namespace);
}

Result<Configuration> decode_configuration(const Json& document, std::string_view origin,
                                           std::string_view own_namespace) {
  Findings findings;
  Configuration out;
  out.ns = std::string(own_namespace);
  Fields top(document, "", findings);
  if (const auto version = read_version(top)) {
    top.text("namespace", out.ns);
    if (out.ns.empty()) out.ns = std::string(own_namespace);
    if (const auto broken = check_dns_label(out.ns); !broken.empty())
      top.expected("namespace", Json(out.ns), "the name of a namespace: " + broken);
    read_servers(top, out);
    read_integrations(top, *version, out);
    read_policies(top, *version, out);
    read_topology(top, out);
    read_ownerless_workloads(top, out);
    read_expected_start(top, out);
    read_volcano(top, out);
    read_default_local_queues(top, out);
    top.done();
  }
  if (!findings.errors.empty()) return fail(std::string(origin) + ": " + joined(findings.errors));
  if (out.leader_election.resource_namespace.empty()) out.leader_election.resource_namespace = out.ns;
  out.warnings = std::move(findings.warnings);
  out.not_honoured = std::move(findings.not_honoured);
  return out;
}

}  // namespace berth::api::config
