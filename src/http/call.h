// One request on its way through the handler, seen from its connection: it is parsed, executed on the core,
// and its answers come back to the connection's strand. Destroying it ends it there: a watch stops, an answer
// that still comes goes nowhere.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "http/connection.h"
#include "http/hub.h"

namespace berth::http {

// On the connection's strand.
class Call {
 public:
  struct Origin {
    std::shared_ptr<Answered> connection;
    Answered::Stream stream = 0;
    boost::asio::any_io_executor strand;
  };

  // Has a turn of `kind`, which goes back when the handler has let go of the request, or has begun to stream.
  Call(std::shared_ptr<Hub> hub, Origin origin, Turns::Kind kind, HttpRequest request);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The handler streams: a watch does not count as a request in flight.
  void streams();
  // Of what on_chunk() brought so much was sent, or dropped.
  void sent(std::size_t bytes, std::size_t events);

 private:
  struct Work;
  std::shared_ptr<Hub> hub_;
  std::shared_ptr<Work> work_;
};

}  // namespace berth::http
