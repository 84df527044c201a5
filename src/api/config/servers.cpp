// Reads the parts about servers, client connection and leader election.
#include <algorithm>
#include <charconv>
#include <string_view>

#include "api/config/parts.h"
#include "api/field_error.h"

namespace berth::api::config {
namespace {

constexpr std::int64_t kMaxPort = 65535;

// TLS 1.2 cipher suites that both Go and OpenSSL's default build have.
constexpr std::string_view kCipherSuites[] = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
};
constexpr std::string_view kTls13Suites[] = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                             "TLS_CHACHA20_POLY1305_SHA256"};

struct Group {
  std::string_view go, openssl;
};
constexpr Group kGroups[] = {
    {"X25519", "X25519"}, {"CurveP256", "P-256"}, {"CurveP384", "P-384"}, {"CurveP521", "P-521"}};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::optional<BindAddress> parse_bind_address(std::string_view text) {
  if (text == "0") return BindAddress{false, "", 0};
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  BindAddress out;
  std::string_view host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return std::nullopt;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;
  out.host = std::string(host);
  return out;
}

void read_bind_address(Fields& fields, std::string_view name, BindAddress& out) {
  std::string text;
  fields.text(name, text);
  if (text.empty()) return;
  const auto read = parse_bind_address(text);
  if (!read)
    return fields.expected(name, Json(text), R"(an address such as ":8443" or "127.0.0.1:8443", or "0" for none)");
  out = *read;
}

// Reads a field that must satisfy a rule for names; `rule` returns an explanation when the name breaks it.
void read_name(Fields& fields, std::string_view name, std::string& out, std::string (*rule)(std::string_view)) {
  std::string text = out;
  fields.text(name, text);
  if (text.empty()) return;
  if (const std::string broken = rule(text); !broken.empty())
    return fields.expected(name, Json(text), "a name: " + broken);
  out = std::move(text);
}

void read_webhook(Fields fields, Webhook& out) {
  fields.number("port", out.port, 1, kMaxPort);
  fields.text("host", out.host);
  std::string dir;
  fields.text("certDir", dir);
  if (!dir.empty()) out.cert_dir = std::move(dir);
  fields.done();
}

void read_leader_election(Fields fields, LeaderElection& out) {
  fields.flag("leaderElect", out.leader_elect);
  read_name(fields, "resourceName", out.resource_name, check_dns_subdomain);
  read_name(fields, "resourceNamespace", out.resource_namespace, check_dns_label);
  fields.choice("resourceLock", {"leases"});
  const std::size_t errors = fields.findings().errors.size();
  fields.duration("leaseDuration", out.lease_duration);
  fields.duration("renewDeadline", out.renew_deadline);
  fields.duration("retryPeriod", out.retry_period);
  fields.done();
  if (fields.findings().errors.size() != errors) return;
  if (out.retry_period <= Duration(0))
    fields.error("retryPeriod", "is 0s, expected more");
  else if (5 * out.renew_deadline <= 6 * out.retry_period)
    fields.error("renewDeadline", "is " + format_duration(out.renew_deadline) +
                                      ", expected more than 1.2 times retryPeriod (" +
                                      format_duration(out.retry_period) + ")");
  else if (out.lease_duration <= out.renew_deadline)
    fields.error("leaseDuration", "is " + format_duration(out.lease_duration) + ", expected more than renewDeadline (" +
                                      format_duration(out.renew_deadline) + ")");
}

void read_metrics(Fields fields, Metrics& out) {
  read_bind_address(fields, "bindAddress", out.bind_address);
  fields.flag("enableClusterQueueResources", out.enable_cluster_queue_resources);
  Fields local = fields.object("localQueueMetrics");
  // When the object is present, `enable` in it decides; absent is false.
  if (local.present()) out.local_queue_metrics = false;
  local.flag("enable", out.local_queue_metrics);
  local.selector("localQueueSelector", out.local_queue_selector);
  local.done();
  read_custom_labels(fields, out.custom_labels);
  fields.done();
}

void read_health(Fields fields, Health& out) {
  read_bind_address(fields, "healthProbeBindAddress", out.bind_address);
  for (const auto& [name, value] : {std::pair("readinessEndpointName", &out.readiness_endpoint),
                                    std::pair("livenessEndpointName", &out.liveness_endpoint)}) {
    std::string text;
    fields.text(name, text);
    while (text.starts_with('/')) text.erase(0, 1);
    if (!text.empty()) *value = std::move(text);
  }
  fields.done();
  if (out.readiness_endpoint == out.liveness_endpoint)
    fields.error("readinessEndpointName", "is the livenessEndpointName too, expected another");
}

