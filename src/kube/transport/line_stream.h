// Splits a long answer into lines and hands them to the executor, no faster than they are handled there.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/lifetime.h"
#include "kube/transport/long_answer.h"
#include "kube/transport/transport.h"

namespace berth::kube {

// On the I/O thread; the callbacks of the handler come on the executor, and only while `owner` is alive.
class LineStream : public std::enable_shared_from_this<LineStream> {
 public:
  LineStream(Executor& executor, boost::asio::io_context& io, HttpRequest request, Duration silence,
             Transport::StreamHandler handler, LifetimeWatch owner);

  // Sends the request. Does nothing after close().
  void start(std::shared_ptr<LongAnswer> answer);
  void fail(HttpReply reply);  // instead of start()
  void close();

 private:
  void head(HttpReply reply);
  void read();
  void take(LongAnswer::Piece piece);
  void post_lines(std::string text);
  void go_on();
  template <typename Task>
  void post(Task task);

  Executor& executor_;
  boost::asio::io_context& io_;
  HttpRequest request_;
  Duration silence_;
  std::shared_ptr<Transport::StreamHandler> handler_;
  LifetimeWatch owner_;  // asked on the executor's thread only
  std::shared_ptr<LongAnswer> answer_;
  std::string received_;
  std::shared_ptr<std::atomic<int>> ahead_ = std::make_shared<std::atomic<int>>(0);
  bool paused_ = false, closed_ = false;
};

}  // namespace berth::kube
