#include "kube/transport/line_stream.h"

#include <boost/asio/post.hpp>
#include <string_view>
#include <utility>

namespace berth::kube {

namespace asio = boost::asio;

namespace {

// Bound on lines that were read but not handled yet: reading pauses above it and resumes at half of it.
constexpr int kMaxLinesAhead = 1000;

int count_lines(std::string_view text) {
  int count = 0;
  for (std::size_t end = 0; (end = text.find('\n', end)) != std::string_view::npos; ++end) ++count;
  return count;
}

}  // namespace

LineStream::LineStream(Executor& executor, asio::io_context& io, HttpRequest request, Duration silence,
                       Transport::StreamHandler handler, LifetimeWatch owner)
    : executor_(executor),
      io_(io),
      request_(std::move(request)),
      silence_(silence),
      handler_(std::make_shared<Transport::StreamHandler>(std::move(handler))),
      owner_(std::move(owner)) {}

template <typename Task>
void LineStream::post(Task task) {
  executor_.post(owner_.guard([handler = handler_, task = std::move(task)]() mutable { task(*handler); }));
}

void LineStream::start(std::shared_ptr<LongAnswer> answer) {
  if (closed_) return answer->close();
  answer_ = std::move(answer);
  answer_->start(std::move(request_), silence_,
                 [self = shared_from_this()](HttpReply reply) { self->head(std::move(reply)); });
}

void LineStream::fail(HttpReply reply) {
  if (!closed_) head(std::move(reply));
}

void LineStream::close() {
  closed_ = true;
  if (const auto answer = std::exchange(answer_, nullptr)) answer->close();
}

void LineStream::head(HttpReply reply) {
  const bool streams = reply.status == 200;
  post([reply = std::move(reply)](Transport::StreamHandler& handler) mutable { handler.on_head(std::move(reply)); });
  if (streams) {
    read();
  } else {
    close();
  }
}

void LineStream::read() {
  if (!answer_) return;
  if (ahead_->load() > kMaxLinesAhead) {
    paused_ = true;
    return;
  }
  answer_->read_piece(silence_, [self = shared_from_this()](LongAnswer::Piece piece) { self->take(std::move(piece)); });
}

void LineStream::take(LongAnswer::Piece piece) {
  // What came before has no line end: a long line is searched once, not with each of its pieces.
  const std::size_t known = received_.size(), last = piece.bytes.rfind('\n');
  received_ += piece.bytes;
  if (last != std::string::npos) {
    const std::size_t end = known + last;
    std::string rest = received_.substr(end + 1);
    received_.resize(end + 1);
    post_lines(std::exchange(received_, std::move(rest)));
  }
  if (received_.size() > kMaxLineBytes)
    piece = {{}, true, "an event is larger than " + std::to_string(kMaxLineBytes) + " bytes"};
  if (!piece.ended) return read();
  post([error = std::move(piece.error)](Transport::StreamHandler& handler) { handler.on_end(error); });
  close();
}

// All lines in one task.
void LineStream::post_lines(std::string text) {
  const int count = count_lines(text);
  *ahead_ += count;
  // The task holds the stream weakly: the task may outlive the transport, on whose thread the connection must end.
  post([stream = weak_from_this(), &io = io_, ahead = ahead_, owner = owner_,
        text = std::move(text)](Transport::StreamHandler& handler) {
    for (std::size_t begin = 0, end; begin < text.size() && owner.alive(); begin = end + 1) {
      end = text.find('\n', begin);
      if (--*ahead == kMaxLinesAhead / 2) {
        asio::post(io, [stream] {
          if (const auto self = stream.lock()) self->go_on();
        });
      }
      if (end > begin) handler.on_line(std::string_view(text).substr(begin, end - begin));
    }
  });
}

void LineStream::go_on() {
  if (std::exchange(paused_, false)) read();
}

}  // namespace berth::kube
