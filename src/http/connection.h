// A connection of the server, as the other parts of the server see it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "http/message.h"

namespace berth::http {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  virtual ~Connection() = default;
  // From any thread.
  virtual void stop() = 0;   // finish running requests, then close
  virtual void abort() = 0;  // close now
};

// Receives the answers to the requests of a connection. Called on the connection's strand.
class Answered {
 public:
  using Stream = std::int32_t;  // identifies the request on its connection; HTTP/1.1 has one at a time: 0

  virtual ~Answered() = default;
  virtual void on_response(Stream stream, HttpResponse response) = 0;
  virtual void on_begin(Stream stream, int status, std::vector<Header> headers) = 0;
  virtual void on_chunk(Stream stream, SharedBytes bytes) = 0;
  virtual void on_end(Stream stream) = 0;
  virtual void on_overrun(Stream stream) = 0;  // the client reads too slowly: the backlog exceeds its limit
};

}  // namespace berth::http
