#include "embedded/apiserver/http/service_account_tokens.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/resources.h"
#include "base/base64.h"
#include "base/openssl.h"

namespace berth::apiserver::http {
namespace {

constexpr std::size_t kHalf = 32;                 // bytes of each half (r and s) of a P-256 signature
constexpr std::size_t kMaxTokenBytes = 16 << 10;  // request headers are limited to this size anyway
constexpr std::string_view kOurClaims = "kubernetes.io";
// Tolerance for clock differences: for `not before`, and for objects whose deletionTimestamp has just passed.
constexpr std::chrono::minutes kLeeway{1};

using openssl::Bio;
using openssl::Key;
using Signature = openssl::Owner<ECDSA_SIG, ECDSA_SIG_free>;
using Digest = openssl::Owner<EVP_MD_CTX, EVP_MD_CTX_free>;

const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Json times(Time at) { return std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count(); }
Time time_at(const Json& claims, std::string_view name) { return Time(std::chrono::seconds(int_at(claims, {name}))); }

Json described(const TokenObject& object) { return JsonObject{{"name", object.name}, {"uid", object.uid}}; }

Json json_of(const TokenClaims& claims) {
  JsonObject ours{{"namespace", claims.ns}, {"serviceaccount", described(claims.account)}};
  if (claims.pod) ours["pod"] = described(*claims.pod);
  if (claims.secret) ours["secret"] = described(*claims.secret);
  if (claims.node) ours["node"] = described(*claims.node);
  return JsonObject{{"aud", JsonArray(claims.audiences.begin(), claims.audiences.end())},
                    {"exp", times(claims.expires)},
                    {"iat", times(claims.issued)},
                    {"iss", kIssuer},
                    {"jti", claims.id},
                    {std::string(kOurClaims), std::move(ours)},
                    {"nbf", times(claims.not_before)},
                    {"sub", "system:serviceaccount:" + claims.ns + ":" + claims.account.name}};
}

std::optional<TokenObject> object_in(const Json& claims, std::string_view kind) {
  const Json* object = find_path(claims, {kOurClaims, kind});
  if (object == nullptr || !object->is_object()) return std::nullopt;
  return TokenObject{std::string(string_at(*object, {"name"})), std::string(string_at(*object, {"uid"}))};
}

TokenClaims claims_of(const Json& claims) {
  TokenClaims out;
  out.ns = string_at(claims, {kOurClaims, "namespace"});
  out.account = object_in(claims, "serviceaccount").value_or(TokenObject());
  out.pod = object_in(claims, "pod");
  out.secret = object_in(claims, "secret");
  out.node = object_in(claims, "node");
  for (const Json& audience : array_at(claims, {"aud"})) {
    if (audience.is_string()) out.audiences.emplace_back(view(audience.get_string()));
  }
  out.issued = time_at(claims, "iat");
  out.not_before = time_at(claims, "nbf");
  out.expires = time_at(claims, "exp");
  out.id = string_at(claims, {"jti"});
  return out;
}

std::optional<Json> decoded_part(std::string_view part) {
  const auto text = base64url_decode(part);
  if (!text) return std::nullopt;
  auto json = parse_json(*text);
  if (!json) return std::nullopt;
  return std::move(*json);
}

// --- Checks that the objects which a token names still exist.

Result<void> check(const Lookup& objects, const api::GroupVersionResource& resource, std::string_view kind,
                   std::string_view ns, const TokenObject& named, Time now) {
  const std::string what = std::string(kind) + " " + (ns.empty() ? "" : std::string(ns) + "/") + named.name;
  const JsonPtr object = objects.get ? objects.get(resource, ns, named.name) : nullptr;
  if (!object) return fail("the " + what + " of the token does not exist any more");
  if (string_at(*object, {"metadata", "uid"}) != named.uid)
    return fail("the " + what + " of the token has been replaced by another one");
  const auto deletion = parse_time(string_at(*object, {"metadata", "deletionTimestamp"}));
  if (deletion && *deletion < now - kLeeway) return fail("the " + what + " of the token is being deleted");
  return {};
}

}  // namespace

struct TokenSigner::Impl {
  Key key;
  std::string id;  // kid: identifies the public key

