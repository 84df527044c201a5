// The server's own certificate authority and the credentials made with it. Keys are P-256.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

struct x509_st;  // OpenSSL's X509

namespace berth::apiserver::http {

struct Credential {
  std::string certificate;  // PEM
  std::string key;          // PEM, PKCS #8
};

struct Pki {
  Credential authority;
  Credential server;
  Credential admin;  // a client certificate of kubernetes-admin in system:masters
};

inline constexpr std::chrono::hours kAuthorityLifetime{24 * 3650};
inline constexpr std::chrono::hours kLeafLifetime{24 * 365};
inline constexpr std::chrono::hours kRenewBefore{24 *
                                                 120};  // what lives shorter than this is made anew at start

Result<Credential> make_authority(std::string_view name, Time now);
// `names` are DNS names and IP addresses.
Result<Credential> make_server_credential(const Credential& authority, const std::vector<std::string>& names,
                                          Time now);
Result<Credential> make_client_credential(const Credential& authority, std::string_view user,
                                          const std::vector<std::string>& groups, Time now);

// From <directory>/{ca,server,admin}.{crt,key}; what is missing, near its end, signed by another authority or
// (server) without one of the names is made and written, keys with mode 0600. Empty directory: nothing is
// read or written. Errors name the file.
Result<Pki> load_or_create_pki(const std::string& directory, const std::vector<std::string>& server_names,
                               Time now);

// A kubeconfig for the admin, everything in it. Written with mode 0600 by replacing the file.
std::string make_kubeconfig(const Pki& pki, std::string_view server_url);
Result<void> write_private_file(const std::string& path, std::string_view content);

// What a client certificate says: CN and all O.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
};
CertificateSubject read_subject(const x509_st* certificate);

}  // namespace berth::apiserver::http
