// A self-made authority and the serving certificate that it signed, as they lie in a Secret, and how one follows the other. Pure.
//
// Rotation overlaps: a new authority is first added to those that clients trust, then, when they had the time to learn of it, it signs
// the serving certificate; the old one is forgotten when that certificate was served for a while. At every moment what is served was
// signed by something that everybody trusts.
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
  std::string authorities;    // PEM; whom clients shall trust. The first one is who signs
  std::string authority_key;  // PEM, of the first authority
  http::Credential leaf;
  bool operator==(const ServingMaterial& other) const {
    return authorities == other.authorities && authority_key == other.authority_key &&
           leaf.certificate == other.leaf.certificate && leaf.key == other.leaf.key;
  }
};

// From a Secret's data: ca.crt, ca.key, tls.crt, tls.key. nullopt: it holds none of them. The error names the Secret, what is missing
// in it and what to do; it never shows what is in it.
Result<std::optional<ServingMaterial>> read_material(const Json& secret);
// Puts it into a Secret, whose other members stay.
void write_material(Json& secret, const ServingMaterial& material);

// Every one is renewed when a third of its life is left.
struct CertificateLifetimes {
  std::chrono::hours authority = http::kAuthorityLifetime;
  std::chrono::hours leaf = http::kLeafLifetime;
  std::chrono::hours overlap = std::chrono::hours(24);  // how long an old authority stays trusted after it signs no more
};

struct RotationState {
  Time now;
  std::vector<std::string> names;  // DNS names that the serving certificate must carry
  // Everybody who must trust the authorities has known all of them for long enough.
  bool authorities_known = false;
};

// What takes the place of `present` (null: there is nothing yet); nullopt: it can stay. Each step is one write.
Result<std::optional<ServingMaterial>> next_material(const ServingMaterial* present, const RotationState& state,
                                                     const CertificateLifetimes& lifetimes);

// "webhook.kueue-system.svc" and "webhook.kueue-system.svc.cluster.local" of each service.
std::vector<std::string> service_names(const std::vector<std::string>& services, const std::string& ns,
                                       const std::string& cluster_domain);

}  // namespace berth::serve
