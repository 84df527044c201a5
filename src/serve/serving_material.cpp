#include "serve/serving_material.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"

namespace berth::serve {
namespace {

constexpr std::string_view kAuthorityName = "berth-webhook-ca";
constexpr std::string_view kPemEnd = "-----END CERTIFICATE-----";

struct Field {
  std::string_view key;
  std::string ServingMaterial::* authority = nullptr;
  std::string http::Credential::* leaf = nullptr;
  std::string& of(ServingMaterial& m) const { return authority ? m.*authority : m.leaf.*leaf; }
  const std::string& of(const ServingMaterial& m) const { return authority ? m.*authority : m.leaf.*leaf; }
};
constexpr Field kFields[] = {
    {"ca.crt", &ServingMaterial::authorities, nullptr},
    {"ca.key", &ServingMaterial::authority_key, nullptr},
    {"tls.crt", nullptr, &http::Credential::certificate},
    {"tls.key", nullptr, &http::Credential::key},
};

// Splits a PEM text into its certificates.
std::vector<std::string> split(std::string_view pem) {
  std::vector<std::string> all;
  for (std::size_t end; (end = pem.find(kPemEnd)) != std::string_view::npos;) {
    end += kPemEnd.size();
    const std::size_t begin = std::min(pem.find("-----BEGIN"), end);
    all.push_back(std::string(pem.substr(begin, end - begin)) + "\n");
    pem.remove_prefix(end);
  }
  return all;
}

bool usable(const http::Credential& leaf, const std::string& authority, const RotationState& state,
            std::chrono::hours remaining) {
  return http::usable(leaf, {authority, {}}, state.names, state.now, remaining);
}

Result<ServingMaterial> with_new_leaf(ServingMaterial material, const RotationState& state,
                                      const CertificateLifetimes& lifetimes) {
  const http::Credential authority{split(material.authorities).at(0), material.authority_key};
  auto leaf = http::make_server_credential(authority, state.names, state.now, lifetimes.leaf);
  if (!leaf) return tl::unexpected(leaf.error());
  material.leaf = std::move(*leaf);
  return material;
}

}  // namespace

Result<std::optional<ServingMaterial>> read_material(const Json& secret) {
  const std::string what = "Secret " + std::string(string_at(secret, {"metadata", "namespace"})) + "/" +
                           std::string(string_at(secret, {"metadata", "name"}));
  ServingMaterial material;
  std::size_t found = 0;
  std::string missing;
  for (const Field& field : kFields) {
    const std::string_view encoded = string_at(secret, {"data", field.key});
    if (encoded.empty()) {
      missing += (missing.empty() ? "" : ", ") + std::string(field.key);
      continue;
    }
    auto decoded = base64_decode(encoded);
    if (!decoded || !decoded->starts_with("-----BEGIN"))
      return fail(what + ": data[" + std::string(field.key) + "]: expected PEM");
    field.of(material) = std::move(*decoded);
    ++found;
  }
  if (found == 0) return std::nullopt;
  if (!missing.empty()) {
    return fail(what + ": data: " + missing +
                " expected beside the rest; delete the Secret to have it made anew, or switch off "
                "internalCertManagement to use "
                "certificates from files");
  }
  if (split(material.authorities).empty()) return fail(what + ": data[ca.crt]: expected a certificate");
  return material;
}

void write_material(Json& secret, const ServingMaterial& material) {
  for (const Field& field : kFields) ensure_path(secret, {"data", field.key}) = base64_encode(field.of(material));
}

Result<std::optional<ServingMaterial>> next_material(const ServingMaterial* present, const RotationState& state,
                                                     const CertificateLifetimes& lifetimes) {
  using std::chrono::hours;
  const std::vector<std::string> authorities = present ? split(present->authorities) : std::vector<std::string>();
  const auto authority_lasts = [&](hours remaining) {
    if (authorities.empty()) return false;
    const http::Credential authority{authorities[0], present->authority_key};
    return http::usable(authority, authority, {}, state.now, remaining);
  };
  // Whether any of the trusted authorities signed the leaf, not only the first one.
  const auto leaf_serves = [&] {
    return std::any_of(authorities.begin(), authorities.end(),
                       [&](const std::string& a) { return usable(present->leaf, a, state, hours(0)); });
  };

  if (!authority_lasts(lifetimes.authority / 3)) {
    auto made = http::make_authority(kAuthorityName, state.now, lifetimes.authority);
    if (!made) return tl::unexpected(made.error());
    ServingMaterial next{std::move(made->certificate), std::move(made->key), {}};
    if (!leaf_serves()) return with_new_leaf(std::move(next), state, lifetimes);
    next.authorities += present->authorities;
    next.leaf = present->leaf;
    return next;
  }
  const bool leaf_lasts = usable(present->leaf, authorities[0], state, lifetimes.leaf / 3);
  if (!leaf_lasts) {
    const bool own = usable(present->leaf, authorities[0], state, hours(0));
    if (!own && leaf_serves() && !state.authorities_known) return std::nullopt;
    return with_new_leaf(*present, state, lifetimes);
  }
  RotationState before = state;
  before.now -= lifetimes.overlap;
  if (authorities.size() > 1 && usable(present->leaf, authorities[0], before, hours(0))) {
    ServingMaterial next = *present;
    next.authorities = authorities[0];
    return next;
  }
  return std::nullopt;
}

std::vector<std::string> service_names(const std::vector<std::string>& services, const std::string& ns,
                                       const std::string& cluster_domain) {
  std::vector<std::string> names;
  for (const std::string& service : services) {
    names.push_back(service + "." + ns + ".svc");
    names.push_back(names.back() + "." + cluster_domain);
  }
  return names;
}

}  // namespace berth::serve
