// Asio, its TLS streams and Beast, compiled once and with our flags.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
