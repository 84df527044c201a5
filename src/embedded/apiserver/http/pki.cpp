#include "embedded/apiserver/http/pki.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/base64.h"
#include "embedded/apiserver/http/service_account_tokens.h"

namespace berth::apiserver::http {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Credential read_credential(const std::string& directory, const std::string& name) {
  if (directory.empty()) return {};
  return {read_file(directory + "/" + name + ".crt"), read_file(directory + "/" + name + ".key")};
}

Result<void> write_credential(const std::string& directory, const std::string& name, const Credential& c) {
  if (directory.empty()) return {};
  if (auto written = write_private_file(directory + "/" + name + ".key", c.key); !written) return written;
  return write_private_file(directory + "/" + name + ".crt", c.certificate);
}

}  // namespace

Result<Pki> load_or_create_pki(const std::string& directory, const std::vector<std::string>& server_names, Time now) {
  if (!directory.empty()) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) return fail("cannot make the directory " + directory + ": " + error.message());
  }
  Pki pki{read_credential(directory, "ca"), read_credential(directory, "server"), read_credential(directory, "admin")};
  if (!berth::http::usable(pki.authority, pki.authority, {}, now, kRenewBefore)) {
    auto made = berth::http::make_authority("berth-ca", now);
    if (!made) return fail(made.error().message);
    pki.authority = std::move(*made);
    if (auto written = write_credential(directory, "ca", pki.authority); !written) return fail(written.error().message);
  }
  if (!berth::http::usable(pki.server, pki.authority, server_names, now, kRenewBefore)) {
    auto made = berth::http::make_server_credential(pki.authority, server_names, now);
    if (!made) return fail(made.error().message);
    pki.server = std::move(*made);
    if (auto written = write_credential(directory, "server", pki.server); !written)
      return fail(written.error().message);
  }
  if (!berth::http::usable(pki.admin, pki.authority, {}, now, kRenewBefore)) {
    auto made = berth::http::make_client_credential(pki.authority, "kubernetes-admin", {"system:masters"}, now);
    if (!made) return fail(made.error().message);
    pki.admin = std::move(*made);
    if (auto written = write_credential(directory, "admin", pki.admin); !written) return fail(written.error().message);
  }
  const std::string key_file = directory + "/sa.key";
  if (!directory.empty()) pki.service_accounts = read_file(key_file);
  if (!TokenSigner::with_key(pki.service_accounts)) {
    auto made = berth::http::make_key();
    if (!made) return fail(made.error().message);
    pki.service_accounts = std::move(*made);
    if (directory.empty()) return pki;
    if (auto written = write_private_file(key_file, pki.service_accounts); !written)
      return fail(written.error().message);
  }
  return pki;
}

Result<TlsContext> server_context(const Pki& pki) {
  return berth::http::make_server_context({.server = pki.server, .client_authorities = pki.authority.certificate});
}

std::string make_kubeconfig(const Pki& pki, std::string_view server_url) {
  std::string text = "apiVersion: v1\nkind: Config\nclusters:\n- name: berth\n  cluster:\n    server: ";
  text += server_url;
  text += "\n    certificate-authority-data: " + base64_encode(pki.authority.certificate);
  text += "\nusers:\n- name: kubernetes-admin\n  user:\n    client-certificate-data: " +
          base64_encode(pki.admin.certificate);
  text += "\n    client-key-data: " + base64_encode(pki.admin.key);
  text +=
      "\ncontexts:\n- name: berth\n  context:\n    cluster: berth\n    user: "
      "kubernetes-admin\ncurrent-context: berth\n";
  return text;
}

Result<void> write_private_file(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".new";
  const auto failed = [&](const char* what) {
    const std::string why = std::strerror(errno);
    ::unlink(temporary.c_str());
    return fail(std::string("cannot ") + what + " " + path + ": " + why);
  };
  ::unlink(temporary.c_str());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return failed("write");
  bool fine = true;
  for (std::string_view rest = content; fine && !rest.empty();) {
    const ssize_t n = ::write(file, rest.data(), rest.size());
    fine = n > 0 || (n < 0 && errno == EINTR);
    if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
  }
  fine = fine && ::fsync(file) == 0;
  if (::close(file) != 0 || !fine) return failed("write");
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("replace");
  return {};
}

}  // namespace berth::apiserver::http
