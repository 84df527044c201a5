// Asks the handler, on the core executor, whether a request may send its body. The answer returns to the connection's
// strand. Destroying the Question drops the answer.
#pragma once

#include <functional>
#include <memory>

#include "http/handler.h"
#include "http/hub.h"

namespace berth::http {

// Use it on the connection's strand only.
class Question {
 public:
  // The request comes back with its verdict. `then` may destroy the Question, which drops `then`.
  using Then = std::function<void(std::unique_ptr<Handler::Parsed>, Handler::Verdict)>;
  Question(const std::shared_ptr<Hub>& hub, const boost::asio::any_io_executor& strand,
           std::unique_ptr<Handler::Parsed> request, Then then);
  ~Question();
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

 private:
  struct Open;
  std::weak_ptr<Open> open_;  // the handler's side owns it, so `then` may own what holds the Question
};

}  // namespace berth::http
