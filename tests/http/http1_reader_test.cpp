// What is a request of HTTP/1.1, and where it ends.
#include "http/http1_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/limits.h"

namespace berth::http::http1_reader_test {
namespace {

struct Read {
  std::vector<HttpRequest> requests;  // the complete ones, with their bodies
  int refused = 0;                    // the status of the refusal; 0: none
  std::size_t left = 0;               // bytes that were not taken
};

// Reads the bytes in pieces of this size.
Read read(std::string_view bytes, std::size_t piece = 1 << 20) {
  Read out;
  Http1Reader reader;
  HttpRequest request;
  while (!bytes.empty()) {
    std::string_view input = bytes.substr(0, piece);
    bytes.remove_prefix(input.size());
    for (bool more = true; more;) {
      const Http1Reader::Taken taken = reader.read(input);
      input.remove_prefix(taken.bytes);
      switch (taken.event) {
        case Http1Reader::Event::kMore:
          more = false;
          break;
        case Http1Reader::Event::kHead:
          request = reader.take_head().request;
          break;
        case Http1Reader::Event::kBody:
          request.body += taken.body;
          break;
        case Http1Reader::Event::kEnd:
          out.requests.push_back(request);
          reader.next_request();
          break;
        case Http1Reader::Event::kRefused:
          out.refused = reader.fault().status;
          out.left = input.size() + bytes.size();
          return out;
      }
    }
  }
  return out;
}

std::string get(std::string_view fields) { return "GET / HTTP/1.1\r\n" + std::string(fields) + "\r\n"; }
std::string post(std::string_view fields, std::string_view body) {
  return "POST / HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

TEST(Http1Reader, RequestsFollowEachOther) {
  const std::string bytes =
      "\r\nPOST /a?b=1 HTTP/1.1\r\nHost: h:1\r\nX-Empty:\r\nX-A: \t b  c\t\r\nContent-Length: 5\r\n\r\nhello" +
      post("Transfer-Encoding: , Chunked\r\n", "3;a=\"b\"\r\nabc\r\n0A \t;x\r\n0123456789\r\n0\r\nX: y\r\n\r\n") +
      "GET http://Other.example:81?q HTTP/1.1\r\nHost: other.EXAMPLE:81\r\n\r\n" + "OPTIONS * HTTP/1.0\r\n\r\n";
  for (const std::size_t piece : {1u, 2u, 7u, 1u << 20}) {
    const Read got = read(bytes, piece);
    ASSERT_EQ(got.requests.size(), 4u) << piece << " " << got.refused;
    EXPECT_EQ(got.requests[0].target, "/a?b=1");
    EXPECT_EQ(got.requests[0].body, "hello");
    EXPECT_EQ(got.requests[0].header("x-a"), "b  c");
    EXPECT_EQ(got.requests[1].body, "abc0123456789");
    EXPECT_EQ(got.requests[1].header("X"), "") << "a trailer is no header";
    EXPECT_EQ(got.requests[2].target, "/?q");
    EXPECT_EQ(got.requests[2].header("Host"), "Other.example:81");
    EXPECT_EQ(got.requests[3].target, "*");
  }
}

TEST(Http1Reader, TwoReadersUnderstandTheSame) {
  const std::string chunk = "1\r\nx\r\n0\r\n\r\n";
  const struct {
    std::string bytes;
    int status;
  } cases[] = {
      // Where the body ends.
      {post("Transfer-Encoding: xchunked\r\n", chunk), 400},
      {post("Transfer-Encoding: chunked, chunked\r\n", chunk), 400},
      {post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunk), 400},
      {post("Transfer-Encoding: identity\r\n", chunk), 400},
      {post("Transfer-Encoding: chunked, gzip\r\n", chunk), 400},
      {post("Transfer-Encoding: gzip, chunked\r\n", chunk), 501},
      {post("Transfer-Encoding: chunked;a=b\r\n", chunk), 400},
      {post("Transfer-Encoding:\r\n", chunk), 400},
      {post("Transfer-Encoding: \x0b"
            "chunked\r\n",
            chunk),
       400},
      {post("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", chunk), 400},
      {post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", chunk), 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk, 400},
      {post("Content-Length: 1\r\nContent-Length: 1\r\n", "x"), 400},
      {post("Content-Length: 1, 1\r\n", "x"), 400},
      {post("Content-Length: +1\r\n", "x"), 400},
      {post("Content-Length: 0x1\r\n", "x"), 400},
      {post("Content-Length: \r\n", "x"), 400},
      {post("Content-Length: 99999999999999999999\r\n", "x"), 400},
      {post("Transfer-Encoding: chunked\r\n", "1 \r\nx\r\n0\r\n\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\n", "\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\n", "-1\r\nx\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\n", "0x1\r\nx\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\n", "1ffffffffffffffff\r\nx\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\n", "1\nx\r\n0\r\n\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\n", "1;a\nx\r\n0\r\n\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\n", "1\r\nxy\r\n0\r\n\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\n", "0\r\nbad trailer\r\n\r\n"), 400},
      // Whom it is for.
      {get(""), 400},
      {get("Host: a\r\nHost: a\r\n"), 400},
      {get("Host: a b\r\n"), 400},
      {get("Host: a/b\r\n"), 400},
      {get("Host: a:x\r\n"), 400},
      {get("Host: [::1\r\n"), 400},
      {get("Host: u@h\r\n"), 400},
      {"GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", 400},
      {"GET http:/// HTTP/1.1\r\nHost: \r\n\r\n", 400},
      // What a line is.
      {"GET / HTTP/1.1\nHost: h\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n", 400},
      {get("Host: h\r\nX: a\rb\r\n"), 400},
      {get("Host: h\r\nX: a\r\n folded\r\n"), 400},
      {get(" Host: h\r\n"), 400},
      {get("Host : h\r\n"), 400},
      {get("Host: h\r\nX\r\n"), 400},
      {get("Host: h\r\n: x\r\n"), 400},
      {get("Host: h\r\nX Y: x\r\n"), 400},
      {get(std::string("Host: h\r\nX: a\0b\r\n", 17)), 400},
      // The first line.
      {"\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"GET / http/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
      {"G(T / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET nonsense HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 405},
  };
  for (const auto& c : cases) {
    for (const std::size_t piece : {1u, 1u << 20}) {
      const Read got = read(c.bytes, piece);
      EXPECT_EQ(got.refused, c.status) << c.bytes << "\nin pieces of " << piece;
      EXPECT_TRUE(got.requests.empty()) << c.bytes;
    }
  }
  EXPECT_EQ(read(get("Host: [::1]:80\r\n")).requests.size(), 1u);
  EXPECT_EQ(read(get("Host:\r\n")).requests.size(), 1u) << "an empty host is one";
}

// A refusal comes as soon as the limit is reached, and nothing beyond it is taken.
TEST(Http1Reader, WhatIsReadBesideBodiesIsBounded) {
  const std::string much(1u << 20, 'x');
  const struct {
    std::string begin, repeated;
    int status;
  } endless[] = {
      {"GET /", "x", 414},
      {"GET / HTTP/1.1\r\nX: ", "x", 431},
      {"GET / HTTP/1.1\r\n", "X: y\r\n", 431},
      {post("Transfer-Encoding: chunked\r\n", "1;"), "x", 431},
      {post("Transfer-Encoding: chunked\r\n", ""), "1;xxxxxxxx\r\nx\r\n", 431},
      {post("Transfer-Encoding: chunked\r\n", "0\r\nX: "), "x", 431},
      {post("Transfer-Encoding: chunked\r\n", "0\r\n"), "X: y\r\n", 431},
  };
  for (const auto& c : endless) {
    std::string bytes = c.begin;
    while (bytes.size() < (1u << 20)) bytes += c.repeated;
    const Read got = read(bytes, 1000);
    EXPECT_EQ(got.refused, c.status) << c.begin;
    EXPECT_LE(bytes.size() - got.left, 3 * kMaxHeaderBytes) << c.begin;
  }
}

}  // namespace
}  // namespace berth::http::http1_reader_test
