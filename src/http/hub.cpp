#include "http/hub.h"

#include <utility>
#include <vector>

namespace berth::http {
namespace {

bool is_local(const std::string& peer) { return peer == "127.0.0.1" || peer == "::1" || peer == "::ffff:127.0.0.1"; }

}  // namespace

Hub::Hub(Handler& h, Executor& c, const HttpsServerOptions& options, boost::asio::any_io_executor p,
         std::function<void()> on_room)
    : handler(h),
      core(c),
      max_body_bytes(options.max_body_bytes),
      turn_timeout(options.turn_timeout),
      pool(std::move(p)),
      strangers(std::make_shared<Strangers>(options.stranger_bytes_per_peer, options.stranger_bytes)),
      on_room_(std::move(on_room)) {}

Hub::Tls Hub::tls() const {
  const std::lock_guard lock(mutex_);
  return tls_;
}

void Hub::use(TlsContext context) {
  auto tls = std::make_shared<boost::asio::ssl::context>(context.release());
  const std::lock_guard lock(mutex_);
  tls_ = std::move(tls);
}

bool Hub::may_accept() {
  const std::lock_guard lock(mutex_);
  acceptor_waits_ = admitted_ >= kMaxConnections;
  return !acceptor_waits_;
}

std::optional<Hub::Socket> Hub::admit(Socket socket, const std::string& peer) {
  const std::lock_guard lock(mutex_);
  if (stopping) return std::nullopt;
  if (!is_local(peer) && peers_[peer] >= kMaxConnectionsPerPeer) {
    if (parked_count_ >= kMaxParkedConnections) return std::nullopt;
    parked_[peer].push_back(std::move(socket));
    ++parked_count_;
    return std::nullopt;
  }
  ++admitted_;
  ++peers_[peer];
  return socket;
}

std::optional<Hub::Socket> Hub::leave(const std::string& peer) {
  std::unique_lock lock(mutex_);
  if (const auto parked = parked_.find(peer); parked != parked_.end()) {
    // A parked connection of the same peer takes over the slot.
    Socket next = std::move(parked->second.front());
    parked->second.pop_front();
    --parked_count_;
    if (parked->second.empty()) parked_.erase(parked);
    return next;
  }
  --admitted_;
  if (const auto it = peers_.find(peer); it != peers_.end() && --it->second == 0) peers_.erase(it);
  finish_if_empty();
  if (std::exchange(acceptor_waits_, false) && !stopping) {
    lock.unlock();
    on_room_();
  }
  return std::nullopt;
}

void Hub::add(Connection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.insert(connection);
}

void Hub::remove(Connection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
}

void Hub::finish_if_empty() {
  if (admitted_ == 0 && done_) core.post(std::exchange(done_, nullptr));
}

void Hub::for_each(void (Connection::*what)()) {
  std::vector<std::shared_ptr<Connection>> all;
  {
    const std::lock_guard lock(mutex_);
    for (Connection* c : connections_) {
      if (auto connection = c->weak_from_this().lock()) all.push_back(std::move(connection));
    }
  }
  for (const auto& c : all) (c.get()->*what)();
}

void Hub::stop(std::function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    stopping = true;
    parked_.clear();
    parked_count_ = 0;
    done_ = std::move(done);
  }
  for_each(&Connection::stop);
  const std::lock_guard lock(mutex_);
  finish_if_empty();
}

void Hub::shut() {
  const std::lock_guard lock(mutex_);
  stopping = true;
  parked_.clear();
  parked_count_ = 0;
}

void Hub::close_all() { for_each(&Connection::abort); }

std::size_t Hub::size() const {
  const std::lock_guard lock(mutex_);
  return admitted_;
}

}  // namespace berth::http
