// One function for each part of a Configuration. Internal to this folder.
#pragma once

#include "api/config/configuration.h"
#include "api/config/fields.h"

namespace berth::api::config {

enum class Version : std::uint8_t { kV1beta1, kV1beta2 };

// Each function reads its fields of `top` (the whole document) and sets its parts of `out`.
// read_servers(): webhook, leaderElection, metrics, health, tls, certificates, client
void read_servers(Fields& top, Configuration& out);
void read_custom_labels(Fields& metrics, std::vector<CustomLabel>& out);   // metrics.customLabels
void read_integrations(Fields& top, Version version, Configuration& out);  // which jobs are managed, multiKueue
void read_policies(Fields& top, Version version, Configuration& out);      // parts that change decisions
void read_topology(Fields& top, Configuration& out);                       // topology waits; not in Kueue's file
void read_ownerless_workloads(Fields& top, Configuration& out);            // not in Kueue's file
void read_expected_start(Fields& top, Configuration& out);                 // events; not in Kueue's file
void read_volcano(Fields& top, Configuration& out);                        // Volcano's kinds; not in Kueue's file
void read_default_local_queues(Fields& top, Configuration& out);           // KEP-7610; not in Kueue's file

}  // namespace berth::api::config
