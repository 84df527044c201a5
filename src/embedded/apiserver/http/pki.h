// The server's own certificate authority and the credentials that it signs, stored in files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "http/certificates.h"
#include "http/tls.h"

namespace berth::apiserver::http {

using berth::http::Credential;

struct Pki {
  Credential authority;
  Credential server;
  Credential admin;                   // a client certificate for kubernetes-admin in system:masters
  std::string service_accounts = {};  // PEM: the key that signs service account tokens
};

// At startup, a certificate that is valid for less than this is replaced.
inline constexpr std::chrono::hours kRenewBefore{24 * 120};

// Loads <directory>/{ca,server,admin}.{crt,key} and sa.key. Creates and writes what is missing, is about to expire,
// is signed by another authority or (server) does not cover all names; keys have mode 0600. Empty directory: nothing
// is read or written. Errors name the file.
Result<Pki> load_or_create_pki(const std::string& directory, const std::vector<std::string>& server_names, Time now);

// A TLS context with the server's certificate; it trusts client certificates of the authority.
Result<TlsContext> server_context(const Pki& pki);

// A self-contained kubeconfig for the admin. write_private_file() replaces the file, with mode 0600.
std::string make_kubeconfig(const Pki& pki, std::string_view server_url);
Result<void> write_private_file(const std::string& path, std::string_view content);

}  // namespace berth::apiserver::http
