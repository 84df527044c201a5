// The parts of a Configuration, each read by one function: internal to this folder.
#pragma once

#include "api/config/configuration.h"
#include "api/config/fields.h"

namespace berth::api::config {

enum class Version : std::uint8_t { kV1beta1, kV1beta2 };

// Each takes its fields out of `top` (the whole document) and sets its parts of `out`.
void read_servers(Fields& top, Configuration& out);       // webhook, leaderElection, metrics, health, tls, certificates, client
void read_integrations(Fields& top, Version version, Configuration& out);  // which jobs are managed, multiKueue
void read_policies(Fields& top, Version version, Configuration& out);      // what changes decisions
void read_topology(Fields& top, Configuration& out);                       // waits for places: no part of Kueue's file
void read_volcano(Fields& top, Configuration& out);                        // Volcano's kinds: no part of Kueue's file

}  // namespace berth::api::config
