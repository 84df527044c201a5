# Precompiled headers: clang reads the headers of the libraries, and instantiates what these instantiate, once for all rooms
# and once for all tests. With g++ they gain nothing. No header of ours is among them, so a changed header rebuilds only what
# includes it. They name no path of the clone, so one compiler's cache serves every clone: the main file is one of the
# library's headers, and options include the others. (With /dev/null as the main file ccache would not look at them.)
option(BERTH_PRECOMPILED "Precompile the headers of the libraries (clang)" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR NOT BERTH_UNITY)
  set(BERTH_PRECOMPILED OFF)
endif()

function(berth_precompile kind)
  cmake_parse_arguments(arg "" "" "HEADERS;LIBRARIES;OPTIONS" ${ARGN})
  add_library(precompiled_${kind} OBJECT ${BERTH_PRECOMPILED_MAIN})
  # Without the folders of berth_options, which are paths of the clone.
  target_link_libraries(precompiled_${kind} PRIVATE ${arg_LIBRARIES})
  target_compile_definitions(precompiled_${kind} PRIVATE $<TARGET_PROPERTY:berth_options,INTERFACE_COMPILE_DEFINITIONS>)
  target_compile_options(precompiled_${kind} PRIVATE $<TARGET_PROPERTY:berth_options,INTERFACE_COMPILE_OPTIONS>)
  list(TRANSFORM arg_HEADERS PREPEND "SHELL:-include ")
  target_compile_options(precompiled_${kind} PRIVATE ${arg_OPTIONS}
    "SHELL:-x c++-header" -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp" ${arg_HEADERS})
  set_target_properties(precompiled_${kind} PROPERTIES CXX_COMPILER_LAUNCHER "")
  # ccache takes a file for a precompiled header only when its name ends so; else it would miss its changes.
  set(file ${CMAKE_BINARY_DIR}/${kind}.pch)
  add_custom_command(OUTPUT ${file} DEPENDS $<TARGET_OBJECTS:precompiled_${kind}>
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:precompiled_${kind}> ${file} VERBATIM)
  add_custom_target(precompiled_${kind}_file DEPENDS ${file})
endfunction()

# berth_use_precompiled(<target> source|quick|test <file>...): each of these files of the target includes the headers
# first. A precompiled header serves one level of optimisation: quick and test are for -O0.
function(berth_use_precompiled target kind)
  if(BERTH_PRECOMPILED)
    set(file ${CMAKE_BINARY_DIR}/${kind}.pch)
    # Clang forgets that the library itself turns this warning off where std::stable_sort uses a deprecated function.
    target_compile_options(${target} PRIVATE "SHELL:-include-pch ${file}" -Wno-deprecated-declarations)
    set_property(SOURCE ${ARGN} APPEND PROPERTY OBJECT_DEPENDS ${file})
    add_dependencies(${target} precompiled_${kind}_file)  # for its other files
  endif()
endfunction()

if(BERTH_PRECOMPILED)
  find_file(BERTH_PRECOMPILED_MAIN tl/expected.hpp REQUIRED)
  mark_as_advanced(BERTH_PRECOMPILED_MAIN)
  set_source_files_properties(${BERTH_PRECOMPILED_MAIN} PROPERTIES LANGUAGE CXX)
  set(headers
    algorithm array charconv chrono compare cstdint deque filesystem fstream functional limits map memory optional set span
    sstream string string_view tuple unordered_map utility variant vector
    tl/expected.hpp boost/json/value.hpp boost/unordered/unordered_flat_map.hpp fmt/format.h)
  set(libraries Boost::headers fmt::fmt)
  berth_precompile(source HEADERS ${headers} LIBRARIES ${libraries})
  if(BERTH_QUICK)
    berth_precompile(quick HEADERS ${headers} LIBRARIES ${libraries} OPTIONS -O0 -U_FORTIFY_SOURCE)
  endif()
  if(BERTH_TESTS)
    find_package(GTest REQUIRED)
    berth_precompile(test HEADERS ${headers} gtest/gtest.h gmock/gmock.h LIBRARIES ${libraries} GTest::gmock OPTIONS -O0)
  endif()
endif()
