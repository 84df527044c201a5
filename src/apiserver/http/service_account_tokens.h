// Tokens of service accounts: signed JSON Web Tokens that say for whom they speak, to whom, until when and as
// long as which objects exist. Nothing is stored: who has the key knows them again, also after a restart.
// https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/http/access.h"
#include "apiserver/resource.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::apiserver::http {

// Whom a token names as its issuer, and the audience of this API server.
inline constexpr std::string_view kIssuer = "https://kubernetes.default.svc";

// An object that must exist as it was when the token was made.
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

// Signs and recognises tokens. Any thread.
class TokenSigner {
 public:
  // `key`: PEM, of the curve P-256. The error says what is wrong with it.
  static Result<TokenSigner> with_key(std::string_view key);

  std::string sign(const TokenClaims& claims) const;
  // nullopt: it is not a token of this signer. Whether it still holds is another question: identity_of().
  std::optional<TokenClaims> recognise(std::string_view token) const;

 private:
  struct Impl;
  explicit TokenSigner(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Whose token it is, as long as it has not expired, is meant for one of the audiences and what it names
// exists. The error says which of these does not hold.
Result<Identity> identity_of(const TokenClaims& claims, const std::vector<std::string>& audiences,
                             const Lookup& objects, Time now);

// The audiences that are in both lists, in the order of the first.
std::vector<std::string> common_audiences(const std::vector<std::string>& wanted,
                                          const std::vector<std::string>& offered);

}  // namespace berth::apiserver::http
