# CMake functions that make targets from a room (a folder of src), its tests and its embedded files.

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)

add_library(berth_options INTERFACE)
target_compile_options(berth_options INTERFACE -pthread -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough)
# g++ 12 reports these two warnings falsely in optimised std::string and std::variant code (GCC PR 105651, 105562).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # It treats the main file of a unity build as a header (-Wsubobject-linkage).
  target_compile_options(berth_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-subobject-linkage)
  # It collects its garbage later, in kilobytes: a tenth less CPU for more memory.
  target_compile_options(berth_options INTERFACE "SHELL:--param ggc-min-heapsize=1048576")
endif()
target_include_directories(berth_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(berth_options INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_JSON_NO_LIB BOOST_CONTAINER_NO_LIB)
if(BERTH_ASSERTS)
  target_compile_definitions(berth_options INTERFACE BERTH_ASSERTS=1)
endif()
if(BERTH_WERROR)
  target_compile_options(berth_options INTERFACE -Werror)
endif()
if(BERTH_SANITIZE)
  if("address" IN_LIST BERTH_SANITIZE AND "thread" IN_LIST BERTH_SANITIZE)
    message(FATAL_ERROR "BERTH_SANITIZE: address and thread cannot be combined")
  endif()
  foreach(s IN LISTS BERTH_SANITIZE)
    target_compile_options(berth_options INTERFACE -fsanitize=${s})
    target_link_options(berth_options INTERFACE -fsanitize=${s})
  endforeach()
  target_compile_options(berth_options INTERFACE -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if("undefined" IN_LIST BERTH_SANITIZE AND "address" IN_LIST BERTH_SANITIZE)
    # These checks cost a third of the compile time. The address sanitizer finds such accesses when they happen.
    target_compile_options(berth_options INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  target_compile_definitions(berth_options INTERFACE BERTH_SANITIZED=1)
endif()

find_program(BERTH_MOLD mold)
if(BERTH_MOLD)
  target_link_options(berth_options INTERFACE -fuse-ld=mold)
endif()

# berth_together(<out> <target> <root> <file>...): sets <out> to the files to compile for these sources. Headers and their
# templates take most of the compile time, so up to BERTH_UNITY_FILES files are compiled as one. So names in anonymous
# namespaces must be unique in a room. The generated files name their parts relative to <root>, and the presets tell ccache
# where the clone lies: so one cache serves every clone.
# With BERTH_UNITY off each file is compiled alone, as clangd and clang-tidy need it.
option(BERTH_QUICK "Compile the rooms that compute little without optimisation" OFF)
option(BERTH_UNITY "Compile several files of a room as one" ON)
set(BERTH_UNITY_FILES 28 CACHE STRING "The number of files of a room that are compiled as one")
include(precompiled)
include(counted)
function(berth_together out target root)
  set(alone "")
  set(number 0)
  set(parts 0)
  set(text "")
  list(SORT ARGN)
  foreach(file IN LISTS ARGN)
    get_source_file_property(skip ${file} SKIP_UNITY_BUILD_INCLUSION)
    if(skip OR NOT BERTH_UNITY)
      list(APPEND alone ${file})
      continue()
    endif()
    if(parts EQUAL BERTH_UNITY_FILES)
      file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/unity/${target}_${number}.cpp CONTENT "${text}" @ONLY)
      math(EXPR number "${number} + 1")
      set(parts 0)
      set(text "")
    endif()
    if(parts EQUAL 0)
      list(APPEND alone ${CMAKE_BINARY_DIR}/unity/${target}_${number}.cpp)
    endif()
    file(RELATIVE_PATH path ${root} ${file})
    string(APPEND text "#include \"${path}\"\n")
    math(EXPR parts "${parts} + 1")
  endforeach()
  if(parts GREATER 0)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/unity/${target}_${number}.cpp CONTENT "${text}" @ONLY)
  endif()
  set(${out} ${alone} PARENT_SCOPE)
endfunction()

# berth_room(<name> [QUICK] [IN <folder>] [TOGETHER <n>] <dependency>...): the library of src/<folder>, with all .cpp files
# below it. The folder has the name of the room unless it is given. BERTH_QUICK compiles a QUICK room without optimisation.
# TOGETHER limits the files that are compiled as one, where a changed file must be compiled soon.
function(berth_room name)
  cmake_parse_arguments(arg "QUICK" "IN;TOGETHER" "" ${ARGN})
  if(arg_TOGETHER)
    set(BERTH_UNITY_FILES ${arg_TOGETHER})
  endif()
  if(NOT arg_IN)
    set(arg_IN ${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${arg_IN}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    add_library(berth_${name} INTERFACE)
    target_link_libraries(berth_${name} INTERFACE berth_options ${arg_UNPARSED_ARGUMENTS})
    return()
  endif()
  berth_together(compiled berth_${name} ${CMAKE_SOURCE_DIR}/src ${sources})
  add_library(berth_${name} STATIC ${compiled})
  target_link_libraries(berth_${name} PUBLIC berth_options ${arg_UNPARSED_ARGUMENTS})
  berth_optimised_rooms(optimised ${arg_UNPARSED_ARGUMENTS})
  if(NOT arg_QUICK)
    list(APPEND optimised berth_${name})
  endif()
  set_property(TARGET berth_${name} PROPERTY BERTH_OPTIMISED_ROOMS ${optimised})
  if(arg_QUICK AND BERTH_QUICK)
    target_compile_options(berth_${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
    berth_use_precompiled(berth_${name} quick ${compiled})
  else()
    berth_use_precompiled(berth_${name} source ${compiled})
  endif()
endfunction()

# berth_optimised_rooms(<out> <library>...): sets <out> to the rooms that are not QUICK, among these libraries and the rooms
# that they depend on.
function(berth_optimised_rooms out)
  set(all "")
  foreach(library IN LISTS ARGN)
    if(TARGET ${library})
      get_target_property(rooms ${library} BERTH_OPTIMISED_ROOMS)
      if(rooms)
        list(APPEND all ${rooms})
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES all)
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# berth_prefer_optimised(<program> <library>...): of an inline function that several files define, a linker takes the first
# definition. With BERTH_QUICK that must not be one without optimisation, so the optimised rooms come before all other files.
# mold takes from them only what the program needs.
function(berth_prefer_optimised program)
  if(BERTH_QUICK AND BERTH_MOLD)
    berth_optimised_rooms(rooms ${ARGN})
    list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_FILE:\\1>")
    target_link_options(${program} PRIVATE ${rooms})
  endif()
endfunction()

# berth_embed(<target> <namespace-suffix> <file>...): embeds the bytes of the files in the program. The caller declares
#   namespace berth::embedded { std::span<const File> <namespace-suffix>(); }
# as in base/embedded.h.
function(berth_embed target suffix)
  set(out ${CMAKE_BINARY_DIR}/embedded/${target}_${suffix}.cpp)
  string(JOIN "|" files ${ARGN})
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DFILES=${files}" -DSUFFIX=${suffix} -DROOT=${CMAKE_SOURCE_DIR}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

# berth_test(<name> [IN <folder>] <library>... [ALONE <suite>]): one executable from all .cpp files below tests/<folder>, which
# has the name of the test unless it is given. The tests of the suite after ALONE need their processes to run in time, so that
# ctest runs no other test beside them.
function(berth_test name)
  cmake_parse_arguments(arg "" "ALONE;IN" "" ${ARGN})
  if(NOT arg_IN)
    set(arg_IN ${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${arg_IN}/*.cpp)
  if(NOT sources)
    return()
  endif()
  berth_together(compiled test_${name} ${CMAKE_SOURCE_DIR}/tests ${sources})
  add_executable(test_${name} ${compiled} ${CMAKE_SOURCE_DIR}/tests/source_dir.cpp)
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(test_${name} PRIVATE ${arg_UNPARSED_ARGUMENTS} GTest::gmock GTest::gtest_main rapidcheck rapidcheck_gtest)
  berth_prefer_optimised(test_${name} ${arg_UNPARSED_ARGUMENTS})
  # Expectations expand to much code: without optimisation they compile twice as fast.
  target_compile_options(test_${name} PRIVATE -O0)
  berth_use_precompiled(test_${name} test ${compiled})
  set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/source_dir.cpp PROPERTIES
    COMPILE_DEFINITIONS BERTH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  set(discover TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 1200 LABELS ${name})
  if(arg_ALONE)
    gtest_discover_tests(test_${name} TEST_FILTER "*${arg_ALONE}.*" ${discover} RUN_SERIAL ON)
    gtest_discover_tests(test_${name} TEST_FILTER "-*${arg_ALONE}.*" ${discover})
  else()
    gtest_discover_tests(test_${name} ${discover})
  endif()
endfunction()
