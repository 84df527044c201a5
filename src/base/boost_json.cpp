// Boost.JSON, compiled once and with our flags (sanitizers see into it).
#include <boost/json/src.hpp>
