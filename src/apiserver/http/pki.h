// The server's own certificate authority and the credentials made with it, kept in files.
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
  Credential admin;  // a client certificate of kubernetes-admin in system:masters
  std::string service_accounts = {};  // PEM: the key that signs tokens of service accounts
};

// What lives shorter than this is made anew at start.
inline constexpr std::chrono::hours kRenewBefore{24 * 120};

// From <directory>/{ca,server,admin}.{crt,key} and sa.key; what is missing, near its end, signed by another
// authority or (server) without one of the names is made and written, keys with mode 0600. Empty directory:
// nothing is read or written. Errors name the file.
Result<Pki> load_or_create_pki(const std::string& directory, const std::vector<std::string>& server_names,
                               Time now);

// The server's certificate; clients are known by certificates of the authority.
Result<berth::http::TlsContext> server_context(const Pki& pki);

// A kubeconfig for the admin, everything in it. Written with mode 0600 by replacing the file.
std::string make_kubeconfig(const Pki& pki, std::string_view server_url);
Result<void> write_private_file(const std::string& path, std::string_view content);

}  // namespace berth::apiserver::http
