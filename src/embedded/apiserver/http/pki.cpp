#include "embedded/apiserver/http/pki.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/base64.h"
#include "base/log.h"
#include "base/read_file.h"
#include "base/sync_directory.h"
#include "embedded/apiserver/http/service_account_tokens.h"

namespace berth::apiserver::http {
namespace {

// Empty when there is no such file. A file that cannot be read is not made anew: it may be readable again.
Result<std::string> read_if_there(const std::string& path) {
  std::error_code error;
  if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found) return std::string();
  return berth::read_file(path);
}

Result<Credential> read_credential(const std::string& directory, const std::string& name) {
  if (directory.empty()) return Credential{};
  auto certificate = read_if_there(directory + "/" + name + ".crt");
  if (!certificate) return tl::unexpected(certificate.error());
  auto key = read_if_there(directory + "/" + name + ".key");
  if (!key) return tl::unexpected(key.error());
  return Credential{std::move(*certificate), std::move(*key)};
}

// Says what those who used the old one have to do.
void report_made_anew(const std::string& file, const std::string& old, std::string_view consequence) {
  if (old.empty()) return;
  log::warn("a file is made anew: it was damaged, expires soon or names other hosts",
            {{"file", file}, {"consequence", consequence}});
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
  Pki pki;
  for (const auto& [name, credential] :
       {std::pair{"ca", &pki.authority}, {"server", &pki.server}, {"admin", &pki.admin}}) {
    auto read = read_credential(directory, name);
    if (!read) return tl::unexpected(read.error());
    *credential = std::move(*read);
  }
  if (!berth::http::usable(pki.authority, pki.authority, {}, now, kRenewBefore)) {
    report_made_anew(directory + "/ca.crt", pki.authority.certificate,
                     "clients need the kubeconfig that is written now");
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
    report_made_anew(directory + "/admin.crt", pki.admin.certificate, "copies of the kubeconfig may not be accepted");
    auto made = berth::http::make_client_credential(pki.authority, "kubernetes-admin", {"system:masters"}, now);
    if (!made) return fail(made.error().message);
    pki.admin = std::move(*made);
    if (auto written = write_credential(directory, "admin", pki.admin); !written) return fail(written.error().message);
  }
  const std::string key_file = directory + "/sa.key";
  if (!directory.empty()) {
    auto read = read_if_there(key_file);
    if (!read) return tl::unexpected(read.error());
    pki.service_accounts = std::move(*read);
  }
  if (!TokenSigner::with_key(pki.service_accounts)) {
    report_made_anew(key_file, pki.service_accounts, "tokens of service accounts that were issued are not accepted");
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
  return sync_directory(std::filesystem::path(path).parent_path());
}

}  // namespace berth::apiserver::http