void read_cipher_suites(Fields& fields, Tls& out) {
  std::vector<std::string> names;
  fields.texts("cipherSuites", names);
  if (names.empty()) return;
  if (out.min_version == Tls::Version::k13)
    return fields.error("cipherSuites", "cannot be chosen with minVersion VersionTLS13; remove one of the two");
  for (std::size_t i = 0; i < names.size(); ++i) {
    // Go's older names of the ChaCha20 suites.
    if (names[i].ends_with("_WITH_CHACHA20_POLY1305")) names[i] += "_SHA256";
    const std::string at = index_path("cipherSuites", i);
    if (contains(kTls13Suites, names[i])) {
      fields.findings().warn(fields.path_of(at),
                             "has no effect: " + names[i] + " is a suite of TLS 1.3, all of which are always on");
    } else if (!contains(kCipherSuites, names[i])) {
      fields.expected(at, Json(names[i]),
                      "the IANA name of a suite of TLS 1.2, such as " + std::string(kCipherSuites[0]));
    } else if (!contains(out.cipher_suites, names[i])) {
      out.cipher_suites.push_back(names[i]);
    }
  }
}

void read_tls(Fields fields, Tls& out) {
  if (const auto version = fields.choice("minVersion", {"VersionTLS12", "VersionTLS13"}))
    out.min_version = *version == 1 ? Tls::Version::k13 : Tls::Version::k12;
  read_cipher_suites(fields, out);
  std::vector<std::string> curves;
  fields.texts("curvePreferences", curves);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const auto* group = std::ranges::find(kGroups, curves[i], &Group::go);
    if (group == std::end(kGroups))
      fields.expected(index_path("curvePreferences", i), Json(curves[i]), "X25519, CurveP256, CurveP384 or CurveP521");
    else if (!contains(out.groups, group->openssl))
      out.groups.emplace_back(group->openssl);
  }
  fields.done();
}

void read_certificates(Fields fields, InternalCertManagement& out) {
  fields.flag("enable", out.enable);
  read_name(fields, "webhookServiceName", out.webhook_service_name, check_dns_label);
  read_name(fields, "webhookSecretName", out.webhook_secret_name, check_dns_subdomain);
  fields.done();
}

void read_controller(Fields fields, Configuration& out) {
  const auto kinds = fields.entries("groupKindConcurrency");
  for (const auto& [kind, workers] : kinds) {
    if (!workers->is_int64() || workers->get_int64() < 1)
      fields.expected(key_path("groupKindConcurrency", kind), *workers, "an integer of at least 1");
  }
  // Kueue's type of this field is Go's time.Duration, which is a number of nanoseconds in JSON.
  if (const Json* value = fields.take("cacheSyncTimeout")) {
    const auto read = value->is_int64()    ? Result<Duration>(Duration(value->get_int64() / 1000))
                      : value->is_string() ? parse_duration(view(value->get_string()))
                                           : Result<Duration>(fail(""));
    if (!read || *read <= Duration(0))
      fields.expected("cacheSyncTimeout", *value, "nanoseconds, or a duration such as 2m, of more than 0");
    else
      out.cache_sync_timeout = *read;
  }
  fields.done();
}

void read_client(Fields fields, ClientConnection& out) {
  fields.real("qps", out.qps);
  fields.number("burst", out.burst, 0);
  fields.done();
}

void read_visibility(Fields fields, VisibilityServer& out) {
  fields.text("bindAddress", out.bind_address);
  fields.number("bindPort", out.bind_port, 1, kMaxPort);
  fields.done();
}

}  // namespace

void read_servers(Fields& top, Configuration& out) {
  read_webhook(top.object("webhook"), out.webhook);
  read_leader_election(top.object("leaderElection"), out.leader_election);
  read_metrics(top.object("metrics"), out.metrics);
  read_health(top.object("health"), out.health);
  std::string pprof;
  top.text("pprofBindAddress", pprof);
  if (!pprof.empty() && pprof != "0")
    top.findings().warn("pprofBindAddress", "has no effect: there are no Go profiles to serve");
  read_controller(top.object("controller"), out);
  read_tls(top.object("tls"), out.tls);
  read_certificates(top.object("internalCertManagement"), out.internal_cert_management);
  read_client(top.object("clientConnection"), out.client_connection);
  read_visibility(top.object("visibilityServer"), out.visibility_server);
}

}  // namespace berth::api::config
