// An answer that may never end, read piece by piece.
#pragma once

#include <functional>
#include <string>

#include "kube/transport/http_message.h"

namespace berth::kube {

// On the I/O thread. start() is called once, then read_piece() as often as wanted, each after the last one's callback.
class LongAnswer {
 public:
  virtual ~LongAnswer() = default;
  // `on_head` gets the head of an answer with status 200; any other answer is complete, with its body.
  virtual void start(HttpRequest request, Duration timeout, ReplyHandler on_head) = 0;
  // The next piece. `ended`: there are no more; `error` is "" when the answer is complete, else says what failed.
  struct Piece {
    std::string bytes;
    bool ended = false;
    std::string error;
  };
  // The answer ends with an error when the server sends nothing for `silence`.
  virtual void read_piece(Duration silence, std::function<void(Piece)> done) = 0;
  virtual void close() = 0;  // no callback comes after that
};

}  // namespace berth::kube
