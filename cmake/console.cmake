# The console's page (folder web/), compiled into the program as embedded::console(). BERTH_CONSOLE says whether: OFF (then
# the list of files is empty), ON (npm and Node are required), AUTO (built when both are found).
set(BERTH_CONSOLE "OFF" CACHE STRING "Build the console's page with npm and embed it: OFF, ON or AUTO")
set_property(CACHE BERTH_CONSOLE PROPERTY STRINGS OFF ON AUTO)

set(console_node 18.18)  # the oldest version of Node that builds the page
set(console_page OFF)
if(BERTH_CONSOLE)
  find_program(BERTH_NODE node)
  find_program(BERTH_NPM npm)
  set(console_lack "")
  if(NOT BERTH_NODE OR NOT BERTH_NPM)
    set(console_lack "node and npm are not installed")
  else()
    execute_process(COMMAND ${BERTH_NODE} --version OUTPUT_VARIABLE console_version OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^v" "" console_version "${console_version}")
    if(console_version VERSION_LESS console_node)
      set(console_lack "Node ${console_version} is older than ${console_node}")
    endif()
  endif()
  if(console_lack STREQUAL "")
    set(console_page ON)
    message(STATUS "Console: the page is built with Node ${console_version}")
  elseif(BERTH_CONSOLE STREQUAL "AUTO")
    message(STATUS "Console: left out, ${console_lack}")
  else()
    message(FATAL_ERROR "BERTH_CONSOLE=${BERTH_CONSOLE}: ${console_lack}")
  endif()
else()
  message(STATUS "Console: left out (BERTH_CONSOLE=OFF)")
endif()

# The library berth_page defines embedded::console().
set(console_out ${CMAKE_BINARY_DIR}/console)
set(console_source ${console_out}/page.cpp)
set(console_embed ${CMAKE_COMMAND} -DOUT=${console_source} -DROOT=${console_out}/dist -P
    ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake)
if(console_page)
  set(web ${CMAKE_SOURCE_DIR}/web)
  file(GLOB_RECURSE console_files CONFIGURE_DEPENDS ${web}/src/*)
  file(GLOB console_setup CONFIGURE_DEPENDS ${web}/*.json ${web}/*.ts ${web}/*.html)
  list(FILTER console_setup EXCLUDE REGEX "playwright")
  string(COMPARE NOTEQUAL "${BERTH_CONSOLE}" AUTO console_required)
  add_custom_command(
    OUTPUT ${console_source}
    COMMAND ${CMAKE_COMMAND} -DNPM=${BERTH_NPM} -DWEB=${web} -DDIST=${console_out}/dist -DREQUIRED=${console_required}
            -P ${CMAKE_SOURCE_DIR}/cmake/build_page.cmake
    COMMAND ${console_embed}
    DEPENDS ${web}/package.json ${web}/package-lock.json ${console_files} ${console_setup}
            ${CMAKE_SOURCE_DIR}/cmake/build_page.cmake ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake
    WORKING_DIRECTORY ${web} COMMENT "Building the console's page" VERBATIM USES_TERMINAL)
else()
  add_custom_command(
    OUTPUT ${console_source}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${console_out}/dist
    COMMAND ${console_embed}
    DEPENDS ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake VERBATIM)
endif()
add_library(berth_page STATIC ${console_source})
target_link_libraries(berth_page PUBLIC berth_options)
# The bytes come in by an assembler directive, which link-time optimisation would move away from their symbols.
set_target_properties(berth_page PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
# A change of BERTH_CONSOLE makes the source again.
file(CONFIGURE OUTPUT ${console_out}/choice CONTENT "${console_page}\n")
add_custom_command(OUTPUT ${console_source} APPEND DEPENDS ${console_out}/choice)
