#include "kube/credentials.h"

#include <utility>

#include "base/base64.h"

namespace berth::kube {
namespace {

// A failed lookup is not repeated for every request.
constexpr Duration kLookAgainAfterFailure = std::chrono::seconds(1);

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

}  // namespace

Credentials::Credentials(Executor& executor, Access access, ReadFile read)
    : executor_(executor), access_(std::move(access)), read_(std::move(read)) {}

Credentials::~Credentials() {
  lifetime_.end();
  if (plugin_.joinable()) plugin_.join();
}

Result<std::string> Credentials::pem(const PemSource& source) const {
  return source.file.empty() ? Result<std::string>(source.inline_pem) : read_(source.file);
}

Result<Identity> Credentials::look(const std::optional<ExecCredential>& plugin) const {
  Identity identity;
  identity.tls.insecure = access_.insecure;
  auto authority = pem(access_.authority);
  if (!authority) return tl::unexpected(authority.error());
  auto certificate = pem(access_.certificate);
  if (!certificate) return tl::unexpected(certificate.error());
  auto key = pem(access_.key);
  if (!key) return tl::unexpected(key.error());
  identity.tls.authority_pem = std::move(*authority);
  identity.tls.certificate_pem = plugin && !plugin->certificate_pem.empty() ? plugin->certificate_pem : *certificate;
  identity.tls.key_pem = plugin && !plugin->key_pem.empty() ? plugin->key_pem : *key;
  std::string token = access_.token;
  if (!access_.token_file.empty()) {
    auto text = read_(access_.token_file);
    if (!text) return tl::unexpected(text.error());
    token = trimmed(std::move(*text));
    if (token.empty()) return fail("the token file " + access_.token_file + " is empty");
  }
  if (plugin && !plugin->token.empty()) token = plugin->token;
  if (!token.empty()) {
    identity.authorization = "Bearer " + token;
  } else if (!access_.username.empty()) {
    identity.authorization = "Basic " + base64_encode(access_.username + ":" + access_.password);
  }
  return identity;
}

void Credentials::get(std::function<void(const Result<Identity>&)> done) {
  if (known_ && executor_.now() < good_until_) return done(*known_);
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;  // a lookup is under way
  if (access_.exec) return run_plugin();
  settle(look(std::nullopt), std::nullopt);
}

void Credentials::refused() { good_until_ = Time{}; }

void Credentials::run_plugin() {
  if (plugin_.joinable()) plugin_.join();
  auto take = lifetime_.guard([this](const Result<ExecCredential>& credential) {
    if (!credential) return settle(tl::unexpected(credential.error()), std::nullopt);
    settle(look(*credential), credential->expires.value_or(Time::max()));
  });
  plugin_ = std::thread([&executor = executor_, access = access_, take = std::move(take)] {
    executor.post([take, credential = run_exec_plugin(*access.exec, access)] { take(credential); });
  });
}

void Credentials::settle(Result<Identity> identity, std::optional<Time> expires) {
  const Time now = executor_.now();
  good_until_ = now + (identity ? kReadAgain : kLookAgainAfterFailure);
  if (identity && expires) good_until_ = *expires == Time::max() ? *expires : *expires - kBeforeExpiry;
  known_ = std::move(identity);
  for (const auto& done : std::exchange(waiting_, {})) done(*known_);
}

}  // namespace berth::kube
