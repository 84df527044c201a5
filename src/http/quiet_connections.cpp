#include "http/quiet_connections.h"

#include <utility>

#include "http/limits.h"

namespace berth::http {

void QuietConnections::put(Entry& entry, List& list, Connection* one) {
  entry.list = &list;
  entry.place = list.insert(list.end(), one);
  entry.since = clock_++;
}

void QuietConnections::add(Connection* one, const std::string& peer) {
  const auto at = peers_.try_emplace(peer).first;
  ++at->second.connections;
  put(entries_[one] = {at}, at->second.arrivals, one);
}

void QuietConnections::remove(Connection* one) {
  busy(one);
  const auto entry = entries_.extract(one);
  if (!entry) return;
  const auto peer = entry.mapped().peer;
  if (--peer->second.connections == 0) peers_.erase(peer);
}

void QuietConnections::busy(Connection* one) {
  const auto found = entries_.find(one);
  if (found == entries_.end() || found->second.list == nullptr) return;
  std::exchange(found->second.list, nullptr)->erase(found->second.place);
}

void QuietConnections::quiet(Connection* one) {
  const auto found = entries_.find(one);
  if (found == entries_.end() || found->second.list != nullptr) return;
  put(found->second, found->second.peer->second.idle, one);
}

Connection* QuietConnections::one_to_close() const {
  Connection* found = nullptr;
  const auto is_better = [&](const Peer& peer, Connection* one) {
    if (found == nullptr) return true;
    const Entry& best = entries_.at(found);
    const std::size_t most = best.peer->second.connections;
    return peer.connections != most ? peer.connections > most : entries_.at(one).since < best.since;
  };
  for (const auto& [address, peer] : peers_) {
    const bool many_arrivals = peer.arrivals.size() * kArrivalsShare > peer.connections;
    const List& from = many_arrivals ? peer.arrivals : peer.idle;
    if (!from.empty() && is_better(peer, from.front())) found = from.front();
  }
  return found;
}

}  // namespace berth::http
