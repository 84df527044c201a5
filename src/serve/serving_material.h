// Our own certificate authority and the serving certificate that it signs, as stored in a Secret, and their rotation.
// Pure.
//
// Rotation overlaps: a new authority is first added to the authorities that clients trust. When the clients had time
// to load it, it signs a new serving certificate. The old authority is removed when that certificate was served for
// `overlap`. So at every moment all clients trust an authority that signed the serving certificate.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "http/certificates.h"

namespace berth::serve {

struct ServingMaterial {
  std::string authorities;    // PEM; the authorities that clients must trust. The first one signs
  std::string authority_key;  // PEM; the key of the first authority
  http::Credential leaf;
  bool operator==(const ServingMaterial& other) const {
    return authorities == other.authorities && authority_key == other.authority_key &&
           leaf.certificate == other.leaf.certificate && leaf.key == other.leaf.key;
  }
};

// Reads ca.crt, ca.key, tls.crt and tls.key from a Secret's data. Returns nullopt when it holds none of them. The
// error names the Secret, what is missing and what to do; it never shows the contents.
Result<std::optional<ServingMaterial>> read_material(const Json& secret);
// Writes the four fields into a Secret and keeps its other members.
void write_material(Json& secret, const ServingMaterial& material);

// Authority and leaf are renewed when a third of their lifetime is left.
struct CertificateLifetimes {
  std::chrono::hours authority = http::kAuthorityLifetime;
  std::chrono::hours leaf = http::kLeafLifetime;
  // How long an old authority stays trusted after the new authority signed the serving certificate.
  std::chrono::hours overlap = std::chrono::hours(24);
};

struct RotationState {
  Time now;
  std::vector<std::string> names;  // DNS names that the serving certificate must carry
  // All clients have had time to load all present authorities.
  bool authorities_known = false;
};

// Returns the next step of the rotation, to write in place of `present` (null: there is none yet); nullopt when
// `present` can stay.
Result<std::optional<ServingMaterial>> next_material(const ServingMaterial* present, const RotationState& state,
                                                     const CertificateLifetimes& lifetimes);

// Two DNS names per service: "webhook.kueue-system.svc" and "webhook.kueue-system.svc.cluster.local".
std::vector<std::string> service_names(const std::vector<std::string>& services, const std::string& ns,
                                       const std::string& cluster_domain);

}  // namespace berth::serve