  std::string signature(std::string_view text) const {
    const Digest context(EVP_MD_CTX_new());
    std::array<unsigned char, 128> der{};
    std::size_t size = der.size();
    const bool signed_ = EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
                         EVP_DigestSign(context.get(), der.data(), &size, bytes(text), text.size()) == 1;
    if (!signed_) return {};
    const unsigned char* at = der.data();
    const Signature both(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
    std::string raw(2 * kHalf, '\0');
    auto* out = reinterpret_cast<unsigned char*>(raw.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(both.get()), out, kHalf);
    BN_bn2binpad(ECDSA_SIG_get0_s(both.get()), out + kHalf, kHalf);
    return raw;
  }

  bool verifies(std::string_view text, std::string_view raw) const {
    if (raw.size() != 2 * kHalf) return false;
    const Signature both(ECDSA_SIG_new());
    ECDSA_SIG_set0(both.get(), BN_bin2bn(bytes(raw), kHalf, nullptr), BN_bin2bn(bytes(raw) + kHalf, kHalf, nullptr));
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(both.get(), &der);
    if (size <= 0) return false;
    const Digest context(EVP_MD_CTX_new());
    const bool good =
        EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
        EVP_DigestVerify(context.get(), der, static_cast<std::size_t>(size), bytes(text), text.size()) == 1;
    OPENSSL_free(der);
    return good;
  }
};

Result<TokenSigner> TokenSigner::with_key(std::string_view pem) {
  const Bio bio = openssl::bio_of(pem);
  auto impl = std::make_shared<Impl>();
  impl->key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  char curve[32] = {};
  if (!impl->key || EVP_PKEY_get_group_name(impl->key.get(), curve, sizeof curve, nullptr) != 1 ||
      std::string_view(curve) != "prime256v1")
    return fail("expected a private key of the curve P-256 as PEM");
  if (!openssl::is_pair(impl->key.get())) return fail("the private key is damaged: it does not fit its public half");
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(impl->key.get(), &der);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> sum{};
  SHA256(der, static_cast<std::size_t>(size), sum.data());
  OPENSSL_free(der);
  impl->id = base64url_encode({reinterpret_cast<const char*>(sum.data()), sum.size()});
  return TokenSigner(std::move(impl));
}

std::string TokenSigner::sign(const TokenClaims& claims) const {
  const Json header = JsonObject{{"alg", "ES256"}, {"kid", impl_->id}};
  const std::string text = base64url_encode(to_string(header)) + "." + base64url_encode(to_string(json_of(claims)));
  return text + "." + base64url_encode(impl_->signature(text));
}

std::optional<TokenClaims> TokenSigner::recognise(std::string_view token) const {
  const std::size_t first = token.find('.'), last = token.rfind('.');
  if (token.size() > kMaxTokenBytes || first == token.npos || first == last) return std::nullopt;
  const auto header = decoded_part(token.substr(0, first));
  if (!header || string_at(*header, {"alg"}) != "ES256" || string_at(*header, {"kid"}) != impl_->id)
    return std::nullopt;
  const auto signature = base64url_decode(token.substr(last + 1));
  if (!signature || !impl_->verifies(token.substr(0, last), *signature)) return std::nullopt;
  const auto claims = decoded_part(token.substr(first + 1, last - first - 1));
  if (!claims || string_at(*claims, {"iss"}) != kIssuer) return std::nullopt;
  return claims_of(*claims);
}

std::vector<std::string> common_audiences(const std::vector<std::string>& wanted,
                                          const std::vector<std::string>& offered) {
  std::vector<std::string> out;
  for (const std::string& audience : wanted) {
    if (std::find(offered.begin(), offered.end(), audience) != offered.end()) out.push_back(audience);
  }
  return out;
}

Result<Identity> identity_of(const TokenClaims& claims, const std::vector<std::string>& audiences,
                             const Lookup& objects, Time now) {
  if (common_audiences(audiences, claims.audiences).empty()) return fail("the token is meant for another audience");
  if (now >= claims.expires) return fail("the token has expired");
  if (now < claims.not_before - kLeeway) return fail("the token is not valid yet");
  if (auto there = check(objects, api::kServiceAccounts, "ServiceAccount", claims.ns, claims.account, now); !there)
    return fail(there.error().message);
  const struct {
    const std::optional<TokenObject>& named;
    const api::GroupVersionResource& resource;
    std::string_view kind, key;
    bool namespaced;
  } bound[] = {{claims.pod, api::kPods, "Pod", "pod", true},
               {claims.secret, api::kSecrets, "Secret", "", true},
               {claims.node, api::kNodes, "Node", "node", false}};
  Identity who = authenticated("system:serviceaccount:" + claims.ns + ":" + claims.account.name, claims.account.uid,
                               {"system:serviceaccounts", "system:serviceaccounts:" + claims.ns});
  who.extra["authentication.kubernetes.io/credential-id"] = {"JTI=" + claims.id};
  for (const auto& each : bound) {
    if (!each.named) continue;
    const std::string ns = each.namespaced ? claims.ns : "";
    if (auto there = check(objects, each.resource, each.kind, ns, *each.named, now); !there)
      return fail(there.error().message);
    if (each.key.empty()) continue;
    const std::string prefix = "authentication.kubernetes.io/" + std::string(each.key);
    who.extra[prefix + "-name"] = {each.named->name};
    who.extra[prefix + "-uid"] = {each.named->uid};
  }
  return who;
}

}  // namespace berth::apiserver::http
