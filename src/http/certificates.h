// Certificates made and checked: an authority of one's own and what it signs. Keys are P-256.
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
  std::string certificate;  // PEM; of a server or client: its own first, then those between it and the authority
  std::string key;          // PEM, PKCS #8
};

inline constexpr std::chrono::hours kAuthorityLifetime{24 * 3650};
inline constexpr std::chrono::hours kLeafLifetime{24 * 365};

Result<Credential> make_authority(std::string_view name, Time now, std::chrono::hours lifetime = kAuthorityLifetime);
// `names` are DNS names and IP addresses; the shortest one of them is the common name, as far as it goes.
Result<Credential> make_server_credential(const Credential& authority, const std::vector<std::string>& names, Time now,
                                          std::chrono::hours lifetime = kLeafLifetime);
Result<Credential> make_client_credential(const Credential& authority, std::string_view user,
                                          const std::vector<std::string>& groups, Time now,
                                          std::chrono::hours lifetime = kLeafLifetime);

// Whether the credential can be used now and still in `remaining`, is signed by the authority and names `names`.
bool usable(const Credential& credential, const Credential& authority, const std::vector<std::string>& names, Time now,
            std::chrono::hours remaining);

// A private key, PEM.
Result<std::string> make_key();

// What a certificate says of its holder: CN and all O.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  // DER: the holder's own certificate first. Those between it and its authority may follow.
  std::vector<std::string> chain = {};
};
CertificateSubject read_subject(const x509_st* certificate);

// Whether one of these authorities (PEM, one or several) has signed the holder's certificate, for a client
// and for this time: where clients of several authorities are let in, they are not all the same.
bool signed_by(const CertificateSubject& holder, std::string_view authorities, Time now);

}  // namespace berth::http
