// Runs a credential plugin and reads what it prints.
// https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/time.h"
#include "kube/kubeconfig.h"

namespace berth::kube {

struct ExecCredential {
  std::string token;
  std::string certificate_pem, key_pem;
  std::optional<Time> expires;  // none: valid until the server refuses it
};

inline constexpr std::chrono::seconds kPluginTimeout{60};
inline constexpr std::size_t kMaxPluginOutput = 1u << 20;

// Blocks until the program ends. Kills it when its output does not end within `timeout` or is larger than
// kMaxPluginOutput. Errors name the command and how it ended, or the kubeconfig's install hint when it cannot be
// started. The program shares our standard error.
Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin, const Access& access,
                                       std::chrono::milliseconds timeout = kPluginTimeout);

// Reads the credential from the output of a plugin.
Result<ExecCredential> parse_exec_credential(std::string_view output, std::string_view api_version);

}  // namespace berth::kube
