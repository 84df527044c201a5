// One request while the handler works on it, as its connection sees it. Its body is decoded, it is executed on the core
// executor, and its answer returns to the connection's strand. Destroying the Call ends it: a watch stops and a late
// answer is dropped.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "http/connection.h"
#include "http/hub.h"

namespace berth::http {

// Use it on the connection's strand only.
class Call {
 public:
  struct Origin {
    std::shared_ptr<Answered> connection;
    Answered::Stream stream = 0;
    boost::asio::any_io_executor strand;
  };

  // Holds a turn of `kind`. The turn is given back when the handler has released the request or has begun to stream.
  Call(std::shared_ptr<Hub> hub, Origin origin, Turns::Kind kind, std::unique_ptr<Handler::Parsed> request);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The handler has begun to stream. A watch does not count as a request in flight, so the turn is given back.
  void streams();
  // The connection has sent or dropped this much of what on_chunk() delivered.
  void sent(std::size_t bytes, std::size_t events);

 private:
  struct Work;
  std::shared_ptr<Hub> hub_;
  std::shared_ptr<Work> work_;
};

}  // namespace berth::http
