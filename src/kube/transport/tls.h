// The TLS context of the client: trusted authorities and client certificate.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/tls_context.h"

namespace berth::kube {

struct TlsIdentity {
  std::string authority_pem;             // one certificate or more; empty: the system's
  bool insecure = false;                 // the server's certificate is not checked
  std::string certificate_pem, key_pem;  // of the client, with its chain; empty: none is sent
  bool operator==(const TlsIdentity&) const = default;
};

// TLS 1.2 or later. Errors say which part of `identity` cannot be used and why.
Result<TlsContext> make_client_context(const TlsIdentity& identity);

}  // namespace berth::kube
