// Tokens of service accounts: signed JSON Web Tokens with the account, the audiences, the expiry time and the objects
// that they are bound to. Nothing is stored: any holder of the key can verify them, also after a restart.
// https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "embedded/apiserver/http/access.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver::http {

// The issuer of all tokens, and the audience of this API server.
inline constexpr std::string_view kIssuer = "https://kubernetes.default.svc";

// An object that must still exist with this uid for the token to be valid.
struct TokenObject {
  std::string name, uid;
};

struct TokenClaims {
  std::string ns;
  TokenObject account;
  std::optional<TokenObject> pod, secret, node;
  std::vector<std::string> audiences;
  Time issued{}, not_before{}, expires{};
  std::string id;  // jti
};

// Signs and verifies tokens. From any thread.
class TokenSigner {
 public:
  // `key`: PEM, on the curve P-256. The error says what is wrong with it.
  static Result<TokenSigner> with_key(std::string_view key);

  std::string sign(const TokenClaims& claims) const;
  // Verifies the signature and reads the claims. nullopt: not a token of this signer. Use identity_of() to check
  // whether the token is still valid.
  std::optional<TokenClaims> recognise(std::string_view token) const;

 private:
  struct Impl;
  explicit TokenSigner(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// The identity of the token if it is within its validity period at `now`, is meant for one of the audiences, and the
// objects that it names exist. The error says which condition fails.
Result<Identity> identity_of(const TokenClaims& claims, const std::vector<std::string>& audiences,
                             const Lookup& objects, Time now);

// The audiences that are in both lists, in the order of `wanted`.
std::vector<std::string> common_audiences(const std::vector<std::string>& wanted,
                                          const std::vector<std::string>& offered);

}  // namespace berth::apiserver::http
