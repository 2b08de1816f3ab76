# Flux in a CMake project:
#
#   find_package(Flux REQUIRED)
#   flux_add_server(NAME PROGRAM.flux [SOURCES a.cpp ...] [LINK_LIBRARIES lib ...] [SANITIZE thread|address])
#
# makes an executable target NAME, with which all that CMake does to targets can be done. The program is checked and
# generated again when it or a source has changed. The runtime is compiled in the project, with its compiler and flags.

find_package(Threads REQUIRED)
find_program(Flux_EXECUTABLE flux HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin" "$ENV{HOME}/.cargo/bin")
if(NOT Flux_EXECUTABLE)
    set(Flux_FOUND FALSE)
    set(Flux_NOT_FOUND_MESSAGE "the flux command is not in the PATH: name it with -DFlux_EXECUTABLE=FILE")
    return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/FluxRuntime.cmake")
set(Flux_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/runtime/include")

# Compiles and links a target with a sanitizer, or without where none is named.
function(_flux_sanitize target sanitizer)
    if(sanitizer STREQUAL "thread")
        set(flags -fsanitize=thread -fno-omit-frame-pointer)
    elseif(sanitizer STREQUAL "address")
        set(flags -fsanitize=address,undefined -fno-omit-frame-pointer)
    elseif(NOT sanitizer STREQUAL "")
        message(FATAL_ERROR "flux_add_server: SANITIZE is thread or address, not ${sanitizer}")
    endif()
    target_compile_options(${target} PRIVATE ${flags})
    target_link_libraries(${target} PRIVATE ${flags})
endfunction()

# Gives the runtime as a target, one for each sanitizer: all that is linked together must have the same.
function(_flux_runtime result sanitizer)
    string(REGEX REPLACE "(.+)" "_\\1" suffix "${sanitizer}")
    set(target "flux_runtime${suffix}")
    set(${result} ${target} PARENT_SCOPE)
    if(TARGET ${target})
        return()
    endif()
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${Flux_RUNTIME_SOURCES})
    # Compiled as four files that include the sources of four rooms each, as by the runtime's Makefile: what many of them
    # include is read four times only. A room is a folder, and its sources come one after another.
    set(room "")
    set(rooms 0)
    foreach(source IN LISTS Flux_RUNTIME_SOURCES)
        get_filename_component(folder "${source}" DIRECTORY)
        if(NOT folder STREQUAL room)
            set(room "${folder}")
            math(EXPR rooms "${rooms} + 1")
        endif()
        math(EXPR group "(${rooms} - 1) / 4 + 1")
        if(group GREATER 4)
            set(group 4)
        endif()
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_include_directories(${target} PUBLIC "${Flux_INCLUDE_DIR}")
    target_compile_features(${target} PUBLIC cxx_std_20)
    # A frame larger than the guard of a stack meets the guard, in the author's functions too.
    target_compile_options(${target} PUBLIC -fstack-clash-protection)
    target_link_libraries(${target} PUBLIC Threads::Threads -l:libboost_context.a -l:liburing.a)
    _flux_sanitize(${target} "${sanitizer}")
endfunction()

# Gives the libraries that a program names, `link "sqlite3";`: as targets of pkg-config where that knows them.
function(_flux_links result makefile)
    set(targets "")
    if(EXISTS "${makefile}")
        file(STRINGS "${makefile}" line REGEX "^LINKS = ")
        string(REGEX REPLACE "^LINKS = " "" names "${line}")
        separate_arguments(names)
        find_package(PkgConfig QUIET)
        foreach(name IN LISTS names)
            if(PkgConfig_FOUND AND NOT TARGET PkgConfig::flux_${name})
                pkg_search_module(flux_${name} QUIET IMPORTED_TARGET ${name} lib${name})
            endif()
            if(TARGET PkgConfig::flux_${name})
                list(APPEND targets PkgConfig::flux_${name})
            else()
                list(APPEND targets ${name})
            endif()
        endforeach()
    endif()
    set(${result} ${targets} PARENT_SCOPE)
endfunction()

# A function that can end without a return is an error, but in sources of 2006: there it gave what was in a register.
function(_flux_require_returns target makefile)
    if(EXISTS "${makefile}")
        file(STRINGS "${makefile}" is_of_2006 REGEX "^CXXFLAGS_2006 = ")
    endif()
    if(NOT is_of_2006)
        target_compile_options(${target} PRIVATE -Werror=return-type)
    endif()
endfunction()

function(flux_add_server name program)
    cmake_parse_arguments(PARSE_ARGV 2 server "" "SANITIZE" "SOURCES;LINK_LIBRARIES")
    if(server_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "flux_add_server: unknown arguments: ${server_UNPARSED_ARGUMENTS}")
    endif()
    get_filename_component(program "${program}" ABSOLUTE)
    get_filename_component(stem "${program}" NAME_WLE)
    get_filename_component(folders "${program}" DIRECTORY)
    set(sources "")
    foreach(source IN LISTS server_SOURCES)
        get_filename_component(source "${source}" ABSOLUTE)
        get_filename_component(folder "${source}" DIRECTORY)
        list(APPEND sources "${source}")
        list(APPEND folders "${folder}")
    endforeach()
    set(generated "${CMAKE_CURRENT_BINARY_DIR}/${name}.flux")
    set(generate "${Flux_EXECUTABLE}" build "${program}" ${sources}
        --quiet --generate-only --build-dir "${generated}")

    # Which standard modules a program uses is known once it has been read; what is wrong with it the build will say.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${program}")
    execute_process(COMMAND ${generate} OUTPUT_QUIET ERROR_QUIET)
    file(GLOB modules "${generated}/nodes/*.cpp")
    _flux_links(links "${generated}/Makefile")

    # flux leaves a file as it is whose text has not changed, so that nothing is compiled for no reason; the stamp
    # says that it has looked.
    set(stamp "${generated}/stamp")
    add_custom_command(
        OUTPUT "${stamp}"
        BYPRODUCTS "${generated}/${stem}.flux.cpp" "${generated}/${stem}.flux.h"
        COMMAND ${generate}
        COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
        DEPENDS "${program}" ${sources} "${Flux_EXECUTABLE}"
        COMMENT "Generating ${stem}.flux.cpp"
        VERBATIM)
    add_custom_target(${name}_generated DEPENDS "${stamp}")

    _flux_runtime(runtime "${server_SANITIZE}")
    add_executable(${name} ${sources} ${modules} "${generated}/${stem}.flux.cpp")
    add_dependencies(${name} ${name}_generated)
    target_include_directories(${name} PRIVATE "${generated}" "${generated}/nodes" ${folders})
    target_link_libraries(${name} PRIVATE ${runtime} ${links} ${server_LINK_LIBRARIES})
    _flux_require_returns(${name} "${generated}/Makefile")
    _flux_sanitize(${name} "${server_SANITIZE}")
endfunction()
