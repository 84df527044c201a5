#include "serve/certificate_source.h"

#include <utility>

#include "base/log.h"

namespace berth::serve {

std::shared_ptr<void> CertificateSource::listen(Listener listener) {
  auto held = std::make_shared<Listener>(std::move(listener));
  std::erase_if(listeners_, [](const auto& weak) { return weak.expired(); });
  listeners_.push_back(held);
  if (current_) (*held)(*current_);
  return held;
}

void CertificateSource::present(http::Credential credential) {
  if (current_ && current_->certificate == credential.certificate && current_->key == credential.key) return;
  current_ = std::move(credential);
  const auto listeners = listeners_;  // a copy: a listener may add others
  for (const auto& weak : listeners) {
    if (const auto listener = weak.lock()) (*listener)(*current_);
  }
}

void CertificateSource::set_problem(std::string problem) {
  if (problem == problem_) return;
  problem_ = std::move(problem);
  if (problem_.empty()) {
    log::info("the serving certificate is in order again");
  } else {
    log::warn("the serving certificate is not in order", {{"why", problem_}});
  }
}

}  // namespace berth::serve
