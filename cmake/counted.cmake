# Code whose steps are counted (tests/growth/steps.h): it is compiled once more, so that each edge of its control flow calls
# a function. Clang only, and not beside sanitizers, which come with functions of that name.
set(BERTH_COUNTED OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT BERTH_SANITIZE)
  set(BERTH_COUNTED ON)
endif()

# berth_counted_objects(<name> ROOM <room> <pattern>...): objects of the files of the room that match, below src.
function(berth_counted_objects name)
  cmake_parse_arguments(arg "" "ROOM" "" ${ARGN})
  set(sources "")
  foreach(pattern IN LISTS arg_UNPARSED_ARGUMENTS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${pattern})
    list(APPEND sources ${found})
  endforeach()
  berth_together(compiled ${name} ${CMAKE_SOURCE_DIR}/src ${sources})
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${compiled})
  target_link_libraries(${name} PRIVATE ${arg_ROOM})
  target_compile_options(${name} PRIVATE -fsanitize-coverage=edge,trace-pc-guard)
  berth_use_precompiled(${name} source ${compiled})
endfunction()

# berth_count(<program> <objects>...): the program uses these objects, and counts. They come before the libraries that
# have the same code, so theirs is not used.
function(berth_count program)
  foreach(objects IN LISTS ARGN)
    target_link_options(${program} BEFORE PRIVATE $<TARGET_OBJECTS:${objects}>)
    set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS $<TARGET_OBJECTS:${objects}>)
    add_dependencies(${program} ${objects})
  endforeach()
  target_link_options(${program} PRIVATE -Wl,--allow-multiple-definition
    -Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=memcmp)
endfunction()
