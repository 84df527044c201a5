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

bool Hub::is_full() const { return admitted_ >= kMaxConnections + making_place_.size(); }

bool Hub::may_accept() {
  const std::lock_guard lock(mutex_);
  acceptor_waits_ = is_full() && (quiet_.one_to_close() == nullptr || making_place_.size() >= kMaxMakingPlace);
  return !acceptor_waits_;
}

// A quiet connection that makes place for another one; null: none does.
std::shared_ptr<Connection> Hub::one_to_close() {
  while (making_place_.size() < kMaxMakingPlace) {
    Connection* one = quiet_.one_to_close();
    if (one == nullptr) return nullptr;
    quiet_.busy(one);
    if (auto connection = one->weak_from_this().lock()) {  // else it is ending anyway
      making_place_.insert(one);
      return connection;
    }
  }
  return nullptr;
}

std::optional<Hub::Socket> Hub::admit(Socket socket, const std::string& peer) {
  std::vector<std::shared_ptr<Connection>> closed;  // outlives the lock
  std::unique_lock lock(mutex_);
  if (stopping) return std::nullopt;
  if (!is_local(peer) && peers_[peer] >= kMaxConnectionsPerPeer) {
    if (parked_count_ >= kMaxParkedConnections) return std::nullopt;
    parked_[peer].push_back(std::move(socket));
    ++parked_count_;
    return std::nullopt;
  }
  while (is_full()) {
    auto one = one_to_close();
    if (one == nullptr) break;
    closed.push_back(std::move(one));
  }
  ++admitted_;
  ++peers_[peer];
  lock.unlock();
  for (const auto& one : closed) one->abort();
  return socket;
}

std::optional<Hub::Socket> Hub::leave(const std::string& peer) {
  std::unique_lock lock(mutex_);
  if (const auto parked = parked_.find(peer); parked != parked_.end()) {
    // A parked connection of the same peer takes over the slot, unless the slot was given to another connection.
    Socket next = std::move(parked->second.front());
    parked->second.pop_front();
    --parked_count_;
    if (parked->second.empty()) parked_.erase(parked);
    if (admitted_ <= kMaxConnections) return next;
  }
  --admitted_;
  if (const auto it = peers_.find(peer); it != peers_.end() && --it->second == 0) peers_.erase(it);
  finish_if_empty();
  accept_again(std::move(lock));
  return std::nullopt;
}

void Hub::accept_again(std::unique_lock<std::mutex> lock) {
  if (!std::exchange(acceptor_waits_, false) || stopping) return;
  lock.unlock();
  on_room_();
}

void Hub::add(Connection* connection, const std::string& peer) {
  std::unique_lock lock(mutex_);
  connections_.insert(connection);
  quiet_.add(connection, peer);
  accept_again(std::move(lock));
}

void Hub::remove(Connection* connection) {
  std::unique_lock lock(mutex_);
  connections_.erase(connection);
  quiet_.remove(connection);
  if (making_place_.erase(connection) > 0) accept_again(std::move(lock));
}

void Hub::busy(Connection* connection) {
  const std::lock_guard lock(mutex_);
  quiet_.busy(connection);
}

void Hub::quiet(Connection* connection) {
  std::unique_lock lock(mutex_);
  if (making_place_.contains(connection)) return;
  quiet_.quiet(connection);
  accept_again(std::move(lock));
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
