// The parts of the configuration about the process: servers, client connection, leader election.
// https://kueue.sigs.k8s.io/docs/reference/kueue-config.v1beta2/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/selector.h"
#include "base/time.h"

namespace berth::api::config {

// A listen address: ":8443", "127.0.0.1:8443", "[::1]:8443"; "0": disabled.
struct BindAddress {
  bool enabled = true;
  std::string host;  // "" every address; without brackets
  std::uint16_t port = 0;
  bool operator==(const BindAddress&) const = default;
};

struct Webhook {
  std::uint16_t port = 9443;
  std::string host;  // "" every address
  // Holds tls.crt and tls.key when certificates are not managed internally.
  std::string cert_dir = "/tmp/k8s-webhook-server/serving-certs";
};

struct LeaderElection {
  bool leader_elect = true;
  std::string resource_name = "c1f6bfd2.kueue.x-k8s.io";
  std::string resource_namespace;  // "": the configuration's namespace
  // lease_duration > renew_deadline > 1.2 x retry_period > 0.
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
};

// A label or annotation of an object that its metrics have as the label "custom_NAME" (KEP-7066). Labels of workloads
// divide the counts of their queues.
struct CustomLabel {
  enum class Kind : std::uint8_t { kClusterQueue, kLocalQueue, kCohort, kWorkload };
  std::string name;                         // [a-zA-Z][a-zA-Z0-9_]*, each once
  std::string key;                          // of the label or annotation
  bool from_annotation = false;             // else from a label
  Kind kind = Kind::kClusterQueue;          // whose label it is
  std::vector<std::string> tracked_values;  // others are shown as one; empty: all are shown
};

struct Metrics {
  BindAddress bind_address{true, "", 8443};
  bool enable_cluster_queue_resources = false;
  bool local_queue_metrics = true;
  std::optional<LabelSelector> local_queue_selector;  // none: every LocalQueue
  std::vector<CustomLabel> custom_labels;             // without effect while the gate CustomMetricLabels is off
};

struct Health {
  BindAddress bind_address{true, "", 8081};
  std::string readiness_endpoint = "readyz";
  std::string liveness_endpoint = "healthz";
};

// TLS of the webhook, metrics and visibility servers.
struct Tls {
  enum class Version : std::uint8_t { k12, k13 };
  Version min_version = Version::k12;
  // For TLS 1.2, IANA names without duplicates; empty: OpenSSL's default.
  std::vector<std::string> cipher_suites;
  // For key exchange in order of preference, OpenSSL's names; empty: OpenSSL's default.
  std::vector<std::string> groups;
};

struct InternalCertManagement {
  bool enable = true;
  std::string webhook_service_name = "kueue-webhook-service";
  std::string webhook_secret_name = "kueue-webhook-server-cert";
};

struct ClientConnection {
  double qps = 1000;  // negative: no limit
  std::int32_t burst = 1000;
};

struct VisibilityServer {
  std::string bind_address = "0.0.0.0";
  std::uint16_t bind_port = 8082;
};

}  // namespace berth::api::config
