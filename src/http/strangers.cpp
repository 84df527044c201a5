#include "http/strangers.h"

namespace berth::http {

std::size_t stranger_bytes(const HttpRequest& head) {
  std::size_t bytes = kStrangerRequestBytes + head.method.size() + head.target.size();
  for (const Header& header : head.headers) bytes += sizeof header + header.name.size() + header.value.size();
  return bytes;
}

bool Strangers::Share::take(std::size_t bytes) {
  if (!of_->take(peer_, bytes)) return false;
  bytes_ += bytes;
  return true;
}

bool Strangers::take(const std::string& peer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto known = peers_.find(peer);
  const std::size_t before = known == peers_.end() ? 0 : known->second;
  if (before + bytes > per_peer_ || taken_ + bytes > in_all_) return false;
  taken_ += bytes;
  peers_[peer] = before + bytes;
  return true;
}

void Strangers::give_back(const std::string& peer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
  const auto it = peers_.find(peer);
  if (it != peers_.end() && (it->second -= bytes) == 0) peers_.erase(it);
}

std::size_t Strangers::bytes() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

}  // namespace berth::http
