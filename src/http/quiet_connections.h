// The connections that the server may close when another one needs their place: those without a request in work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <unordered_map>

namespace berth::http {

class Connection;

// Connections by peer address and by how long they have been quiet. Those that had no request yet are arrivals.
class QuietConnections {
 public:
  // It begins as a arrival. The other functions ignore connections that were not added.
  void add(Connection* one, const std::string& peer);
  void remove(Connection* one);
  void busy(Connection* one);   // a request of the connection is in work
  void quiet(Connection* one);  // it has none any more
  // The one to close; null when none is. It is of the peer with most connections, among those with one to close: the
  // oldest arrival, if more than one in kArrivalsShare of the peer's connections are arrivals, so a flood of
  // connections that say nothing closes its own. Otherwise the one that is idle for longest, so a arrival can send its
  // first request. Time is linear in the number of peers.
  Connection* one_to_close() const;

 private:
  using List = std::list<Connection*>;  // the quietest first
  struct Peer {
    std::size_t connections = 0;
    List arrivals, idle;
  };
  struct Entry {
    std::map<std::string, Peer>::iterator peer;
    List* list = nullptr;  // null: busy
    List::iterator place{};
    std::uint64_t since = 0;  // orders the connections by when they became quiet
  };
  void put(Entry& entry, List& list, Connection* one);

  std::map<std::string, Peer> peers_;
  std::unordered_map<Connection*, Entry> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace berth::http
