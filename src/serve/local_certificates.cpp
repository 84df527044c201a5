#include "serve/local_certificates.h"

#include <utility>

#include "base/read_file.h"
#include "http/tls.h"

namespace berth::serve {
namespace {

constexpr Duration kRetry = std::chrono::minutes(1);  // after a certificate could not be made

}  // namespace

FileCertificates::FileCertificates(Executor& executor, const std::string& directory, Duration refresh)
    : FileCertificates(executor, directory + "/tls.crt", directory + "/tls.key", refresh) {
  how_to_make_ =
      "; expected tls.crt and tls.key (PEM) in " + directory +
      ": mount a Secret of type kubernetes.io/tls there (cert-manager makes one; so does kubectl create secret tls)";
}

FileCertificates::FileCertificates(Executor& executor, std::string certificate, std::string key, Duration refresh)
    : executor_(executor), certificate_(std::move(certificate)), key_(std::move(key)), refresh_(refresh) {}

FileCertificates::~FileCertificates() { executor_.cancel(timer_); }

Result<void> FileCertificates::start() {
  again();
  return read();
}

void FileCertificates::again() {
  timer_ = executor_.after(refresh_, [this] {
    again();
    (void)read();  // set_problem() logs errors
  });
}

Result<void> FileCertificates::read() {
  const auto refused = [&](std::string why) {
    set_problem(why);
    return fail(std::move(why));
  };
  auto certificate = read_file(certificate_), key = read_file(key_);
  for (const auto* file : {&certificate, &key}) {
    if (!*file) return refused((current() ? "" : "waiting for a certificate: ") + file->error().message + how_to_make_);
  }
  http::Credential credential{std::move(*certificate), std::move(*key)};
  http::ServerTls tls;
  tls.server = credential;
  if (const auto context = http::make_server_context(tls); !context)
    return refused(certificate_ + " and " + key_ + ": " + context.error().message);
  set_problem({});
  present(std::move(credential));
  return {};
}

SelfSignedCertificates::SelfSignedCertificates(Executor& executor, std::vector<std::string> names,
                                               std::chrono::hours lifetime)
    : executor_(executor), names_(std::move(names)), lifetime_(lifetime) {}

SelfSignedCertificates::~SelfSignedCertificates() { executor_.cancel(timer_); }

Result<void> SelfSignedCertificates::start() { return make(); }

Result<void> SelfSignedCertificates::make() {
  const auto authority = http::make_authority("berth-self-signed", executor_.now(), lifetime_);
  auto leaf = authority ? http::make_server_credential(*authority, names_, executor_.now(), lifetime_)
                        : Result<http::Credential>(tl::unexpected(authority.error()));
  // A renewal that failed has a third of the lifetime left to succeed.
  timer_ = executor_.after(leaf ? Duration(lifetime_ * 2 / 3) : kRetry, [this] { (void)make(); });
  set_problem(leaf ? std::string() : leaf.error().message);
  if (!leaf) return tl::unexpected(leaf.error());
  present(std::move(*leaf));
  return {};
}

}  // namespace berth::serve
