// Creates and checks certificates: a self-signed authority and the certificates that it signs. Keys are P-256.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

struct x509_st;  // OpenSSL's X509

namespace berth::http {

struct Credential {
  std::string certificate;  // PEM; the server's or client's own certificate first, then the intermediate certificates
  std::string key;          // PEM, PKCS #8
};

inline constexpr std::chrono::hours kAuthorityLifetime{24 * 3650};
inline constexpr std::chrono::hours kLeafLifetime{24 * 365};

Result<Credential> make_authority(std::string_view name, Time now, std::chrono::hours lifetime = kAuthorityLifetime);
// `names` are DNS names and IP addresses (at least one, else an error). The shortest is the common name, cut to 64
// characters.
Result<Credential> make_server_credential(const Credential& authority, const std::vector<std::string>& names, Time now,
                                          std::chrono::hours lifetime = kLeafLifetime);
Result<Credential> make_client_credential(const Credential& authority, std::string_view user,
                                          const std::vector<std::string>& groups, Time now,
                                          std::chrono::hours lifetime = kLeafLifetime);

// True when the credential is valid now and for `remaining` longer, is signed by the authority and covers all of
// `names`.
bool usable(const Credential& credential, const Credential& authority, const std::vector<std::string>& names, Time now,
            std::chrono::hours remaining);

// A new private key, PEM (PKCS #8).
Result<std::string> make_key();

// The subject of a certificate: CN and every O.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  // DER: the holder's own certificate first, then intermediate certificates, if any.
  std::vector<std::string> chain = {};
};
CertificateSubject read_subject(const x509_st* certificate);

// True when one of these authorities (PEM, one or several) signed the holder's certificate, it is valid at `now` and
// allowed for client authentication. Needed where a server trusts several authorities and not all of them may grant
// the same rights.
bool signed_by(const CertificateSubject& holder, std::string_view authorities, Time now);

}  // namespace berth::http
